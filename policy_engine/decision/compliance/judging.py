"""One policy evaluated against one rule of a request: the state of each rule and its premises."""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, cached_property
from typing import Literal, TypeAlias, cast

from policy_engine import terms
from policy_engine.data.rdf.statements import Term, is_blank
from policy_engine.decision.closures import Closures
from policy_engine.decision.compliance.applying import Applicability, best, is_at_least
from policy_engine.decision.compliance.conflicts import resolved
from policy_engine.decision.compliance.duty_reports import DutyState, duties_of
from policy_engine.decision.compliance.facts import (
    OwnClosures,
    Terms,
    memberships,
    operand_values_of,
    refuse_kinds_of_known_purposes,
    reported_value,
    world_of,
    world_values_of,
)
from policy_engine.decision.compliance.graph import StatementGraph
from policy_engine.decision.compliance.in_force import ended_policies
from policy_engine.decision.compliance.misplaced import refuse_misplaced_memberships
from policy_engine.decision.compliance.model import (
    ConstraintReport,
    Deontic,
    DutyReport,
    PartReport,
    Performance,
    Premise,
    RuleReport,
)
from policy_engine.decision.compliance.purposes import refuse_unknown_purposes
from policy_engine.decision.compliance.reading import leaves, value_of, values
from policy_engine.decision.compliance.refined_collections import refuse_lost_refinements
from policy_engine.decision.compliance.requested_rules import RequestedRule
from policy_engine.decision.compliance.sizes import Work, refuse_many_duties
from policy_engine.decision.compliance.speaking import Speaking
from policy_engine.decision.conditions import State, Verdict, evaluate
from policy_engine.decision.deadlines import without_deadlines
from policy_engine.decision.facts import PURPOSE
from policy_engine.decision.index import named_assets
from policy_engine.decision.model import World
from policy_engine.decision.rule_verdicts import Member
from policy_engine.decision.voiding import has_conflict
from policy_engine.policy.hierarchy import Hierarchy, Part
from policy_engine.policy.model import IRI, Constraint, LogicalConstraint, Policy, Rule, Value
from policy_engine.policy.owners import Owners

Texts: TypeAlias = tuple[StatementGraph, StatementGraph, StatementGraph]
"""The graphs of a policy, a request and a world."""

_Name: TypeAlias = Literal["Target", "Party", "Action"]
_DEONTIC = {"Performed": "Fulfilled", "Unperformed": "Violated", "Unknown": "NonSet"}


@dataclass(frozen=True)
class Setting:
    """What the rules of a policy are evaluated against: the texts, and facts from them."""

    policy: Policy
    texts: Texts
    seed: uuid.UUID
    hierarchy: Hierarchy
    told: Mapping[str, Sequence[DutyState]]
    world: World
    world_values: Mapping[str, Terms]
    known_assets: Callable[[], Mapping[str, Sequence[str]]]
    work: Work
    closures: Callable[[RequestedRule], Closures]
    ended: Mapping[str, str]
    speaking: Speaking | None = None

    @classmethod
    def of(
        cls,
        policies: Sequence[Policy],
        requested: Sequence[RequestedRule],
        texts: Texts,
        seed: uuid.UUID,
        owners: Owners,
    ) -> "list[Setting]":
        """Return the settings of the policies of one text, in the world of the texts.

        Raises PolicyError for a collection whose refinements would be lost, and
        RequestError for reports on duties that are not clear or too many, and for what the
        `requested` rules say of purposes that are not their own.
        """
        duty_states: dict[str, list[DutyState]] = {}
        for one in duties_of(texts[2], policies):
            duty_states.setdefault(one.duty, []).append(one)
        refuse_many_duties(policies, requested, duty_states)
        first = policies[0]
        vocabulary = first.vocabulary
        hierarchy = memberships(first.hierarchy, texts[2], vocabulary, texts[:1])
        others = (texts[0], texts[2])
        refuse_kinds_of_known_purposes(others, texts[1], requested, hierarchy, vocabulary)
        caller_hierarchy = memberships(vocabulary.hierarchy, texts[2], vocabulary)
        speaking = Speaking(owners, policies, caller_hierarchy) if owners else None
        known_assets = cache(lambda: named_assets(policies, hierarchy))
        facts = world_of(texts[2])
        refuse_lost_refinements(texts[0], policies, hierarchy, facts)
        world_values = world_values_of(texts[2])
        refuse_unknown_purposes(texts, policies, requested, world_values, hierarchy, vocabulary)
        refuse_misplaced_memberships(texts, policies, requested)
        stated = (facts, world_values)
        ended = ended_policies(policies, texts[0], texts[2])
        work = Work(policies, facts.values)
        closures = OwnClosures(hierarchy, texts[1], work)
        shared = (known_assets, work, closures, ended, speaking)
        parts = (texts, seed, hierarchy, duty_states, *stated, *shared)
        return [cls(policy, *parts) for policy in policies]

    @cached_property
    def is_void(self) -> bool:
        """Whether rules of the policy conflict, and its strategy makes it void."""
        return self.policy.conflict == "invalid" and has_conflict(self.policy, self.hierarchy)

    @cached_property
    def references(self) -> frozenset[str]:
        """What the policy says that values are compared with, for the world to say what it is."""
        return frozenset(name for leaf in leaves(self.policy) for name in leaf.references)


