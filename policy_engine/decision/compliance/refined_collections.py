"""Collections with refinements, where these would be lost."""

from collections.abc import Iterator, Sequence
from typing import NoReturn

from policy_engine.decision.compliance.expanding import expanded
from policy_engine.decision.compliance.graph import StatementGraph
from policy_engine.decision.compliance.reading import leaves
from policy_engine.decision.model import World
from policy_engine.errors import Place, PolicyError, Problem
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.model import Policy
from policy_engine.policy.structure import REFINEMENT, VALUE

_HINT = "Only a rule's parts may name it: there, its refinements are evaluated."


def refuse_lost_refinements(
    policy: StatementGraph,
    policies: Sequence[Policy],
    hierarchy: Hierarchy,
    facts: World,
) -> None:
    """Refuse collections with refinements that are used as if they had none.

    What belongs to a collection's source belongs to the collection, and its refinements are
    evaluated where a rule names it. They would be lost where it is a part of something else, where
    a value is compared with it. `hierarchy` has the memberships of all texts, `facts` what the
    world says. Raises PolicyError (P015).
    """
    compared = {*_compared_values(policies, facts)}
    for name in sorted(_refined(policy)):
        wider = {*hierarchy.above("party", name), *hierarchy.above("asset", name)} - {name}
        if wider:
            _refuse(policy, name, f"is a part of {min(wider)!r}: they would be lost")
        if name in compared:
            _refuse(policy, name, "is compared with a value: they would be lost")


def _refined(graph: StatementGraph) -> set[str]:
    return {node.data["@id"] for node in expanded(graph).nodes if REFINEMENT in node.data}


def _compared_values(policies: Sequence[Policy], facts: World) -> Iterator[object]:
    """Yield what values are compared with: right operands, and what the world says they are."""
    for leaf in (one for policy in policies for one in leaves(policy)):
        yield from (value.value for value in leaf.right_operands)
    for of in facts.of.values():
        yield from of.get(VALUE, ())


def _refuse(graph: StatementGraph, name: str, what: str) -> NoReturn:
    place = Place("", *graph.spot(graph.named[name][0]))
    message = f"The collection {name!r} has refinements, and {what}."
    raise PolicyError(Problem("P015", message, _HINT, place), source=graph.source)
