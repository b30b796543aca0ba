"""Statements to Turtle, N-Triples and RDF/XML."""

import re
from collections.abc import Iterator, Mapping
from typing import NoReturn

from policy_engine import terms
from policy_engine.data.rdf.statements import (
    NIL,
    STRING,
    TYPE,
    Literal,
    Spot,
    Statement,
    Statements,
    Term,
    is_blank,
)
from policy_engine.errors import Place, PolicyError, Problem
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS
from policy_engine.policy.syntax.rdf.shape import Shape
from policy_engine.policy.syntax.rdf.texts import name_like_texts

_UNWRITTEN = re.compile(r'[\x00-\x1f"\\\x7f-\x9f]')
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_LOCAL = re.compile("[A-Za-z_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?")
_PREFIX = re.compile("[A-Za-z](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?")
_XML_LOCAL = re.compile("[A-Za-z_][A-Za-z0-9_.-]*$")
_IN_XML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;"})
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NO_PROPERTY = {f"{terms.RDF}{name}" for name in ("li", "Description", "RDF", "ID", "about")}
_NO_PROPERTY |= {f"{terms.RDF}{name}" for name in ("parseType", "resource", "nodeID", "datatype")}
_NO_PROPERTY |= {f"{terms.RDF}{name}" for name in ("bagID", "aboutEach", "aboutEachPrefix")}
_BARE = {
    f"{terms.XSD}integer": re.compile("0|-?[1-9][0-9]*"),
    f"{terms.XSD}decimal": re.compile(r"-?[0-9]+\.[0-9]+"),
    f"{terms.XSD}double": re.compile(r"-?[0-9]\.[0-9]+E-?[0-9]+"),
    f"{terms.XSD}boolean": re.compile("true|false"),
}


def to_n_triples(statements: Statements) -> str:
    """Return the statements in N-Triples, a line each (RDF 1.1 N-Triples, section 2)."""
    return "".join(
        f"{_n_triples_term(one.subject)} <{one.predicate}> {_n_triples_term(one.value)} .\n"
        for one in statements.items
    )


def to_turtle(statements: Statements) -> str:
    """Return the statements in Turtle, nodes without a name in brackets (RDF 1.1 Turtle)."""
    writer = _Turtle(Shape(statements), _prefixes(statements))
    blocks = [*writer.blocks()]
    head = [
        f"@prefix {name}: <{iri}> .\n"
        for iri, name in writer.prefixes.items()
        if name in writer.used
    ]
    return "\n".join(["".join(head), *blocks] if head else blocks)


def to_rdf_xml(statements: Statements) -> str:
    """Return the statements in RDF/XML, an element for each subject (RDF 1.1 XML Syntax).

    Raises PolicyError (F002) for what XML cannot hold: a property whose IRI does not end in a
    name, and a control character.
    """
    try:
        return _rdf_xml(statements)
    except PolicyError as error:
        raise PolicyError(*error.problems, source=statements.source) from None


def _rdf_xml(statements: Statements) -> str:
    tags = _tags(statements)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    spaces = {iri: tag.partition(":")[0] for iri, tag in tags.values()}
    declared = {terms.RDF: "rdf", **spaces}
    lines.append(
        "<rdf:RDF" + "".join(f"\n    xmlns:{p}={_attribute(n)}" for n, p in declared.items())
    )
    lines[-1] += ">"
    for subject, statements_by_predicate in Shape(statements).statements_by_subject.items():
        lines.append(f"  <rdf:Description {_xml_node(subject, 'about')}>")
        for predicate, values in statements_by_predicate.items():
            lines += [_xml_property(tags[predicate][1], one) for one in values]
        lines.append("  </rdf:Description>")
    return "\n".join([*lines, "</rdf:RDF>", ""])


# -- Turtle and N-Triples ------------------------------------------------------------------------


def _n_triples_term(term: Term) -> str:
    if isinstance(term, str):
        return term if is_blank(term) else f"<{term}>"
    text = _quoted(term.text)
    if term.language:
        return f"{text}@{term.language}"
    return text if term.type == STRING else f"{text}^^<{term.type}>"


def _quoted(text: str) -> str:
    def written(match: re.Match[str]) -> str:
        return _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04X}"

    return f'"{_UNWRITTEN.sub(written, text)}"'


def _prefixes(statements: Statements) -> dict[str, str]:
    """Return the prefixes of a text and the well-known ones, by namespace.

    Not declared is what texts begin with that would be refused beside a declaration of it.
    """
    others = {*terms.PREFIXES, *(prefix for _, prefix in name_like_texts(statements))}
    own = {
        iri: name
        for name, iri in statements.prefixes.items()
        if _PREFIX.fullmatch(name) and iri and name not in others
    }
    return {**own, **{iri: name for name, iri in terms.PREFIXES.items()}}


