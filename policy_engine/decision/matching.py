"""One rule matched against one request: what is missing, and which duties are outstanding."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from policy_engine import terms
from policy_engine.decision.clauses import Clause
from policy_engine.decision.closures import Closures
from policy_engine.decision.conditions import Verdict
from policy_engine.decision.facts import RequestFacts
from policy_engine.decision.inclusion import (
    ExpandedRequest,
    covers,
    derivation_steps,
    overlaps_request,
    possible_datasets,
)
from policy_engine.decision.model import DerivationStep, OutstandingDuty
from policy_engine.decision.rule_verdicts import (
    is_about_rows,
    permission_verdicts,
    prohibition_verdicts,
)
from policy_engine.decision.verdict import unknown_operands
from policy_engine.policy import Action, Asset, Party, Rule
from policy_engine.policy.model import COUNTS, OFFER


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """A rule matched against a request, with the paths of inclusion and its evaluated conditions.

    `missing` gives the reasons why a permission does not permit the request, one sentence each, and
    is empty if it does; `fulfilments` say how its duties were fulfilled.
    """

    clause: Clause
    steps: tuple[DerivationStep, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    outstanding: tuple[OutstandingDuty, ...] = ()
    missing: tuple[str, ...] = ()
    fulfilments: tuple[str, ...] = ()


def match_permission(
    clause: Clause,
    expanded: ExpandedRequest,
    facts: RequestFacts,
    *,
    rows: bool = False,
    objection: str = "",
) -> RuleMatch:
    """Match a permission against a request; with `rows`, conditions on single rows are left out.

    A non-empty `objection` says why the permission does not count even if everything is satisfied.
    """
    if clause.is_plain and not objection and covers(clause, expanded):
        return RuleMatch(clause, derivation_steps(clause, expanded))
    missing = [*_uncovered_parts(clause, expanded), *filter(None, [objection])]
    if clause.policy.type == OFFER:
        missing.append("its policy is an Offer, which proposes and grants nothing")
    verdicts = () if missing else permission_verdicts(clause, expanded, facts)
    datasets = (facts.rows or possible_datasets(expanded.request.targets)) if verdicts else ()
    for verdict in verdicts:
        is_row_condition = is_about_rows(verdict.condition, datasets)
        if verdict.state != "satisfied" and not (rows and is_row_condition):
            missing.append(_unmet_condition(verdict, facts, is_row_condition=is_row_condition))
    duties = () if missing else tuple(_rule_duty_outcomes(clause, facts))
    outstanding = tuple(one for one in duties if isinstance(one, OutstandingDuty))
    missing += [_describe_outstanding(one, facts) for one in outstanding]
    steps = derivation_steps(clause, expanded) if not missing else ()
    fulfilments = () if missing else tuple(one for one in duties if isinstance(one, str))
    return RuleMatch(clause, steps, verdicts, outstanding, tuple(missing), fulfilments)


def match_prohibition(
    clause: Clause,
    expanded: ExpandedRequest,
    own_closures: Closures,
    facts: RequestFacts,
    needed: Sequence[str],
) -> RuleMatch | None:
    """Return how a prohibition applies to a request; None if it is known not to.

    `expanded` is the request under all hierarchies, `own_closures` are those of the rule's own
    policy. `needed` are the requested action and the actions it needs, none of which may be
    prohibited.
    """
    if not overlaps_request(clause, expanded, needed):
        return None
    verdicts = (
        ()
        if clause.is_plain
        else prohibition_verdicts(clause, expanded, own_closures, facts, needed)
    )
    if verdicts is None:
        return None
    return RuleMatch(clause, derivation_steps(clause, expanded, from_rule=True), verdicts)


def _uncovered_parts(clause: Clause, expanded: ExpandedRequest) -> Iterator[str]:
    """Yield a sentence for each part of a request that a permission does not cover."""
    request, rule = expanded.request, clause.rule
    if clause.assignees and clause.assignees.isdisjoint(expanded.party):
        yield f"it is for {_format_names(rule.assignees)}, not {request.assignee}"
    if clause.actions.isdisjoint(expanded.action):
        yield f"it permits {_format_names(rule.actions)}, not {terms.compact(request.action)}"
    for target, ways in zip(request.targets, expanded.targets, strict=True):
        if clause.targets and clause.targets.isdisjoint(ways):
            yield f"it does not cover {target}"
    if clause.purposes and clause.purposes.isdisjoint(expanded.purpose):
        purposes = " or ".join(map(terms.compact, rule.purposes))
        requested = f"not {terms.compact(request.purpose)}" if request.purpose else _NO_PURPOSE
        yield f"it is for the purpose {purposes}, {requested}"


_NO_PURPOSE = "and the request names none"


def _unmet_condition(verdict: Verdict, facts: RequestFacts, *, is_row_condition: bool) -> str:
    if is_row_condition:
        return "its constraint is about single rows, which a query can be filtered by"
    is_for_log = facts.history is None and any(one in COUNTS for one in unknown_operands(verdict))
    lacks_log = verdict.state == "unknown" and is_for_log
    doubt = facts.ambiguity(facts.world.counts, facts.rule)
    remark = (doubt or " without a decision log") if lacks_log else ""
    return f"its constraint is {verdict.state}: {verdict.reason}{remark}"


def _rule_duty_outcomes(clause: Clause, facts: RequestFacts) -> Iterator[OutstandingDuty | str]:
    for duty in clause.rule.duties:
        yield from _duty_outcomes(duty, clause, facts)


def outstanding_duties(
    duty: Rule, clause: Clause, facts: RequestFacts, doers: Sequence[str] = ()
) -> Iterator[OutstandingDuty]:
    """Yield a duty unless it is fulfilled, and the consequences if it was violated.

    `doers` must fulfil it, else its assignees or the requester.
    """
    outcomes = _duty_outcomes(duty, clause, facts, doers)
    yield from (one for one in outcomes if isinstance(one, OutstandingDuty))


def _duty_outcomes(
    duty: Rule,
    clause: Clause,
    facts: RequestFacts,
    doers: Sequence[str] = (),
    since: datetime | None = None,
) -> Iterator[OutstandingDuty | str]:
    """Yield the outcome of a duty, and of its consequences if it was violated.

    For a fulfilled duty, a sentence says how. `doers` must fulfil it, else its assignees or the
    requester, `since` a moment if that is known. A duty that was violated and fulfilled later still
    has its consequences.
    """
    assignees = tuple(doers) or _iris(duty.assignees)
    by_party = facts.duty_outcomes(
        duty, clause.label, clause.policy, assignees or (facts.request.assignee,), since
    )
    state = facts.performance(duty, clause.policy, by_party.values())
    if state != "fulfilled":
        yield OutstandingDuty(
            policy=clause.policy.uid,
            rule=clause.label,
            duty=duty.label(),
            actions=tuple(action.iri for action in duty.actions),
            by=assignees,
            state="violated" if state else "outstanding",
        )
    else:
        name = duty.uid or " and ".join(terms.compact(action.iri) for action in duty.actions)
        fulfilment = facts.fulfilment(duty, clause.policy, by_party.values())
        yield f"its {duty.kind} {name} is {fulfilment}"
    # A duty that was fulfilled according to another source is not missed if the log lacks it.
    missed_by_party = {
        party: one.missed
        for party, one in by_party.items()
        if one.missed and (one.is_recorded or state != "fulfilled")
    }
    if missed_by_party or state == "violated":
        moment = min(missed_by_party.values(), default=None)
        for consequence in duty.consequences:
            doers_of_consequence = _iris(consequence.assignees) or (*missed_by_party,) or assignees
            yield from _duty_outcomes(consequence, clause, facts, doers_of_consequence, moment)


def _iris(parties: Sequence[Party]) -> tuple[str, ...]:
    return tuple(party.iri for party in parties)


def _describe_outstanding(duty: OutstandingDuty, facts: RequestFacts) -> str:
    doubt = facts.ambiguity(facts.world.duties, duty.duty)
    return f"its duty {_duty_actions(duty)} is {duty.state} ({duty.duty}){doubt}"


def _duty_actions(duty: OutstandingDuty) -> str:
    return " and ".join(map(terms.compact, duty.actions)) or duty.duty


def _format_names(members: Sequence[Party | Asset | Action]) -> str:
    return " or ".join(terms.compact(member.iri) for member in members)
