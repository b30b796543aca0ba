"""Which measured columns of outputs follow from each other: multiples, shifts and sums.

Who knows the totals of wages and of other income knows those of both. A column that is another one
in other units, such as thousands, is measured as that one; one that is a sum of several is only
said to be one. Only linear relations count that hold in all rows that both have values in.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from policy_engine.audits.outputs.model import Counts, Figures
from policy_engine.audits.outputs.tabulating import Tabulation

_LINEAR = ("sum", "mean")
_CLOSE = 1e-6
"""Of a deviation, what is left of a column that follows from others."""
_LEAST_ROWS = 3
MOST_COLUMNS = 60
"""With more measured columns, later ones count as sums of others."""


@dataclass(frozen=True)
class MeasuredColumn:
    """What a column is measured as: `factor` times the column `name`, and a `shift`. Where it
    follows from several others, `parts` are these."""

    name: str
    factor: float = 1.0
    shift: float = 0.0
    parts: tuple[str, ...] = ()

    def of_base(self, values: Figures, function: str, counts: Counts) -> Figures:
        """Return totals or means of so many rows as those of the column that it is measured as."""
        shifts = self.shift * (counts if function == "sum" else np.ones(len(counts)))
        return np.asarray((values - shifts) / self.factor, np.float64)


class MeasuredColumns:
    """The columns of which outputs show totals and means, by output and measure."""

    def __init__(self, rows: int, outputs: Iterable[Tabulation]) -> None:
        """Collect the columns of outputs about so many rows of data, in their order."""
        self._columns: dict[tuple[int, int], MeasuredColumn] = {}
        self._bases: dict[str, Figures] = {}
        self._seen: dict[str, list[tuple[Figures, MeasuredColumn]]] = {}
        for made in outputs:
            for number, one in enumerate(made.aggregates):
                values = made.members[number].values if made.members else None
                if one.function in _LINEAR and values is not None:
                    column = np.full(rows, np.nan)
                    column[made.members[number].numbers] = values
                    self._columns[id(made), number] = self._add(one.column, column)

    def of_measure(self, made: Tabulation, number: int) -> MeasuredColumn | None:
        """Return the column of a measure; None for what is neither a total nor a mean."""
        return self._columns.get((id(made), number))

    def values(self, name: str) -> Figures | None:
        """Return what each row has in the column that something is measured as, NaN where no output
        tells that it has any; None for no such column."""
        return next(
            (
                values
                for columns in self._seen.values()
                for values, one in columns
                if (one.name, one.factor, one.shift) == (name, 1.0, 0.0)
            ),
            None,
        )

    def _add(self, name: str, column: Figures) -> MeasuredColumn:
        for values, measured in self._seen.get(name, ()):
            is_both = ~np.isnan(values) & ~np.isnan(column)
            if np.array_equal(values[is_both], column[is_both]):
                values[np.isnan(values)] = column[np.isnan(values)]
                return measured
        measured = self._related(name, column)
        self._seen.setdefault(name, []).append((column, measured))
        return measured

    def _related(self, name: str, column: Figures) -> MeasuredColumn:
        for base, values in self._bases.items():
            fit = _fitted([values], column)
            if fit is not None and abs(fit[1]) > 0:
                return MeasuredColumn(base, float(fit[1]), float(fit[0]))
        own = name if name not in self._bases else f"{name} #{len(self._bases)}"
        bases = tuple(self._bases)
        fit = _fitted(list(self._bases.values()), column) if len(bases) > 1 else None
        if len(bases) >= MOST_COLUMNS:
            return MeasuredColumn(own, parts=bases)
        if fit is not None:
            scales = [float(np.nanstd(one)) for one in self._bases.values()]
            weights = np.abs(fit[1:]) * scales > _CLOSE * float(np.nanstd(column))
            return MeasuredColumn(
                own,
                parts=tuple(one for one, is_used in zip(bases, weights, strict=True) if is_used),
            )
        self._bases[own] = column
        return MeasuredColumn(own)


def _fitted(columns: list[Figures], column: Figures) -> Figures | None:
    """Return the constant and the factors by which a column is a sum of others in all rows that
    have all of them; None where it is not."""
    is_known = ~np.isnan(column) & np.logical_and.reduce([~np.isnan(one) for one in columns])
    rows = int(is_known.sum())
    if rows < _LEAST_ROWS + len(columns):
        return None
    scales = [max(float(np.abs(one[is_known]).max()), 1e-300) for one in columns]
    parts = [one[is_known] / scale for one, scale in zip(columns, scales, strict=True)]
    matrix = np.column_stack([np.ones(rows), *parts])
    own = column[is_known]
    factors = np.linalg.lstsq(matrix, own, rcond=None)[0]
    rest, spread = np.abs(own - matrix @ factors).max(), float(own.std())
    if spread == 0 or rest > _CLOSE * spread:
        return None
    return np.asarray(factors / np.array([1.0, *scales]), np.float64)
