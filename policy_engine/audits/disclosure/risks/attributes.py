"""What classes tell of a sensitive column, and intervals of numbers that were masked."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn
from policy_engine.audits.disclosure.risks.classes import KnownClasses
from policy_engine.audits.disclosure.risks.result import NoRisk, Risk
from policy_engine.kernels.attribute_inference import homogeneity
from policy_engine.kernels.estimates import share_of_parts
from policy_engine.kernels.interval_disclosure import (
    deviation_interval_disclosure,
    pairs_within_ranks,
    rank_interval_disclosure,
)
from policy_engine.kernels.near_pairs import pairs_within

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST = 10
"""Of fewer persons no interval of a share says anything."""
DEVIATIONS = 0.05
"""An interval reaches so many standard deviations to either side of a masked value."""
RANKS = tuple(percent / 100 for percent in range(1, 11))
"""Shares of the records that intervals of ranks reach to either side."""


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
    if column.is_ordinal or not column.is_point:
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
