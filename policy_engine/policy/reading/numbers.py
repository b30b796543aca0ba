"""Numbers, words and names of differential privacy, read off nodes exactly."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from policy_engine import terms
from policy_engine.errors import join_names
from policy_engine.policy.model import IRI, Value
from policy_engine.policy.reading.nodes import (
    format_value,
    is_list,
    is_list_within,
    property_values,
)
from policy_engine.policy.reading.walker import Walker
from policy_engine.policy.syntax.json_ld import POINTER, Node
from policy_engine.policy.xsd.literals import read_literal
from policy_engine.policy.xsd.values import exact_number, kind_of

DELTA_LIMIT = Decimal("1e-4")
"""Deltas are below it: one that is not lets everything be told of one person in 10,000."""
_LEAST_EPSILON, _MOST_EPSILON, _LEAST_DELTA = Decimal("1e-9"), Decimal("1e9"), Decimal("1e-30")
"""What is less promises nothing else, what is more promises nothing, and ledgers add up neither."""
MOST_RELEASE_EPSILON = Decimal(100)
"""Of one release, an epsilon beyond this bounds nothing."""
MOST_CONTRIBUTIONS = 2**20
"""So many groups, and rows in each, one unit is used for at most."""
_PLACES = 100
"""How many decimal places of losses ledgers add up."""


class Range(NamedTuple):
    """What a number may be: its bounds, and whether it is an integer. `words` say so.

    Outside the bounds it may be 0 with `or_zero`; it has no more than so many decimal `places`.
    """

    words: str
    least: Decimal | None = None
    above: Decimal | None = None
    below: Decimal | None = None
    most: Decimal | None = None
    is_integer: bool = False
    or_zero: bool = False
    places: int | None = None

    def holds(self, number: Decimal) -> bool:
        """Tell whether a number is in the range."""
        return (self.or_zero and not number) or (
            (self.least is None or number >= self.least)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
            and (self.most is None or number <= self.most)
            and not (self.is_integer and number % 1)
            and (self.places is None or int(number.as_tuple().exponent) >= -self.places)
        )


_ZERO, _ONE = Decimal(0), Decimal(1)
ANY_NUMBER = Range("a number")
POSITIVE = Range("a number above 0", above=_ZERO)
COUNT = Range("an integer from 1", least=_ONE, is_integer=True)
CONTRIBUTIONS = Range(
    f"an integer from 1 to {MOST_CONTRIBUTIONS:,}",
    least=_ONE,
    most=Decimal(MOST_CONTRIBUTIONS),
    is_integer=True,
)
SHARE = Range("a number above 0 and up to 1", above=_ZERO, most=_ONE)
INNER_SHARE = Range("a number above 0 and below 1", above=_ZERO, below=_ONE)
EPSILON = Range(
    f"a number from 1e-9 to 1e9, with up to {_PLACES} decimal places",
    least=_LEAST_EPSILON,
    most=_MOST_EPSILON,
    places=_PLACES,
)
RELEASE_EPSILON = EPSILON._replace(
    words=f"a number from 1e-9 to {MOST_RELEASE_EPSILON}, with up to {_PLACES} decimal places",
    most=MOST_RELEASE_EPSILON,
)
SPENT_EPSILON = EPSILON._replace(words=f"0 or {EPSILON.words}", or_zero=True)
DELTA = Range(
    f"0 or a number from 1e-30 and below {DELTA_LIMIT:f}, with up to {_PLACES} decimal places",
    least=_LEAST_DELTA,
    below=DELTA_LIMIT,
    or_zero=True,
    places=_PLACES,
)


class ExactReader:
    """Reads the values of properties; each method notes what is wrong, and then returns None."""

    def __init__(self, walker: Walker) -> None:
        self.walker = walker

    def check(self, node: Node, prop: str, allowed: str, value: str, index: int = 0) -> None:
        """Note that a property takes what is allowed, and something else was given (P007)."""
        message = f"{terms.compact(prop)} takes {allowed}. Given: {value}."
        self.walker.add("P007", message, "", node, prop, index)

    def single(self, node: Node, prop: str, allowed: str) -> dict[str, Any] | None:
        """Return the one value of a property; None where there is none, or where it has several."""
        items = node.data.get(prop, [])
        if len(items) > 1 or (items and "@list" in items[0]):
            value = f"{len(items)} values" if len(items) > 1 else "a list"
            self.check(node, prop, allowed, value, -1)
            return None
        return items[0] if items else None

    def ordered(self, node: Node, prop: str) -> list[dict[str, Any]]:
        """Return the values of a property in their order, which an unordered set has not."""
        items: list[dict[str, Any]] = node.data.get(prop, [])
        if is_list_within(items) or (len(items) > 1 and not is_list(items)):
            message = f"{terms.compact(prop)} takes one ordered list."
            hint = 'Write it as {"@list": [...]}.'
            self.walker.add("P007", message, hint, node, prop, -1)
            return []
        return property_values(node, prop)

    def number(self, node: Node, prop: str, allowed: Range) -> Decimal | None:
        """Return the number that a property has, exactly as it was written."""
        item = self.single(node, prop, allowed.words)
        if item is None:
            return None
        return self.number_of(item, node, prop, allowed)

    def number_of(
        self, item: Mapping[str, Any], node: Node, prop: str, allowed: Range, index: int = 0
    ) -> Decimal | None:
        """Return the number that a value of a property is."""
        try:
            number = exact_number(_literal(item))
        except ValueError:
            self.check(node, prop, allowed.words, format_value(item), index)
            return None
        if not allowed.holds(number):
            self.check(node, prop, allowed.words, str(number), index)
            return None
        return number

    def value_of(self, item: Mapping[str, Any], node: Node, prop: str, index: int) -> Value | None:
        """Return a literal, a number exactly as it was written."""
        place = self.walker.graph.place(node, prop, index)
        try:
            value = _literal(item)
        except ValueError as error:
            self.walker.add("P007", f"{error}.", "", node, prop, index)
            return None
        if kind_of(value) == "number":
            value = exact_number(value)
        return Value(value, place, type="" if kind_of(value) == "number" else item.get("@type", ""))

    def text(self, node: Node, prop: str) -> str:
        """Return the text that a property has; empty where it has none."""
        item = self.single(node, prop, "a text")
        value = None if item is None else item.get("@value")
        if item is not None and not (isinstance(value, str) and value.strip()):
            self.check(node, prop, "a text that is not empty", format_value(item))
            return ""
        return value or ""

    def word(self, node: Node, prop: str, kind: str) -> str:
        """Return the word that a property has, one of the terms of a class by their notation."""
        item = self.single(node, prop, "a word")
        return "" if item is None else self.word_of(item, node, prop, kind)

    def word_of(
        self,
        item: Mapping[str, Any],
        node: Node,
        prop: str,
        kind: str,
        index: int = 0,
        operand: str = "",
    ) -> str:
        """Return the word that a value of a property, or of an operand, is, as a text or by its
        IRI."""
        words = notations(kind)
        name = item.get("@value", item.get("@id"))
        word = words.get(name, name) if isinstance(name, str) else ""
        if word not in words.values():
            names = sorted(set(words.values()))
            message = f"{terms.compact(operand or prop)} takes {join_names(names, 'or')}."
            message += f" Given: {format_value(item)}."
            self.walker.add("P005", message, "", node, prop, index, word=word, allowed=names)
            return ""
        return word

    def name(self, node: Node, prop: str) -> str:
        """Return the IRI that a property has."""
        item = self.single(node, prop, "an IRI")
        return "" if item is None else self.name_of(item, node, prop)

    def name_of(self, item: Mapping[str, Any], node: Node, prop: str, index: int = 0) -> str:
        """Return the IRI that a value of a property is."""
        if "@id" not in item:
            message = f"{terms.compact(prop)} takes an IRI. Given: {format_value(item)}."
            hint = 'Write {"@id": "..."}.' if isinstance(item.get("@value"), str) else ""
            self.walker.add("P007", message, hint, node, prop, index)
            return ""
        iri = terms.canonical(item["@id"])
        if not self.walker.is_name(iri):
            self.walker.add("L006", *terms.relative_iri_problem(iri), node, prop, index)
            return ""
        return iri

    def plain_name(self, node: Node, prop: str) -> str:
        """Return the IRI that a property has, of which nothing else is said."""
        for item in node.data.get(prop, ()):
            if "@id" in item:
                self.walker.check_properties(Node(item, item.get(POINTER, "")), set(), "a name")
        return self.name(node, prop)

    def note_missing(self, node: Node, needed: tuple[str, ...], subject: str) -> None:
        """Note the properties that a node needs and lacks (P023)."""
        for prop in needed:
            if prop not in node.data:
                message = f"{subject} needs {terms.compact(prop)}."
                self.walker.add("P023", message, "", node)


def notations(kind: str) -> dict[str, str]:
    """Return the notations of the terms of one of our classes, by themselves and by IRI."""
    instances = terms.instances(f"{terms.PE}{kind}").items()
    by_iri = {iri: str(term.facts["notation"]) for iri, term in instances}
    return {**by_iri, **{notation: notation for notation in by_iri.values()}}


def name_value(iri: str, value: Value) -> Value:
    """Return a value as the name of something."""
    return Value(iri, value.place, type=IRI)


def _literal(item: Mapping[str, Any]) -> Any:
    """Return a literal as what it is of its type. Raises ValueError for anything else."""
    if "@value" not in item or "@language" in item:
        raise ValueError(f"A literal is expected. Given: {format_value(item)}")
    return read_literal(item["@value"], item.get("@type", ""))
