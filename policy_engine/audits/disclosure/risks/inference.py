"""What a release tells of a sensitive column to who guesses it from others of the same person."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn, TwoFiles
from policy_engine.audits.disclosure.risks.attributes import FEWEST
from policy_engine.audits.disclosure.risks.guessed_cells import (
    known_points,
    linear_columns,
    linear_points,
    released_cells,
)
from policy_engine.audits.disclosure.risks.known_sets import (
    inverted_sets,
    known_sets,
    most_telling,
    value_bins,
)
from policy_engine.audits.disclosure.risks.mechanism import Sought, mechanism_guesses
from policy_engine.audits.disclosure.risks.result import NoRisk, Risk
from policy_engine.audits.disclosure.risks.undrawn import undrawn
from policy_engine.audits.disclosure.scales import dispersions
from policy_engine.kernels.attribute_inference import (
    best_split,
    chosen_count,
    guess_by_line,
    guess_by_part,
    guess_on_line,
    guess_values,
)
from policy_engine.kernels.estimates import share_of_parts

Floats = NDArray[np.float64]

HEAVY = 5.0
"""By a standard deviation so many times as large as others have it, most values may be equal."""
MOST_GUESSED = 200_000
"""Values of so many persons are guessed, at most."""
MOST_SMOOTHED = 3
"""By so many of the sets that tell most, values are guessed from many records."""
TOLERANCE = 0.1
"""A number is guessed if it differs by so many deviations at most: standard deviations, where these
are not those of a few values."""


def inferred(files: TwoFiles, sensitive: KnownColumn) -> Risk | NoRisk:
    """Return for how many persons a value is guessed from what is known of them.

    The columns of the files are known. In the way that tells most beyond the baseline, that of who
    guesses from all values that the release has.
    """
    guesses = inferences(files, sensitive)
    return guesses if isinstance(guesses, NoRisk) else max(guesses, key=lambda one: one.excess)


def inferences(files: TwoFiles, sensitive: KnownColumn) -> list[Risk] | NoRisk:
    """Return for how many persons a value is guessed, in every way that is tried.

    From the nearest records by every set of columns, from many by those that tell most in the
    release, from the half of the records that the best split of a column puts the person in, by
    linear models of all columns, as by `mechanism_guesses`, and from nothing. Of a column that was
    drawn by a published matrix, also with the likeliest values before drawing.
    """
    persons = len(sensitive.before)
    if persons < FEWEST or persons > MOST_GUESSED:
        few = f"{persons:,} persons are too few for an interval"
        many = f"{persons:,} persons are more than the {MOST_GUESSED:,} whose values are guessed"
        reason = few if persons < FEWEST else many
        return NoRisk(measure="attribute-inference", column=sensitive.name, reason=reason)
    variants = (sensitive, *undrawn(sensitive, files.drawn.get(sensitive.name)))
    return [risk for one in variants for risk in _guessed(files, one)]


def _guessed(files: TwoFiles, sensitive: KnownColumn) -> Iterator[Risk]:
    values, truth = _compared(sensitive)
    bins = value_bins(values, is_number=sensitive.is_number and not sensitive.is_ordinal)
    is_number = None
    if sensitive.is_number and not sensitive.is_ordinal:
        is_number = ~np.isnan(sensitive.released_numbers()[0])
    sets = known_sets(files.columns, bins, files.own)
    tried = _Tried(sets, most_telling(sets, bins, MOST_SMOOTHED), inverted_sets(sets, bins))
    for tolerance in _tolerances(sensitive):
        sought = Sought(values, bins, truth, tolerance, is_number)
        yield from _Guesser(sensitive.name, sought).risks(files, tried)


class _Tried(NamedTuple):
    """By which columns values are guessed from the nearest records, from many records, and by
    inverting their masking."""

    nearest: Sequence[tuple[KnownColumn, ...]]
    many: Sequence[tuple[KnownColumn, ...]]
    inverted: Sequence[tuple[KnownColumn, ...]]


@dataclass(frozen=True)
class _Guesser:
    """Who guesses the values sought of a column, of this name."""

    name: str
    sought: Sought

    def risks(self, files: TwoFiles, tried: _Tried) -> Iterator[Risk]:
        """Yield how many are guessed by each set, by more records of those that tell most, by a
        split, by linear models, and by the published maskings."""
        values, truth, tolerance = self.sought.values, self.sought.truth, self.sought.tolerance
        columns = files.columns
        for some in tried.nearest:
            yield self._by_nearest(some, 1)
        for some in tried.many:
            cells = released_cells(some)
            count = chosen_count(cells, values, tolerance, len(truth))
            if count and count > 1:
                yield self._by_nearest(some, count)
        split = best_split(released_cells(columns), values, tolerance)
        if split is not None:
            [column] = columns[split.column : split.column + 1]
            cells = released_cells([column])
            parts = split.parts(cells.middle()[:, 0]), split.parts(known_points([column])[:, 0])
            informed = guess_by_part(*parts, values, truth, tolerance)
            yield self._risk([column], informed, "by the best split of its values in two")
        yield from self._by_lines(linear_columns(columns))
        for way_columns, informed, how in mechanism_guesses(files, tried.inverted, self.sought):
            yield self._risk(way_columns, informed, how)
        # Others may guess less: who is misled by what is known would do better without.
        yield self._risk(columns, self._blind, "the commonest of all")

    def _by_nearest(self, columns: Sequence[KnownColumn], count: int) -> Risk:
        points, cells = known_points(columns), released_cells(columns)
        guesses = guess_values(
            points, cells, self.sought.values, self.sought.truth, self.sought.tolerance, count
        )
        detail = f"the commonest of the {count:,} nearest" if count > 1 else ""
        return self._risk(columns, guesses.informed, detail)

    def _by_lines(self, columns: Sequence[KnownColumn]) -> Iterator[Risk]:
        files = *linear_points(columns), self.sought.values, self.sought.truth
        informed = guess_by_line(*files, self.sought.tolerance)
        if informed is not None:
            yield self._risk(columns, informed, "by a linear model of who has which value")
        if self.sought.is_number is not None:
            informed = guess_on_line(*files, self.sought.tolerance, self.sought.is_number)
            if informed is not None:
                yield self._risk(columns, informed, "by a linear model of the number")

    def _risk(self, columns: Sequence[KnownColumn], informed: Floats, how: str) -> Risk:
        within = f"within {self.sought.tolerance:.3g}" if self.sought.tolerance else ""
        return Risk.of(
            "attribute-inference",
            tuple(column.name for column in columns),
            share_of_parts(math.fsum(informed.tolist()), len(self.sought.truth)),
            self._baseline,
            column=self.name,
            detail=", ".join(one for one in (within, how) if one),
        )

    @cached_property
    def _blind(self) -> Floats:
        values, truth = self.sought.values, self.sought.truth
        rows, persons = (np.zeros(len(one), dtype=np.int64) for one in (values, truth))
        return guess_by_part(rows, persons, values, truth, self.sought.tolerance)

    @cached_property
    def _baseline(self) -> float:
        return math.fsum(self._blind.tolist()) / len(self.sought.truth)


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
