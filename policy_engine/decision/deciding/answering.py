"""Decisions on a request, with all that they say."""

from collections.abc import Iterator, Sequence
from functools import partial
from heapq import nsmallest
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal

from policy_engine.decision.deciding import prohibiting
from policy_engine.decision.explaining import derivation, near_miss_lines, no_permission_reason
from policy_engine.decision.holding import (
    RuleMatch,
    count_uncovered,
    match_permission,
    outstanding_duties,
)
from policy_engine.decision.index import Clause
from policy_engine.decision.model import Counted, Decision, NearMiss, OutstandingDuty
from policy_engine.decision.outputs import Output
from policy_engine.decision.ownership import OwnerConsent

if TYPE_CHECKING:
    from policy_engine.decision.deciding.case import Case

_NEAR = 16
_MOST_NEAR_MISSES = 3
_MOST_INEFFECTIVE = 16


def permit(case: "Case", permits: Sequence[RuleMatch], outputs: Sequence[Output]) -> Decision:
    """Return the decision by some permissions, of which the first is named."""
    held, clauses = permits[0], [one.clause for one in permits]
    certified = tuple(line for output in outputs for line in output.certified())
    clause = held.clause
    return _decision(
        case,
        effect="permit",
        reason=f"{clause.name} permits it.",
        policy=clause.policy.uid,
        rule=clause.label,
        derivation=(*derivation(held), *_consent_lines(case, clause), *certified),
        strategy="perm"
        if any(map(partial(prohibiting.yields_to_permissions, case), case.prohibited))
        else "",
        duties=tuple(
            dict.fromkeys(chain(*map(partial(_obligations, case), _obliging_rules(case, clauses))))
        ),
        counted_rules=(*counted_rules(case, *clauses), *_counted_consents(case, clause)),
        made_from=prohibiting.target_origins(case),
    )


def _counted_consents(case: "Case", clause: Clause) -> Iterator[Counted]:
    """Yield the owners' rules that are exercised where something is made by their leave."""
    found = _making_consents(case, clause) if case.facts.making else ()
    used = {(leave.clause.number, asset): leave.clause for asset, _, leave in found if leave.clause}
    for (_, asset), one in used.items():
        yield Counted.model_construct(policy=one.policy.uid, rule=one.label, targets=(asset,))


def counted_rules(case: "Case", *permitting: Clause) -> tuple[Counted, ...]:
    """Return the rules that a permit by some permissions is an execution of."""
    used = [(clause, "") for clause in (*permitting, *case.counting)]
    leaves = [(party, leave) for one in permitting for party, _, leave in _use_consents(case, one)]
    # One leave is exercised once, for as many assets as it may be of.
    by_leave = {
        (clause.number, party): (clause, party) for party, leave in leaves for clause in leave.used
    }
    return tuple(
        Counted.model_construct(
            policy=clause.policy.uid,
            rule=clause.label,
            targets=case.request.targets,
            party=party,
        )
        for clause, party in (*used, *by_leave.values())
    )


def _use_consents(case: "Case", clause: Clause) -> Iterator[tuple[str, str, OwnerConsent]]:
    if case.ownership:
        own = case.view.own(clause)
        yield from case.ownership.leaves(clause, case.request.targets, own)


def _consent_lines(case: "Case", clause: Clause) -> Iterator[str]:
    for party, asset, leave in _use_consents(case, clause):
        yield f"{leave.rule} lets {party} grant the use of {asset}"
    for asset, party, leave in _making_consents(case, clause):
        yield f"{leave.rule} lets {party} anonymize {asset}"


def _making_consents(case: "Case", clause: Clause) -> Iterator[tuple[str, str, OwnerConsent]]:
    if case.ownership:
        yield from case.ownership.by_consent(clause, was_done=not case.facts.making)


def _obliging_rules(case: "Case", permitting: Sequence[Clause]) -> Iterator[Clause]:
    """Yield a rule of each policy by whose word something is permitted, leaves among them."""
    given = [leave for one in permitting for _, _, leave in _use_consents(case, one)]
    if case.facts.making:
        given += [leave for one in permitting for *_, leave in _making_consents(case, one)]
    own = {one.policy.uid for one in permitting}
    leaves = {one.clause.policy.uid: one.clause for one in given if one.clause}
    yield from (*permitting, *(one for uid, one in leaves.items() if uid not in own))


