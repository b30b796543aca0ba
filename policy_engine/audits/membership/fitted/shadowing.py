"""Models to compare a fitted one with: shadows trained by its recipe, or references."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.attacks.attack import rows_by_class
from policy_engine.audits.membership.fitted.views import Logits, observe_views
from policy_engine.audits.membership.gathering import ModelObservations, online_turn
from policy_engine.audits.membership.observations import (
    VIEWS,
    Bools,
    Evidence,
    Observations,
    Shadow,
)
from policy_engine.audits.membership.shadows import ONLINE, seed_of
from policy_engine.engines.engine import Progress, silent

Rows = NDArray[np.int64]
Trainer = Callable[[Rows, int], list[Logits]]
"""Trains a model on some rows from a seed, and returns its answers about all, (n, C), by view."""

_HALVES = 102


def halves_of(labels: Rows, count: int, seed: int) -> list[Rows]:
    """Return halves of all rows, of every class half, in pairs that complement one another.

    Every row is in exactly half of them (Carlini et al., IEEE S&P 2022, section IV).
    """
    random = np.random.default_rng([seed, _HALVES])
    parts = rows_by_class(labels, int(labels.max()) + 1)
    halves = []
    for _ in range(-(-count // 2)):
        chosen = []
        for part in parts:
            # Of an odd class now the one half has the record more, now the other.
            few = (len(part) + int(random.integers(2))) // 2
            chosen.append(random.permutation(part)[:few])
        one = np.sort(np.concatenate(chosen))
        halves += [one, np.setdiff1d(np.arange(len(labels)), one)]
    return halves


def trained_evidence(
    target: Observations,
    is_member: Bools,
    train: Trainer,
    settings: tuple[int, int],
    names: tuple[str, ...],
    progress: Progress = silent,
) -> Evidence:
    """Return the evidence of an attacker who trains shadow models from a seed, by `settings`.

    Each learns from a half of all records, members of the target and others alike, so that of
    every record half of the shadows know nothing. Raises whatever training does.
    """
    count, seed = settings
    all_rows = np.arange(len(is_member))
    halves = halves_of(target.labels, count, seed)
    shadows = []
    for number, rows in enumerate(halves):
        progress("shadow models", number, len(halves))
        answers = train(rows, seed_of(seed, ONLINE, number))
        shadows.append(ModelObservations(_observe_like(target, answers), np.isin(all_rows, rows)))
    progress("shadow models", len(halves), len(halves))
    return online_turn(ModelObservations(target, is_member), shadows, seed, names).evidence


def reference_evidence(
    target: Observations, references: Sequence[list[Logits]], seed: int, names: tuple[str, ...]
) -> Evidence:
    """Return what an attacker holds who has models that saw no record judged, and knows no more."""
    no_members = np.zeros(0, dtype=bool)
    shadows = tuple(
        Shadow(
            Observations(one[0][:0], target.labels[:0], target.gives - {VIEWS}),
            no_members,
            _observe_like(target, one),
        )
        for one in references
    )
    return Evidence(target, shadows, (), seed, names)


def _observe_like(target: Observations, answers: Sequence[Logits]) -> Observations:
    """Return what another model says of the records that the target was asked about."""
    strengths = target.views.strengths if target.views else ()
    return observe_views(answers, strengths, target.labels, target.gives - {VIEWS})
