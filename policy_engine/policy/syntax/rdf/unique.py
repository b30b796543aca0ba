"""Nodes of one name that would become another once they are statements (RDF 1.1, section 3).

Statements about one name are about one node, wherever they are: of two constraints with one uid
there would be one, with the right operands of both. What only adds to a name, such as what it is
part of, may be said of it in many places.
"""

from collections.abc import Mapping
from typing import Any

from policy_engine import terms
from policy_engine.policy.structure import (
    AGGREGATE,
    CONSTRAINT_PROPERTIES,
    GROUP_BY,
    INVERSE,
    KINDS,
    LOGICAL_PROPERTIES,
    REFINEMENT,
    SOURCE,
    VALUE,
    WIDER_PROPERTIES,
    policy_properties,
    rule_properties,
    shared,
)
from policy_engine.policy.syntax.json_ld import POINTER

_ADDING = {*WIDER_PROPERTIES, *INVERSE, SOURCE}
_OWN = (terms.ODRL, terms.MOSAICROWN, terms.PE)


def unique_kind(data: Mapping[str, Any]) -> tuple[str, str]:
    """Return what an expanded node is that may be described once, and the code of a second one.

    Both are empty for any other node.
    """
    properties = data.keys() - {"@id", "@type", POINTER}
    if properties & (policy_properties() - shared()):
        return "policies", "D002"
    if properties & {GROUP_BY, AGGREGATE}:
        return "queries", "P023"
    if properties & (CONSTRAINT_PROPERTIES | LOGICAL_PROPERTIES):
        return "constraints", "P007"
    if VALUE in properties:
        return "refined actions", "P006"
    if properties & frozenset[str]().union(*map(rule_properties, KINDS)):
        return "rules", "P008"
    is_nameless = data.get("@id", "_:").startswith("_:")
    is_collection = REFINEMENT in properties or (is_nameless and SOURCE in properties)
    return ("collections", "P015") if is_collection else ("", "")


def settings_of(data: Mapping[str, Any]) -> Any:
    """Return what the language says of a node that other descriptions of it must say too."""
    return {
        name: _without_places(values)
        for name, values in data.items()
        if terms.canonical(name).startswith(_OWN) and name not in _ADDING
    }


def _without_places(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_places(one) for key, one in value.items() if key != POINTER}
    return [_without_places(one) for one in value] if isinstance(value, list) else value
