"""Look at expanded nodes: their statements, and the values of their properties."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policy_engine import terms
from policy_engine.policy.structure import WIDER_PROPERTIES
from policy_engine.policy.syntax.json_ld import POINTER, Node

DESCRIPTIONS = (
    *terms.ANNOTATIONS,
    "http://www.w3.org/2006/vcard/ns#",
    "http://xmlns.com/foaf/0.1/",
    *(
        f"http://www.w3.org/2000/01/rdf-schema#{name}"
        for name in ("domain", "range", "isDefinedBy")
    ),
)

_SILENT = ("@", *DESCRIPTIONS)
"""How what states nothing begins: keywords, and descriptions."""
CLASS_KINDS = frozenset(("owl:Class", f"{terms.PE}PolicyType", f"{terms.MOSAICROWN}purpose"))
"""The kinds of the terms that are classes; the kinds of a purpose are among them."""


def described_nodes(data: Mapping[str, Any]) -> list[tuple[str, Node]]:
    """Return the nodes of a tree that have properties, by their name."""
    nodes: list[tuple[str, Node]] = []
    rest = [data]
    while rest:
        one = rest.pop()
        if "@value" in one:
            continue
        if "@id" in one and has_statements(one):
            nodes.append((terms.canonical(one["@id"]), Node(one, one[POINTER])))
        rest.extend(reversed([*child_values(one)]))
    return nodes


def stating_nodes(nodes: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return those of some nodes that have properties which are not mere descriptions."""
    by_keys: dict[tuple[str, ...], bool] = {}
    stating = []
    for data in nodes:
        keys = (*data,)
        states = by_keys.get(keys)
        if states is None:
            states = by_keys[keys] = has_statements(data)
        if states:
            stating.append(data)
    return stating


def is_name_alone(data: Mapping[str, Any]) -> bool:
    """Tell whether an expanded value is a name of which nothing is said, no type either."""
    return len(data) == 1 and "@id" in data


def has_statements(data: Mapping[str, Any]) -> bool:
    """Tell whether a node has properties that are not mere descriptions."""
    if len(data) == 1 and "@id" in data:
        return False
    for prop in data:  # noqa: SIM110 (any() of a generator takes twice as long)
        if not prop.startswith(_SILENT):
            return True
    return False


def statements(data: Mapping[str, Any]) -> list[str]:
    """Return the properties of a node that are not mere descriptions."""
    return [prop for prop in data if not prop.startswith(_SILENT)]


def child_values(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the values of all properties of a node, or of a list."""
    for prop, values in data.items():
        if prop == "@list" or not prop.startswith("@"):
            yield from values


def property_values(node: Node, prop: str) -> list[dict[str, Any]]:
    """Return the values of a property, those of a list as they are."""
    values = node.data.get(prop, [])
    inner: list[dict[str, Any]] = values[0]["@list"] if is_list(values) else values
    return inner


def is_list(values: list[dict[str, Any]]) -> bool:
    """Tell whether the values of a property are one ordered list."""
    return len(values) == 1 and "@list" in values[0]


def is_list_within(values: list[dict[str, Any]]) -> bool:
    """Tell whether there is a list among the values of a property, or in the list that they are."""
    return any("@list" in one for one in (values[0]["@list"] if is_list(values) else values))


def format_value(data: Mapping[str, Any]) -> str:
    """Return an expanded value as a message names it."""
    if "@list" in data:
        return "a list"
    value = data.get("@value", data.get("@id"))
    return "an object without uid" if value is None else repr(value)


def says_something_else(prop: str) -> bool:
    """Tell whether a property is one of other vocabularies, or of what something is known to be.

    That of the engine's own that means something on a rule alone, such as a purpose, is not.
    """
    is_own = prop.startswith((terms.MOSAICROWN, terms.PE))
    is_of_things = prop in WIDER_PROPERTIES or prop in terms.instances(f"{terms.ODRL}LeftOperand")
    return not prop.startswith(("@", terms.ODRL)) and (is_of_things or not is_own)


def misused_class(name: str) -> str:
    """Return what is wrong with a term of the language as a class; empty if it is one.

    Names that are not terms are not judged, nor is `odrl:purpose`, by which purposes are told.
    """
    term = terms.vocabulary().get(name)
    if term is None or name == f"{terms.ODRL}purpose" or not CLASS_KINDS.isdisjoint(term.types):
        return ""
    return f"{terms.compact(name)!r} is not a class, and stands where one does."
