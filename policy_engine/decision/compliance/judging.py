"""One policy evaluated against one rule of a request: the state of each rule and its premises."""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias, cast

from policy_engine import terms
from policy_engine.data.rdf.statements import Term, is_blank
from policy_engine.decision.closures import Closures
from policy_engine.decision.compliance.asking import (
    DutyState,
    RequestedRule,
    duties_of,
)
from policy_engine.decision.compliance.facts import (
    StatedFacts,
    memberships,
    told_by,
    with_own_purposes,
)
from policy_engine.decision.compliance.graph import StatementGraph
from policy_engine.decision.compliance.model import (
    ConstraintReport,
    Deontic,
    DutyReport,
    PartReport,
    Performance,
    Premise,
    RuleReport,
)
from policy_engine.decision.compliance.reading import values
from policy_engine.decision.compliance.speaking import Speaking
from policy_engine.decision.conditions import State, Verdict, evaluate
from policy_engine.decision.facts import PURPOSE
from policy_engine.decision.members import RefinedMembers
from policy_engine.policy.hierarchy import Hierarchy, Part
from policy_engine.policy.model import (
    IRI,
    Action,
    Asset,
    Constraint,
    LogicalConstraint,
    Party,
    Policy,
    Rule,
    Value,
)
from policy_engine.policy.owners import Owners

Texts: TypeAlias = tuple[StatementGraph, StatementGraph, StatementGraph]
"""The graphs of a policy, a request and a world."""

_Member: TypeAlias = Party | Asset | Action
_Name: TypeAlias = Literal["Target", "Party", "Action"]
_STATES: tuple[State, ...] = ("unsatisfied", "unknown", "satisfied")
_DEONTIC = {"Performed": "Fulfilled", "Unperformed": "Violated", "Unknown": "NonSet"}


@dataclass(frozen=True)
class Setting:
    """What all rules of a policy are evaluated against: the texts, and what is known from them."""

    policy: Policy
    texts: Texts
    seed: uuid.UUID
    hierarchy: Hierarchy
    told: Mapping[str, Sequence[DutyState]]
    speaking: Speaking | None = None

    @classmethod
    def of(
        cls, policies: Sequence[Policy], texts: Texts, seed: uuid.UUID, owners: Owners
    ) -> "list[Setting]":
        """Return the settings of policies of one text, in the world of the texts."""
        told: dict[str, list[DutyState]] = {}
        for one in duties_of(texts[2]):
            told.setdefault(terms.canonical(one.duty), []).append(one)
        known = policies[0]
        hierarchy = memberships(known.hierarchy, texts[2], known.vocabulary)
        said = memberships(known.vocabulary.hierarchy, texts[2], known.vocabulary)
        speaking = Speaking(owners, policies, said) if owners else None
        return [cls(policy, texts, seed, hierarchy, told, speaking) for policy in policies]


