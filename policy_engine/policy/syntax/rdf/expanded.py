"""JSON-LD to statements (JSON-LD 1.1 API, section 8.1), by way of the strict expansion."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from policy_engine import terms
from policy_engine.data.rdf.statements import (
    FIRST,
    NIL,
    REST,
    STRING,
    TYPE,
    UNKNOWN,
    Bounds,
    Collector,
    Literal,
    Spot,
    Statements,
    Term,
)
from policy_engine.errors import PolicyError
from policy_engine.policy.structure import DATA_TYPE, LEFT, LOGICAL_PROPERTIES, RIGHT
from policy_engine.policy.syntax.json_ld import POINTER, Graph, expand
from policy_engine.policy.syntax.json_text import Document
from policy_engine.policy.syntax.limits import Limits
from policy_engine.policy.syntax.rdf.shape import MANY, Shape
from policy_engine.policy.syntax.rdf.unique import settings_of, unique_kind
from policy_engine.policy.syntax.repetition import repeated_names, repetition_message
from policy_engine.policy.xsd.literals import (
    NUMERIC_TYPES,
    can_be_read,
    lexical,
    read_literal,
)
from policy_engine.policy.xsd.values import LongFloat

_XSD = terms.XSD
_PROFILE = f"{terms.ODRL}profile"
_PROFILES = {terms.MOSAICROWN, terms.MOSAICROWN.rstrip("/"), terms.PE}
_RULES = {f"{terms.ODRL}{name}" for name in ("permission", "prohibition", "obligation", "duty")}
_RULES |= {f"{terms.ODRL}{name}" for name in ("remedy", "consequence")}


def read_json_ld(
    document: Document, source: str, contexts: Mapping[str, Any], limits: Limits
) -> Statements:
    """Return the statements of a document in JSON-LD.

    Raises PolicyError with every problem that the strict expansion finds, for a relative IRI
    (L006), and for two nodes with one name that would become another: rules (P008), constraints
    (P007), collections (P015), refined actions (P006), policies (D002), settings (F002);
    for a constraint that a logical one names twice (P014), and a number or truth value that
    is none of its type (P007).
    """
    graph = expand(document, contexts, limits)
    if graph.problems:
        raise PolicyError(*graph.problems, source=source)
    reader = _Reader(graph, document.text, source, limits)
    for context in graph.contexts:
        prefixes = {
            name: one.namespace for name, one in context.definitions.items() if one.is_prefix
        }
        reader.collector.prefixes.update(prefixes)
    for node in graph.nodes:
        reader.node(node.data)
    return reader.named_profile()


def bounds_of(limits: Limits) -> Bounds:
    """Return the bounds of statements: there may be half as many as values, each has one or two."""
    return Bounds(
        limits.depth,
        limits.values // 2,
        limits.namespace_characters,
        limits.name_characters,
    )


class _Reader:
    """Walks expanded nodes."""

    def __init__(self, graph: Graph, text: str, source: str, limits: Limits) -> None:
        self.graph = graph
        self.collector = Collector(text, source, bounds_of(limits), PolicyError)
        self.described: dict[str, Spot] = {}
        self.settings: dict[str, tuple[Any, Spot]] = {}

    def named_profile(self) -> Statements:
        """Return the statements; what is in the MOSAICrOWN profile by its context names it.

        A context is not a statement, so in another syntax the policy would leave the profile.
        """
        statements = self.collector.statements()
        tops = [
            self._name(node.data["@id"], UNKNOWN)
            for node in self.graph.nodes
            if "@id" in node.data and "belongsTo" in self.graph.context_at(node.pointer).definitions
        ]
        shape = Shape(statements)
        for node in tops:
            names_it = {
                one.value for one in shape.statements_by_subject.get(node, {}).get(_PROFILE, ())
            } & _PROFILES
            # Of many policies, none is searched: to name the profile that one is in is harmless.
            is_told = len(tops) <= MANY and shape.uses(node, terms.MOSAICROWN)
            if node in shape.policies and not names_it and not is_told:
                self.collector.add_statement(node, _PROFILE, terms.MOSAICROWN, UNKNOWN, UNKNOWN)
        return self.collector.statements()

    def node(self, data: Mapping[str, Any], *, is_rule: bool = False) -> str:
        spot = self._spot(data[POINTER])
        if "@id" in data:
            self._check_unique(data, spot, is_rule=is_rule)
        subject = self._name(data["@id"], spot) if "@id" in data else self.collector.blank()
        self.collector.note_subject(subject, spot)
        for kind in data.get("@type", []):
            self.collector.add_statement(subject, TYPE, self._name(kind, spot), spot, spot)
        number_type = _number_type(data)
        for predicate, values in data.items():
            if not predicate.startswith("@"):
                name = self.collector.iri(predicate, "", spot)
                if terms.canonical(predicate) in LOGICAL_PROPERTIES:
                    self._check_operands(predicate, values, spot)
                is_typed = predicate == RIGHT and number_type
                for value in _typed(values, number_type) if is_typed else values:
                    term = self._term(value, spot, holds_rules=name in _RULES)
                    self.collector.add_statement(subject, name, term, spot, spot)
        return subject

    def _check_unique(self, data: Mapping[str, Any], spot: Spot, *, is_rule: bool) -> None:
        """Refuse to describe a node twice: as statements, both would be one, and wider."""
        uid = data["@id"]
        kind, code = unique_kind(data)
        if is_rule and not data.keys() <= {"@id", POINTER}:
            kind, code = "rules", "P008"
        if kind and uid in self.described:
            line = self.described[uid][0]
            self.collector.fail(
                code, f"Two {kind} have the uid {uid!r}; the first is in line {line}.", spot
            )
        if kind:
            self.described[uid] = spot
        settings = {} if kind else settings_of(data)
        if settings and self.settings.setdefault(uid, (settings, spot))[0] != settings:
            line = self.settings[uid][1][0]
            message = f"The description of {uid!r} differs from that in line {line}."
            hint = "Outside JSON-LD, both would hold wherever it is named. Say the same of it."
            self.collector.fail("F002", message, spot, hint)

    def _check_operands(self, prop: str, values: list[dict[str, Any]], spot: Spot) -> None:
        """Refuse a constraint named twice: as statements it is there once, which `xone` tells."""
        for index, name in repeated_names(values):
            at = self._spot(values[index].get(POINTER, ""))
            message = repetition_message(prop, name)
            self.collector.fail("P014", message, spot if at == UNKNOWN else at)

    def _term(self, data: Mapping[str, Any], spot: Spot, *, holds_rules: bool = False) -> Term:
        if "@value" in data:
            self._check_literal(data, spot)
            return _literal(data)
        if "@list" in data:
            return self._list(data["@list"], spot)
        is_node = POINTER in data
        return self.node(data, is_rule=holds_rules) if is_node else self._name(data["@id"], spot)

    def _check_literal(self, data: Mapping[str, Any], spot: Spot) -> None:
        """Refuse a number or a truth value that is none of its type: its text might be one."""
        value, kind = data["@value"], data.get("@type", "")
        if kind and not isinstance(value, str) and can_be_read(kind):
            try:
                read_literal(value, kind)
            except ValueError as error:
                self.collector.fail("P007", f"{error}.", spot)

    def _list(self, items: list[dict[str, Any]], spot: Spot) -> str:
        cells = [self.collector.blank() for _ in items]
        for cell, rest, item in zip(cells, [*cells[1:], NIL], items, strict=False):
            self.collector.note_subject(cell, spot)
            self.collector.add_statement(cell, FIRST, self._term(item, spot), spot, spot)
            self.collector.add_statement(cell, REST, rest, spot, spot)
        return cells[0] if cells else NIL

    def _name(self, name: str, spot: Spot) -> str:
        return (
            self.collector.blank(name)
            if name.startswith("_:")
            else self.collector.iri(name, "", spot)
        )

    def _spot(self, pointer: str) -> Spot:
        place = self.graph.document.place(pointer)
        return (place.line, place.column) if place.line else UNKNOWN


def _number_type(data: Mapping[str, Any]) -> str:
    """Return the type that the fractions of JSON on the right of a constraint are meant to have.

    It is that beside them, or an integer's where the left operand takes nothing else; empty for the
    double that they are without (JSON-LD 1.1 API, section 8.6).
    """
    data_type, left = (
        next((terms.canonical(one["@id"]) for one in data.get(prop, ()) if "@id" in one), "")
        for prop in (DATA_TYPE, LEFT)
    )
    term = terms.vocabulary().get(left)
    takes = term.iris("takes") if term else ()
    only = takes[0] if len(takes) == 1 else ""
    kind = data_type or (only if only == f"{_XSD}integer" else "")
    return kind if kind.removeprefix(_XSD) in NUMERIC_TYPES else ""


def _typed(values: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """Return values with a type for the fractions among them that can be of it."""
    return [
        {**one, "@list": _typed(one["@list"], kind)}
        if "@list" in one
        else {**one, "@type": kind}
        if isinstance(one.get("@value"), float) and "@type" not in one
        else one
        for one in values
    ]


def _literal(data: Mapping[str, Any]) -> Literal:
    value, kind = data["@value"], data.get("@type", "")
    if "@language" in data:
        return Literal(value, f"{terms.RDF}langString", data["@language"])
    if isinstance(value, bool):
        return Literal(str(value).lower(), kind or f"{_XSD}boolean")
    if isinstance(value, int):
        return Literal(str(value), kind or f"{_XSD}integer")
    if isinstance(value, float):
        is_double = kind in ("", f"{_XSD}double", f"{_XSD}float")
        # A decimal has no exponent, and an integer no fraction.
        text = lexical(Decimal(repr(value))) if can_be_read(kind) else str(value)
        return Literal(_double(value) if is_double else text, kind or f"{_XSD}double")
    return Literal(value, kind or STRING)


def _double(value: float) -> str:
    """Return a number as XML Schema writes a double (XSD 1.1 part 2, appendix E)."""
    if isinstance(value, LongFloat):
        return value.text
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits)).lstrip("0").rstrip("0") or "0"
    power = exponent + len(digits) - 1 if value else 0  # type: ignore[operator]
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{power}"
