"""How many sample uniques are unique in the population, by a log-linear model of the key variables.

Population frequencies are Poisson with the means lambda of their cells, and each person is in the
sample with the same chance pi, so that the sample's counts are Poisson with the means pi lambda
(Skinner and Shlomo: Assessing identification risk in survey microdata using log-linear models,
Journal of the American Statistical Association 103, 2008; Elamir and Skinner, 2006).

sdcMicro's `modRisk` takes the fitted means of the sample for lambda and divides by the number of
occupied cells; here lambda is theirs by pi, and the sums are over the sample uniques.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.contingency import (
    ContingencyTable,
    Margins,
    fitted_means,
    interactions,
    main_effects,
)
from policy_engine.kernels.estimates import NotApplicable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SIGNIFICANT = 3.29


def chances_as_unique(means: Floats, share: float) -> Floats:
    """Return how likely sample uniques of these lambda are population uniques: P(F=1 | f=1)."""
    return np.exp(-(1 - share) * means)


def expected_links(means: Floats, share: float) -> Floats:
    """Return how likely sample uniques of these lambda are linked rightly: E(1/F | f=1)."""
    others = (1 - share) * means
    return np.divide(-np.expm1(-others), others, out=np.ones_like(others), where=others > 0)


@dataclass(frozen=True)
class LogLinearRisk:
    """The risk of the sample uniques under one model.

    `rows` (uniques,) are the records that are unique in the sample, ascending, `as_unique`
    (uniques,) the chance that each is so in the population, and `linked` (uniques,) that it is
    linked rightly. `biases` are the standardised biases of the two sums below (B/sqrt(V) of Skinner
    and Shlomo): near to normal if the model holds, positive if it is too simple and its risk too
    high, negative if it has too many interactions and its risk is too low.
    """

    rows: Ints
    as_unique: Floats
    linked: Floats
    biases: tuple[float, float]

    @property
    def population_uniques(self) -> float:
        """Return how many sample uniques are expected to be unique in the population: tau_1."""
        return float(self.as_unique[np.argsort(self.as_unique)].sum())

    @property
    def right_links(self) -> float:
        """Return how many links of sample uniques are expected to be right: tau_2."""
        return float(self.linked[np.argsort(self.linked)].sum())


def log_linear_risk(codes: Ints, share: float, margins: Margins) -> LogLinearRisk | NotApplicable:
    """Return the risk of a sample's uniques under the model with these margins.

    `codes` (records, columns) are its key variables, -1 for a missing value, which is a value of
    its own; `share`, above 0 and at most 1, is that of the population that is in the sample.
    `NotApplicable` where no record is unique, the table has too many cells or no fit is found.
    """
    table = ContingencyTable.of(codes, margins)
    if isinstance(table, NotApplicable):
        return table
    rows = np.flatnonzero(table.counts[table.cell_of] == 1)
    if not len(rows):
        return NotApplicable(reason="no record is unique in the sample")
    means = fitted_means(table, margins)
    if isinstance(means, NotApplicable):
        return means
    of_row = means[table.cell_of[rows]] / share
    return LogLinearRisk(
        rows,
        chances_as_unique(of_row, share),
        expected_links(of_row, share),
        _biases(table.counts, means, share),
    )


def _biases(counts: Ints, fitted: Floats, share: float) -> tuple[float, float]:
    """Return the standardised biases of both sums, which are over all cells."""
    likely = fitted > 0
    counts, fitted = counts[likely], fitted[likely]
    means = fitted / share
    none, one = np.exp(-fitted) * expected_links(means, share), np.exp(-means)
    others = (1 - share) * means
    by_error = (others * one, none - one)
    by_square = (others * (1 - share) / (2 * share) * one, (none - one * (1 + others / 2)) / fitted)
    first, second = (
        _standardised(counts, fitted, error, square)
        for error, square in zip(by_error, by_square, strict=True)
    )
    return first, second


def _standardised(counts: Ints, fitted: Floats, by_error: Floats, by_square: Floats) -> float:
    # Both terms are 0 in expectation, and uncorrelated, under the model: Var(f) = m, and
    # Var((f - m)^2 - f) = 2 m^2.
    errors = counts - fitted
    bias = float((by_error * errors + by_square * (errors**2 - counts)).sum())
    variance = float((by_error**2 * fitted + 2 * (by_square * fitted) ** 2).sum())
    return bias / variance**0.5 if variance > 0 else 0.0


def selected_risk(codes: Ints, share: float) -> tuple[Margins, LogLinearRisk] | NotApplicable:
    """Return the model of least bias, by its margins, and the risk under it.

    From all main effects on, the interactions of two columns that the data support are added, the
    strongest first, and the model whose larger bias is the least is taken. `NotApplicable` if even
    that one is significant at 99.9%.
    """
    candidates, reasons = [], []
    for margins in _growing(codes):
        risk = log_linear_risk(codes, share, margins)
        if isinstance(risk, NotApplicable):
            reasons.append(risk.reason)
        else:
            candidates.append((margins, risk))
    if not candidates:
        return NotApplicable(reason=reasons[-1])
    best = min(candidates, key=lambda one: max(map(abs, one[1].biases)))
    first, second = best[1].biases
    if max(abs(first), abs(second)) > _SIGNIFICANT:
        return NotApplicable(
            reason="no log-linear model fits: the least biased is off "
            f"by {first:+.1f} and {second:+.1f} standard errors"
        )
    return best


def _growing(codes: Ints) -> Iterator[Margins]:
    """Yield main effects, then these with ever more interactions."""
    margins = tuple(main_effects(codes.shape[1]))
    yield margins
    for pair in interactions(codes):
        margins = (*margins, pair)
        yield margins
