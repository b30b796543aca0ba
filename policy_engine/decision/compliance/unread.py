"""What a text says in the terms of policies, requests and worlds that none of its readers reads."""

from policy_engine import terms
from policy_engine.decision.compliance.graph import UID, StatementGraph, refuse
from policy_engine.decision.compliance.names import CURRENT_TIME
from policy_engine.errors import join_names
from policy_engine.policy.structure import (
    OTHER_POLICY_TYPES,
    POLICY_TYPES,
    SOURCE,
    VALUE,
    WIDER_PROPERTIES,
    membership_properties,
)

_RULE_TYPES = ("Rule", "Permission", "Prohibition", "Duty")
_OF_POLICIES = {
    f"{terms.ODRL}{name}"
    for name in (
        *(*POLICY_TYPES, *OTHER_POLICY_TYPES, *_RULE_TYPES),
        *("Constraint", "LogicalConstraint", "Request"),
    )
}
"""The classes of policies, of requests, and of what they consist of."""
_MEMBERSHIPS = membership_properties("party asset action implied")
_READ_OF_WORLDS = {*WIDER_PROPERTIES, SOURCE, CURRENT_TIME}


def properties_said_of(graph: StatementGraph, node: str, *, is_of_world: bool) -> set[str]:
    """Return by which properties, or else classes, a node says what policies or requests do.

    Memberships, and what else worlds tell, are left out if the text `is_of_world`.
    """
    props = {one for one in graph.about[node] if _is_meant(one)}
    names = {one for one in props if _is_read_of_worlds(one)} if is_of_world else set()
    return props - names or _OF_POLICIES.intersection(graph.types(node))


def refuse_unread_of_world(world: StatementGraph) -> None:
    """Refuse a world that says what only policies and requests can say.

    A left operand is told at the node of the state of the world, and is not a reference itself.
    Otherwise a prohibition would be lost. Raises RequestError (D003).
    """
    operands = terms.instances(f"{terms.ODRL}LeftOperand")
    for node in world.about:
        names = properties_said_of(world, node, is_of_world=True)
        names |= {VALUE} & world.about[node].keys() if world.name(node) in operands else set()
        if names:
            names_text = join_names(sorted(map(terms.compact, names)))
            message = f"The world says of {world.name(node)!r} what would be lost: {names_text}."
            refuse(world, message, "Only policies or requests may say so of it.")


def _is_meant(prop: str) -> bool:
    """Return whether a property is one of policies, requests and worlds, or of memberships.

    Those that a vocabulary adds to the engine's own are left operands.
    """
    is_own = prop.startswith((terms.MOSAICROWN, terms.PE)) and prop in terms.vocabulary()
    is_read = is_own or prop.startswith((terms.ODRL, terms.SOTW)) or prop in _MEMBERSHIPS
    return is_read and prop != UID


def _is_read_of_worlds(prop: str) -> bool:
    return prop in _READ_OF_WORLDS or prop in terms.instances(f"{terms.ODRL}LeftOperand")
