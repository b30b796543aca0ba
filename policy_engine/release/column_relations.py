"""Which columns follow from each other: one in other units than another, and sums of several.

Relations are looked for in all rows of the data, whichever rows outputs are about: of a column that
was shown of men, and another one that was shown of women, both are known of everybody.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.model import Figures

Values = Callable[[str], Figures | None]
"""What each row has in a column, (rows,), NaN where it has nothing; None where nobody knows."""
Rows = NDArray[np.int64]
_CLOSE = 1e-6
"""Of a deviation, what is left of a column that follows from others."""
_LEAST_ROWS = 3
_TRIED = 64
"""In so many rows, and some for each column, a relation is looked for before it is in all."""
_EXACT = 1e-11
"""Of a number, what a float may be off by after some additions."""
_NARROW = 1e-9
MOST_COLUMNS = 60
"""With more measured columns, later ones count as sums of others."""


@dataclass(frozen=True)
class MeasuredColumn:
    """What a column is measured as: `factor` times the column `name`, and a `shift`. Where it
    follows from several others, `parts` are these. Its totals `tell_counts` where they tell, with
    those of other columns that are measured, how many rows they are of."""

    name: str
    factor: float = 1.0
    shift: float = 0.0
    parts: tuple[str, ...] = ()
    tell_counts: bool = False

    def of_base(self, value: float, function: str, count: int) -> float:
        """Return a total or a mean of so many rows as that of the column that it is measured as."""
        return (value - self.shift * (count if function == "sum" else 1)) / self.factor


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A column as a sum of others, times `factors`, (others,), and a constant: 0 where it cannot be
    told from that."""

    factors: Figures
    constant: float


class ColumnRelations:
    """The relations between columns of which the values are known.

    `names` are columns of the data, in which others are looked for that are none.
    """

    def __init__(self, values: Values, names: Sequence[str] = ()) -> None:
        self.values, self._names = values, names
        self._columns: dict[tuple[str, tuple[str, ...]], MeasuredColumn] = {}

    def forget(self) -> None:
        """Look for all relations anew: more values are known."""
        self._columns.clear()

    def measured(self, name: str, earlier: Sequence[str]) -> MeasuredColumn:
        """Return what a column is measured as after totals or means of `earlier` ones."""
        key = name, tuple(earlier)
        if key not in self._columns:
            base = self._in_units(name, earlier)
            others = [one for one in earlier if one != base.name]
            self._columns[key] = self._with_parts(base, others)
        return self._columns[key]

    def _in_units(self, name: str, earlier: Sequence[str]) -> MeasuredColumn:
        others = [*earlier, *(() if name in self._names else self._names)]
        for other in others if name not in earlier else ():
            fit = self._fitted([other], name)
            if fit is not None and fit.factors[0] != 0:
                line = float(fit.factors[0]), fit.constant
                return MeasuredColumn(other, *line, tell_counts=fit.constant != 0)
        return MeasuredColumn(name)

    def _with_parts(self, column: MeasuredColumn, others: Sequence[str]) -> MeasuredColumn:
        values = self.values(column.name)
        some = [one for one in others if self.values(one) is not None]
        if values is None or len(some) > MOST_COLUMNS:
            return replace(column, parts=tuple(some) if values is not None else ())
        everywhere = [one for one in some if not np.isnan(self._of(one)[~np.isnan(values)]).any()]
        for chosen in (some, everywhere) if len(everywhere) < len(some) else (some,):
            fit = self._fitted(chosen, column.name) if chosen else None
            if fit is not None:
                sizes = [abs(one) for one in fit.factors.tolist()]
                parts = [one for one, size in zip(chosen, sizes, strict=True) if size > 0]
                tells = column.tell_counts or fit.constant != 0
                return replace(column, parts=tuple(parts), tell_counts=tells)
        return column

    def _of(self, name: str) -> Figures:
        values = self.values(name)
        assert values is not None  # noqa: S101 (its callers check)
        return values

    def _fitted(self, names: Sequence[str], name: str) -> LinearFit | None:
        column, others = self.values(name), [self.values(one) for one in names]
        columns = [one for one in others if one is not None]
        if column is None or len(columns) < len(names):
            return None
        return fitted(columns, column, np.arange(len(column)), _LEAST_ROWS)


def fitted(columns: Sequence[Figures], column: Figures, rows: Rows, least: int) -> LinearFit | None:
    """Return how a column is a sum of others in all of some rows that have all of them; None where
    it is not, or there are not even as many rows as are the `least` beside one for each column."""
    is_known = np.logical_and.reduce([np.isfinite(one[rows]) for one in (column, *columns)])
    own = rows[is_known]
    if len(own) < least + len(columns):
        return None
    spread = float(column[own].std())
    if spread <= _NARROW * float(np.abs(column[own]).max()):
        return None
    some = own[:: max(len(own) // (_TRIED + 8 * len(columns)), 1)]
    if len(some) < len(own):
        # Of fewer rows, the least squares may leave more of one row than of all of them.
        rest = _solved(columns, column, some)[1]
        if rest > _CLOSE * spread * len(some) ** 0.5:
            return None
    fit, rest = _solved(columns, column, own)
    return fit if rest <= _CLOSE * spread else None


def _solved(columns: Sequence[Figures], column: Figures, rows: Rows) -> tuple[LinearFit, float]:
    """Return the least squares of a column, and what is left of it at most."""
    matrix = np.column_stack([one[rows] for one in columns])
    centres, middle = matrix.mean(axis=0), float(column[rows].mean())
    scales = matrix.std(axis=0)
    scales[scales <= _NARROW * np.abs(matrix).max(axis=0)] = np.inf
    own = column[rows] - middle
    factors = np.linalg.lstsq((matrix - centres) / scales, own, rcond=None)[0]
    rest = float(np.abs(own - (matrix - centres) / scales @ factors).max())
    factors[np.abs(factors) <= _CLOSE * float(own.std())] = 0.0
    factors = factors / scales
    constant = middle - float(factors @ centres)
    # A factor is off by what is left, so that the constant is by as many times as means are large.
    noise = rest + _EXACT * float(np.abs(column[rows]).max())
    noise *= 4 * (1 + float((np.abs(centres) / scales).sum()))
    return LinearFit(factors, constant if abs(constant) > noise else 0.0), rest
