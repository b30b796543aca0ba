"""The audit of differential privacy in one run: canaries, each trained on or not by a fair coin."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.learners.learner import Learner
from policy_engine.audits.membership.observations import Observations
from policy_engine.audits.membership.records import Records, digest_of
from policy_engine.audits.privacy.one_run_bound import one_run_bound
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import AuditError


@dataclass(frozen=True)
class OneRun:
    """How many canaries there were, how many were guessed, and how many guesses were right.

    `value` is no more than epsilon at `delta` with 95% confidence; `ceiling` is what guesses
    without a mistake would have shown.
    """

    canaries: int
    guesses: int
    correct: int
    delta: float
    value: float
    ceiling: float


def one_run(
    scores: NDArray[np.float64],
    is_included: NDArray[np.bool_],
    delta: float,
    guesses: int | None = None,
) -> OneRun:
    """Return what the scores (m,) of canaries prove, which are higher for likelier members.

    Half of the guesses call the highest scores included, half the lowest left out, and the rest
    is abstained from. Without `guesses` they are a third of the canaries; to try several and
    take the best is not a proof.
    """
    canaries = len(scores)
    half = max(1, (canaries // 3 if guesses is None else guesses) // 2)
    if canaries < 2 * half:
        message = f"{2 * half} guesses cannot be made on {canaries} canaries."
        raise AuditError.of("A011", message, "At least two canaries are needed.")
    order = np.argsort(scores, kind="stable")
    correct = int(is_included[order[-half:]].sum() + (~is_included[order[:half]]).sum())
    return OneRun(
        canaries=canaries,
        guesses=2 * half,
        correct=correct,
        delta=delta,
        value=one_run_bound(correct, 2 * half, canaries, delta),
        ceiling=one_run_bound(2 * half, 2 * half, canaries, delta),
    )


Canaries = Callable[
    [Records, int, np.random.Generator], tuple[NDArray[np.generic], NDArray[np.int64]]
]


"""Returns features (m, d) and labels (m,) of so many canaries, from records and random numbers."""


def random_canaries(
    records: Records, count: int, random: np.random.Generator
) -> tuple[NDArray[np.generic], NDArray[np.int64]]:
    """Return canaries whose every feature is that of some record, with labels at random."""
    features = records.features
    rows = random.integers(len(features), size=(count, features.shape[1]))
    labels = random.integers(len(records.classes), size=count)
    return features[rows, np.arange(features.shape[1])], labels


def mislabelled_canaries(
    records: Records, count: int, random: np.random.Generator
) -> tuple[NDArray[np.generic], NDArray[np.int64]]:
    """Return canaries that are records with a label other than their own."""
    rows = random.choice(len(records.labels), size=count, replace=count > len(records.labels))
    classes = len(records.classes)
    labels = (records.labels[rows] + random.integers(1, classes, count)) % classes
    return records.features[rows], labels


def audit_in_one_run(
    learner: Learner,
    records: Records,
    canaries: int,
    delta: float,
    *,
    make: Canaries = random_canaries,
    guesses: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> OneRun:
    """Return what one training proves: on all records, and on each canary by a fair coin.

    A canary's score is the logit margin of its label, which ranks as its loss does and never
    saturates. The records and the canaries are trained on together, with what privacy the learner
    has; epsilon is that of one record more or less.
    """
    random = np.random.default_rng([seed, _STREAM])
    features, labels = make(records, canaries, random)
    is_included = random.random(canaries) < 0.5
    rows = np.concatenate(
        [
            np.arange(len(records.labels)),
            len(records.labels) + np.flatnonzero(is_included),
        ]
    )
    trained = learner.train(_add_canaries(records, features, labels), [rows], [seed], progress)
    observations = Observations(trained.logits(features)[0], labels)
    return one_run(observations.margin, is_included, delta, guesses)


def _add_canaries(
    records: Records, features: NDArray[np.generic], labels: NDArray[np.int64]
) -> Records:
    joined = np.concatenate([records.features, features])
    numbers = np.concatenate([records.labels, labels])
    return Records(
        features=joined,
        labels=numbers,
        classes=records.classes,
        columns={},
        encoding=records.encoding,
        name=f"{records.name} and {len(labels):,} canaries",
        digest=digest_of(joined, numbers),
        warnings=records.warnings,
    )


_STREAM = 42
