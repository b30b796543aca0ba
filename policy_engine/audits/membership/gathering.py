"""The evidence of an attacker: the answers of the target and of the shadow models."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.cache import ModelAnswers
from policy_engine.audits.membership.disturbing import view_strengths
from policy_engine.audits.membership.observations import (
    REFERENCES,
    VIEWS,
    Bools,
    Evidence,
    Observations,
    OtherShadows,
    References,
    Shadow,
    Terms,
    Views,
)
from policy_engine.audits.membership.shadows import (
    FURTHER,
    ONLINE,
    SHADOW,
    TARGET,
    ModelTrainer,
    ShadowJob,
    seed_of,
)
from policy_engine.audits.membership.splits import Rows, Splits
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import AuditError

FEWEST_REFERENCES = 50
_MOST_REFERENCES = 20_000
_NONE: Terms = frozenset()
_COMPARED = 8
"""How many shadows are compared with the others, as if each were the target."""


@dataclass(frozen=True, eq=False)
class Turn:
    """One model in the target's place: what an attacker holds, and which records were members."""

    evidence: Evidence
    is_member: Bools


@dataclass(frozen=True, eq=False)
class ModelObservations:
    """A model's answers about the audited records and others, and which of them are members."""

    observations: Observations
    is_member: Bools
    references: References | None = None


@dataclass(frozen=True, eq=False)
class GatheredEvidence:
    """The target's own answers, its turn, and those of further targets."""

    target: ModelAnswers
    turn: Turn
    other_turns: tuple[Turn, ...]


def gather(
    trainer: ModelTrainer,
    splits: Splits,
    seed: int,
    other_targets: int = 0,
    model: Path | None = None,
    progress: Progress = silent,
    extra_terms: Terms = _NONE,
) -> GatheredEvidence:
    """Train all models and return their answers, with so many models in the target's place.

    Online shadows take turns as targets, at no cost; without any, others are trained on
    halves of the audited records. The target is written to the file `model`. Of `extra_terms`,
    beside what models say of the audited records, `views` and `reference records` are asked for.
    Raises AuditError (A008) where memory would not do, (A007) where there are too few reference
    records, and as the learner does.
    """
    audited, trained = splits.audited, splits.shadow_train
    trainer = replace(trainer, views=seed) if VIEWS in extra_terms else trainer
    reference_rows = _reference_rows(trainer, splits) if REFERENCES in extra_terms else audited[:0]
    questions = np.concatenate([audited, reference_rows])
    asked_rows = np.unique(np.concatenate([audited, *trained, *splits.shadow_test]))
    jobs = [
        ShadowJob(splits.target_train, questions, seed_of(seed, TARGET)),
        *(ShadowJob(rows, asked_rows, seed_of(seed, SHADOW, n)) for n, rows in enumerate(trained)),
        *(
            ShadowJob(rows, questions, seed_of(seed, ONLINE, n))
            for n, rows in enumerate(splits.online_train)
        ),
        *(
            ShadowJob(rows, questions, seed_of(seed, FURTHER, n))
            for n, rows in enumerate(splits.further_train)
        ),
    ]
    trainer.check(jobs)
    target, *answers = trainer.run(jobs, "models", progress, model)
    labels, gives = trainer.records.labels, trainer.learner.gives
    names = trainer.records.classes
    shadows, rest = answers[: len(trained)], answers[len(trained) :]

    def observe(answers: ModelAnswers, rows: Rows) -> ModelObservations:
        first, last = np.split(np.arange(len(questions)), [len(audited)])
        references = References(
            _observe(answers, last, labels[reference_rows], gives),
            trainer.features[reference_rows],
            trainer.features[audited],
        )
        observed = _observe(answers, first, labels[audited], gives)
        return ModelObservations(
            observed, np.isin(audited, rows), references if len(reference_rows) else None
        )

    halves = (*splits.online_train, *splits.further_train)
    models = [observe(one, rows) for one, rows in zip(rest, halves, strict=True)]
    online, later = models[: len(splits.online_train)], models[len(splits.online_train) :]
    first = observe(target, splits.target_train)
    if online:
        turns = [online_turn(first, online, seed, names)]
        turns += [_shadow_turn(first, online, n, seed, names) for n in range(other_targets)]
    else:
        shadows_apart = _disjoint_shadows(shadows, asked_rows, splits, labels, gives)
        turns = [
            Turn(
                Evidence(one.observations, shadows_apart, (), seed, names, one.references),
                one.is_member,
            )
            for one in (first, *later)
        ]
    return GatheredEvidence(target, turns[0], tuple(turns[1:]))


