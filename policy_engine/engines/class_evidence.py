"""What is seen when classes are microaggregated: which values their cells replace."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.data.cells import read_cell, write_value
from policy_engine.engines.arrays import from_numpy
from policy_engine.engines.contents import row_marks
from policy_engine.engines.encoding import ColumnCodes
from policy_engine.engines.generalizations.decimals import Decimals, decimals, is_number
from policy_engine.kernels.mondrian import Partition

Ints = NDArray[np.int64]
Cells = tuple[Ints, list[str | None]]

_MORE_PLACES = 2
"""How many decimal places more than its values a column's means have."""
_NO_VALUE = -1


@dataclass(frozen=True)
class Replaced:
    """What the cells of a column replace; of several parts of a table, added up.

    Of `values`, which are not missing, `unchanged` are as before. Of a column of numbers, `within`
    is the sum of the squared differences, in the square of a hundredth of what its numbers are
    multiples of; None for other columns.
    """

    values: int
    unchanged: int
    within: int | None

    def merge(self, other: "Replaced") -> "Replaced":
        """Return the same of two parts together."""
        is_known = self.within is not None and other.within is not None
        within = (self.within or 0) + (other.within or 0) if is_known else None
        return Replaced(self.values + other.values, self.unchanged + other.unchanged, within)


@dataclass(frozen=True)
class ClassEvidence:
    """What is known of all classes, since they were formed here.

    `mark` is that of their cells (`cells_mark`). By quasi-identifier, `replaced` tells what the
    cells replace, `spread` the sum of the squared differences of numbers from their mean, in the
    same unit, and `dominated` in how many classes one number is greater than all others together;
    a column that cannot have such a figure is not there.
    """

    mark: int
    replaced: Mapping[str, Replaced]
    spread: Mapping[str, Fraction]
    dominated: Mapping[str, int]

    @property
    def lost(self) -> dict[str, Fraction]:
        """The share of the variance that is lost, by column of numbers that are not all equal."""
        return {
            name: self.replaced[name].within / spread  # type: ignore[operator]
            for name, spread in self.spread.items()
            if spread
        }


def see_replaced(column: ColumnCodes, classes: Partition, cells: Cells) -> Replaced:
    """Return what cells replace, given the codes of rows and their classes.

    `cells` has the number of each class's cell, (classes,), and the distinct cells.
    """
    cell, texts = cells
    codes, sizes = column.codes[classes.order], np.diff(classes.starts)
    blank = int(column.has_missing)
    numbers = _numbers(column)
    cell_values = _cell_hundredths(texts, numbers)
    same = _codes_of(column, texts, numbers, cell_values)
    unchanged = int((codes == np.repeat(same[cell], sizes)).sum())
    values = len(codes) - int((codes < blank).sum())
    if numbers is None:
        return Replaced(values, unchanged, None)
    quanta = np.concatenate([np.zeros(blank, np.int64), _hundredths(numbers)])
    times = np.bincount(codes, minlength=len(quanta)).astype(object)
    present = np.add.reduceat((codes >= blank).astype(np.int64), classes.starts[:-1])
    sums = _sums(quanta, codes, classes.starts[:-1])
    means = cell_values[cell]
    within = (quanta * quanta * times).sum() + (means * (means * present - 2 * sums)).sum()
    return Replaced(values, unchanged, int(within))


def spread_of(column: ColumnCodes) -> Fraction | None:
    """Return the sum of the squared differences of a table's numbers from their mean, in the unit
    of `Replaced`; None for a column of other values."""
    numbers = _numbers(column)
    if numbers is None:
        return None
    quanta, times = _hundredths(numbers), column.counts()[int(column.has_missing) :].astype(object)
    total, squares = int((quanta * times).sum()), int((quanta * quanta * times).sum())
    return squares - Fraction(total * total, max(int(times.sum()), 1))


def cells_mark(columns: Iterable[Cells], sizes: Ints) -> int:
    """Return a number that depends on the cells of classes and on how many rows have them.

    Classes with equal cells may be told apart or not, in any order, and be written in any way: of
    the parts of a table, the marks are added up modulo 2**64. `sizes` (classes,).
    """
    texts = [
        pa.DictionaryArray.from_arrays(
            from_numpy(cell.astype(np.int32)), pa.array(map(_normalize, distinct), pa.string())
        )
        for cell, distinct in columns
    ]
    marks = row_marks(texts, len(sizes)) * sizes.astype(np.uint64)
    return int(marks.sum(dtype=np.uint64))


def _normalize(text: str | None) -> str | None:
    """Return a cell as it is compared: a number is the float that a typed column has of it."""
    return repr(float(text) + 0.0) if text is not None and is_number(text) else text


def _numbers(column: ColumnCodes) -> Decimals | None:
    """Return the values of a column as multiples of a power of ten, None for other values."""
    labels = column.labels[int(column.has_missing) :]
    is_numeric = column.is_ordered and len(labels) and is_number(labels[0])
    return decimals(labels) if is_numeric else None


def _hundredths(numbers: Decimals) -> NDArray[np.object_]:
    return np.asarray(numbers.quanta.astype(object) * 10**_MORE_PLACES)


def _sums(
    quanta: NDArray[np.object_], codes: NDArray[np.integer], starts: Ints
) -> NDArray[np.object_]:
    """Return the sums of classes as Python integers, (classes,), given what every code adds."""
    fits = max(map(abs, quanta.tolist()), default=0) * len(codes) < 2**63
    addends = quanta.astype(np.int64) if fits else quanta
    return np.asarray(np.add.reduceat(addends[codes], starts).astype(object))


def _cell_hundredths(texts: list[str | None], numbers: Decimals | None) -> NDArray[np.object_]:
    """Return the numbers of cells in hundredths, (cells,); 0 where they have none."""
    bodies = [next(iter(read_cell(text).values), "0") for text in texts]
    if numbers is None:
        return np.zeros(len(texts), dtype=object)
    exponent = numbers.exponent - _MORE_PLACES
    return decimals(np.array(bodies, dtype=object), exponent).quanta.astype(object)


def _codes_of(
    column: ColumnCodes,
    texts: list[str | None],
    numbers: Decimals | None,
    cell_values: NDArray[np.object_],
) -> Ints:
    """Return the code of the value that each cell is, (cells,), -1 where it is not one."""
    blank = int(column.has_missing)
    if numbers is None:
        codes = {write_value(label): code for code, label in enumerate(column.labels)}
        cell_codes = [
            codes.get(text, _NO_VALUE) if text is not None else _NO_VALUE for text in texts
        ]
        return np.array([one if one >= blank else _NO_VALUE for one in cell_codes], dtype=np.int64)
    numeric = {number: code for code, number in enumerate(_hundredths(numbers).tolist(), blank)}
    is_value = [text is not None and not read_cell(text).may_be_missing for text in texts]
    return np.array(
        [
            numeric.get(number, _NO_VALUE) if is_one else _NO_VALUE
            for number, is_one in zip(cell_values.tolist(), is_value, strict=True)
        ],
        dtype=np.int64,
    )