class _Turtle:
    """Writes a block for each node that is not nested in another's."""

    def __init__(self, shape: Shape, prefixes: Mapping[str, str]) -> None:
        self.shape = shape
        self.prefixes = prefixes
        self.used: set[str] = set()
        self.written: set[str] = set()

    def blocks(self) -> Iterator[str]:
        for node in self.shape.tops():
            if node not in self.written:
                self.written.add(node)
                is_bare = is_blank(node) and not self.shape.references[node]
                subject = "[]" if is_bare else self._term(node, 0)
                yield f"{subject}{self._predicates(node, 1)} .\n"

    def _predicates(self, node: str, depth: int) -> str:
        pad = "\n" + "  " * depth
        parts = []
        for predicate, values in self.shape.statements_by_subject[node].items():
            name = "a" if predicate == TYPE else self._name(predicate)
            parts.append(f"{name} " + ", ".join(self._value(one, depth) for one in values))
        return f"{pad if depth > 1 else ' '}" + f" ;{pad}".join(parts)

    def _value(self, statement: Statement, depth: int) -> str:
        node = statement.value
        if node == NIL:
            return "()"
        if isinstance(node, Literal) or node in self.written or depth > DEFAULT_LIMITS.depth - 4:
            return self._term(node, depth)
        if node in self.shape.lists:
            self.written.update(self.shape.chain(node))
            items = (self._value(one, depth + 1) for one in self.shape.lists[node])
            return f"( {' '.join(items)} )"
        if self.shape.is_inner(node) and node not in self.shape.policies:
            self.written.add(node)
            if node not in self.shape.statements_by_subject:
                return "[]"
            return f"[{self._predicates(node, depth + 1)}\n{'  ' * depth}]"
        return self._term(node, depth)

    def _term(self, term: Term, _depth: int) -> str:
        if isinstance(term, str):
            return term if is_blank(term) else self._name(term)
        bare = _BARE.get(term.type)
        if bare and bare.fullmatch(term.text):
            return term.text
        if term.language or term.type == STRING:
            return _n_triples_term(term)
        return f"{_quoted(term.text)}^^{self._name(term.type)}"

    def _name(self, iri: str) -> str:
        local = _LOCAL.search(iri, max(iri.rfind(mark) for mark in "/#:") + 1)
        space = iri[: local.start()] if local and local.end() == len(iri) else ""
        if local and space in self.prefixes:
            self.used.add(self.prefixes[space])
            return f"{self.prefixes[space]}:{local[0]}"
        return f"<{iri}>"


# -- RDF/XML -------------------------------------------------------------------------------------


def _tags(statements: Statements) -> dict[str, tuple[str, str]]:
    """Return the namespace and the element of each property."""
    prefixes = {**_prefixes(statements), terms.RDF: "rdf"}
    used_prefixes = set(prefixes.values())
    tags: dict[str, tuple[str, str]] = {}
    for one in statements.items:
        if one.predicate not in tags:
            local = _XML_LOCAL.search(one.predicate)
            if local is None or local.start() == 0 or one.predicate in _NO_PROPERTY:
                _refuse(
                    f"The property {one.predicate!r:.80} cannot be written in RDF/XML.", one.key
                )
            space = one.predicate[: local.start()]
            if space not in prefixes:
                prefixes[space] = next(
                    name
                    for n in range(len(used_prefixes) + 1)
                    if (name := f"ns{n}") not in used_prefixes
                )
                used_prefixes.add(prefixes[space])
            tags[one.predicate] = space, f"{prefixes[space]}:{local[0]}"
    return tags


def _xml_node(node: str, attribute: str) -> str:
    if is_blank(node):
        return f'rdf:nodeID="{node[2:]}"'
    return f"rdf:{attribute}={_attribute(node)}"


def _xml_property(tag: str, statement: Statement) -> str:
    value = statement.value
    if isinstance(value, str):
        return f"    <{tag} {_xml_node(value, 'resource')}/>"
    invalid = _NO_XML.search(value.text)
    if invalid:
        _refuse(f"The character {invalid[0]!r} cannot be written in XML.", statement.spot)
    extra = f" rdf:datatype={_attribute(value.type)}" if value.type != STRING else ""
    extra = f' xml:lang="{value.language}"' if value.language else extra
    text = value.text.translate(_IN_XML)
    return f"    <{tag}{extra}>{text}</{tag}>"


def _attribute(iri: str) -> str:
    return f'"{iri.translate(_IN_XML)}"'


def _refuse(message: str, spot: Spot) -> NoReturn:
    hint = "Write it in Turtle or in JSON-LD."
    raise PolicyError(Problem("F002", message, hint, Place("", *spot)))
