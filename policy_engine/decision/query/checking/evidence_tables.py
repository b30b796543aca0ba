"""The rows of an answer with the evidence of each: the queries for them, run.

A unit with several rows in a cell is one, so its rows are added up before the cells are: to group
rows by unit takes several times as long as the answer itself. Few units have several rows in a
cell, most often, and these are found by the hashes of keys and units, without grouping: of all
others, the evidence is of their rows, and computed with the answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.decision.query import running
from policy_engine.decision.query.checking.checked_query import NotCheckableError
from policy_engine.decision.query.checking.evidence_query import (
    ANSWER,
    REPEATED,
    SEVERAL,
    SINGLE,
    EvidenceQueries,
)
from policy_engine.decision.query.checking.value_counts import fewest_with_a_value
from policy_engine.decision.query.grammar import to_sql
from policy_engine.decision.query.query_limits import LIMIT_CODES
from policy_engine.errors import InternalError, QueryError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from sqlglot import exp

    Hashes = NDArray[np.uint64]

_MOST_ROWS = 5_000_000
_MOST_REPEATED = 0.25
"""Of more rows, it is faster to group all by unit."""


def run_checked(texts: dict[str, str], tables: "Mapping[str, pa.Table]") -> "dict[str, pa.Table]":
    """Return the rows of queries by name.

    Raises NotCheckableError (K022) if one fails, and QueryError (Q011, Q012) as `running.run`.
    """
    try:
        return running.run(texts, tables)
    except QueryError as error:
        if error.code in LIMIT_CODES:
            raise
        # What fails, and on which values, may tell of a person.
        message = "The query cannot be answered on this data."
        raise NotCheckableError("K022", message, "Does it add up or compare texts?") from None


def evidence_table(
    queries: EvidenceQueries,
    keys: Sequence[int],
    tables: "Mapping[str, pa.Table]",
    least: int,
    is_wide: "Callable[[exp.Expr], bool]" = lambda _: False,
) -> "pa.Table":
    """Return the answer and the evidence of one grouping set, a row for each group.

    `is_wide` tells of a column whether it has many values in the whole table. Raises
    NotCheckableError (K022, and K017 for more than five million groups).
    """
    repeated = None if queries.unit is None else _repeated(queries, keys, tables)
    queries = replace(
        queries,
        is_single=repeated is not None and not len(repeated),
        has_nobody=queries.unit is not None
        and _run(queries.nameless(), tables=tables)["n"][0].as_py() > 0,
    )
    if repeated is None or queries.is_single:
        answer, evidence = _undivided(queries, keys, tables)
    else:
        answer, evidence = _divided(queries, keys, tables, pa.table({"h": repeated}))
    if answer.num_rows > _MOST_ROWS:
        message = f"The answer has more than {_MOST_ROWS:,} rows."
        raise NotCheckableError("K017", message)
    beyond, run = queries.beyond(keys), partial(_run, tables=tables)
    others = [*evidence, *([] if beyond is None else [run(beyond, {ANSWER: answer})])]
    others += fewest_with_a_value(queries, keys, least, answer, run, is_wide)
    return _joined(answer, others, [f"k{number}" for number in keys])


def _run(
    query: "exp.Select",
    more: "Mapping[str, pa.Table]" = MappingProxyType({}),
    *,
    tables: "Mapping[str, pa.Table]",
) -> "pa.Table":
    return run_checked({"": to_sql(query, "duckdb")}, {**tables, **more})[""]


def _repeated(
    queries: EvidenceQueries, keys: Sequence[int], tables: "Mapping[str, pa.Table]"
) -> "Hashes | None":
    """Return the hashes of keys and units that several rows have; None if many rows do.

    Those of different units may be the same: what they have is added up by unit, all the same.
    """
    hashes = np.sort(_run(queries.hashes(keys), tables=tables)["h"].to_numpy())
    is_same = hashes[1:] == hashes[:-1]
    is_repeated = np.append(is_same, False) | np.append(False, is_same)
    if is_repeated.sum() > _MOST_REPEATED * len(hashes):
        return None
    return np.unique(hashes[is_repeated[: len(hashes)]])


def _undivided(
    queries: EvidenceQueries, keys: Sequence[int], tables: "Mapping[str, pa.Table]"
) -> "tuple[pa.Table, list[pa.Table]]":
    """Return the answer and its evidence, which is of rows or of units."""
    answer = _run(queries.answer(keys), tables=tables)
    return answer, [] if queries.counts_rows else [_run(queries.evidence(keys), tables=tables)]


def _divided(
    queries: EvidenceQueries,
    keys: Sequence[int],
    tables: "Mapping[str, pa.Table]",
    repeated: "pa.Table",
) -> "tuple[pa.Table, list[pa.Table]]":
    """Return the answer and its evidence, that of units with one row in a cell found by row."""
    run = partial(_run, tables={**tables, REPEATED: repeated})
    answer = run(queries.answer(keys, is_divided=True))
    several = run(queries.evidence(keys, is_divided=True))
    names = [name for name in several.column_names if name in answer.column_names]
    both = {SINGLE: answer.select(names), SEVERAL: several.select(names)}
    evidence = run_checked({"": queries.of_both(keys)}, both)[""]
    left = [name for name in answer.column_names if name not in evidence.column_names]
    kept = [f"k{number}" for number in keys]
    return answer.select([*kept, *left]), [evidence]


def _joined(answer: "pa.Table", others: "Sequence[pa.Table]", names: list[str]) -> "pa.Table":
    """Return the columns of tables that have the same rows, by the keys of these names."""
    for other in others:
        if not _comparable(answer, names).equals(_comparable(other, names)):
            raise InternalError.of("X001", "An answer and its evidence have other rows.")
        for name in other.column_names:
            if name not in answer.column_names:
                answer = answer.append_column(name, other[name])
    return answer


def _comparable(table: "pa.Table", names: list[str]) -> "pa.Table":
    """Return keys with what is no number missing, for it equals nothing."""
    columns = {}
    for name in names:
        column = table[name]
        if pa.types.is_floating(column.type):
            column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        columns[name] = column
    return pa.table(columns)
