"""Right operands read off their nodes: literals, IRIs, and the settings of columns."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from policy_engine import terms
from policy_engine.policy.model import (
    IRI,
    Value,
)
from policy_engine.policy.reading.nodes import (
    format_value,
    is_name_alone,
    property_values,
)
from policy_engine.policy.reading.operands import (
    read_operand,
    typed_number,
)
from policy_engine.policy.reading.walker import Walker
from policy_engine.policy.structure import (
    DATA_TYPE,
    RIGHT,
)
from policy_engine.policy.syntax.json_ld import POINTER, Node
from policy_engine.policy.xsd.literals import TEXT_OF_A_LANGUAGE
from policy_engine.policy.xsd.values import Literals
from policy_engine.terms import is_absolute, relative_iri_problem

_PURPOSE = f"{terms.ODRL}purpose"


class RightOperandReader:
    """Reads the values that a constraint compares with, or that a parameter is given."""

    def __init__(self, walker: Walker) -> None:
        self.walker = walker
        # Texts that were read as literals of a type, on the right of a left operand.
        self._literals_by_text: dict[tuple[str, str, str, bool], Literals] = {}

    def data_type(self, node: Node) -> str:
        """Return the data type that a constraint names, empty where it names none or several."""
        if DATA_TYPE not in node.data:
            return ""
        data_types = [iri for iri, _ in self.walker.iris(node, DATA_TYPE)]
        if len(data_types) > 1:
            message = f"A constraint has one dataType. Given: {len(data_types)}."
            self.walker.add("P007", message, "", node, DATA_TYPE)
        return data_types[0] if data_types else ""

    def values(self, node: Node, operand: str, data_type: str) -> Iterator[Value]:
        """Yield the right operands of a constraint on a left operand, as far as can be read."""
        for index, item in enumerate(right_operands(node)):
            place = self.walker.graph.later_place(node, RIGHT, index)
            if "@id" in item:
                iri = terms.canonical(item["@id"])
                if not self.walker.is_name(iri):
                    self.walker.add("L006", *relative_iri_problem(iri), node, RIGHT, index)
                elif operand == _PURPOSE and self.walker.is_unknown_purpose(iri):
                    self.walker.add_unknown_purpose(iri, node, RIGHT, index)
                settings = (
                    {}
                    if is_name_alone(item)
                    else self._settings(Node(item, item.get(POINTER, "")), operand)
                )
                yield Value(iri, place, settings, IRI)
            elif "@value" in item:
                datatype = _type_of(item) or data_type
                if data_type not in ("", datatype) and not self.walker.is_lenient:
                    message = f"The dataType is {terms.compact(data_type)!r}."
                    message += f" Given: a value of type {terms.compact(datatype)!r}."
                    self.walker.add("P007", message, "Give both one type.", node, RIGHT, index)
                    continue
                value = self.literal(item, datatype, operand, node, RIGHT, index)
                # In JSON-LD a name is easily written as a text, and compared as what it names.
                iri = (
                    terms.expand_term(value)
                    if operand == _PURPOSE and isinstance(value, str)
                    else ""
                )
                if iri and self.walker.is_unknown_purpose(iri):
                    self.walker.add_unknown_purpose(iri, node, RIGHT, index)
                elif value is not None:
                    yield Value(value, place, type=datatype)
            else:
                self.walker.add(
                    "P007", "A rightOperand is a literal or an IRI.", "", node, RIGHT, index
                )

    def literal(
        self,
        item: Mapping[str, Any],
        datatype: str,
        operand: str,
        node: Node,
        prop: str,
        index: int = 0,
    ) -> Literals | None:
        """Return a literal of the given type that is also of one that the left operand takes."""
        own = _type_of(item)
        raw = typed_number(item["@value"], own)
        if TEXT_OF_A_LANGUAGE in (datatype, own) and not self.walker.is_lenient:
            message = f"A text of a language compares with nothing. Given: {raw!r:.80}."
            self.walker.add("P007", message, "Write it without one.", node, prop, index)
            return None
        key = (raw, datatype, operand, bool(own)) if type(raw) is str else None
        if key in self._literals_by_text:
            return self._literals_by_text[key]
        try:
            vocabulary = self.walker.vocabulary
            value = read_operand(raw, datatype, operand, vocabulary, names_type=bool(own))
        except ValueError as error:
            self.walker.add("P007", f"{error}.", "", node, prop, index)
            return None
        if key is not None:
            self._literals_by_text[key] = value
        return value

    def _settings(self, node: Node, parameter: str) -> dict[str, Value]:
        """Return the settings of a column: one literal or IRI for each property, or several of
        them for one that takes several."""
        properties = terms.settings().get(parameter, frozenset())
        is_column = terms.names_columns(parameter)
        subject = f"a column under {terms.compact(parameter)}" if is_column else "a name"
        self.walker.check_properties(node, properties, subject)
        settings = {}
        for prop in sorted(properties & node.data.keys()):
            value = self._setting_value(node, prop)
            if value is not None:
                settings[terms.local_name(prop)] = value
        return settings

    def _setting_value(self, node: Node, prop: str) -> Value | None:
        if not terms.vocabulary()[prop].flag("several"):
            return self._setting(node, prop)
        is_of_names = terms.names_columns(prop)
        return self._names(node, prop) if is_of_names else self._literals(node, prop)

    def _literals(self, node: Node, prop: str) -> Value | None:
        """Return the literals that a setting has, the first with the others."""
        items = property_values(node, prop)
        if not items or not all("@value" in item for item in items):
            message = f"{terms.compact(prop)} takes texts, one or more."
            self.walker.add("P007", message, "", node, prop)
            return None
        values = []
        for index, item in enumerate(items):
            literal = self.literal(item, _type_of(item), "", node, prop, index)
            if literal is not None:
                values.append(Value(literal, self.walker.graph.later_place(node, prop, index)))
        if len(values) < len(items):
            return None
        first, *more = sorted(values, key=lambda value: str(value.value))
        return replace(first, more=tuple(more))

    def _names(self, node: Node, prop: str) -> Value | None:
        """Return the names that a setting has, the first with the others."""
        items = property_values(node, prop)
        if not items or not all("@id" in item for item in items):
            message = f"{terms.compact(prop)} takes names."
            self.walker.add("P007", message, 'Write {"@id": "..."}.', node, prop)
            return None
        values = [self._name(node, prop, item, index) for index, item in enumerate(items)]
        first, *more = sorted(values, key=lambda value: str(value.value))
        return replace(first, more=tuple(more))

    def _name(self, node: Node, prop: str, item: dict[str, Any], index: int = 0) -> Value:
        iri = terms.canonical(item["@id"])
        if not is_absolute(iri):
            self.walker.add("L006", *relative_iri_problem(iri), node, prop, index)
        self.walker.check_properties(Node(item, item.get(POINTER, "")), set(), "a name")
        return Value(iri, self.walker.graph.later_place(node, prop, index), type=IRI)

    def _setting(self, node: Node, prop: str) -> Value | None:
        items, place = node.data[prop], self.walker.graph.later_place(node, prop)
        if len(items) != 1 or not {"@value", "@id"} & items[0].keys():
            values_text = format_value(items[0]) if len(items) == 1 else len(items)
            message = f"{terms.compact(prop)} takes one value. Given: {values_text}."
            self.walker.add("P007", message, "", node, prop)
            return None
        if "@id" in items[0]:
            return self._name(node, prop, items[0])
        value = self.literal(items[0], _type_of(items[0]), "", node, prop)
        return None if value is None else Value(value, place)


def _type_of(item: Mapping[str, Any]) -> str:
    """Return the data type that a literal names, or that it has by its language; or none."""
    return TEXT_OF_A_LANGUAGE if "@language" in item else item.get("@type", "")


def right_operands(node: Node) -> list[dict[str, Any]]:
    """Return the expanded values of a constraint's right operand."""
    return property_values(node, RIGHT)
