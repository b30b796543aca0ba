"""The prohibitions that a request overlaps, and what lifts them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from policy_engine.decision.clauses import Clause
from policy_engine.decision.consents import without_counts
from policy_engine.decision.explaining import PolicyLine
from policy_engine.decision.history import MadeFrom
from policy_engine.decision.inclusion import overlaps_besides_targets, overlaps_request
from policy_engine.decision.matching import RuleMatch, match_prohibition
from policy_engine.decision.rule_verdicts import is_about_rows
from policy_engine.decision.voiding import yields_to
from policy_engine.policy.model import DERIVED

if TYPE_CHECKING:
    from policy_engine.decision.deciding.case import Case


def denying_prohibition(case: "Case") -> RuleMatch | None:
    """Return the first prohibition that denies the request; `prohibited` are all that apply.

    Among rules on single rows, those that rows can be filtered by deny nothing yet.
    """
    needed_actions = case.view.closures.needs(case.request.action)
    denying = None
    for clause in case.view.prohibitions(case.expanded):
        if case.ownership is not None:
            trace_sources(case, clause)
        match = match_prohibition(
            clause, case.expanded, case.view.own_closures(clause), case.facts, needed_actions
        )
        if clause.is_counted and (match or overlaps_request(clause, case.expanded, needed_actions)):
            case.counting.append(clause)
        if match is None or _is_ineffective(case, clause) or _reaches_reader(case, clause):
            continue
        case.prohibited.append(match)
        case.note(match, applies=True)
        wins = _is_lifted(case, match)
        if denying is None and not wins and not (case.rows and depends_on_rows(case, match)):
            denying = match
    return denying


def trace_sources(case: "Case", clause: Clause, aside: Collection[str] = ()) -> None:
    """Let the origins of what is read together count as read too, as far as a rule reaches.

    Origins that are `aside` do not count: a permission names these itself.
    """
    facts, is_prohibition = case.facts, clause.rule.kind == "prohibition"
    facts.sources = partial(_sources, case, clause) if is_prohibition else _no_sources
    itself = cache(lambda: _own_output(case, clause) if is_prohibition else frozenset())
    made_of = cache(lambda asset: tuple(_sources(case, clause, (asset,), {}, itself())))
    facts.made_of = lambda asset: () if asset in aside else made_of(asset)


def _own_output(case: "Case", clause: Clause) -> frozenset[str]:
    """Return the single output that a prohibition is about, if the request is for one.

    Its inputs are not read together with it: keeping a release apart from its input does not lock
    up the release.
    """
    outputs = {case.origins.outputs(one) for one in _prohibited_targets(case, clause)}
    one = outputs.pop() if len(outputs) == 1 else frozenset()
    return one if len(one) == 1 else frozenset()


def _sources(
    case: "Case",
    clause: Clause,
    assets: Iterable[str],
    origins: Mapping[str, Sequence[MadeFrom]],
    itself: Collection[str] = (),
) -> Iterator[str]:
    """Yield the origins of assets, direct and indirect, as far as a prohibition reaches them.

    The `origins`, by asset, at the time of reading count like those known now. Those of the
    output `itself` that the prohibition is about are not followed.
    """
    leaves = (leaf for one in clause.rule.constraints for leaf in one.constraints())
    if any(leaf.left_operand == DERIVED for leaf in leaves):
        return
    for one in case.origins.trace(assets, origins, clause.assigners, itself):
        yield from one.sources


def target_origins(case: "Case") -> tuple[MadeFrom, ...]:
    """Return the origins of the targets, direct and indirect; nothing if something is made."""
    return () if case.facts.making else tuple(case.origins.trace(case.request.targets))


def _is_ineffective(case: "Case", clause: Clause) -> bool:
    """Return whether a prohibition does not count for the request, and note why."""
    if case.makers is not None and clause.assigners <= case.makers:
        return True
    targets, closures = case.request.targets, case.view.closures
    refusal = case.ownership and case.ownership.prohibition_refusal(clause, targets, closures)
    if refusal:
        line = f"{clause.name} does not count: {refusal}"
        case.ineffective[clause.number] = PolicyLine.of(clause.policy.uid, line)
    return bool(refusal)


def _reaches_reader(case: "Case", clause: Clause) -> bool:
    """Return whether a prohibition also applies to readers of what was made."""
    if case.reader is None:
        return False
    request = case.reader.request
    needed_actions = case.view.closures.needs(request.action)
    if not overlaps_besides_targets(clause, case.reader.expanded, needed_actions):
        return False
    parts = {"assignee": request.assignee, "action": request.action, "purpose": request.purpose}
    other = case.with_request(
        case.request.model_copy(update=parts),
        together=case.reader.facts.together,
        makers=case.makers,
    )
    trace_sources(other, clause)
    match = match_prohibition(
        clause, other.expanded, case.view.own_closures(clause), other.facts, needed_actions
    )
    return match is not None and not _is_lifted(other, match)


def _is_lifted(case: "Case", match: RuleMatch) -> bool:
    """Return whether a prohibition yields to an existing permission of its policy."""
    return yields_to_permissions(case, match) and bool(_policy_permissions(case, match.clause))


def _policy_permissions(case: "Case", clause: Clause) -> Sequence[RuleMatch]:
    """Return the permissions of a prohibition's policy for the request.

    Unless a decision is made, only for the targets that the prohibition is about.
    """
    if case.is_deciding:
        return [one for one in case.permits if one.clause.policy.uid == clause.policy.uid]
    other = case.with_request(
        case.request.model_copy(update={"targets": _prohibited_targets(case, clause)}),
        is_delegation=True,
        together=case.facts.together,
    )
    other.facts.was_done, other.facts.making = case.facts.was_done, case.facts.making
    near = case.view.permissions(other.expanded)
    theirs = [one for one in near if one.policy.uid == clause.policy.uid]
    permissions = [without_counts(one) if case.facts.was_done else one for one in theirs]
    matches = (
        one
        for rule in permissions
        if not rule.written_rule.output
        for one in other.match_clause(rule)
    )
    return [one for one in matches if not one.missing]


def _prohibited_targets(case: "Case", clause: Clause) -> tuple[str, ...]:
    """Return the targets that a prohibition is about."""
    overlaps = case.view.closures.overlaps
    return tuple(
        target
        for target in case.request.targets
        if not clause.targets or any(overlaps("asset", target, one) for one in clause.targets)
    )


def yields_to_permissions(case: "Case", match: RuleMatch) -> bool:
    """Return whether a prohibition yields to its policy's permissions; by rows, others may hold.

    If several owners issue one policy, none lifts another's prohibition.
    """
    clause = match.clause

    def permitting() -> Iterator[frozenset[str]]:
        if case.ownership is not None:
            yield from (one.clause.assigners for one in _policy_permissions(case, clause))

    return yields_to(clause.policy.conflict, clause.assigners, permitting)


def depends_on_rows(case: "Case", match: RuleMatch) -> bool:
    """Return whether a rule applies to some rows, as far as is known, and not to others."""
    return any(
        verdict.state == "unknown" and is_about_rows(verdict.condition, case.facts.rows)
        for verdict in match.verdicts
    )


def _no_sources(
    _assets: Iterable[str], _known: Mapping[str, Sequence[MadeFrom]]
) -> tuple[str, ...]:
    """Return no origins: those of what was read do not count."""
    return ()
