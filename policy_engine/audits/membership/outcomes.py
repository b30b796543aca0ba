"""The outcomes of an audit's attacks on each target, and the summaries of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.attacks import Attack, Judgement
from policy_engine.audits.membership.conduct import (
    Conduct,
    out_models,
    thresholds,
)
from policy_engine.audits.membership.figures import StrengthMeasure
from policy_engine.audits.membership.games import play_games
from policy_engine.audits.membership.gathering import GatheredEvidence
from policy_engine.audits.membership.measuring import (
    attack_result,
    called_members,
    strongest_attack,
)
from policy_engine.audits.membership.observations import (
    Evidence,
    Terms,
)
from policy_engine.audits.membership.over_targets import (
    OverTargets,
    attack_over_targets,
    spread_of,
)
from policy_engine.audits.membership.record_scores import RecordScores
from policy_engine.audits.membership.result import (
    AttackResult,
    SingleAndSet,
)
from policy_engine.audits.membership.settings import (
    Settings,
    skipped_attacks,
)
from policy_engine.audits.membership.slices import RecordSlice
from policy_engine.audits.membership.splits import Splits
from policy_engine.engines.engine import Progress
from policy_engine.kernels.estimates import NotApplicable


@dataclass(frozen=True)
class AttackOutcomes:
    """What all attacks reached, the scores that each of them gave, and which is the strongest."""

    results: tuple[AttackResult, ...]
    judgements: Mapping[str, Judgement]
    strongest: str
    strongest_by: StrengthMeasure


def run_attacks(
    attacks: Sequence[Attack],
    evidence: Evidence,
    is_member: NDArray[np.bool_],
    parts: Sequence[RecordSlice],
    settings: Settings,
    progress: Progress,
) -> AttackOutcomes:
    """Run the attacks one after another, and count what each reaches on all `parts`."""
    results, judgements = [], {}
    for done, attack in enumerate(attacks):
        progress("attacks", done, len(attacks))
        judgement = attack.judge(evidence)
        judgements[attack.notation] = judgement
        results.append(attack_result(attack, judgement, evidence, is_member, parts, settings.fprs))
    progress("attacks", len(attacks), len(attacks))
    best = strongest_attack(results, settings.strongest_by)
    return AttackOutcomes(tuple(results), judgements, best.attack, settings.strongest_by)


def summarise_targets(
    attacks: Sequence[Attack],
    gathered: GatheredEvidence,
    outcomes: Sequence[AttackOutcomes],
    splits: Splits,
) -> OverTargets | NotApplicable:
    """Return what the attacks reach on all targets, each in its turn."""
    if not gathered.other_turns:
        return ONE_TARGET
    turns = (gathered.turn, *gathered.other_turns)
    sides = [(attack.evidence.target.is_right, attack.is_member) for attack in turns]
    return OverTargets(
        targets=len(turns),
        trained_for_it=len(splits.further_train),
        train=spread_of([float(right[inside].mean()) for right, inside in sides]),
        test=spread_of([float(right[~inside].mean()) for right, inside in sides]),
        attacks=tuple(
            attack_over_targets(attack.notation, [target.results[n].figures for target in outcomes])
            for n, attack in enumerate(attacks)
        ),
    )


def audit_conduct(
    settings: Settings,
    gives: Terms,
    outcomes: AttackOutcomes,
    evidence: Evidence,
    *,
    trains: bool = True,
) -> Conduct:
    """Return what was asked of an audit, and what it rests on."""
    run = tuple(outcomes.judgements)
    return Conduct(
        requested=settings.attacks,
        skipped=tuple(skipped_attacks(run, gives, trains=trains)),
        shadows=settings.shadows,
        out_models=out_models(evidence),
        targets=settings.targets if trains else 1,
        slices=settings.slices,
        fprs=settings.fprs,
        local_epsilon=settings.local_epsilon,
        attack_domain=settings.attack_domain,
        thresholds=tuple(thresholds(outcomes.judgements, evidence)),
    )


def record_scores(
    outcomes: AttackOutcomes, rows: NDArray[np.int64], is_member: NDArray[np.bool_], seed: int
) -> RecordScores:
    """Return what each attack says of the audited `rows` (n,), and whom it calls a member."""
    return RecordScores(
        rows=rows,
        is_member=is_member,
        scores={name: one.scores for name, one in outcomes.judgements.items()},
        called={
            name: called_members(one, is_member, seed) for name, one in outcomes.judgements.items()
        },
        exposed_by=outcomes.strongest,
    )


def play_all_games(
    outcomes: Sequence[AttackOutcomes], members: Sequence[NDArray[np.bool_]], seed: int
) -> Iterator[SingleAndSet]:
    """Yield both games of the strongest attack and of Shokri's, over all targets."""
    for name in dict.fromkeys((outcomes[0].strongest, _SHOKRI)):
        judgements = [one.judgements[name] for one in outcomes if name in one.judgements]
        if judgements and not any(one.dead for one in judgements):
            scores = [one.scores for one in judgements]
            yield play_games(name, list(zip(scores, members, strict=True)), seed)


ONE_TARGET = NotApplicable(reason="one model was attacked")


_SHOKRI = "shokri"