def _reference_rows(trainer: ModelTrainer, splits: Splits) -> Rows:
    """Return rows that no target was trained on and that are not audited, up to a limit."""
    rows = np.setdiff1d(np.arange(len(trainer.records)), splits.audited)
    if len(rows) < FEWEST_REFERENCES:
        message = (
            f"{len(rows):,} records are neither audited nor trained on. "
            f"{FEWEST_REFERENCES} or more are needed as reference records."
        )
        raise AuditError.of("A007", message)
    step = -(-len(rows) // _MOST_REFERENCES)
    return rows[::step]


def _observe(
    answers: ModelAnswers, rows: Rows, labels: NDArray[np.int64], gives: Terms
) -> Observations:
    """Return what a model says of some of the rows that it was asked about."""
    if "views" not in answers.arrays:
        return Observations(answers.logits[rows], labels, gives)
    views = Views(answers.arrays["views"][:, rows], view_strengths())
    return Observations(answers.logits[rows], labels, gives | {VIEWS}, views)


def _shadow_turn(
    first: ModelObservations,
    online: Sequence[ModelObservations],
    number: int,
    seed: int,
    names: tuple[str, ...],
) -> Turn:
    """Return the turn of an online shadow, the first target among its shadows.

    The one that was trained on just the other half is left out: whoever has it knows by which
    records it lacks who was a member.
    """
    other_shadows = [one for n, one in enumerate(online) if n // 2 != number // 2]
    return online_turn(online[number], [*other_shadows, first], seed, names)


def online_turn(
    target: ModelObservations,
    online: Sequence[ModelObservations],
    seed: int,
    names: tuple[str, ...],
) -> Turn:
    """Return a turn in which models that saw half of the audited records each serve every attack.

    Those not trained on a record are its out-models, and what each says of its own and of other
    audited records is what attacks learn from.
    """
    signals = np.stack([one.observations.signal for one in online])
    is_in = np.stack([one.is_member for one in online])
    shadows = tuple(
        Shadow(
            one.observations,
            one.is_member,
            one.observations,
            _other_shadows(signals, is_in, n),
            trained_on=one.is_member,
        )
        for n, one in enumerate(online)
    )
    pairs = tuple((one.observations, one.is_member) for one in online)
    evidence = Evidence(target.observations, shadows, pairs, seed, names, target.references)
    return Turn(evidence, target.is_member)


def _other_shadows(signals: NDArray[np.float64], inside: Bools, number: int) -> OtherShadows | None:
    """Return what others say of the audited records, beside one that is tried as a target."""
    if number >= _COMPARED:
        return None
    numbers = [n for n in range(len(inside)) if n != number and (inside[n] == inside[number]).any()]
    return OtherShadows(signals[numbers], inside[numbers]) if numbers else None


def _disjoint_shadows(
    answers: Sequence[ModelAnswers],
    rows_asked: Rows,
    splits: Splits,
    labels: NDArray[np.int64],
    gives: Terms,
) -> tuple[Shadow, ...]:
    """Return the disjoint shadows; the first of them also with what the others say."""
    if not answers:
        return ()
    observations = [Observations(one.logits, labels[rows_asked]) for one in answers]
    trained = [np.isin(rows_asked, rows) for rows in splits.shadow_train]
    audited_places = np.searchsorted(rows_asked, splits.audited)
    shadows = []
    for number, sides in enumerate(zip(splits.shadow_train, splits.shadow_test, strict=True)):
        own = np.searchsorted(rows_asked, np.concatenate(sides))
        numbers = [n for n in range(len(answers)) if n != number]
        peers = OtherShadows(
            np.stack([observations[n].signal[own] for n in numbers]),
            np.stack([trained[n][own] for n in numbers]),
        )
        shadows.append(
            Shadow(
                own=_observe(answers[number], own, labels[rows_asked[own]], gives),
                is_member=trained[number][own],
                audited=_observe(answers[number], audited_places, labels[splits.audited], gives),
                other_shadows=peers if number < _COMPARED else None,
            )
        )
    return tuple(shadows)
