"""What a release tells of values: of a sensitive column, and of numbers that were masked."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn
from policy_engine.audits.disclosure.risks.classes import KnownClasses
from policy_engine.audits.disclosure.risks.result import NoRisk, Risk
from policy_engine.audits.disclosure.scales import dispersion_of, dispersions
from policy_engine.kernels.attribute_inference import ReleasedCells, guess_values, homogeneity
from policy_engine.kernels.estimates import share_of_parts
from policy_engine.kernels.interval_disclosure import (
    deviation_interval_disclosure,
    pairs_within_ranks,
    rank_interval_disclosure,
)
from policy_engine.kernels.near_pairs import pairs_within

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HEAVY = 5.0
"""By a standard deviation so many times as large as others have it, most values may be equal."""
FEWEST = 10
"""Of fewer persons no interval of a share says anything."""
MOST_GUESSED = 200_000
"""Values of so many persons are guessed, at most."""
MOST_GUESSED_IN_STEPS, MOST_STEPS = 50_000, 12
"""Of so many persons at most, values are also guessed by the first columns known, the first two and
so on, up to so many."""
DEVIATIONS = 0.05
"""An interval reaches so many standard deviations to either side of a masked value."""
RANKS = tuple(percent / 100 for percent in range(1, 11))
"""Shares of the records that intervals of ranks reach to either side."""
TOLERANCE = 0.1
"""A number is guessed if it differs by so many deviations at most: standard deviations, where these
are not those of a few values."""


def homogeneous(classes: KnownClasses, sensitive: KnownColumn) -> Iterator[Risk | NoRisk]:
    """Yield for how many records the class tells the sensitive value, for certain and probably."""
    if sensitive.masking is not None and sensitive.masking.is_perturbation:
        reason = f"its values are masked by {sensitive.masking.masking}: none is certain"
        yield NoRisk(measure="homogeneity", column=sensitive.name, reason=reason)
        return
    if classes.is_overlapping:
        reason = "suppressed cells may be any value"
        yield NoRisk(measure="homogeneity", column=sensitive.name, reason=reason)
        return
    values = sensitive.after.cell_of.astype(np.int32)
    figures = homogeneity(classes.class_of, values)
    alone = 1.0 if figures.baseline == figures.rows else 0.0
    words = {"column": sensitive.name}
    yield Risk.of("homogeneity", classes.known, figures.certain / figures.rows, alone, **words)
    expected, overall = figures.expected / figures.rows, figures.baseline / figures.rows
    yield Risk.of("commonest-of-class", classes.known, expected, overall, **words)


def inferred(columns: Sequence[KnownColumn], sensitive: KnownColumn) -> Risk | NoRisk:
    """Return for how many persons a value is guessed as that of the nearest records.

    By those of the columns that tell most beyond the baseline, that of who guesses from all values
    that the release has.
    """
    guesses = inferences(columns, sensitive)
    return guesses if isinstance(guesses, NoRisk) else max(guesses, key=lambda one: one.excess)


def inferences(columns: Sequence[KnownColumn], sensitive: KnownColumn) -> list[Risk] | NoRisk:
    """Return for how many persons a value is guessed, by every set of columns that is tried."""
    persons = len(sensitive.before)
    if persons < FEWEST or persons > MOST_GUESSED:
        few = f"{persons:,} persons are too few for an interval"
        many = f"{persons:,} persons are more than the {MOST_GUESSED:,} whose values are guessed"
        reason = few if persons < FEWEST else many
        return NoRisk(measure="attribute-inference", column=sensitive.name, reason=reason)
    values, truth = _compared(sensitive)
    return [
        _inferred(some, sensitive.name, values, truth, tolerance)
        for tolerance in _tolerances(sensitive)
        for some in known_sets(columns)
    ]


def known_sets(columns: Sequence[KnownColumn]) -> list[tuple[KnownColumn, ...]]:
    """Return the sets of columns by which values are guessed, since more may mislead an intruder.

    Each column alone, the first, the first two and so on, those that are not masked at random, and
    all; of many persons, no first ones.
    """
    kept = [one for one in columns if not (one.masking and one.masking.is_perturbation)]
    steps = range(2, min(len(columns), MOST_STEPS) + 1)
    if len(columns[0].before) > MOST_GUESSED_IN_STEPS:
        steps = range(0)
    sets = [*((one,) for one in columns), *(columns[:count] for count in steps), kept, columns]
    return list({tuple(c.name for c in one): tuple(one) for one in sets if one}.values())


def _inferred(
    columns: Sequence[KnownColumn], name: str, values: Floats, truth: Floats, tolerance: float
) -> Risk:
    points = np.column_stack([_places(column)[column.before] for column in columns])
    guesses = guess_values(points, _cells(columns), values, truth, tolerance)
    reached = share_of_parts(math.fsum(guesses.informed.tolist()), len(truth))
    baseline = math.fsum(guesses.blind.tolist()) / len(truth)
    names = tuple(column.name for column in columns)
    detail = f"within {tolerance:.3g}" if tolerance else ""
    return Risk.of("attribute-inference", names, reached, baseline, column=name, detail=detail)


def _places(column: KnownColumn) -> Floats:
    """Return the place of each code, finite: a missing number is farther away than any other."""
    if not column.is_number:
        return np.arange(len(column.labels), dtype=np.float64)
    placed = _axis(column)
    if column.has_missing:
        low, high = _ends(column)
        placed[0] = low - (high - low or 1.0)
    return placed


def _axis(column: KnownColumn) -> Floats:
    """Return the numbers of the codes; their ranks, where the range is that of a few of them."""
    if dispersion_of(column.known_numbers()).is_robust:
        return np.arange(len(column.values), dtype=np.float64)
    return column.values.astype(np.float64).copy()


def _ends(column: KnownColumn) -> tuple[float, float]:
    present = _axis(column)[int(column.has_missing) :]
    return (float(present.min()), float(present.max())) if len(present) else (0.0, 0.0)


def _cells(columns: Sequence[KnownColumn]) -> ReleasedCells:
    low, high, widths = [], [], []
    for column in columns:
        spread, places = column.after, _places(column)
        first = np.minimum.reduceat(spread.low, spread.starts[:-1])[spread.cell_of]
        last = np.maximum.reduceat(spread.high, spread.starts[:-1])[spread.cell_of] - 1
        low.append(places[first])
        high.append(places[last])
        least, most = _ends(column)
        widths.append((most - least or 1.0) if column.is_number else 0.0)
    return ReleasedCells(np.column_stack(low), np.column_stack(high), np.array(widths))


def _compared(sensitive: KnownColumn) -> tuple[Floats, Floats]:
    """Return the released values, and the true ones; a missing one is far from all others."""
    if not sensitive.is_number or sensitive.is_ordinal:
        return sensitive.released_codes().astype(float), sensitive.before.astype(float)
    present = sensitive.values[int(sensitive.has_missing) :]
    absent = present.min(initial=0.0) - 2 * np.ptp(np.append(present, 0.0)) - 1
    values, truth = (
        np.where(np.isnan(one), absent, one)
        for one in (sensitive.released_numbers()[0], sensitive.known_numbers())
    )
    return values, truth


def _tolerances(sensitive: KnownColumn) -> list[float]:
    """Return by how much a guess may differ: where a few values make the standard deviation, what
    is nearly everything by it may be little by that of the others."""
    if not sensitive.is_number or sensitive.is_ordinal:
        return [0.0]
    truth = sensitive.known_numbers()
    deviations = dict.fromkeys(one.deviation for one in dispersions(truth, HEAVY))
    return [TOLERANCE * one for one in deviations]


@dataclass(frozen=True)
class MaskedNumbers:
    """Numbers of the same persons before and after, (persons, columns) each, all of them finite.

    Of all `persons` of the original, those in the release are here.
    """

    names: tuple[str, ...]
    before: Floats
    after: Floats
    persons: int

    @classmethod
    def of(cls, columns: Sequence[KnownColumn], own: Ints) -> "MaskedNumbers":
        """Return the columns of numbers that are single values, and not all as they were."""
        chosen = [column for column in columns if _is_masked_number(column, own)]
        paired = np.flatnonzero(own >= 0)
        before = [column.known_numbers()[paired] for column in chosen]
        after = [column.released_numbers()[0][own[paired]] for column in chosen]
        if not chosen:
            nothing = np.zeros((0, 0))
            return cls((), nothing, nothing, len(own))
        both = np.column_stack(before), np.column_stack(after)
        finite = np.isfinite(both[0]).all(axis=1) & np.isfinite(both[1]).all(axis=1)
        names = tuple(column.name for column in chosen)
        return cls(names, both[0][finite], both[1][finite], len(own))


def _is_masked_number(column: KnownColumn, own: Ints) -> bool:
    if column.is_ordinal or not (column.is_number and column.is_exact):
        return False
    if not np.isfinite(column.values).all():
        return False
    paired = own >= 0
    return bool((column.released_codes()[own[paired]] != column.before[paired]).any())


def interval_disclosure(numbers: MaskedNumbers) -> Iterator[Risk | NoRisk]:
    """Yield for how many persons masked numbers tell the original ones within an interval.

    The baseline is what the interval of any other record tells as well: how many of all pairs.
    """
    if not numbers.names:
        reason = "no known column has masked numbers whose rows can be matched"
        yield NoRisk(measure="interval-disclosure", reason=reason)
        return
    rows = len(numbers.before)
    if rows < FEWEST:
        reason = f"{rows:,} persons with numbers are too few for an interval"
        yield NoRisk(measure="interval-disclosure", reason=reason)
        return
    yield _deviation_risk(numbers)
    for place, name in enumerate(numbers.names):
        yield _rank_risk(numbers, place, name)


def _deviation_risk(numbers: MaskedNumbers) -> Risk:
    inside = deviation_interval_disclosure(numbers.before, numbers.after, DEVIATIONS)
    # A width of the masked column, with the divisor n - 1, as for the figure itself.
    widths = DEVIATIONS * np.sort(numbers.after, axis=0).std(axis=0, ddof=1)
    return Risk.of(
        "interval-disclosure",
        numbers.names,
        share_of_parts(int(inside.sum()), numbers.persons),
        pairs_within(numbers.before, numbers.after, widths) / len(numbers.before) / numbers.persons,
        detail=f"within {DEVIATIONS:g} standard deviations, in all columns at once",
    )


def _rank_risk(numbers: MaskedNumbers, place: int, name: str) -> Risk:
    before, after = numbers.before[:, place], numbers.after[:, place]
    rows = len(before)
    shares = rank_interval_disclosure(before[:, None], after[:, None], RANKS)[:, 0].tolist()
    pairs = [one / rows**2 for one in pairs_within_ranks(before, after, RANKS)]
    part = rows / numbers.persons
    return Risk.of(
        "rank-interval",
        (name,),
        share_of_parts(math.fsum(shares) / len(RANKS) * rows, numbers.persons),
        math.fsum(pairs) / len(RANKS) * part,
        column=name,
        detail="within 1% to 10% of the ranks, on average",
    )
