"""Turtle and N-Triples to statements, by rdflib (RDF 1.1 Turtle; RDF 1.1 N-Triples).

Every text in N-Triples is one in Turtle. rdflib follows the grammar and interprets the words. It is
laxer than the recommendation, rewrites numbers, and gives no places. So each word is checked here
against its production (section 6.5), kept as it is written, and placed.
"""

import bisect
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

from rdflib.plugins.parsers.notation3 import SinkParser

from policy_engine import terms
from policy_engine.data.rdf.statements import (
    FIRST,
    NIL,
    REST,
    STRING,
    TYPE,
    Collector,
    Literal,
    Spot,
    Term,
)

_LETTERS = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_INNER = f"{_LETTERS}_0-9\u00b7\u0300-\u036f\u203f\u2040\\-"
_ESCAPED = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
_PREFIX = f"(?:[{_LETTERS}](?:[{_INNER}.]*[{_INNER}])?)?"
_LOCAL = (
    f"(?:[{_LETTERS}_:0-9]|{_ESCAPED})(?:(?:[{_INNER}.:]|{_ESCAPED})*(?:[{_INNER}:]|{_ESCAPED}))?"
)
_SPACE = r"(?:[ \t\r\n]++|#[^\r\n]*+)*+"
_CODE = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_CHARACTER = rf"\\[tbnrf\"'\\]|{_CODE}"
_IRI = rf'<(?:[^\x00-\x20<>"{{}}|^`\\]|{_CODE})*+>'
_NAME = f"{_PREFIX}:(?:{_LOCAL})?"
_STRING = (
    rf'"""[^"\\]*+(?:(?:{_CHARACTER}|""?+(?!"))[^"\\]*+)*+"""'
    rf"|'''[^'\\]*+(?:(?:{_CHARACTER}|''?+(?!'))[^'\\]*+)*+'''"
    rf'|"(?!"")[^"\\\n\r]*+(?:(?:{_CHARACTER})[^"\\\n\r]*+)*+"'
    rf"|'(?!'')[^'\\\n\r]*+(?:(?:{_CHARACTER})[^'\\\n\r]*+)*+'"
)
_KINDS = {
    "iri": _IRI,
    "blank": f"_:[{_LETTERS}_0-9](?:[{_INNER}.]*[{_INNER}])?",
    "text": _STRING,
    "double": r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)[eE][+-]?[0-9]+",
    "decimal": r"[+-]?[0-9]*\.[0-9]+",
    "integer": r"[+-]?[0-9]+",
    "name": _NAME,
    "boolean": "(?:true|false)(?![A-Za-z0-9_-])",
    "a": "a(?![A-Za-z0-9_-])",
    "open": r"[\[(]",
}
_WORD = re.compile("|".join(f"(?P<{kind}>{form})" for kind, form in _KINDS.items()), re.DOTALL)
_SPACES = re.compile(_SPACE)
_DIRECTIVE = re.compile(r"@(?:prefix|base)(?![A-Za-z0-9-])|(?i:prefix|base)(?![A-Za-z0-9:.-])")
_NEXT = re.compile(rf"{_WORD.pattern}|@?[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^|.", re.DOTALL)
_LANGUAGE = re.compile("@([A-Za-z]+(?:-[A-Za-z0-9]+)*)")
_CODES = re.compile(_CODE)
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_PLAIN = ("double", "decimal", "integer", "boolean")
_NO_BASE = "none:"
_DOT = "'.'"
_TERM = "a name, a literal, '[' or '('"


def _decode_character(code: re.Match[str]) -> str:
    return chr(int(code[0].lstrip("\\uU"), 16))


class _PlacedTerm(NamedTuple):
    """A term and the span of its text; a list is from bracket to bracket."""

    term: Term
    start: int
    end: int


class _Pending(NamedTuple):
    """A statement; `order` sorts it by its place in the text."""

    order: tuple[int, bool]
    subject: str
    predicate: str
    value: Term
    key: int
    spot: int


