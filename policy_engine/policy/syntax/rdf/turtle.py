"""Turtle and N-Triples to statements (RDF 1.1 Turtle, section 6; RDF 1.1 N-Triples, section 7).

Every text in N-Triples is one in Turtle. The reader is our own, so that each statement keeps
its place, each literal its very text, and nothing is fetched or guessed.
"""

import bisect
import re
from typing import NoReturn

from policy_engine import terms
from policy_engine.policy.syntax.limits import USUAL, Limits
from policy_engine.policy.syntax.rdf.statements import (
    FIRST,
    NIL,
    REST,
    STRING,
    TYPE,
    Collector,
    Literal,
    Spot,
    Statements,
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
_TOKENS = {
    "iri": r'<[^\x00-\x20<>"{}|^`]*+>',
    "blank": f"_:[{_LETTERS}_0-9](?:[{_INNER}.]*[{_INNER}])?",
    "long": r'"""[^"\\]*+(?:(?:\\.|""?+(?!"))[^"\\]*+)*+"""'
    r"|'''[^'\\]*+(?:(?:\\.|''?+(?!'))[^'\\]*+)*+'''",
    "string": r'"(?!"")[^"\\\n\r]*+(?:\\.[^"\\\n\r]*+)*+"|'
    r"'(?!'')[^'\\\n\r]*+(?:\\.[^'\\\n\r]*+)*+'",
    "double": r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)[eE][+-]?[0-9]+",
    "decimal": r"[+-]?[0-9]*\.[0-9]+",
    "integer": r"[+-]?[0-9]+",
    "name": f"{_PREFIX}:(?:{_LOCAL})?",
    "word": "@?[A-Za-z]+(?:-[A-Za-z0-9]+)*",
    "mark": r"\^\^|[.;,\[\]()]",
}
_TOKEN = re.compile("|".join(f"(?P<{kind}>{form})" for kind, form in _TOKENS.items()), re.DOTALL)
_SPACE = re.compile(r"(?:[ \t\r\n]++|#[^\r\n]*+)*+")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.)|)", re.DOTALL)
_CHARACTERS = dict(zip("tbnrf\"'\\", "\t\b\n\r\f\"'\\", strict=True))
_NUMBERS = ("integer", "decimal", "double")


def read_turtle(text: str, source: str = "", limits: Limits = USUAL) -> Statements:
    """Return the statements of a text in Turtle or N-Triples.

    Raises PolicyError with the place of what is no Turtle (F001), of a relative IRI without a
    base (L006), and of what is nested too deeply or says too much (J003).
    """
    return _Reader(text, source, limits).read()


