"""A compliance case as decisions know one: a request, and a state of the world."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, cast

from policy_engine import terms
from policy_engine.data.rdf.statements import STRING, TYPE, Literal, Term
from policy_engine.decision.compliance.graph import StatementGraph
from policy_engine.decision.compliance.reading import hierarchy_of, value_of
from policy_engine.decision.compliance.requested_rules import CHANNEL, SOTW, TOLD, RequestedRule
from policy_engine.decision.facts import DATE_TIME, PURPOSE
from policy_engine.decision.model import World
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.model import COUNT, JOINTLY
from policy_engine.policy.structure import VALUE
from policy_engine.policy.vocabulary import NONE, Vocabulary
from policy_engine.policy.xsd.literals import Literals

Terms: TypeAlias = tuple[Term, ...]
_NOTHING = ("urn:x-policy-engine:nothing",)
"""What a left operand is that a request could have told and did not: no name at all."""

_UNTOLD = (Literal("", STRING),)
_SUBCLASS = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
_WORLDS = (f"{SOTW}SotW", "http://example.org/Sotw")


def told_by(world: StatementGraph, asked: RequestedRule, time: Term) -> Mapping[str, Terms]:
    """Return the left operands that the world itself tells, or else the request.

    What is told in several places has all the values that are told of it.
    """
    told: dict[str, dict[Term, None]] = {}
    for node in world.typed(_WORLDS):
        for operand in world.about[node]:
            values = told.setdefault(terms.canonical(operand), {})
            values |= dict.fromkeys(world.objects(node, operand))
    found = {**asked.values, **{operand: (*values,) for operand, values in told.items()}}
    own = {DATE_TIME: (time,), JOINTLY: asked.targets}
    return {**found, PURPOSE: found.get(PURPOSE, ()), **own}


def shown(told: Mapping[str, Terms], left_operand: str) -> Terms:
    """Return what a report shows of a left operand: of one that is not told, the empty text."""
    return told.get(left_operand) or (_UNTOLD if left_operand in TOLD else ())


def purposes_of(told: Mapping[str, Terms], *, is_closed: bool) -> tuple[Literals, ...]:
    """Return the purposes of a request, none where that is not known.

    Where it `is_closed`, one that tells no purpose has none: that is known.
    """
    found = told[PURPOSE]
    return (_values(found) or ()) if found or not is_closed else _NOTHING


def world_of(graph: StatementGraph) -> World:
    """Return what a world tells of parties, assets and actions, and of references."""
    of = {graph.name(node): _facts(graph, node) for node in graph.about}
    referenced = {name: facts[VALUE] for name, facts in of.items() if VALUE in facts}
    # Unlike those of JSON, the values here may be durations.
    return World.model_construct(values=cast("Any", referenced), of=cast("Any", of))


def with_told(
    world: World, told: Mapping[str, Terms], labels: Iterable[str], *, is_closed: bool
) -> World:
    """Return a world in which left operands are what is told of them, for rules of some labels.

    Where it `is_closed`, a request that tells no channel of delivery has none.
    """
    values = {operand: _values(found) for operand, found in told.items() if found}
    known = {operand: found for operand, found in values.items() if found is not None}
    if is_closed and not told.get(CHANNEL):
        known[CHANNEL] = _NOTHING
    times = known.pop(COUNT, ())
    counts = dict.fromkeys(labels, times[0]) if len(times) == 1 and type(times[0]) is int else {}
    return world.model_copy(update={"values": {**world.values, **known}, "counts": counts})


def memberships(
    policy: Hierarchy, world: StatementGraph, vocabulary: Vocabulary = NONE
) -> Hierarchy:
    """Return who and what belongs to what, by the policy and the world."""
    kinds = Hierarchy(purpose=tuple(world.edges(_SUBCLASS, TYPE)))
    return policy.joined([hierarchy_of(world, vocabulary), kinds])


def with_own_purposes(known: Hierarchy, request: StatementGraph, asked: RequestedRule) -> Hierarchy:
    """Return what belongs to what with the word of a request: of which kind its purposes are.

    It has no word on who and what belongs where: nobody becomes a member by saying so.
    """
    own = tuple(
        (terms.canonical(one), terms.canonical(kind))
        for one in asked.values.get(PURPOSE, ())
        if isinstance(one, str)
        for kind in request.types(one)
    )
    return known.joined([Hierarchy(purpose=own)]) if own else known


def _facts(graph: StatementGraph, node: str) -> dict[str, tuple[Literals, ...]]:
    facts = {terms.canonical(of): _values(graph.objects(node, of)) for of in graph.about[node]}
    return {operand: found for operand, found in facts.items() if found is not None}


def _values(found: Terms) -> tuple[Literals, ...] | None:
    """Return the values of terms; none where one of them cannot be read."""
    try:
        return tuple(value_of(term).value for term in found) or None
    except ValueError:
        return None