def _obligations(case: "Case", clause: Clause) -> Iterator[OutstandingDuty]:
    """Yield what the assignee is obliged to by the policy that permits, and has not done."""
    asked, overlaps = case.asked_of(clause), case.view.closures.overlaps
    case.facts.own = asked.closures
    for duty in clause.policy.obligations:
        is_theirs = not duty.assignees or any(p.iri in asked.party for p in duty.assignees)
        is_here = not duty.targets or any(
            overlaps("asset", target, other.iri)
            for target in case.request.targets
            for other in duty.targets
        )
        if is_theirs and is_here:
            theirs = [p.iri for p in duty.assignees if p.iri in asked.party]
            yield from outstanding_duties(duty, clause, case.facts, theirs)


def deny_unpermitted(case: "Case") -> Decision:
    """Return the denial of what nothing permits, with what comes nearest to doing so."""
    near = _nearest(case)
    for held in near:
        case.unheard.pop(held.clause.number, None)
    ended = case.decider.index.ended
    void = {
        policy.uid: ended.get(policy.uid, "its rules clash")
        for policy in case.decider.policies
        if policy.uid in case.view.void
    }
    lines = tuple(near_miss_lines(void, near))
    return _decision(
        case,
        effect="deny",
        reason=no_permission_reason(lines),
        derivation=lines,
        near_misses=tuple(
            NearMiss.model_construct(
                policy=held.clause.policy.uid, rule=held.clause.label, missing=held.missing
            )
            for held in near
        ),
        duties=tuple(owed for held in case.refused for owed in held.owed),
        strategy="invalid" if void.keys() - ended.keys() else "",
    )


def _nearest(case: "Case") -> list[RuleMatch]:
    """Return the permissions that lack least: conditions alone, or parts of the request."""
    seen = {held.clause.number for held in case.refused}
    others = [
        (count_uncovered(clause, case.asked_of(clause)), clause.number, clause)
        for clause in case.view.nearly(case.asked, _NEAR)
        if clause.number not in seen
    ]
    wholes: set[int] = set()
    found = []
    for _, _, clause in nsmallest(_NEAR, others):
        if len(wholes) < _MOST_NEAR_MISSES or id(clause.whole) in wholes:
            wholes.add(id(clause.whole))
            why = _ineffective_reason(case, clause)
            found.append(match_permission(clause, case.asked_of(clause), case.facts, unheard=why))
    # What makes something is one rule, and is looked at by what it makes and of what.
    nearest: dict[int, RuleMatch] = {}
    for held in sorted([*case.refused[:_NEAR], *found], key=partial(_distance, case)):
        nearest.setdefault(id(held.clause.whole), held)
    return [*nearest.values()][:_MOST_NEAR_MISSES]


def _distance(case: "Case", held: RuleMatch) -> tuple[int, int]:
    """Return how much a permission lacks, and how many of the targets it does not cover."""
    clause, targets = held.clause, case.asked_of(held.clause).targets
    uncovered = sum(map(clause.targets.isdisjoint, targets)) if clause.targets else 0
    return len(held.missing), uncovered


def _ineffective_reason(case: "Case", clause: Clause) -> str:
    """Return why a permission does not count for what it covers; that of nothing is its own."""
    asked = case.asked_of(clause)
    if clause.whole.output and clause.purposes and not asked.request.purpose:
        return ""  # whether an owner lets it be made depends on the purpose
    is_of_all = not any(map(clause.targets.isdisjoint, asked.targets))
    return case.unheard_for(clause) if is_of_all or not clause.targets else ""


def deny(
    case: "Case",
    reason: str,
    held: RuleMatch | None = None,
    *,
    policy: str = "",
    strategy: Literal["", "prohibit"] = "",
) -> Decision:
    """Return a denial for a reason: of a rule that was held, or of a policy."""
    return _decision(
        case,
        effect="deny",
        reason=reason,
        policy=held.clause.policy.uid if held else policy,
        rule=held.clause.label if held else "",
        derivation=tuple(derivation(held)) if held else (),
        strategy=strategy,
    )


def ineffective_rules(case: "Case") -> Iterator[str]:
    """Yield the rules that cover the request and do not count, with the reason."""
    yield from islice(case.unheard.values(), _MOST_INEFFECTIVE)
    if len(case.unheard) > _MOST_INEFFECTIVE:
        yield f"{len(case.unheard) - _MOST_INEFFECTIVE:,} more rules do not count"


def _decision(case: "Case", **parts: Any) -> Decision:
    parts = {
        "policy": "",
        "rule": "",
        "derivation": (),
        "near_misses": (),
        "duties": (),
        "strategy": "",
        "counted": (),
        "made_from": (),
        **parts,
    }
    parts["derivation"] = (*parts["derivation"], *ineffective_rules(case))
    return Decision.model_construct(
        request=case.request,
        matches=tuple(case.matches),
        time=case.time,
        time_by="caller" if case.world.time else "clock",
        policy_digests=case.decider.digests,
        notes=case.decider.notes,
        **parts,
    )