class ComplianceCase:
    """One policy and one rule of a request, at one moment."""

    def __init__(self, name: str, setting: Setting, asked: RequestedRule, time: Term) -> None:
        self.name = name
        self.policy = setting.policy
        self.asked = asked
        self.time = time
        self._setting = setting
        self._texts = setting.texts

    def of(self, policy: Policy, asked: RequestedRule) -> "ComplianceCase":
        """Return a policy of the same text and what else is asked, whoever issued its rules."""
        setting = replace(self._setting, policy=policy, speaking=None)
        return ComplianceCase(self.name, setting, asked, self.time)

    def node(self, *steps: object) -> str:
        """Return the name of a node of the report: for the same texts, always the same."""
        return uuid.uuid5(self._setting.seed, " ".join(map(str, (self.name, *steps)))).urn

    def written(self, name: str) -> str:
        """Return a name of the policy as it is written in its text."""
        return self._texts[0].written.get(name, name)

    def rule_reports(self) -> Iterator[RuleReport]:
        """Yield the reports on the permissions and the prohibitions."""
        for at, rule in enumerate((*self.policy.permissions, *self.policy.prohibitions)):
            is_permission = rule.kind == "permission"
            premises = tuple(self._premises(rule, at))
            duties = rule.duties if is_permission else ()
            conditions = tuple(
                report
                for n, duty in enumerate(duties)
                for report in self._duty(duty, at, "duty", n)
            )
            # What is not known gives nobody a permission, and lifts no prohibition.
            least: State = "satisfied" if is_permission else "unknown"
            holds = all(_at_least(premise.state, least) for premise in premises)
            yield RuleReport(
                node=self.node("rule", at),
                kind="Permission" if is_permission else "Prohibition",
                rule=self.written(rule.uid),
                request=self.asked.rule,
                premises=premises,
                conditions=conditions,
                active=holds and not any(duty.deontic == "Violated" for duty in conditions),
            )

    def duty_reports(self) -> Iterator[DutyReport]:
        """Yield the reports on the obligations: those bind whether or not they are asked for."""
        for at, rule in enumerate(self.policy.obligations):
            for n, one in enumerate(self._duty(rule, "obligation", at)):
                yield replace(one, node=self.node("obligation", at, "report", n), is_told=False)

    # -- premises -----------------------------------------------------------------------------

    def _premises(self, rule: Rule, at: int) -> Iterator[Premise]:
        parts: tuple[tuple[_Name, Part, tuple[str, ...], Sequence[_Member]], ...] = (
            ("Target", "asset", self.asked.targets, rule.targets),
            ("Party", "party", self.asked.parties, rule.assignees),
            ("Action", "action", self.asked.actions, rule.actions),
        )
        is_open = rule.kind == "prohibition"
        for name, part, asked, members in parts:
            if members:
                state = self._lies_within(part, asked, members, is_open=is_open)
                reason = _why_unknown(name, asked) if state == "unknown" else ""
                yield PartReport(self.node("rule", at, name), name, state, reason)
        if self._setting.speaking:
            node = self.node("rule", at, "Assigner")
            yield self._setting.speaking.report(self, rule, node, self._closures)
        yield from self._constraints(rule, self._facts(is_open=is_open), "rule", at)

    def _lies_within(
        self, part: Part, asked: tuple[str, ...], members: Sequence[_Member], *, is_open: bool
    ) -> State:
        """Tell whether what is asked is permitted, all of it, or any of it prohibited."""
        if not asked:
            return "unknown"
        among = [
            _best(self._is_within(part, one, member, is_open=is_open) for member in members)
            for one in asked
        ]
        return _best(among) if is_open else _worst(among)

    def _is_within(self, part: Part, one: str, member: _Member, *, is_open: bool) -> State:
        included = self._is_included(part, one, member.iri, is_open=is_open)
        if included == "unsatisfied" or not member.refinements:
            return included
        met = [
            _worst(self._refined(part, one, about, member, is_open=is_open))
            for about in self._meant(part, one, member) or [one]
        ]
        return _worst([included, _best(met) if is_open else _worst(met)])

    def _meant(self, part: Part, one: str, member: _Member) -> Sequence[str]:
        """Return of what refinements are asked where a request has a name."""
        if part == "action":
            return [one]
        known = self._closures
        return self._members.candidates(part, one, member.iri, member.refinements, known, known)

    def _refined(
        self, part: Part, one: str, about: str, member: _Member, *, is_open: bool
    ) -> Iterator[State]:
        is_act = part == "action" and about == one
        facts = replace(self._facts(is_open=is_open), about=about, is_act=is_act)
        return (evaluate(each, facts).state for each in member.refinements)

    def _is_included(self, part: Part, narrow: str, wide: str, *, is_open: bool) -> State:
        """Tell whether a name lies within another; a prohibition holds for what it needs, too."""
        known = self._hierarchy
        needed = known.needs(narrow) if is_open and part == "action" else ()
        if any(known.path(part, one, wide) for one in (narrow, *needed)):
            return "satisfied"
        if is_open and known.path(part, wide, narrow):
            return "satisfied"
        may_be = is_blank(wide) or (is_open and known.overlaps(part, narrow, wide))
        return "unknown" if may_be else "unsatisfied"

    def _constraints(
        self, rule: Rule, facts: StatedFacts, *steps: object
    ) -> Iterator[ConstraintReport]:
        if rule.purposes:
            right = tuple(Value(iri, type=IRI) for iri in rule.purposes)
            condition = Constraint(PURPOSE, f"{terms.ODRL}isAnyOf", right)
            report = self._constraint(evaluate(condition, facts), facts, *steps, "purpose")
            yield replace(report, right=rule.purposes)
        for n, each in enumerate(rule.constraints):
            yield self._constraint(evaluate(each, facts), facts, *steps, "constraint", n)

    def _constraint(self, verdict: Verdict, facts: StatedFacts, *steps: object) -> ConstraintReport:
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
            parts = tuple(self._constraint(part, facts, *steps, n) for n, part in inner)
            return replace(report, premises=parts)
        what = "cannot be compared" if facts.told(condition.left_operand) else "is not known"
        unknown = f"{terms.compact(condition.left_operand)} {what}."
        return replace(
            report,
            left=facts.shown(condition.left_operand),
            right=values(self._texts[0], condition.uid),
            reason=unknown if verdict.state == "unknown" else "",
        )

    # -- duties -------------------------------------------------------------------------------

    def _duty(self, duty: Rule, *steps: object) -> Iterator[DutyReport]:
        """Yield what the world tells of a duty, or that nothing is known of it."""
        premises = tuple(self._constraints(duty, self._facts(is_open=True), *steps))
        active = all(_at_least(premise.state, "unknown") for premise in premises)
        told = () if is_blank(duty.uid) else self._setting.told.get(duty.uid, ())
        for n, one in enumerate(told or (DutyState("_:", duty.uid, "", ""),)):
            performance = one.performance or "Unknown"
            deontic = one.deontic or (_DEONTIC[performance] if active else "NonSet")
            yield DutyReport(
                node=self.node(*steps, "report", n) if is_blank(one.node) else one.node,
                rule=self.written(duty.uid),
                performance=cast("Performance", performance),
                deontic=cast("Deontic", deontic),
                active=active,
                premises=premises,
                is_told=not is_blank(one.node),
            )

    # -- what is known ------------------------------------------------------------------------

    @cached_property
    def _hierarchy(self) -> Hierarchy:
        return with_own_purposes(self._setting.hierarchy, self._texts[1], self.asked)

    @cached_property
    def _closures(self) -> Closures:
        return Closures(self._hierarchy)

    @cached_property
    def _members(self) -> RefinedMembers:
        said = {node: set(map(terms.canonical, of)) for node, of in self._texts[2].about.items()}
        return RefinedMembers(said, lambda: self.asked.targets)

    def _facts(self, *, is_open: bool) -> StatedFacts:
        return replace(self._known, is_closed=not is_open)

    @cached_property
    def _known(self) -> StatedFacts:
        world = self._texts[2]
        told = told_by(world, self.asked, self.time)
        return StatedFacts(world, self._hierarchy, told, is_closed=True)


def _best(states: Iterable[State]) -> State:
    return max(states, key=_STATES.index)


def _worst(states: Iterable[State]) -> State:
    return min(states, key=_STATES.index)


def _at_least(state: State, least: State) -> bool:
    return _STATES.index(state) >= _STATES.index(least)


def _why_unknown(name: str, asked: tuple[str, ...]) -> str:
    if not asked:
        return f"The request names no {name.lower()}."
    return f"It cannot be told whether the {name.lower()} of the request lies within the rule's."
