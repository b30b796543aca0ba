"""A table of results as it is shown: keys to the left and on top, figures, nothing where there is
none to show."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.outputs.finished_files import number_of
from policy_engine.audits.outputs.model import TOTAL, TableVerdict
from policy_engine.audits.outputs.tabulating import COUNTS, Tabulation

Cell = int | float | str | None
Shares = Literal["", "all", "index", "columns"]


@dataclass(frozen=True)
class GridLayout:
    """How a table is shown: how many of its keys are to the left, the others are on top.

    Totals are called `total`, or as `totals` say for each key, and shown if there `is_total`;
    `shares` says what counts are divided by. `is_named` says whether columns are called by their
    aggregate, too. Keys to the left have their own names, or `names_left`.
    """

    left: int
    total: str = "All"
    is_total: bool = False
    shares: Shares = ""
    is_named: bool = True
    totals: tuple[str, ...] = ()
    names_left: tuple[str, ...] = ()

    def names(self, first: int, count: int) -> list[str]:
        """Return what totals over some keys are called."""
        named = [one or self.total for one in self.totals[first : first + count]]
        return named or [self.total] * count


@dataclass(frozen=True)
class ShownTable:
    """A table as texts and figures: `head` over `rows`; None is a cell that is not released.

    The first `left` columns are keys.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    left: int

    def to_arrow(self) -> pa.Table:
        """Return it as an Arrow table; figures that are texts are numbers there, if all are."""
        columns = list(zip(*self.rows, strict=True)) or [()] * len(self.head)
        figures = [_numbers(column) for column in columns[self.left :]]
        arrays = [_array(column) for column in (*columns[: self.left], *figures)]
        return pa.table(arrays, names=_distinct(self.head))


def lay_out(
    verdict: TableVerdict,
    made: Tabulation,
    layout: GridLayout,
    is_shown: NDArray[np.bool_] | None = None,
    is_listed: NDArray[np.bool_] | None = None,
) -> ShownTable:
    """Return a table as it is shown: with the cells that are released, or those given, (rows,
    measures).

    Of rows that are not listed, (rows,), nothing tells that they are there.
    """
    figures = _figures(made, layout, verdict.released if is_shown is None else is_shown)
    table, left = made.table, layout.left
    lefts, tops = _places(table.codes[:, :left]), _places(table.codes[:, left:])
    cells: dict[tuple[Any, Any], int] = {}
    for row, codes in enumerate(table.codes.tolist()):
        if is_listed is None or is_listed[row]:
            cells[tuple(codes[:left]), tuple(codes[left:])] = row
    names = [measure.name for measure in table.measures]
    # Shares of a line have no total of their own line: it would be 1.
    lines = [one for one in lefts if _is_shown(one, layout, is_share=layout.shares == "columns")]
    heads = [one for one in tops if _is_shown(one, layout, is_share=layout.shares == "index")]
    head = [
        *(layout.names_left or table.keys[:left]),
        *(_head(table, layout, top, name) for name in names for top in heads),
    ]
    rows = []
    for one in lines:
        places = [cells.get((one, top)) for top in heads]
        if all(place is None for place in places):
            continue
        values = [
            None if place is None else figures[number][place]
            for number in range(len(names))
            for place in places
        ]
        names_left = layout.names(0, left)
        rows.append((*_labels(table.labels[:left], one, names_left), *values))
    return ShownTable(tuple(head), tuple(rows), left)


def _is_shown(codes: tuple[int, ...], layout: GridLayout, *, is_share: bool) -> bool:
    return (layout.is_total and not is_share) or not codes or TOTAL not in codes


def _places(codes: Any) -> list[tuple[int, ...]]:
    """Return the distinct codes in order, totals at the end."""
    distinct = {tuple(row) for row in codes.tolist()}
    return sorted(distinct, key=lambda one: (TOTAL in one, one))


def _head(table: Any, layout: GridLayout, top: tuple[int, ...], name: str) -> str:
    names = layout.names(layout.left, len(top))
    labels = _labels(table.labels[layout.left :], top, names)
    if not labels:
        return name
    text = " / ".join(str(one) for one in labels)
    return f"{name} {text}" if layout.is_named or len(table.measures) > 1 else text


def _labels(
    labels: Sequence[Sequence[Any]], codes: tuple[int, ...], totals: Sequence[str]
) -> list[Any]:
    if codes and all(code == TOTAL for code in codes):
        return [totals[0], *[""] * (len(codes) - 1)]
    return [
        total if code == TOTAL else some[code]
        for some, code, total in zip(labels, codes, totals, strict=True)
    ]


def _figures(made: Tabulation, layout: GridLayout, is_shown: NDArray[np.bool_]) -> list[list[Cell]]:
    """Return the figures of each measure by row, None for those that are not shown."""
    columns: list[list[Cell]] = []
    values = np.where(is_shown, made.table.values, np.nan)
    for number, aggregate in enumerate(made.aggregates):
        figures = values[:, number]
        if layout.shares:
            bases = figures[_bases(made, layout)]
            figures = np.divide(figures, bases, out=np.full_like(figures, np.nan), where=bases > 0)
        is_count = aggregate.function in COUNTS and not layout.shares
        columns.append([_cell(one, is_count=is_count) for one in figures.tolist()])
    return columns


def _bases(made: Tabulation, layout: GridLayout) -> Any:
    """Return the row of the total that each row is a share of."""
    codes = made.table.codes.copy()
    if layout.shares in ("all", "columns"):
        codes[:, : layout.left] = TOTAL
    if layout.shares in ("all", "index"):
        codes[:, layout.left :] = TOTAL
    rows: Mapping[tuple[int, ...], int] = {
        tuple(row): place for place, row in enumerate(made.table.codes.tolist())
    }
    return [rows[tuple(row)] for row in codes.tolist()]


def _cell(figure: float, *, is_count: bool) -> Cell:
    if np.isnan(figure):
        return None
    return int(figure) if is_count else figure


def _numbers(column: Sequence[Any]) -> Sequence[Any]:
    """Return the numbers that figures are written as, whole ones without a point; figures as they
    are if some are none."""
    texts = [one for one in column if one is not None]
    if not texts or not all(isinstance(one, str) for one in texts):
        return column
    numbers = [None if one is None else number_of(one) for one in column]
    if any(number is None for number, one in zip(numbers, column, strict=True) if one is not None):
        return column
    is_whole = not any("." in one or "e" in one.lower() for one in texts)
    return [None if one is None else int(one) if is_whole else one for one in numbers]


def _array(column: Sequence[Any]) -> pa.Array:
    try:
        return pa.array(column)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if one is None else str(one) for one in column])


def _distinct(names: Sequence[str]) -> list[str]:
    """Return names of which no two are the same."""
    return [*_numbered(names)]


def _numbered(names: Sequence[str]) -> Iterator[str]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        yield name if counts[name] == 1 else f"{name} ({counts[name]})"
