"""Edges of levels that reveal more than that there are records on both sides of them."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa

from policy_engine.audits.files.contents import Contents
from policy_engine.engines.reading_back import index_texts
from policy_engine.engines.readings import parse_cell

Counts = Mapping[float, int]
_FINEST = 12
_MOST_PLACES = 22


@dataclass(frozen=True)
class Edges:
    """The edges in files: those that reveal a few records, by column, and all others."""

    revealing: frozenset[tuple[str, float]]
    safe: frozenset[float]

    @classmethod
    def of(cls, files: Iterable[Contents], table: pa.Table, fewest: int) -> "Edges":
        """Return the edges in files of the columns of a table, which were fitted on it."""
        edges_by_column = {
            name: tuple(one for file in files for one in file.column_numbers(name, "edges"))
            for name in table.column_names
        }
        telling = {
            (name, one)
            for name, edges in edges_by_column.items()
            if edges
            for one in revealing_edges(edges, _number_counts(table, name), fewest)
        }
        edges = {one for each in edges_by_column.values() for one in each}
        return cls(frozenset(telling), frozenset(edges - {one for _, one in telling}))


def _number_counts(table: pa.Table, name: str) -> Counts:
    """Return how many rows have each number that an encoding reads in a column."""
    rows, texts = index_texts(name, table.column(name))
    counts = Counter[float]()
    for text, count in zip(texts, np.bincount(rows, minlength=len(texts)).tolist(), strict=True):
        number = parse_cell(text or "")
        if isinstance(number, float):
            counts[number] += count
    return counts


def revealing_edges(edges: tuple[float, ...], values: Counts, fewest: int) -> frozenset[float]:
    """Return the edges that reveal a few of some numbers; none if all are as they should be.

    For any numbers, an edge is half a unit below a whole number of units, where the unit is the
    last decimal that `fewest` of the numbers have: an edge elsewhere follows from a few of them.
    So does one beside a cell of fewer numbers. What would be beyond the largest float is there.
    """
    unit = _unit(values, fewest)
    inner = [one for one in edges if abs(one) < sys.float_info.max]
    off = {one for one in inner if unit is None or (Decimal(repr(one)) / unit + _HALF) % 1}
    return frozenset(off | set(_edges_of_small_cells(edges, values, fewest)))


_HALF = Decimal("0.5")


def _unit(values: Counts, fewest: int) -> Decimal | None:
    """Return the unit that `fewest` numbers have; None for fewer numbers, or zeros."""
    sizes = Counter[float]()
    for value, count in values.items():
        sizes[abs(value)] += count
    size = _nth_largest(sizes, fewest)
    if not size:
        return None
    decade = Decimal(size).adjusted() + 1
    decimals = Counter[float]()
    for value, count in sizes.items():
        if Decimal(value).adjusted() < decade:
            decimals[_decimal_places(value)] += count
    places = int(_nth_largest(decimals, fewest) or 0)
    is_finer = places > min(_FINEST - decade, _MOST_PLACES)
    return Decimal(10) ** (decade - _FINEST if is_finer else -places)


def _nth_largest(counts: Counts, fewest: int) -> float | None:
    """Return the largest number that `fewest` numbers reach; None where there are fewer."""
    for number in sorted(counts, reverse=True):
        fewest -= counts[number]
        if fewest <= 0:
            return number
    return None


def _decimal_places(value: float) -> int:
    """Return how many decimals a number has in its shortest form."""
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    assert isinstance(exponent, int)  # noqa: S101 (a finite number)
    return max(-exponent, 0)


def _edges_of_small_cells(edges: tuple[float, ...], values: Counts, fewest: int) -> Iterator[float]:
    """Yield the edges of cells that hold fewer numbers."""
    ordered = np.sort(np.array(edges, dtype=np.float64))
    counts = np.zeros(len(ordered) + 1, dtype=np.int64)
    places = np.searchsorted(ordered, np.array(list(values), np.float64), side="right")
    np.add.at(counts, places, np.array(list(values.values()), np.int64))
    for cell in np.flatnonzero(counts < fewest).tolist():
        yield from ordered[max(cell - 1, 0) : cell + 1].tolist()