def read_turtle(collector: Collector, base: str = "") -> None:
    """Collect the statements of a text in Turtle or N-Triples; `base` resolves relative names.

    Raises the error of `collector` with the place of what is not Turtle (F001), of a relative IRI
    without a base (L006), and of what is nested too deeply or has too many statements (J003).
    """
    sink = _Sink(collector)
    grammar = _Grammar(sink, base)
    try:
        grammar.feed(collector.text)
    except RecursionError:
        collector.fail("J003", "The text is nested too deeply.", sink.spot(sink.position))
    except (AssertionError, LookupError, SyntaxError, TypeError, ValueError):
        # rdflib reads past the end of the text, or asserts, where it expects more.
        sink.fail("Expected something else here")
    sink.emit()


class _Sink:
    """Receives words and statements from rdflib.

    rdflib states an object list at the list's end, those of inner nodes first. So all statements
    wait until the end of the text, blank nodes named after where they come up, and are then
    given to the collector in the text's order.
    """

    def __init__(self, collector: Collector) -> None:
        self.text = collector.text
        self.collector = collector
        self.position = 0
        self.brackets: list[int] = []
        self._lines = [0, *(match.end() for match in re.finditer("\n", collector.text))]
        self._pending: list[_Pending] = []
        self._triples: set[tuple[Term, ...]] = set()
        self._starts: dict[str, int] = {}
        self._blanks: list[str] = []

    def emit(self) -> None:
        """Give the collector all statements, and the first place of each subject."""
        names = {node: self.collector.blank() for node in sorted(self._blanks)}
        for node, start in self._starts.items():
            self.collector.note_subject(names.get(node, node), self.spot(start))
        for one in sorted(self._pending, key=lambda pending: pending.order):
            subject, value = names.get(one.subject, one.subject), one.value
            value = names.get(value, value) if isinstance(value, str) else value
            key, spot = self.spot(one.key), self.spot(one.spot)
            self.collector.add_statement(subject, one.predicate, value, key, spot)

    def note_subject(self, node: str, start: int) -> None:
        """Note the place of a subject."""
        self._starts[node] = min(start, self._starts.get(node, start))

    def blank(self, start: int, rank: int = 1) -> str:
        """Return a new blank node; of two at one place, a cell of a list is the first."""
        node = f"_:{start:09}.{rank}"
        self._blanks.append(node)
        return node

    def add(
        self, subject: str, predicate: str, value: _PlacedTerm, key: int, *, is_link: bool = False
    ) -> None:
        """Add a statement: the link to a list's next item comes before it, a list after it."""
        is_list = self.text[value.start] == "(" and not is_link
        order = (value.end - 1 if is_list else value.start), not is_link
        self._pending.append(_Pending(order, subject, predicate, value.term, key, value.start))
        self._triples.add((subject, predicate, value.term))
        self.collector.check_count(len(self._triples), self.spot(value.start))

    # -- what rdflib calls -----------------------------------------------------------------------

    def newSymbol(self, iri: str) -> str:  # noqa: N802 (rdflib's name)
        return self.collector.iri(iri, "", self.spot(self.position))

    def newList(self, items: Sequence[_PlacedTerm], _: Any) -> str:  # noqa: N802
        cells = [self.blank(item.start, 0) for item in items]
        close = _PlacedTerm(NIL, self.position, self.position + 1)
        for number, (cell, item) in enumerate(zip(cells, items, strict=True)):
            self.note_subject(cell, item.start if number else self.brackets[-1])
            self.add(cell, FIRST, item, item.start)
            after = items[number + 1] if number + 1 < len(items) else close
            rest = cells[number + 1] if number + 1 < len(items) else NIL
            self.add(cell, REST, after._replace(term=rest), after.start, is_link=True)
        return cells[0] if cells else NIL

    def intern(self, term: _PlacedTerm) -> _PlacedTerm:
        return term

    # -- places and errors -----------------------------------------------------------------------

    def spot(self, offset: int) -> Spot:
        """Return the line and the column of an offset in the text."""
        line = bisect.bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def fail(self, expected: str, start: int = -1) -> NoReturn:
        """Refuse the current word; `expected` ends in `here` or a colon."""
        start = self.position if start < 0 else start
        word = _NEXT.match(self.text, start)
        text = f"{word[0]!r:.60}" if word else "the end of the text"
        hint = ""
        if word and word[0] in ("'", '"', "<"):
            hint = "This mark is not closed, or encloses a character that is not allowed."
        mark = "" if expected.endswith(":") else ", found"
        self.collector.fail("F001", f"{expected}{mark} {text}.", self.spot(start), hint)


