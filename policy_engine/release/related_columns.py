"""Which measured columns of outputs follow from each other: multiples, shifts and sums.

Who knows the totals of wages and of other income knows those of both. A column that is another one
in other units, such as thousands, is measured as that one; one that is a sum of several is only
said to be one. Only linear relations count: those that hold in all rows of the data that have both,
and such as hold in those that an output is of.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.model import Counts, Figures
from policy_engine.audits.outputs.tabulating import Tabulation
from policy_engine.release.column_relations import (
    ColumnRelations,
    LinearFit,
    MeasuredColumn,
    Values,
    fitted,
)

_LINEAR = ("sum", "mean")
_SPREADS = ("std", "var", "sem", "skew")
_LEAST_ROWS = 10
"""In fewer rows than this, a relation may be a coincidence, unless it holds in all rows."""


@dataclass(frozen=True)
class NumberColumns:
    """The numbers of the data that outputs are of: the `names` of its columns that have any, and
    what each row has in one, None for others."""

    names: tuple[str, ...] = ()
    values: Values = field(default=lambda _: None)


_NO_COLUMNS = NumberColumns()


class MeasuredColumns:
    """The columns of which outputs show totals and means, by output and measure."""

    def __init__(
        self, rows: int, outputs: Iterable[Tabulation], data: NumberColumns = _NO_COLUMNS
    ) -> None:
        """Collect the columns of outputs about so many rows of the data, in their order."""
        self._rows, self._data = rows, data
        self._outputs: list[Tabulation] = []
        self._vectors: dict[str, Figures] = {}
        self._covered: dict[str, NDArray[np.bool_]] = {}
        self._labels: dict[tuple[int, int], str] = {}
        self._bases: dict[str, str] = {}
        self._columns: dict[tuple[int, int], MeasuredColumn] = {}
        self.relations = ColumnRelations(self.values, self._data.names)
        for made in outputs:
            self.add(made)

    def add(self, made: Tabulation) -> None:
        """Add the columns of one more output."""
        self._outputs.append(made)
        for number, one in enumerate(made.aggregates):
            values = made.members[number].values if made.members else None
            if one.function in _LINEAR and values is not None:
                self._add(made, number, values)
            elif one.function in _SPREADS and values is not None:
                numbers = made.members[number].numbers
                self._labels[id(made), number] = self._labelled(one.column, numbers, values)

    def is_before(self, outputs: Sequence[Tabulation]) -> bool:
        """Return whether some outputs are the ones that were collected, and one more."""
        pairs = zip(self._outputs, outputs, strict=False)
        return len(self._outputs) == len(outputs) - 1 and all(one is other for one, other in pairs)

    def of_measure(self, made: Tabulation, number: int) -> MeasuredColumn | None:
        """Return the column of a measure; None for what is neither a total nor a mean."""
        return self._columns.get((id(made), number))

    def label(self, made: Tabulation, number: int) -> str:
        """Return the name of a measure's column: another one for other values under a name."""
        return self._labels.get((id(made), number), made.aggregates[number].column)

    def telling(self, made: Tabulation) -> frozenset[int]:
        """Return the measures that tell, with others, how many rows they are of."""
        places = (number for number in range(len(made.aggregates)))
        columns = {number: self.of_measure(made, number) for number in places}
        return frozenset(number for number, one in columns.items() if one and one.tell_counts)

    def values(self, name: str) -> Figures | None:
        """Return what each row has in a column by its label, NaN where neither the data nor any
        output tells that it has any; None for no such column."""
        own = self._vectors.get(name)
        return self._of_data(name) if own is None else own

    def _of_data(self, name: str) -> Figures | None:
        values = self._data.values(name)
        return values if values is not None and len(values) == self._rows else None

    def _add(self, made: Tabulation, number: int, values: Figures) -> None:
        numbers, name = made.members[number].numbers, made.aggregates[number].column
        label = self._labelled(name, numbers, values)
        measured = self.relations.measured(label, [*dict.fromkeys(self._bases.values())])
        local = [*self._local(label, measured, numbers)]
        parts = dict.fromkeys((*measured.parts, *(one for one, _ in local)))
        tells = measured.tell_counts or any(fit.constant != 0 for _, fit in local)
        place = id(made), number
        self._labels[place], self._bases[label] = label, measured.name
        self._columns[place] = replace(measured, parts=tuple(parts), tell_counts=tells)
        self._covered.setdefault(label, np.zeros(self._rows, np.bool_))[numbers] = True

    def _labelled(self, name: str, numbers: Counts, values: Figures) -> str:
        """Return the name of the column that has these values in some rows."""
        label, number = name, 1
        while (earlier := self.values(label)) is not None:
            is_both = ~np.isnan(earlier[numbers])
            if np.array_equal(earlier[numbers][is_both], values[is_both]):
                break
            number += 1
            label = f"{name} #{number}"
        if earlier is None or np.isnan(earlier[numbers]).any():
            column = np.full(self._rows, np.nan) if earlier is None else earlier.copy()
            column[numbers] = values
            self._vectors[label] = column
            self.relations.forget()
        return label

    def _local(
        self, label: str, measured: MeasuredColumn, numbers: Counts
    ) -> Iterator[tuple[str, LinearFit]]:
        """Yield the columns, as they are measured, that one is in other units in some rows alone:
        in those of an output, or in those of them that earlier outputs are of."""
        own = self.values(label)
        for other, is_covered in self._covered.items():
            others = self.values(other)
            if self._bases[other] == measured.name or own is None or others is None:
                continue
            for rows in (numbers, numbers[is_covered[numbers]]):
                fit = fitted([others], own, rows, _LEAST_ROWS)
                if fit is not None:
                    yield self._bases[other], fit
                    break


class ColumnHistory:
    """The columns that the outputs of a session measure, as they become more."""

    def __init__(self, data: NumberColumns = _NO_COLUMNS) -> None:
        self._data = data
        self._latest: tuple[int, MeasuredColumns] | None = None

    def measured(self, rows: int, outputs: Sequence[Tabulation]) -> MeasuredColumns:
        """Return the columns of outputs about so many rows of the data, in their order."""
        if self._latest is not None and self._latest[0] == rows:
            latest = self._latest[1]
            if latest.is_before(outputs):
                latest.add(outputs[-1])
                return latest
        self._latest = rows, MeasuredColumns(rows, outputs, self._data)
        return self._latest[1]
