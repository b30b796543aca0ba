"""Models to compare a fitted one with: trained anew by its recipe, or given as references."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.attacks.attack import rows_by_class
from policy_engine.audits.membership.fitted.views import Logits
from policy_engine.audits.membership.observations import (
    OF_CONFIDENCES,
    Bools,
    Observations,
    Peers,
    Shadow,
)
from policy_engine.audits.membership.shadows import ONLINE, SHADOW, seed_of
from policy_engine.engines.engine import Progress, silent

Rows = NDArray[np.int64]
Trainer = Callable[[Rows, int], Callable[[Rows], Logits]]
"""What trains a model on some rows from a seed, and gives what it says of rows, (n, C)."""

_JUDGED, _HALF = 101, 102
_COMPARED = 8
"""How many shadows are compared with the others, as if each were the target."""


@dataclass(frozen=True, eq=False)
class Company:
    """The models that a fitted one is compared with, and which rows are then judged."""

    judged: Rows
    shadows: tuple[Shadow, ...] = ()
    online: tuple[tuple[Observations, Bools], ...] = ()
    warnings: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Sides:
    """Which rows are judged, and which are for disjoint shadows alone."""

    judged: Rows
    pool: Rows


def sides_of(labels: Rows, is_member: Bools, seed: int, *, disjoint: bool) -> Sides:
    """Return all members and others as judged; a third of the others where shadows need the rest.

    Of every class a third, so that a shadow has as many to learn from as it has to be tried on.
    """
    others = np.flatnonzero(~is_member)
    if not disjoint:
        return Sides(np.arange(len(labels)), others[:0])
    random = np.random.default_rng([seed, _JUDGED])
    judged = []
    for rows in rows_by_class(labels[others], int(labels.max()) + 1):
        mixed = random.permutation(others[rows])
        judged.append(mixed[: -(-len(mixed) // 3)])
    kept = np.concatenate(judged)
    chosen = np.sort(np.concatenate([np.flatnonzero(is_member), kept]))
    return Sides(chosen, np.setdiff1d(others, kept))


def half_of(rows: Rows, labels: Rows, random: np.random.Generator) -> Rows:
    """Return a random half of some rows, of every class half."""
    parts = rows_by_class(labels[rows], int(labels.max()) + 1)
    chosen = [random.permutation(rows[part])[: (len(part) + 1) // 2] for part in parts]
    return np.sort(np.concatenate(chosen))


def trained_company(
    train: Trainer,
    labels: Rows,
    is_member: Bools,
    wanted: tuple[int, int],
    seed: int,
    progress: Progress = silent,
) -> Company:
    """Train disjoint and online shadows, as many as `wanted`, and return what they say.

    Disjoint ones learn from halves of others that are not judged; online ones from halves of all
    records that are, in pairs that complement one another. Raises whatever training does.
    """
    disjoint, _ = wanted
    sides = sides_of(labels, is_member, seed, disjoint=disjoint > 0)
    halves = _halves(sides, labels, wanted, seed)
    asked = np.sort(np.concatenate([sides.judged, sides.pool]))
    said = []
    for number, (role, rows) in enumerate(halves):
        progress("shadow models", number, len(halves))
        at = number if role == SHADOW else number - disjoint
        ask = train(rows, seed_of(seed, role, at))
        said.append(ask(asked if role == SHADOW else sides.judged))
    progress("shadow models", len(halves), len(halves))
    trained = [rows for _, rows in halves]
    return Company(
        sides.judged,
        _shadows(said[:disjoint], trained[:disjoint], sides, asked, labels),
        tuple(
            (Observations(one, labels[sides.judged]), np.isin(sides.judged, rows))
            for one, rows in zip(said[disjoint:], trained[disjoint:], strict=True)
        ),
        tuple(_smaller(trained, int(is_member.sum()))),
    )


def _halves(
    sides: Sides, labels: Rows, wanted: tuple[int, int], seed: int
) -> list[tuple[int, Rows]]:
    """Return the rows that each shadow learns from, disjoint ones first."""
    random = np.random.default_rng([seed, _HALF])
    halves = [(SHADOW, half_of(sides.pool, labels, random)) for _ in range(wanted[0])]
    for _ in range(-(-wanted[1] // 2)):
        one = half_of(sides.judged, labels, random)
        halves += [(ONLINE, one), (ONLINE, np.setdiff1d(sides.judged, one))]
    return halves


def _shadows(
    said: Sequence[Logits], trained: Sequence[Rows], sides: Sides, asked: Rows, labels: Rows
) -> tuple[Shadow, ...]:
    """Return disjoint shadows; the first of them with what the others say of their rows, too."""
    own, judged = np.searchsorted(asked, sides.pool), np.searchsorted(asked, sides.judged)
    every = [Observations(one[own], labels[sides.pool]) for one in said]
    seen = [np.isin(sides.pool, rows) for rows in trained]
    found = []
    for number, one in enumerate(said):
        others = [n for n in range(len(said)) if n != number]
        peers = (
            Peers(np.stack([every[n].signal for n in others]), np.stack([seen[n] for n in others]))
            if others and number < _COMPARED
            else None
        )
        observed = Observations(one[judged], labels[sides.judged])
        found.append(Shadow(every[number], seen[number], observed, peers))
    return tuple(found)


def _smaller(trained: Sequence[Rows], members: int) -> list[str]:
    """Return what is to be said of shadows that learn from much less than the target had."""
    least = min(map(len, trained), default=members)
    if 2 * least > members:
        return []
    learn = f"Shadow models learn from {least:,} records, the model was trained on {members:,}"
    return [f"{learn}: attacks that compare the two show less than they might."]


def given_company(said: Sequence[Logits], labels: Rows) -> Company:
    """Return reference models, of which no more is known than that they saw no record judged."""
    nobody = np.zeros(0, dtype=bool)
    shadows = tuple(
        Shadow(Observations(one[:0], labels[:0], OF_CONFIDENCES), nobody, Observations(one, labels))
        for one in said
    )
    return Company(np.arange(len(labels)), shadows)
