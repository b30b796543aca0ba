"""How many units have each value that an aggregate is of, where that could be told by the figure.

A count of different values tells that somebody has each of them. A total and a count over few
values tell how many have which: then each must be that of enough units. They do not where the
column has many values and other numbers of them would have the same total: of those that fewer have
than are enough, enough might have each.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from policy_engine.decision.query.checking.evidence_columns import UNIT
from policy_engine.decision.query.checking.evidence_query import CELLS, VALUED, EvidenceQueries
from policy_engine.decision.query.checking.sql_nodes import (
    column,
    count_where,
    named,
    ordered,
    present,
    rows_of,
)
from policy_engine.decision.query.checking.unit_columns import is_unit
from policy_engine.kernels.output_checks.value_histograms import tell_counts

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

RunQuery = Callable[[exp.Select, "Mapping[str, pa.Table]"], "pa.Table"]
"""Runs a query over the tables of the answer, and more of them."""

_MANY = 2**62


def fewest_with_a_value(
    queries: EvidenceQueries,
    keys: Sequence[int],
    least: int,
    answer: "pa.Table",
    run: RunQuery,
    is_wide: Callable[[exp.Expr], bool] = lambda _: False,
) -> "Iterator[pa.Table]":
    """Yield tables of the units "f<c>", by keys in their order, of the value of contribution c
    that the fewest have, and many where there are too many values for a figure to tell.

    `is_wide` tells whether a column has many values in the whole table, whoever is in the answer.

    The bits "v<c>" of the answer tell of most cells that they have at least so many values: only in
    the others, values are counted.
    """
    names = [f"k{number}" for number in keys]
    for place, one in enumerate(queries.contributions):
        if len(one.arguments) != 1:
            continue
        if "units" in one.kinds and not is_unit(one.arguments[0], queries.unit):
            yield run(_query(queries, keys, place, 0), {})
        elif one.kinds & VALUED:
            fewest = np.full(answer.num_rows, _MANY)
            is_few = _has_few(answer[f"v{place}"], least)
            if is_few.any():
                cells = answer.select(names).filter(pa.array(is_few))
                cells = cells.append_column("cell", pa.array(np.flatnonzero(is_few)))
                counted = run(_query_of_cells(queries, keys, place, least), {CELLS: cells})
                fewest[counted["cell"].to_numpy()] = counted[f"f{place}"].to_numpy()
                if one.kinds == {"total"} and (fewest < least).any() and is_wide(one.arguments[0]):
                    histograms = run(_histograms(queries, keys, place), {CELLS: cells})
                    fewest[_untold(histograms, least)] = _MANY
            yield answer.select(names).append_column(f"f{place}", pa.array(fewest))


def _has_few(bits: "pa.ChunkedArray", least: int) -> "NDArray[np.bool_]":
    """Return of which cells it is not known that they have so many values."""
    counts = np.bitwise_count(pc.fill_null(bits, 0).to_numpy().astype(np.uint64))
    return np.asarray(counts < least, dtype=np.bool_)


def _query(queries: EvidenceQueries, keys: Sequence[int], place: int, least: int) -> exp.Select:
    names = [column(f"k{number}") for number in keys]
    return _fewest(queries, queries.rows(keys), names, place, least)


def _query_of_cells(
    queries: EvidenceQueries, keys: Sequence[int], place: int, least: int
) -> exp.Select:
    """Return the query of the cells that are in the table `CELLS`."""
    rows = queries.joined(keys, CELLS)
    values = [exp.column(name, table="r", quoted=True) for name in _read(queries, place)]
    rows.set("expressions", [exp.column("cell", table=CELLS, quoted=True), *values])
    return _fewest(queries, rows, [column("cell")], place, least)


def _histograms(queries: EvidenceQueries, keys: Sequence[int], place: int) -> exp.Select:
    """Return the query of the rows "n" and units "m" of each value "v" in each "cell"."""
    rows = queries.joined(keys, CELLS)
    values = [exp.column(name, table="r", quoted=True) for name in _read(queries, place)]
    rows.set("expressions", [exp.column("cell", table=CELLS, quoted=True), *values])
    value = column(f"x{place}_0")
    units = named(exp.Count(this=queries.counted(column(UNIT))), "m")
    entries = [column("cell"), named(value.copy(), "v"), count_where(None, "n"), units]
    inner = rows_of(rows, entries).where(present(value), copy=False)
    return inner.group_by(column("cell"), value.copy(), copy=False)


def _untold(histograms: "pa.Table", least: int) -> list[int]:
    """Return the cells of which a total does not tell how many have each value."""
    by_cell: dict[int, list[tuple[Any, int, int]]] = {}
    for row in histograms.to_pylist():
        by_cell.setdefault(row["cell"], []).append((row["v"], row["n"], row["m"]))
    return [cell for cell, values in by_cell.items() if not _is_told(values, least)]


def _is_told(values: list[tuple[Any, int, int]], least: int) -> bool:
    own, rows, units = zip(*values, strict=True)
    return tell_counts(own, rows, [one < least for one in units], least)


def _read(queries: EvidenceQueries, place: int) -> list[str]:
    return [f"x{place}_0", *([] if queries.unit is None else [UNIT])]


def _fewest(
    queries: EvidenceQueries, rows: exp.Select, names: list[exp.Expr], place: int, least: int
) -> exp.Select:
    value = column(f"x{place}_0")
    number = named(exp.Count(this=queries.counted(column(UNIT))), "n")
    entries = [*(one.copy() for one in names), named(value.copy(), "v"), number]
    inner = rows_of(rows, entries).group_by(*(one.copy() for one in [*names, value]), copy=False)
    fewest = "COALESCE(MIN(n) FILTER (WHERE v IS NOT NULL), 0)"
    if least:
        fewest = f"CASE WHEN COUNT(v) < {least} THEN {fewest} ELSE {_MANY} END"
    figure: exp.Expr = exp.maybe_parse(fewest, dialect="duckdb")
    return ordered(rows_of(inner, [*names, named(figure, f"f{place}")], "s"), names)