class ComplianceCase:
    """One policy and one rule of a request, at one moment."""

    def __init__(self, name: str, setting: Setting, request: RequestedRule, time: Term) -> None:
        self.name = name
        self.policy = setting.policy
        self.asked = request
        self.time = time
        self._setting = setting
        self._texts = setting.texts

    def of(self, policy: Policy, request: RequestedRule) -> "ComplianceCase":
        """Return the case of another policy of this text and another request, by any issuers."""
        setting = replace(self._setting, policy=policy, speaking=None)
        return ComplianceCase(self.name, setting, request, self.time)

    @property
    def moment(self) -> datetime:
        """The time as an instant; one without a zone is in UTC."""
        moment = cast("datetime", value_of(self.time).value)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    def node(self, *steps: object) -> str:
        """Return the name of a node of the report: equal texts give equal names."""
        return uuid.uuid5(self._setting.seed, " ".join(map(str, (self.name, *steps)))).urn

    def written(self, name: str) -> str:
        """Return a name of the policy as it is written in the text."""
        return self._texts[0].written.get(name, name)

    def rule_reports(self) -> Iterator[RuleReport]:
        """Yield the reports on the permissions and the prohibitions, with conflicts resolved."""
        has_owners, reports = self._setting.speaking is not None, [*self.unresolved()]
        yield from resolved(self.policy, reports, is_void=self.is_void, has_owners=has_owners)

    def unresolved(self) -> Iterator[tuple[Rule, RuleReport]]:
        """Yield the permissions and the prohibitions, each with its own report."""
        for at, rule in enumerate((*self.policy.permissions, *self.policy.prohibitions)):
            yield rule, self._rule_report(rule, at)

    @property
    def is_void(self) -> bool:
        """Whether rules of the policy conflict by all that is known, and it is void for that."""
        return self._setting.is_void

    def _rule_report(self, rule: Rule, at: int) -> RuleReport:
        is_permission = rule.kind == "permission"
        premises = tuple(self._premises(rule, at))
        duties = enumerate(rule.duties if is_permission else ())
        conditions = tuple(
            report for n, duty in duties for report in self._duty(duty, at, "duty", n)
        )
        # An unknown premise grants no permission and lifts no prohibition.
        least: State = "satisfied" if is_permission else "unknown"
        holds = all(is_at_least(premise.state, least) for premise in premises)
        holds = holds and not any(duty.deontic == "Violated" for duty in conditions)
        ended = self._setting.ended.get(self.policy.uid, "") if is_permission and holds else ""
        return RuleReport(
            node=self.node("rule", at),
            kind="Permission" if is_permission else "Prohibition",
            rule=self.written(rule.uid),
            request=self.asked.rule,
            premises=premises,
            conditions=conditions,
            active=holds and not ended,
            reason=f"The policy is no longer in force: {ended}." if ended else "",
        )

    def duty_reports(self) -> Iterator[DutyReport]:
        """Yield the reports on the obligations, which bind whether or not they are requested."""
        for at, rule in enumerate(self.policy.obligations):
            for n, one in enumerate(self._duty(rule, "obligation", at)):
                yield replace(one, node=self.node("obligation", at, "report", n), is_told=False)

    # -- premises -----------------------------------------------------------------------------

    def _premises(self, rule: Rule, at: int) -> Iterator[Premise]:
        clause = self._applicability.clause(rule)
        parts: tuple[tuple[_Name, Part, tuple[str, ...], Sequence[Member]], ...] = (
            ("Target", "asset", self.asked.targets, clause.rule.targets),
            ("Party", "party", self.asked.parties, clause.rule.assignees),
            ("Action", "action", self.asked.actions, clause.rule.actions),
        )
        for name, part, names, members in parts:
            if members:
                state = self._applicability.state(clause, part, names, members)
                reason = _why_unknown(name, names) if state == "unknown" else ""
                yield PartReport(self.node("rule", at, name), name, state, reason)
        if self._setting.speaking:
            node, closures = self.node("rule", at, "Assigner"), self._applicability.closures
            yield self._setting.speaking.report(self, rule, node, closures)
        yield from self._constraints(rule, "rule", at)

    def _constraints(self, rule: Rule, *steps: object) -> Iterator[ConstraintReport]:
        facts = self._applicability.facts(self._applicability.clause(rule))
        if rule.purposes:
            right = tuple(Value(iri, type=IRI) for iri in rule.purposes)
            condition = Constraint(PURPOSE, f"{terms.ODRL}isAnyOf", right)
            report = self._constraint(evaluate(condition, facts), *steps, "purpose")
            yield replace(report, right=rule.purposes)
        for n, each in enumerate(rule.constraints):
            yield self._constraint(evaluate(each, facts), *steps, "constraint", n)

    def _constraint(self, verdict: Verdict, *steps: object) -> ConstraintReport:
        condition = verdict.condition
        report = ConstraintReport(
            node=self.node(*steps),
            constraint=self.written(condition.uid),
            state=verdict.state,
            operator=condition.operator,
            is_logical=isinstance(condition, LogicalConstraint),
        )
        if isinstance(condition, LogicalConstraint):
            inner = enumerate(verdict.parts)
            parts = tuple(self._constraint(part, *steps, n) for n, part in inner)
            return replace(report, premises=parts)
        is_told = self._operand_values.get(condition.left_operand) or verdict.seen
        problem = "cannot be compared" if is_told else "is not known"
        unknown = f"{terms.compact(condition.left_operand)} {problem}."
        return replace(
            report,
            left=reported_value(self._operand_values, condition.left_operand),
            right=values(self._texts[0], condition.uid),
            reason=unknown if verdict.state == "unknown" else "",
        )

    # -- duties -------------------------------------------------------------------------------

    def _duty(self, duty: Rule, *steps: object) -> Iterator[DutyReport]:
        """Yield what the world says about a duty, or that nothing is known about it."""
        premises = tuple(self._constraints(duty, *steps))
        active = all(is_at_least(premise.state, "unknown") for premise in premises)
        binds = active or self._was_due(duty)
        states = () if is_blank(duty.uid) else self._setting.told.get(duty.uid, ())
        for n, one in enumerate(states or (DutyState("_:", duty.uid, "", ""),)):
            performance = one.performance or "Unknown"
            deontic = one.deontic or (_DEONTIC[performance] if binds else "NonSet")
            yield DutyReport(
                node=self.node(*steps, "report", n) if is_blank(one.node) else one.node,
                rule=self.written(duty.uid),
                performance=cast("Performance", performance),
                deontic=cast("Deontic", deontic),
                active=active,
                premises=premises,
                is_told=not is_blank(one.node),
            )

    def _was_due(self, duty: Rule) -> bool:
        """Return whether a duty is not due only since its deadline passed, as far as is known."""
        facts = self._applicability.facts(self._applicability.clause(duty))

        def is_missed(late: Constraint) -> bool:
            return evaluate(late, facts).state == "satisfied"

        readings = ((one, without_deadlines(one, is_missed)) for one in duty.constraints)
        states = (best(evaluate(one, facts).state for one in pair) for pair in readings)
        return all(is_at_least(state, "unknown") for state in states)

    # -- what is known ------------------------------------------------------------------------

    @cached_property
    def _operand_values(self) -> Mapping[str, Terms]:
        setting = self._setting
        return operand_values_of(setting.world_values, self.asked, self.time, setting.references)

    @cached_property
    def _applicability(self) -> Applicability:
        setting, closures = self._setting, self._setting.closures(self.asked)
        parts = (self.policy, self.asked, closures, setting.world, self._operand_values)
        more = (setting.world_values, self.time, setting.known_assets, setting.work)
        return Applicability(*parts, *more)


def _why_unknown(name: str, names: tuple[str, ...]) -> str:
    if not names:
        return f"The request names no {name.lower()}."
    return f"It is not known whether the {name.lower()} of the request is within the rule's."
