"""What a regression was fitted to, and on whom each of its coefficients rests.

A coefficient is a weighted sum of outcomes: by its weights, the information that each unit gives,
and by their products with the outcomes, what each contributes. So the rules for totals hold for it:
enough units, of whom none dominates. Coefficients of categories alone are a table of means in
disguise, and a leverage near 1 says that a fitted value repeats an outcome: classes 9 and 10 of
D. Bond, M. Brandt, P.-P. de Wolf, Guidelines for the checking of output based on microdata
research, Data without Boundaries, deliverable 11.8, 2015.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.model import Counts, Figures

MOST_LEVERAGE = 0.9
"""The most that one unit may make up of its own fitted values: with more, they tell its outcome."""
NEGLIGIBLE = 1e-3
"""The share below which what units contribute does not count: they hide nobody."""
_WHOLE = 1e-9
_CATEGORIES = 2
"""A variable with so many values or fewer says who is in a group."""

Figure = int | float | str | bool | None


@dataclass(frozen=True, eq=False)
class RegressionDesign:
    """What a regression was fitted to: explanatory variables (rows, variables), the number of each
    row's unit, (rows,), the degrees of freedom of the residuals, and the outcome (rows,), None
    where it is not known.

    `weights` are those of the rows in the fit, and `response` what a coefficient changes by with
    the outcome of a row, before the other variables are taken into account; both are 1 for least
    squares. `least` is how many units a figure must be about. `numbers` are those of the rows in
    the data, None where each unit has one row.
    """

    variables: Figures
    units: Counts
    residual_degrees: float
    outcome: Figures | None = None
    weights: Figures | None = None
    response: Figures | None = None
    least: int = 1
    is_classes: bool = False
    is_perfect: bool = False
    numbers: Counts | None = None

    @property
    def row_numbers(self) -> Counts:
        """The numbers of the rows in the data, (rows,)."""
        return self.units if self.numbers is None else self.numbers

    @property
    def rank(self) -> int:
        """The rank of the variables."""
        return int(self._basis[0].shape[1])

    @cached_property
    def unit_count(self) -> int:
        """How many units there are."""
        return int(self._places.max(initial=-1)) + 1

    @cached_property
    def _row_weights(self) -> Figures:
        return np.ones(len(self.variables)) if self.weights is None else self.weights

    @cached_property
    def _basis(self) -> tuple[Figures, Figures]:
        """An orthonormal basis of the weighted variables, (rows, rank), and each coefficient by it,
        (variables, rank)."""
        weighted = self.variables * np.sqrt(self._row_weights)[:, None]
        norms = np.linalg.norm(weighted, axis=0)
        scales = np.where(norms > 0, norms, 1.0)
        basis, sizes, parts = np.linalg.svd(weighted / scales, full_matrices=False)
        is_kept = sizes > sizes.max(initial=0) * _WHOLE
        return basis[:, is_kept], (parts[is_kept] / sizes[is_kept, None]).T / scales[:, None]

    @cached_property
    def _places(self) -> Counts:
        """The place of each row's unit among those that there are."""
        return np.unique(self.units, return_inverse=True)[1].ravel()

    def _by_unit(self, values: Figures) -> Figures:
        return np.bincount(self._places, values, minlength=self.unit_count).astype(np.float64)

    @cached_property
    def greatest_leverage(self) -> float:
        """How much of its own fitted values one unit makes up, at most: 1 is all.

        Of a unit with several rows it is the greatest eigenvalue of its part of the hat matrix.
        """
        basis = self._basis[0]
        sums = self._by_unit((basis**2).sum(axis=1))
        counts = np.bincount(self._places, minlength=self.unit_count)
        order = np.argsort(self._places, kind="stable")
        starts = np.cumsum(counts) - counts
        greatest = float(sums[counts == 1].max(initial=0))
        # Of several rows, the sum of the leverages is a bound: most need not be looked at.
        for unit in np.argsort(-sums).tolist():
            if sums[unit] <= greatest:
                break
            rows = basis[order[starts[unit] : starts[unit] + counts[unit]]]
            greatest = max(greatest, float(np.linalg.norm(rows, 2)) ** 2)
        return greatest

    @cached_property
    def is_of_categories(self) -> bool:
        """Whether all variables have one or two values, or as many patterns as coefficients."""
        few = [len(np.unique(column)) <= _CATEGORIES for column in self.variables.T]
        patterns = len(np.unique(self.variables, axis=0))
        return all(few) or patterns <= self.rank

    @cached_property
    def smallest_group(self) -> int:
        """The fewest units that have another value of a variable, or of the outcome, than the most
        common one; of two values, or of classes, the fewest that share one: what a model predicts
        of an outcome adds up to how many have it."""
        sizes = [self.unit_count]
        for column in self.variables.T:
            sizes += self._group_sizes(column, is_each=False)
        if self.outcome is not None:
            sizes += self._group_sizes(self.outcome, is_each=self.is_classes)
        return min(sizes)

    def _group_sizes(self, column: Figures, *, is_each: bool) -> list[int]:
        values, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
        if len(values) < _CATEGORIES:
            return []
        if is_each or len(values) == _CATEGORIES:
            return [self._count(codes.ravel() == one) for one in range(len(values))]
        return [self._count(codes.ravel() != int(counts.argmax()))]

    def _count(self, is_counted: NDArray[np.bool_]) -> int:
        counts = np.bincount(self._places[is_counted], minlength=self.unit_count)
        return int(np.count_nonzero(counts))

    @cached_property
    def share_without_few(self) -> float:
        """Which share of the information on a coefficient is left, at least, without the units that
        give most of it, one fewer than `least`: near 0, it rests on them."""
        basis = self._basis[0]
        shares = [1.0]
        for direction in self._basis[1]:
            size = float(direction @ direction)
            information = self._by_unit((basis @ direction) ** 2)
            few = np.argsort(-information)[: self.least - 1]
            rows = basis[np.isin(self._places, few)]
            sizes, parts = np.linalg.eigh(np.eye(basis.shape[1]) - rows.T @ rows)
            left = float(((parts.T @ direction) ** 2 / np.maximum(sizes, _WHOLE**2)).sum())
            shares.append(size / left if left > 0 else 1.0)
        return min(shares)

    def contributions(self) -> Iterator[Figures]:
        """Yield what each unit contributes to each coefficient, (units,), by absolute value; of
        classes and of an outcome of two values, nothing: they are counts."""
        if self.outcome is None or self.is_classes or len(np.unique(self.outcome)) <= _CATEGORIES:
            return
        roots = np.sqrt(self._row_weights)
        response = self._row_weights if self.response is None else self.response
        scaled = np.divide(response * self.outcome, roots, np.zeros(len(roots)), where=roots > 0)
        for direction in self._basis[1]:
            yield np.abs(self._by_unit((self._basis[0] @ direction) * scaled))

    @property
    def is_table(self) -> bool:
        """Whether it is a table of few or of categories in disguise, or repeats the outcomes."""
        return (
            self.is_of_categories
            or self.greatest_leverage > MOST_LEVERAGE
            or self.smallest_group < self.least
            or self.share_without_few < NEGLIGIBLE
            or self.is_perfect
        )

    @property
    def degrees_of_freedom(self) -> float:
        """The degrees of freedom of units, never more than those of rows."""
        return float(min(self.residual_degrees, self.unit_count - self.rank))

    def evidence(self) -> dict[str, Figure]:
        """Return what a checker looks at."""
        return {
            "observations": len(self.variables),
            "units": self.unit_count,
            "variables": self.variables.shape[1],
            "rank": self.rank,
            "residual degrees of freedom": self.residual_degrees,
            "greatest leverage": round(self.greatest_leverage, 6),
            "only categories": self.is_of_categories,
            "units in the smallest group": self.smallest_group,
            "information left without few units": round(self.share_without_few, 6),
        }


def counted_units(units: Counts, weights: Figures) -> NDArray[np.bool_]:
    """Return which rows are of units that count, (rows,): others weigh less than a thousandth of
    the mean, and are not in the population of a weighted fit."""
    places = np.unique(units, return_inverse=True)[1].ravel()
    sums = np.bincount(places, np.abs(weights)).astype(np.float64)
    is_counted: NDArray[np.bool_] = (sums > NEGLIGIBLE * sums.mean())[places]
    return is_counted


def effective_count(sizes: Figures) -> int:
    """Return the fewest units that hold all but a negligible share of a total."""
    ordered = np.sort(sizes)
    return int(
        len(sizes) - np.searchsorted(np.cumsum(ordered), NEGLIGIBLE * ordered.sum(), "right")
    )