class _Reader:
    """A recursive-descent reader, one word ahead."""

    def __init__(self, text: str, source: str, limits: Limits) -> None:
        self.text = text
        self.lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self.found = Collector(text, source, limits)
        self.base = ""
        self.kind = self.word = ""
        self.start = self.end = 0
        self.depth = 0

    def read(self) -> Statements:
        self._advance()
        while self.kind != "end":
            if self.kind == "word" and self.word.lstrip("@").lower() in ("prefix", "base"):
                self._directive()
            else:
                self._triples()
                self._expect(".")
        return self.found.statements()

    # -- statements ------------------------------------------------------------------------------

    def _directive(self) -> None:
        word, has_mark = self.word, self.word.startswith("@")
        if has_mark and word not in ("@prefix", "@base"):
            self._fail("Expected '@prefix' or '@base' in small letters here")
        self._advance()
        if word.lower().endswith("base"):
            self.base = self._iri()
        elif self.kind == "name" and self.word.endswith(":") and self.word.count(":") == 1:
            prefix = self.word[:-1]
            self._advance()
            self.found.prefixes[prefix] = self._iri()
        else:
            self._fail("Expected a prefix with its colon here")
        if has_mark:
            self._expect(".")

    def _triples(self) -> None:
        spot = self._spot()
        if self.word == "[":
            subject = self.found.blank()
            if self._description(subject) and self.word == ".":
                return
        elif self.kind in ("iri", "name", "blank") or self.word == "(":
            subject = str(self._object())
        else:
            self._fail("Expected a subject here")
        self.found.about(subject, spot)
        self._predicates(subject)

    def _predicates(self, subject: str) -> None:
        while True:
            key, predicate = self._spot(), self._predicate()
            while True:
                spot = self._spot()
                self._state(subject, predicate, key, spot)
                if self.word != ",":
                    break
                self._advance()
            if self.word != ";":
                return
            while self.word == ";":
                self._advance()
            if self.word in (".", "]"):
                return

    def _state(self, subject: str, predicate: str, key: Spot, spot: Spot) -> None:
        """Take up a statement before what is said inside its object: the order of the text."""
        if self.word == "[":
            node = self.found.blank()
            self.found.state(subject, predicate, node, key, spot)
            self._description(node)
        else:
            self.found.state(subject, predicate, self._object(), key, spot)

    def _predicate(self) -> str:
        if (self.kind, self.word) == ("word", "a"):
            self._advance()
            return TYPE
        if self.kind not in ("iri", "name"):
            self._fail("Expected a predicate here")
        return self._iri()

    # -- terms -----------------------------------------------------------------------------------

    def _object(self) -> Term:
        kind, word = self.kind, self.word
        if kind in ("iri", "name"):
            return self._iri()
        if kind in ("string", "long"):
            return self._literal()
        if kind == "blank":
            self._advance()
            return self.found.blank(word)
        if kind in _NUMBERS or (kind == "word" and word in ("true", "false")):
            self._advance()
            return Literal(word, f"{terms.XSD}{kind if kind in _NUMBERS else 'boolean'}")
        if word != "(":
            self._fail("Expected a name, a literal, '[' or '(' here")
        return self._list()

    def _description(self, node: str) -> bool:
        """Read what stands in brackets; tell whether anything does."""
        self._deeper()
        self.found.about(node, self._spot())
        self._advance()
        is_empty = self.word == "]"
        if not is_empty:
            self._predicates(node)
        self._expect("]")
        self.depth -= 1
        return not is_empty

    def _list(self) -> str:
        self._deeper()
        spot, head, cell = self._spot(), NIL, ""
        self._advance()
        while self.word != ")":
            at, node = self._spot(), self.found.blank()
            self.found.about(node, at if cell else spot)
            if cell:
                self.found.state(cell, REST, node, at, at)
            head, cell = (head if cell else node), node
            self._state(cell, FIRST, at, at)
        if cell:
            self.found.state(cell, REST, NIL, self._spot(), self._spot())
        self._advance()
        self.depth -= 1
        return head

    def _iri(self) -> str:
        spot, word = self._spot(), self.word
        if self.kind == "iri":
            found = self.found.iri(self._unescaped(word[1:-1], "uU"), self.base, spot)
        elif self.kind == "name":
            prefix, _, local = word.partition(":")
            if prefix not in self.found.prefixes:
                self._fail(f"No '@prefix {prefix}:' stands before this name:")
            local = re.sub(r"\\(.)", r"\1", local)
            found = self.found.iri(self.found.prefixes[prefix] + local, "", spot)
        else:
            self._fail("Expected an IRI here")
        self._advance()
        return found

    def _literal(self) -> Literal:
        quotes = 3 if self.kind == "long" else 1
        text = self._unescaped(self.word[quotes:-quotes], "uU" + "".join(_CHARACTERS))
        self._advance()
        if self.word == "^^":
            self._advance()
            return Literal(text, self._iri())
        if self.kind == "word" and self.word.startswith("@"):
            language = self.word[1:]
            self._advance()
            return Literal(text, f"{terms.RDF}langString", language)
        return Literal(text, STRING)

    def _unescaped(self, text: str, allowed: str) -> str:
        def character(match: re.Match[str]) -> str:
            number = match[1] or match[2]
            if number and int(number, 16) < 0x110000 and not 0xD800 <= int(number, 16) < 0xE000:
                return chr(int(number, 16))
            if match[3] not in _CHARACTERS or match[3] not in allowed:
                self._fail(f"{match[0]!r} is no escape; it stands in this:")
            return _CHARACTERS[match[3]]

        return _ESCAPE.sub(character, text) if "\\" in text else text

    # -- tokens ----------------------------------------------------------------------------------

    def _advance(self) -> None:
        space = _SPACE.match(self.text, self.end)
        self.start = space.end() if space else self.end
        match = _TOKEN.match(self.text, self.start)
        if match:
            self.kind, self.word, self.end = str(match.lastgroup), match[0], match.end()
        elif self.start == len(self.text):
            self.kind, self.word = "end", ""
        else:
            self.kind, self.word = "unknown", self.text[self.start]

    def _expect(self, mark: str) -> None:
        if self.word != mark:
            self._fail(f"Expected {mark!r} here")
        self._advance()

    def _deeper(self) -> None:
        self.depth += 1
        self.found.check_depth(self.depth, self._spot())

    def _spot(self) -> Spot:
        line = bisect.bisect_right(self.lines, self.start)
        return line, self.start - self.lines[line - 1] + 1

    def _fail(self, expected: str) -> NoReturn:
        """Refuse the word at hand; what was expected ends in `here`, `this` or a colon."""
        found = f"{self.word!r:.60}" if self.word else "the end of the text"
        hint = ""
        if self.kind == "unknown" and self.word in ("'", '"', "<"):
            hint = "What this mark opens is not closed, or holds a character that it may not."
        mark = "" if expected.endswith(":") else ", found"
        self.found.fail("F001", f"{expected}{mark} {found}.", self._spot(), hint)
