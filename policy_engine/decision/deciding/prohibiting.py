"""The prohibitions that a request overlaps, and what lifts them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from policy_engine.decision.clauses import Clause
from policy_engine.decision.consents import without_counts
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

    Of single rows, those that may be filtered by deny nothing yet.
    """
    needed = case.view.closures.needs(case.request.action)
    denying = None
    for clause in case.view.prohibitions(case.expanded):
        if case.ownership is not None:
            trace_sources(case, clause)
        held = match_prohibition(
            clause, case.expanded, case.view.own_closures(clause), case.facts, needed
        )
        if clause.is_counted and (held or overlaps_request(clause, case.expanded, needed)):
            case.counting.append(clause)
        if held is None or _is_ineffective(case, clause) or _reaches_reader(case, clause):
            continue
        case.prohibited.append(held)
        case.note(held, applies=True)
        wins = _is_lifted(case, held)
        if denying is None and not wins and not (case.rows and depends_on_rows(case, held)):
            denying = held
    return denying


def trace_sources(case: "Case", clause: Clause, aside: Collection[str] = ()) -> None:
    """Let what is read together be what it was made from, too, as far as a rule reaches.

    Not what is `aside`: a permission names that itself, and is for no more than it names.
    """
    facts, is_prohibition = case.facts, clause.rule.kind == "prohibition"
    facts.sources = partial(_sources, case, clause) if is_prohibition else _no_sources
    itself = cache(lambda: _own_output(case, clause) if is_prohibition else frozenset())
    made_of = cache(lambda asset: tuple(_sources(case, clause, (asset,), {}, itself())))
    facts.made_of = lambda asset: () if asset in aside else made_of(asset)


def _own_output(case: "Case", clause: Clause) -> frozenset[str]:
    """Return the output of which alone a prohibition is about what is asked for, if it is of one.

    What that was made from is not read together with it: who keeps a release apart from its
    input does not lock up the release.
    """
    found = {case.origins.outputs(one) for one in _prohibited_targets(case, clause)}
    one = found.pop() if len(found) == 1 else frozenset()
    return one if len(one) == 1 else frozenset()


def _sources(
    case: "Case",
    clause: Clause,
    assets: Iterable[str],
    known: Mapping[str, Sequence[MadeFrom]],
    itself: Collection[str] = (),
) -> Iterator[str]:
    """Yield what assets were made from, near and far, as far as a prohibition reaches them.

    What is `known` of it by asset, when they were read, counts as what is known now does. What
    is of the output `itself` that the prohibition is about is not looked behind.
    """
    leaves = (leaf for one in clause.rule.constraints for leaf in one.constraints())
    if any(leaf.left_operand == DERIVED for leaf in leaves):
        return
    for one in case.origins.trace(assets, known, clause.assigners, itself):
        yield from one.sources


def target_origins(case: "Case") -> tuple[MadeFrom, ...]:
    """Return what the targets were made from, near and far; nothing where something is made."""
    return () if case.facts.making else tuple(case.origins.trace(case.request.targets))


def _is_ineffective(case: "Case", clause: Clause) -> bool:
    """Tell whether a prohibition does not count for what is asked for, and note why."""
    if case.maker is not None and clause.assigners <= case.maker:
        return True
    targets, known = case.request.targets, case.view.closures
    fails = case.ownership and case.ownership.prohibition_refusal(clause, targets, known)
    if fails:
        case.ineffective[clause.number] = f"{clause.name} does not count: {fails}"
    return bool(fails)


def _reaches_reader(case: "Case", clause: Clause) -> bool:
    """Tell whether a prohibition applies to those who read what was made as well."""
    if case.reader is None:
        return False
    asked = case.reader.request
    needed = case.view.closures.needs(asked.action)
    if not overlaps_besides_targets(clause, case.reader.expanded, needed):
        return False
    parts = {"assignee": asked.assignee, "action": asked.action, "purpose": asked.purpose}
    other = case.with_request(
        case.request.model_copy(update=parts),
        together=case.reader.facts.together,
        maker=case.maker,
    )
    trace_sources(other, clause)
    held = match_prohibition(
        clause, other.expanded, case.view.own_closures(clause), other.facts, needed
    )
    return held is not None and not _is_lifted(other, held)


def _is_lifted(case: "Case", held: RuleMatch) -> bool:
    """Tell whether a prohibition yields to a permission of its policy that there is."""
    return yields_to_permissions(case, held) and bool(_policy_permissions(case, held.clause))


def _policy_permissions(case: "Case", clause: Clause) -> Sequence[RuleMatch]:
    """Return the permissions of a prohibition's policy to do what is asked for.

    Where nothing is decided, that is of the targets that the prohibition is about.
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
    given = [without_counts(one) if case.facts.was_done else one for one in theirs]
    held = (
        one for rule in given if not rule.written_rule.output for one in other.match_clause(rule)
    )
    return [one for one in held if not one.missing]


def _prohibited_targets(case: "Case", clause: Clause) -> tuple[str, ...]:
    """Return the targets that a prohibition is about."""
    overlaps = case.view.closures.overlaps
    return tuple(
        target
        for target in case.request.targets
        if not clause.targets or any(overlaps("asset", target, one) for one in clause.targets)
    )


def yields_to_permissions(case: "Case", held: RuleMatch) -> bool:
    """Tell whether a prohibition yields to its policy's permissions; by rows, others may hold.

    Of several owners who issue one policy, none lifts another's prohibition.
    """
    clause = held.clause

    def permitting() -> Iterator[frozenset[str]]:
        if case.ownership is not None:
            yield from (one.clause.assigners for one in _policy_permissions(case, clause))

    return yields_to(clause.policy.conflict, clause.assigners, permitting)


def depends_on_rows(case: "Case", held: RuleMatch) -> bool:
    """Tell whether a rule holds of some rows, as far as is known, and not of others."""
    return any(
        verdict.state == "unknown" and is_about_rows(verdict.condition, case.facts.rows)
        for verdict in held.verdicts
    )


def _no_sources(
    _assets: Iterable[str], _known: Mapping[str, Sequence[MadeFrom]]
) -> tuple[str, ...]:
    """Tell that what was read was made from nothing that counts."""
    return ()
