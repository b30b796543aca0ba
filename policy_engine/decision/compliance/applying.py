"""How a rule applies to a request, part by part, with the same functions as in a decision."""

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain
from typing import cast

from policy_engine.data.rdf.statements import Term, is_blank
from policy_engine.decision.clauses import Clause
from policy_engine.decision.closures import Closures
from policy_engine.decision.compliance.facts import Terms, purposes_of, with_operands
from policy_engine.decision.compliance.member_index import MemberIndex
from policy_engine.decision.compliance.reading import value_of
from policy_engine.decision.compliance.requested_rules import TOLD, RequestedRule
from policy_engine.decision.compliance.sizes import CountedFacts, Work
from policy_engine.decision.conditions import State
from policy_engine.decision.facts import RequestFacts
from policy_engine.decision.inclusion import ExpandedRequest
from policy_engine.decision.members import RefinedMembers
from policy_engine.decision.model import Request, World
from policy_engine.decision.rule_verdicts import (
    Member,
    covering_verdicts,
    overlapping_verdicts,
    set_rule,
    verdicts_about,
    worst_state,
)
from policy_engine.policy.hierarchy import Part
from policy_engine.policy.model import Policy, Rule

_STATES: tuple[State, ...] = ("unsatisfied", "unknown", "satisfied")


class Applicability:
    """The application of a policy's rules to one rule of a request, at one moment.

    The `world` has the facts about parties, assets and actions, `operand_values` those about left
    operands, of which the world gives those in `world_values`; `known_assets` gives the assets
    named elsewhere, as for `RefinedMembers`, and the comparisons are counted as `work`. A decision
    answers yes or no; only a report gives the result of each part. A request that could give its
    purpose or delivery channel but does not, has none: something that is permitted for all but some
    purposes is permitted without one. A prohibition is not lifted by that.
    """

    def __init__(
        self,
        policy: Policy,
        request: RequestedRule,
        closures: Closures,
        world: World,
        operand_values: Mapping[str, Terms],
        world_values: Container[str],
        time: Term,
        known_assets: Callable[[], Mapping[str, Sequence[str]]],
        work: Work,
    ) -> None:
        self.closures = closures
        self._work = work
        self._policy = policy
        self._asked = request
        self._world = world
        self._operand_values = operand_values
        self._only_asked = frozenset(one for one in TOLD if one not in world_values)
        self._time = cast("datetime", value_of(time).value)
        self._members = RefinedMembers(world.of, lambda: request.targets, known_assets)
        self._requests: dict[str, ExpandedRequest] = {}

    def clause(self, rule: Rule) -> Clause:
        """Return a rule prepared for evaluation, with the parameters of its actions.

        A decision leaves these to the certificate; here, only what is told says how a request
        would be carried out.
        """
        clause = Clause.of(0, self._policy, rule, self.closures)
        return replace(clause, rule=rule, parametrized_actions=frozenset())

    def state(
        self, clause: Clause, part: Part, names: Sequence[str], members: Sequence[Member]
    ) -> State:
        """Return whether the request is within the members that a rule names for a part.

        For a permission, one member must cover all of it; for a prohibition, it is enough if one
        overlaps any of it.
        """
        if not names:
            return "unknown"
        index, needs = MemberIndex(part, members, self.closures, self._work), self.closures.needs
        if clause.rule.kind == "permission":
            return worst(self._is_covered(clause, part, one, index.covering(one)) for one in names)
        pairs = (
            (one, member)
            for one in names
            for member in index.overlapping(needs(one) if part == "action" else (one,))
        )
        states = (self._is_met(clause, part, one, member) for one, member in pairs)
        return best(chain(["unsatisfied"], states))

    def facts(self, clause: Clause) -> RequestFacts:
        """Return the facts that the conditions of a rule are evaluated against."""
        is_closed = clause.rule.kind == "permission"
        request, world = self._expanded("action", "").request, self._worlds[is_closed]
        parts = (request, world, self._time, self.closures, self._work)
        facts = CountedFacts(*parts, self._only_asked)
        # Equal moments must give equal answers, whatever the zone that a request writes them in.
        facts.zone = UTC
        facts.purposes = purposes_of(self._operand_values, is_closed=is_closed)
        set_rule(facts, clause, self.closures, self.closures)
        return facts

    def _is_covered(
        self, clause: Clause, part: Part, name: str, members: Collection[Member]
    ) -> State:
        expanded, facts = self._expanded(part, name), self.facts(clause)
        verdicts = covering_verdicts(part, name, [*members], expanded, facts)
        unnamed = [self._unnamed(clause, part, name, one) for one in members if is_blank(one.iri)]
        return best([*unnamed, "unsatisfied" if verdicts is None else worst_state(verdicts)])

    def _is_met(self, clause: Clause, part: Part, name: str, member: Member) -> State:
        closures = self.closures
        names = closures.needs(name) if part == "action" else (name,)
        expanded, facts = self._expanded(part, name), self.facts(clause)
        verdicts = overlapping_verdicts(part, names, [member], expanded, facts)
        if verdicts is None:
            is_nameless = is_blank(member.iri)
            return self._unnamed(clause, part, name, member) if is_nameless else "unsatisfied"
        is_so = name in closures.up(part, member.iri)
        is_so = is_so or any(member.iri in closures.up(part, one) for one in names)
        return worst(["satisfied" if is_so else "unknown", worst_state(verdicts)])

    def _unnamed(self, clause: Clause, part: Part, name: str, member: Member) -> State:
        """Return whether a name lies within an unnamed member: it may, or it cannot."""
        expanded, facts = self._expanded(part, name), self.facts(clause)
        verdicts = verdicts_about(name, part, member, expanded, facts)
        return worst(["unknown", worst_state(verdicts)])

    @cached_property
    def _worlds(self) -> Mapping[bool, World]:
        """The world for permissions, where anything not given is false, and that of other rules."""
        rules = self._policy.rules
        labels = [one.label() for rule in rules for one in (rule, *rule.all_nested_rules())]
        operand_values = self._operand_values
        return {
            one: with_operands(self._world, operand_values, labels, is_closed=one)
            for one in (True, False)
        }

    def _expanded(self, part: Part, name: str) -> ExpandedRequest:
        """Return the request; of several actions, with the one of that name."""
        actions = self._asked.actions
        action = name if part == "action" and name else (*actions, "")[0]
        if action not in self._requests:
            party, targets = (*self._asked.parties, "")[0], self._asked.targets
            self._work.add(len(targets))
            request = Request.model_construct(assignee=party, action=action, targets=targets)
            self._requests[action] = ExpandedRequest(request, self.closures, self._members)
        return self._requests[action]


def best(states: Iterable[State]) -> State:
    """Return the state nearest to satisfied."""
    return max(states, key=_STATES.index)


def worst(states: Iterable[State]) -> State:
    """Return the state farthest from satisfied."""
    return min(states, key=_STATES.index)


def is_at_least(state: State, least: State) -> bool:
    """Return whether a state is at least as near to satisfied as another."""
    return _STATES.index(state) >= _STATES.index(least)
