"""The different units of each line of an answer, where units may be in several cells of it.

To count them takes about half as long as the answer. Most often, no cell has more than a small part
of its line, which some of the rows already show.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from policy_engine.decision.query.checking.evidence_columns import UNITS
from policy_engine.decision.query.checking.evidence_query import EvidenceQueries
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.grammar import to_sql

_FIRST_ROWS = 50_000
"""So many rows are looked at first, of more than four times as many."""
_SMALL_SHARE = 0.02
"""A cell of no more of its line is not nearly all of it, by whatever part of the rows."""
_CELLS, _LINES = "cells before checks", "lines before checks"
_NUMBER = "i"


def with_line_units(
    queries: EvidenceQueries,
    sets: Sequence[Sequence[int]],
    parts: "Sequence[pa.Table]",
    tables: "Mapping[str, pa.Table]",
) -> "list[pa.Table]":
    """Return the evidence of grouping sets with the different units of the line of each cell.

    The column "u<i>_<c>" has those of the line along key i that contribution c is present in: of
    some of the rows alone where no cell has a larger part of these than a small one. There is none
    where each row is another unit, nothing is counted, or the key has one value. Raises
    NotCheckableError (K022) if a query fails.
    """
    if queries.unit is None or not queries.counted_places:
        return list(parts)
    by_keys = {tuple(keys): part for keys, part in zip(sets, parts, strict=True)}
    result = []
    for keys, part in by_keys.items():
        whole = part
        for key in keys:
            values = part[f"k{key}"].combine_chunks().dictionary_encode(null_encoding="encode")
            if len(values.dictionary) <= 1:
                continue
            others = tuple(one for one in keys if one != key)
            units = _units_along(queries, others, part, by_keys, tables)
            for name, column in zip(units.column_names, units.columns, strict=True):
                whole = whole.append_column(f"u{key}_{name[1:]}", column)
        result.append(whole)
    return result


def _units_along(
    queries: EvidenceQueries,
    keys: tuple[int, ...],
    part: "pa.Table",
    by_keys: "Mapping[tuple[int, ...], pa.Table]",
    tables: "Mapping[str, pa.Table]",
) -> "pa.Table":
    """Return the different units "u<c>" of the line of each cell: those of a total, if it is shown.

    `keys` are all but the one that the lines are along.
    """
    if keys in by_keys:
        return _of_cells(part, _totals(queries, keys, by_keys[keys]), keys)
    query = queries.different_units(keys)
    for some in _readings(query, tables):
        lines = run_checked({"": to_sql(query, "duckdb")}, some)[""]
        units = _of_cells(part, lines, keys)
        if some is tables or _are_small(part, units):
            break
    return units


def _totals(queries: EvidenceQueries, keys: Sequence[int], part: "pa.Table") -> "pa.Table":
    """Return the different units "u<c>" of the cells of another grouping set."""
    columns = {f"k{key}": part[f"k{key}"] for key in keys}
    for place in queries.counted_places:
        is_every_row = queries.contributions[place].is_every_row
        columns[f"u{place}"] = part[UNITS if is_every_row else f"n{place}"]
    return pa.table(columns)


def _readings(
    query: exp.Select, tables: "Mapping[str, pa.Table]"
) -> "Iterator[Mapping[str, pa.Table]]":
    """Yield the tables with their first rows alone, if these are all part of it, and whole."""
    sizes = [table.num_rows for table in tables.values()]
    if len(sizes) == 1 and sizes[0] > 4 * _FIRST_ROWS and not _joins(query):
        yield {name: table.slice(0, _FIRST_ROWS) for name, table in tables.items()}
    yield tables


def _joins(query: exp.Select) -> bool:
    return query.find(exp.Join, exp.SetOperation) is not None


def _of_cells(part: "pa.Table", lines: "pa.Table", keys: Sequence[int]) -> "pa.Table":
    """Return the figures of the line of each cell, 0 where none of its rows were read."""
    names = [f"k{key}" for key in keys]
    cells = part.select(names).append_column(_NUMBER, pa.array(np.arange(part.num_rows)))
    same = [f'c."{name}" IS NOT DISTINCT FROM l."{name}"' for name in names]
    counts = [name for name in lines.column_names if name not in names]
    entries = ", ".join(f'COALESCE(l."{name}", 0) AS "{name}"' for name in counts)
    text = (
        f'SELECT {entries} FROM "{_CELLS}" AS c LEFT JOIN "{_LINES}" AS l '  # noqa: S608 (names)
        f'ON {" AND ".join(same) or "TRUE"} ORDER BY c."{_NUMBER}"'
    )
    return run_checked({"": text}, {_CELLS: cells, _LINES: lines})[""]


def _are_small(part: "pa.Table", units: "pa.Table") -> bool:
    """Return whether each cell has a small part of its line, even of the units that were read."""
    own = pc.fill_null(part[UNITS], 0).to_numpy()
    return all(bool((own <= _SMALL_SHARE * one.to_numpy()).all()) for one in units.columns)
