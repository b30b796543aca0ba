"""Statements to the JSON-LD that a person would write (JSON-LD 1.1, section 4)."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from policy_engine import terms
from policy_engine.data.rdf.statements import (
    NIL,
    REST,
    STRING,
    TYPE,
    UNKNOWN,
    Literal,
    Spot,
    Statement,
    Statements,
    is_blank,
)
from policy_engine.errors import Place, PolicyError, Problem
from policy_engine.policy.structure import GROUP_BY, QUERIES
from policy_engine.policy.syntax.contexts import Definition, is_compact
from policy_engine.policy.syntax.json_text import Document, escape
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS
from policy_engine.policy.syntax.rdf.names import TermNames, names_for
from policy_engine.policy.syntax.rdf.shape import MANY, Shape

_UID = f"{terms.ODRL}uid"
_RULES = {f"{terms.ODRL}{name}" for name in ("permission", "prohibition", "obligation")}
_STRUCTURE = (terms.ODRL, terms.MOSAICROWN, terms.PE, terms.RDF)
_INTEGER = re.compile("0|-?[1-9][0-9]{0,14}")
_WORDS = {"true": True, "false": False}

_RIGHT = f"{terms.ODRL}rightOperand"


@dataclass(frozen=True)
class Converted(Document):
    """The JSON-LD of a text in another syntax; its places are those of that text."""

    name_characters: int = field(
        default=sys.maxsize, kw_only=True
    )  # counted when its statements were read
    spots: Mapping[str, Spot] = field(default_factory=dict, repr=False)
    key_spots: Mapping[str, Spot] = field(default_factory=dict, repr=False)

    @property
    def has_contexts(self) -> bool:
        """Whether contexts declare the prefixes of its names: its IRIs are all whole."""
        return False

    def place(self, pointer: str, *, of_key: bool = False) -> Place:
        """Return the place of the statement that a value (or its key) was made of."""
        spots = self.key_spots if of_key and pointer in self.key_spots else self.spots
        return Place(pointer, *spots.get(pointer, UNKNOWN))


def json_ld_of(statements: Statements) -> Converted:
    """Return the JSON-LD that says what the statements say, the policies first.

    Every node is described where something of ODRL first refers to it, or at the top; blank
    nodes have a label where they are referred to from elsewhere. Raises PolicyError where a
    subject has an `odrl:uid` other than itself (P002), where nothing is said (P001), and for an
    IRI that JSON-LD cannot hold (F002).
    """
    remaining = _without_uids(statements)
    if not remaining.items:
        message = "The text has no statements."
        raise PolicyError(Problem("P001", message), source=statements.source)
    iris = {term for one in remaining.items for term in one[:3] if isinstance(term, str)}
    iris |= {one.value.type for one in remaining.items if isinstance(one.value, Literal)}
    shape = Shape(remaining)
    names, contexts = names_for(remaining.prefixes, iris, is_in_profile=_is_in_profile(shape))
    tree = _Tree(shape, names)
    try:
        nodes = tree.nodes()
    except PolicyError as error:
        raise PolicyError(*error.problems, source=statements.source) from None
    own = {name: iri for name, iri in names.own.items() if name in names.used}
    entries = [*contexts, *([own] if own else [])]
    head = {"@context": entries if len(entries) > 1 else entries[0]}
    document = {**head, **nodes[0]} if len(nodes) == 1 else {**head, "@graph": nodes}
    prefix = "/@graph/0" if len(nodes) == 1 else ""
    spots, keys = (
        {pointer.removeprefix(prefix): spot for pointer, spot in spots_by_pointer.items()}
        for spots_by_pointer in (tree.spots, tree.key_spots)
    )
    return Converted(document, statements.text, {}, {}, (), [0], spots, keys)


def _is_in_profile(shape: Shape) -> bool:
    """Tell whether what the text is about, each of its policies if any, uses MOSAICrOWN names."""
    nodes = list(shape.policies or shape.statements_by_subject)[: MANY + 1]
    uses = (shape.uses(node, terms.MOSAICROWN) for node in nodes)
    return any(uses) if not shape.policies else len(nodes) <= MANY and all(uses)


def _without_uids(statements: Statements) -> Statements:
    """Leave out what `odrl:uid` says, which in RDF is the subject itself."""
    problems, remaining = [], []
    for one in statements.items:
        if one.predicate != _UID:
            remaining.append(one)
        elif one.value != one.subject:
            uid = one.value if isinstance(one.value, str) else one.value.text
            message = f"An odrl:uid is the IRI of what has it. Given: {uid!r:.80}."
            subject = "a node without a name" if is_blank(one.subject) else repr(one.subject)
            hint = f"It is said of {subject:.80}."
            problems.append(Problem("P002", message, hint, Place("", *one.spot)))
    if problems:
        raise PolicyError(*problems, source=statements.source)
    return Statements(
        tuple(remaining),
        statements.spots,
        statements.prefixes,
        statements.text,
        statements.source,
    )


class _Tree:
    """Writes nodes as JSON objects; `written` are those that have theirs."""

    def __init__(self, shape: Shape, names: TermNames) -> None:
        self.shape = shape
        self.names = names
        self.holders = _holders(shape)
        self.written: set[str] = set()
        self.spots: dict[str, Spot] = {"": UNKNOWN}
        self.key_spots: dict[str, Spot] = {}

    def nodes(self) -> list[dict[str, Any]]:
        """Return the objects at the top."""
        objects: list[dict[str, Any]] = []
        for node in self.shape.tops():
            if node not in self.written:
                labelled = self.shape.references[node] > 0
                pointer = f"/@graph/{len(objects)}"
                objects.append(self._node(node, pointer, self.names, has_label=labelled))
        return objects

    def _node(
        self, node: str, pointer: str, names: TermNames, *, has_label: bool
    ) -> dict[str, Any]:
        self.written.add(node)
        self.spots[pointer] = self.shape.statements.spots.get(node, UNKNOWN)
        statements = self.shape.statements_by_subject.get(node, {})
        result: dict[str, Any] = self._types(statements.get(TYPE, []), pointer, names)
        if has_label or not is_blank(node):
            result["uid"] = node if is_blank(node) else names.whole(node)
            self.spots[f"{pointer}/uid"] = self.key_spots[f"{pointer}/uid"] = self.spots[pointer]
        for predicate, values in statements.items():
            property_values = [one for one in values if predicate != TYPE or not _is_name(one)]
            if property_values:
                self._property(result, predicate, property_values, pointer, names)
        return result

    def _types(self, values: list[Statement], pointer: str, names: TermNames) -> dict[str, Any]:
        kinds = [one for one in values if _is_name(one)]
        at = f"{pointer}/@type"
        for step, one in enumerate(kinds):
            self.key_spots.setdefault(at, one.key)
            self.spots[at if len(kinds) == 1 else f"{at}/{step}"] = one.spot
        type_names = [names.term(str(one.value)) for one in kinds]
        if not type_names:
            return {}
        return {"@type": type_names[0] if len(type_names) == 1 else type_names}

    def _property(
        self,
        result: dict[str, Any],
        predicate: str,
        values: list[Statement],
        pointer: str,
        names: TermNames,
    ) -> None:
        is_one_list = len(values) == 1 and self._is_list(values[0], pointer)
        key = "rdf:type" if predicate == TYPE else names.key(predicate, is_one_list=is_one_list)
        definition, inner_names = names.definition(key), names.value_scope(key)
        at = f"{pointer}/{escape(key)}"
        self.key_spots[at] = self.spots[at] = values[0].key
        under = terms.canonical(predicate)
        if definition.is_list:
            self.spots[at] = values[0].spot
            result[key] = self._items(
                str(values[0].value), at, definition, inner_names, under=under
            )
        elif len(values) > 1 or predicate in _RULES:
            result[key] = [
                self._value(one, f"{at}/{step}", definition, inner_names, under=under)
                for step, one in enumerate(values)
            ]
        else:
            result[key] = self._value(values[0], at, definition, inner_names, under=under)

    def _value(
        self,
        statement: Statement,
        at: str,
        definition: Definition,
        names: TermNames,
        *,
        under: str,
        is_item: bool = False,
    ) -> Any:
        self.spots[at] = statement.spot
        node = statement.value
        if isinstance(node, Literal):
            return _literal(node, definition, names)
        if self._is_list(statement, at):
            self.spots[f"{at}/@list"] = statement.spot
            item_definition = Definition(definition.iri, definition.type)
            items = self._items(node, f"{at}/@list", item_definition, names, under=under)
            return {"@list": items}
        embeds = is_item or under.startswith(_STRUCTURE)
        is_held = self.holders.get(node, under) == under
        if is_held and self._is_embedded(node, at, embeds=embeds):
            return self._node(node, at, names, has_label=not self.shape.is_inner(node))
        if is_blank(node):
            return node if definition.type else {"@id": node}
        if definition.type == "@vocab":
            return names.term(node)
        return names.reference(node) if definition.type else {"@id": names.reference(node)}

    def _items(
        self, head: str, at: str, definition: Definition, names: TermNames, *, under: str
    ) -> list[Any]:
        if head == NIL:
            return []
        self.written.update(self.shape.chain(head))
        return [
            self._value(one, f"{at}/{step}", definition, names, under=under, is_item=True)
            for step, one in enumerate(self.shape.lists[head])
        ]

    def _is_list(self, statement: Statement, at: str) -> bool:
        node = statement.value
        if node == NIL:
            return statement.predicate != REST
        return node in self.shape.lists and node not in self.written and _has_room(at)

    def _is_embedded(self, node: str, at: str, *, embeds: bool) -> bool:
        """Tell whether a node is described here rather than at the top.

        What describes a policy (a title, a source) is not evaluated, so nothing that other
        statements refer to may be described inside it.
        """
        if node in self.written or node in self.shape.policies or not _has_room(at):
            return False
        return self.shape.is_inner(node) or (embeds and node in self.shape.statements_by_subject)


def _holders(shape: Shape) -> dict[str, str]:
    """Return the properties under which nodes are described, wherever else they are named.

    A query is described in its policy, though a rule before it names it as its release.
    """
    return {
        item.value: terms.canonical(one.predicate)
        for one in shape.statements.items
        if terms.canonical(one.predicate) in (QUERIES, GROUP_BY)
        for item in shape.lists.get(str(one.value), [one])
        if isinstance(item.value, str)
    }


def _has_room(pointer: str) -> bool:
    """Tell whether a node may be nested here: deep ones are described at the top."""
    return (
        pointer.count("/") < DEFAULT_LIMITS.depth - 8
        and len(pointer) < DEFAULT_LIMITS.key_characters // 2
    )


def _is_name(statement: Statement) -> bool:
    return isinstance(statement.value, str) and not is_blank(statement.value)


def _literal(literal: Literal, definition: Definition, names: TermNames) -> Any:
    text, kind, language = literal
    if language:
        return {"@value": text, "@language": language}
    if kind == STRING:
        # A text is not a name, though it look like one: see `linked_data`.
        is_text = definition.iri == _RIGHT and is_compact(text)
        return {"@value": text} if definition.type or is_text else text
    is_plain = not definition.type or definition.type.startswith("@")
    if is_plain and kind == f"{terms.XSD}integer" and _INTEGER.fullmatch(text):
        return int(text)
    if is_plain and kind == f"{terms.XSD}boolean" and text in _WORDS:
        return _WORDS[text]
    return {"@value": text, "@type": names.term(kind)}
