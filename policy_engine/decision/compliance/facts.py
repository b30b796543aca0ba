"""What conditions are evaluated against: a request and a state of the world."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import TypeAlias

from policy_engine import terms
from policy_engine.data.rdf.statements import STRING, TYPE, Literal, Term
from policy_engine.decision.compliance.asking import SOTW, TOLD, RequestedRule
from policy_engine.decision.compliance.graph import StatementGraph
from policy_engine.decision.compliance.reading import hierarchy_of, value_of
from policy_engine.decision.facts import DATE_TIME, PURPOSE
from policy_engine.policy.hierarchy import Hierarchy, Part
from policy_engine.policy.structure import VALUE
from policy_engine.policy.vocabulary import NONE, Vocabulary
from policy_engine.policy.xsd.literals import Literals

Terms: TypeAlias = tuple[Term, ...]
_NOTHING = "urn:x-policy-engine:nothing"
"""What a left operand is that a request could have told and did not: no name at all."""

_NONE = Literal("", STRING)
_SUBCLASS = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
_WORLDS = (f"{SOTW}SotW", "http://example.org/Sotw")


@dataclass
class StatedFacts:
    """What a request and the world tell of left operands; what neither tells is not known.

    `known` holds them as they are written. With `is_closed`, a request that tells no purpose
    has none; otherwise its purpose is not known. `about` is the party, asset or action that
    refinements are about: what the world says of it counts, and else nothing unless it `is_act`,
    the action that is asked for. The time and the purpose are always those of the request.
    """

    world: StatementGraph
    hierarchy: Hierarchy
    known: Mapping[str, Terms]
    is_closed: bool
    about: str = ""
    is_act: bool = False
    zone: tzinfo = UTC

    def values(self, left_operand: str) -> tuple[Literals, ...] | None:
        """Return what a left operand is now."""
        found = self.told(left_operand)
        if not found and left_operand in TOLD and not self._is_of_its_own(left_operand):
            return (_NOTHING,) if self.is_closed else None
        return _values(found)

    def referenced(self, iri: str) -> tuple[Literals, ...] | None:
        """Return the values that the world tells of a reference, under rdf:value."""
        return _values(self.world.objects(iri, VALUE))

    def includes(self, left_operand: str, narrow: str, wide: str) -> bool:
        """Tell whether one name is included in another."""
        part: Part = "purpose" if left_operand == PURPOSE else "party"
        return bool(self.hierarchy.path(part, narrow, wide))

    def told(self, left_operand: str) -> Terms:
        """Return what a left operand is, as it is written."""
        if left_operand in (DATE_TIME, PURPOSE):
            return self.known.get(left_operand, ())
        own = self.world.objects(self.about, left_operand) if self.about else ()
        is_own = self._is_of_its_own(left_operand)
        return own if own or is_own else self.known.get(left_operand, ())

    def _is_of_its_own(self, left_operand: str) -> bool:
        """Tell whether a left operand is what is said of a party or an asset alone."""
        is_shared = self.is_act or left_operand in (DATE_TIME, PURPOSE)
        return bool(self.about) and not is_shared

    def shown(self, left_operand: str) -> Terms:
        """Return what a report shows of a left operand: of one that is not told, the empty text."""
        return self.told(left_operand) or ((_NONE,) if left_operand in TOLD else ())


def told_by(world: StatementGraph, asked: RequestedRule, time: Term) -> Mapping[str, Terms]:
    """Return the left operands that the world itself tells, or else the request."""
    found = dict(asked.values)
    for node in world.typed(_WORLDS):
        for operand in world.about[node]:
            found[terms.canonical(operand)] = world.objects(node, operand)
    return {**found, DATE_TIME: (time,)}


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


def _values(found: Terms) -> tuple[Literals, ...] | None:
    """Return the values of terms; none where one of them cannot be read."""
    try:
        return tuple(value_of(term).value for term in found) or None
    except ValueError:
        return None