class _Grammar(SinkParser):
    """rdflib's grammar, restricted to Turtle."""

    def __init__(self, sink: _Sink, base: str) -> None:
        store: Any = sink
        super().__init__(store, baseURI=base or _NO_BASE, turtle=True)
        self._bindings = sink.collector.prefixes
        self.sink = sink

    def directiveOrStatement(self, text: str, i: int) -> int:  # noqa: N802
        word = _DIRECTIVE.match(text, i)
        if not word:
            return self._dot(text, self.statement(text, i))
        at = self.skipSpace(text, word.end())
        if word[0].lower().endswith("prefix"):
            name = _WORD.match(text, at) if at >= 0 else None
            if not name or name.lastgroup != "name" or name[0].find(":") != len(name[0]) - 1:
                self.sink.fail("Expected a prefix with its colon here")
            at = self.skipSpace(text, name.end())
        if self._kind(text, at) not in ("iri", "name"):
            self.sink.fail("Expected an IRI here")
        if word[0].startswith("@"):
            return self._dot(text, self.directive(text, i))
        return int(self.sparqlDirective(text, i))

    def statement(self, text: str, i: int) -> int:
        if self._kind(text, i) not in ("iri", "name", "blank", "open"):
            self.sink.fail("Expected a subject here")
        subjects: list[_PlacedTerm] = []
        end = self.item(text, i, subjects)
        self.sink.note_subject(str(subjects[0].term), i)
        has_statements = text[i] == "[" and text[self._skip_space(i + 1)] != "]"
        if has_statements and text[self.skipSpace(text, end)] == ".":
            return end
        return self.property_list(text, end, subjects[0].term)

    def property_list(self, text: str, i: int, subject: Any) -> int:
        start = self.skipSpace(text, i)
        if start < 0 or text[start] in ";.":
            self.sink.fail("Expected a predicate here")
        return int(super().property_list(text, start, subject))

    def verb(self, text: str, i: int, result: Any) -> int:
        start = self.skipSpace(text, i)
        kind = self._kind(text, start)
        if text[start : start + 1] in ("]", "."):
            return -1
        if kind not in ("iri", "name", "a"):
            self.sink.fail("Expected a predicate here")
        if kind == "a":
            result.append(("->", _PlacedTerm(TYPE, start, start + 1)))
            return start + 1
        predicates: list[_PlacedTerm] = []
        end = self.item(text, start, predicates)
        result.append(("->", predicates[0]))
        return end

    def item(self, text: str, i: int, result: Any) -> int:
        start = self.skipSpace(text, i)
        word = _WORD.match(text, start) if start >= 0 else None
        if not word or word.lastgroup == "a":
            self.sink.fail(f"Expected {_TERM} here")
        kind, end = str(word.lastgroup), word.end()
        if kind in _PLAIN:
            result.append(Literal(word[0], f"{terms.XSD}{kind}"))
        elif kind == "open":
            self.sink.brackets.append(start)
            self.sink.collector.check_depth(len(self.sink.brackets), self.sink.spot(start))
            if text.startswith("$", start + 1):  # which opens a set in Notation3
                self.sink.fail(f"Expected {_TERM} here", start + 1)
            end = self.node(text, start, result)
            self.sink.brackets.pop()
        elif kind == "text":
            end = self._literal(text, word, result)
        else:
            self.uri_ref2(text, start, result)
        result[-1] = _PlacedTerm(result[-1], start, end)
        return end

    object = item  # type: ignore[assignment]

    def _literal(self, text: str, word: re.Match[str], result: Any) -> int:
        quote = word[0][:3] if word[0][:3] in ('"""', "'''") else word[0][0]
        end, content = self.strconst(text, word.start() + len(quote), quote)
        if end != word.end() or _HALF_PAIR.search(content):
            self.sink.fail("Expected a text without half a surrogate pair here", word.start())
        after = self._skip_space(end)
        language = _LANGUAGE.match(text, after)
        kind: list[str] = [f"{terms.RDF}langString" if language else STRING]
        if language:
            end = language.end()
        elif text.startswith("^^", after):
            start = self.skipSpace(text, after + 2)
            if self._kind(text, start) not in ("iri", "name"):
                self.sink.fail("Expected an IRI here")
            kind.clear()
            end = self.uri_ref2(text, start, kind)
        result.append(Literal(content, kind[0], language[1] if language else ""))
        return end

    def uri_ref2(self, text: str, i: int, result: Any) -> int:
        """Read an IRI by RFC 3986: rdflib keeps dot segments and the base's query."""
        start = self.skipSpace(text, i)
        word = _WORD.match(text, start) if start >= 0 else None
        if not word or word.lastgroup not in ("iri", "name", "blank"):
            return -1
        if word.lastgroup == "iri":
            iri = _CODES.sub(_decode_character, word[0][1:-1])
            base = "" if self._baseURI == _NO_BASE else str(self._baseURI)
            result.append(self.sink.collector.iri(iri, base, self.sink.spot(start)))
            return word.end()
        prefix = word[0].partition(":")[0]
        if word.lastgroup == "name" and prefix not in self._bindings:
            self.sink.fail(f"No '@prefix {prefix}:' precedes this name:")
        end = int(super().uri_ref2(text, start, result))
        if end != word.end():
            self.sink.fail("Expected one word here", start)
        return end

    def anonymousNode(self, label: str) -> Any:  # noqa: N802
        if label not in self._anonymousNodes:
            node: Any = self.sink.blank(self.sink.position)
            self._anonymousNodes[label] = node
        return self._anonymousNodes[label]

    def here(self, i: int) -> str:
        return str(i)

    def blankNode(self, uri: str | None = None) -> Any:  # noqa: N802
        node = self.sink.blank(int(uri or 0))
        self.sink.note_subject(node, int(uri or 0))
        return node

    def makeStatement(self, quadruple: Any) -> None:  # noqa: N802
        _, predicate, subject, value = quadruple
        self.sink.add(subject, predicate.term, value, predicate.start)

    def skipSpace(self, text: str, i: int) -> int:  # noqa: N802
        self.sink.position = self._skip_space(i)
        return self.sink.position if self.sink.position < len(text) else -1

    def bind(self, qn: str, _: bytes) -> None:
        """Check the length of a namespace; prefixes stay as they are written."""
        self.sink.collector.check_namespace(self._bindings[qn], self.sink.spot(self.sink.position))

    def BadSyntax(self, text: str, *_: Any) -> NoReturn:  # noqa: N802
        """Report what was expected at the place where rdflib stopped."""
        marks = [_TERM if text[start] == "(" else "']'" for start in self.sink.brackets]
        self.sink.fail(f"Expected {marks[-1] if marks else _DOT} here")

    def _dot(self, text: str, i: int) -> int:
        start = self.skipSpace(text, i)
        if start < 0 or text[start] != ".":
            self.sink.fail(f"Expected {_DOT} here")
        return start + 1

    def _kind(self, text: str, start: int) -> str:
        word = _WORD.match(text, start) if start >= 0 else None
        return str(word.lastgroup) if word else ""

    def _skip_space(self, i: int) -> int:
        space = _SPACES.match(self.sink.text, i)
        return space.end() if space else i
