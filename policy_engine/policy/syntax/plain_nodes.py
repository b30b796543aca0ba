"""The nodes of JSON-LD in which nothing can be wrong, checked and expanded in one go.

What may be wrong in an object depends on its keys, and on the names in it. Large texts have many
objects of the same keys, and the same names many times: each is checked once. It is the checks of
`expansion_checks.py` that say so, and the values are those of `expanded_values.py`. Objects of
other shapes than texts usually have are left to these (`UnclearNodeError`).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from policy_engine import terms
from policy_engine.policy.syntax.contexts import Context, Definition
from policy_engine.policy.syntax.expanded_values import (
    NAMELESS_TEXT,
    OPERAND_PROPERTIES,
    POINTER,
    PREFIXED_NAME,
    RIGHT,
    expanded_scalar,
    operand_definition,
)
from policy_engine.policy.syntax.expansion_checks import name_problems, value_problems
from policy_engine.policy.syntax.json_text import Document, escape
from policy_engine.policy.syntax.patience import check_awaited

_Node = dict[str, Any]
_LITERALS = ({"@value"}, {"@value", "@type"})
_OF_KEYWORD = Definition("@type", "@vocab")


class UnclearNodeError(Exception):
    """An object, or a name in it, in which something may be wrong."""


class _Step(NamedTuple):
    """What is done with one key of an object."""

    key: str
    iri: str
    way: str
    term: "_Term"


class _Shape(NamedTuple):
    """What the objects with some keys are: nodes, literals or lists."""

    kind: str
    steps: tuple[_Step, ...]
    operands: tuple[str, ...]
    """The keys of the left operand and the data type, by which a right operand is read."""


class _Scope:
    """The terms in force at some places, and what was found out by them."""

    def __init__(self, context: Context, document: Document) -> None:
        self.context = context
        self.document = document
        self.shapes: dict[tuple[str, ...], _Shape] = {}
        self.ids: dict[str, str] = {}
        self.types: dict[str, str] = {}
        self._terms: dict[tuple[str, str], _Term] = {}
        self._right_terms: dict[tuple[str, ...], _Term] = {}

    def right_term(self, source: Mapping[str, Any], key: str, shape: _Shape) -> "_Term":
        """Return a right operand as a term, by what is on its left."""
        names = (key, *(source[name] for name in shape.operands))
        are_texts = all(isinstance(name, str) for name in names)
        term = self._right_terms.get(names) if are_texts else None
        if term is None:
            definition = operand_definition(source, self.context.key(key), self.context)
            term = self.term(key, definition)
            if are_texts:
                self._right_terms[names] = term
        return term

    def term(self, key: str, definition: Definition) -> "_Term":
        """Return a key as a term that values are read by."""
        term = self._terms.get((key, definition.type))
        if term is None:
            inner = (
                _Scope(self.context.value_scope(definition), self.document)
                if definition.scoped
                else self
            )
            term = self._terms[key, definition.type] = _Term(definition, inner)
        return term

    def shape(self, value: Mapping[str, Any], *, is_top: bool) -> _Shape:
        """Return the shape of an object by its keys. Raises UnclearNodeError."""
        keys = [key for key in value if not (is_top and key == "@context")]
        definitions = [self.context.key(key) for key in keys]
        iris = [definition.iri for definition in definitions]
        if len({*iris}) < len(iris) or any(
            next(iter(name_problems(self.document, key, "", self.context, of_key=True)), None)
            for key in keys
        ):
            raise UnclearNodeError
        steps = tuple(
            _Step(key, one.iri, f"/{escape(key)}", self.term(key, one))
            for key, one in zip(keys, definitions, strict=True)
        )
        operands = tuple(key for key, iri, *_ in steps if iri in OPERAND_PROPERTIES)
        if not is_top and {*iris} in _LITERALS:
            return _Shape("literal", steps, operands)
        if not is_top and iris == ["@list"]:
            return _Shape("list", steps, operands)
        if not all(iri in ("@id", "@type") or (":" in iri and iri[0] != "@") for iri in iris):
            raise UnclearNodeError
        return _Shape("node", steps, operands)

    def id(self, text: Any) -> str:
        """Return the IRI of an `@id`. Raises UnclearNodeError where it may not be one."""
        iri = self.ids.get(text) if isinstance(text, str) else None
        if iri is None:
            self._check_name(text)
            iri = self.ids[text] = self.context.reference(text)
        return iri

    def type(self, text: Any) -> str:
        """Return the IRI of a type. Raises UnclearNodeError where it may not be one."""
        iri = self.types.get(text) if isinstance(text, str) else None
        if iri is None:
            self._check_name(text)
            iri = self.types[text] = self.context.term(text)
        return iri

    def _check_name(self, text: Any) -> None:
        if not isinstance(text, str) or not text:
            raise UnclearNodeError
        self.check(text, _OF_KEYWORD)

    def check(self, text: str, definition: Definition) -> None:
        """Raise UnclearNodeError where something is wrong with a value of a term."""
        if terms.is_plain(text) and len(text) <= self.document.name_characters:
            return
        if next(value_problems(self.document, text, "", self.context, definition), None):
            raise UnclearNodeError


class _Term:
    """A term, and the strings that were read as its values."""

    __slots__ = ("definition", "is_list", "is_typed_text", "scope", "strings")

    def __init__(self, definition: Definition, scope: _Scope) -> None:
        self.definition = definition
        self.scope = scope
        self.is_list = definition.is_list
        self.is_typed_text = definition.type in (PREFIXED_NAME, NAMELESS_TEXT)
        self.strings: dict[str, list[_Node]] = {}

    def string(self, text: str) -> list[_Node]:
        """Return a string expanded. Raises UnclearNodeError where something is wrong with it."""
        self.scope.check(text, self.definition)
        value = expanded_scalar(text, self.scope.context, self.definition)
        values = self.strings[text] = [value]
        return values


class PlainNodes(NamedTuple):
    """The nodes at the top of an object, and all nodes, each before those within it."""

    tops: list[_Node]
    all: list[_Node]


def plain_nodes(
    document: Document, value: Mapping[str, Any], pointer: str, context: Context
) -> PlainNodes | None:
    """Return the nodes of an object at the top of a document; None where something may be wrong."""
    expander = _Expander()
    try:
        return PlainNodes(expander.top(document, value, pointer, context), expander.nodes)
    except UnclearNodeError:
        return None


class _Expander:
    """Expands objects; `nodes` are those about things, outer ones first."""

    def __init__(self) -> None:
        self.nodes: list[_Node] = []

    def top(
        self, document: Document, value: Mapping[str, Any], pointer: str, context: Context
    ) -> list[_Node]:
        """Return the nodes of an object at the top, in order. Raises UnclearNodeError."""
        scope = _Scope(context, document)
        if "@graph" not in value:
            return [self._node(value, pointer, scope, scope.shape(value, is_top=True))]
        parts = value["@graph"]
        if value.keys() - {"@graph", "@context"} or not isinstance(parts, list) or not parts:
            raise UnclearNodeError
        if not all(isinstance(part, dict) for part in parts):
            raise UnclearNodeError
        term = _Term(Definition("@graph"), scope)
        nodes = [self._object(one, f"{pointer}/@graph/{n}", term) for n, one in enumerate(parts)]
        if not all(POINTER in node for node in nodes):
            raise UnclearNodeError
        return nodes

    def _object(self, value: dict[str, Any], pointer: str, term: _Term) -> _Node:
        scope = term.scope
        keys = (*value,)
        shape = scope.shapes.get(keys)
        if shape is None:
            shape = scope.shapes[keys] = scope.shape(value, is_top=False)
        kind = shape.kind
        if kind == "node":
            return self._node(value, pointer, scope, shape)
        if kind == "literal":
            return _literal(value, scope, shape.steps, term)
        [step] = shape.steps
        return {"@list": self._values(value[step.key], pointer + step.way, term)}

    def _node(self, source: Mapping[str, Any], pointer: str, scope: _Scope, shape: _Shape) -> _Node:
        check_awaited()
        node: _Node = {POINTER: pointer}
        self.nodes.append(node)
        for key, iri, way, term in shape.steps:
            value = source[key]
            if iri == "@id":
                node[iri] = scope.id(value)
            elif iri == "@type":
                names = value if isinstance(value, list) else [value]
                if not names:
                    raise UnclearNodeError
                node[iri] = [scope.type(name) for name in names]
            else:
                if iri == RIGHT:
                    term = scope.right_term(source, key, shape)  # noqa: PLW2901
                # Most values are strings that were read before.
                values = term.strings.get(value) if type(value) is str else None
                values = values or self._values(value, pointer + way, term)
                node[iri] = [{"@list": values}] if _is_to_be_list(term, value, values) else values
        return node

    def _values(self, value: Any, pointer: str, term: _Term) -> list[_Node]:
        kind = type(value)
        if kind is str:
            return term.strings.get(value) or term.string(value)
        if kind is dict:
            return [self._object(value, pointer, term)]
        if kind is not list:
            if value is None:
                raise UnclearNodeError
            return [expanded_scalar(value, term.scope.context, term.definition)]
        if not value or list in map(type, value):
            raise UnclearNodeError
        return [
            one
            for n, item in enumerate(value)
            for one in self._values(item, f"{pointer}/{n}", term)
        ]


def _is_to_be_list(term: _Term, value: Any, values: list[_Node]) -> bool:
    """Tell whether values that are not written as a list are one by the definition of their
    term."""
    return term.is_list and not (isinstance(value, dict) and "@list" in values[0])


def _literal(
    value: Mapping[str, Any], scope: _Scope, steps: tuple[_Step, ...], term: _Term
) -> _Node:
    if term.is_typed_text:
        raise UnclearNodeError
    literal: _Node = {}
    for key, iri, _, _ in steps:
        part = value[key]
        if iri == "@type":
            literal[iri] = scope.type(part)
        elif part is None or isinstance(part, dict | list):
            raise UnclearNodeError
        else:
            literal[iri] = part
    return literal
