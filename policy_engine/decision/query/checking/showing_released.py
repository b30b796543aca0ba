"""What is shown of a checked answer: expressions of released cells, and nothing of the others.

HAVING, ORDER BY and LIMIT are computed after suppression, from what is shown: a suppressed cell is
missing in all of them, so that neither the order of rows nor the absence of one tells its value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from policy_engine.audits.outputs.model import TOTAL, TableVerdict
from policy_engine.audits.outputs.reasons import CheckOutcome, public_reason
from policy_engine.audits.outputs.significant import round_digits, without_dust
from policy_engine.decision.query import running
from policy_engine.decision.query.checking.checked_query import (
    CheckedQuery,
    NotCheckableError,
    ShownColumn,
)
from policy_engine.decision.query.checking.folded_keys import FoldedKeys
from policy_engine.decision.query.checking.gathering_evidence import GatheredAnswer, key_name
from policy_engine.decision.query.grammar import to_sql
from policy_engine.decision.query.query_limits import LIMIT_CODES
from policy_engine.errors import QueryError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

_CELLS, _ROW = "released cells", "row"


@dataclass(frozen=True)
class SuppressedCell:
    """A cell of a checked answer that is not shown, as who asked may know it.

    `row` counts the rows of the answer from 0; `keys` are those of the row, by their columns.
    """

    row: int
    column: str
    keys: Mapping[str, Any]
    outcome: CheckOutcome
    codes: tuple[str, ...]


@dataclass(frozen=True)
class ReleasedTable:
    """The rows of an answer, missing where a cell is suppressed, the suppressed cells, and whether
    there `is_anything` else."""

    table: "pa.Table"
    suppressed: tuple[SuppressedCell, ...]
    is_anything: bool


def show_released(
    folded: FoldedKeys,
    gathered: GatheredAnswer,
    verdict: TableVerdict,
    is_listed: "NDArray[np.bool_]",
) -> ReleasedTable:
    """Return the rows of the answer that may be listed, with the cells that are released.

    Raises NotCheckableError (K022) if an expression fails on released cells.
    """
    query = folded.asked
    judged_cells = _released_cells(folded, gathered, verdict)
    cells, places = folded.unfolded(judged_cells, gathered.sets)
    cells = cells.append_column(_ROW, pa.array(np.arange(len(places))))
    try:
        result = running.run(
            {"": to_sql(_select(query), "duckdb")},
            {_CELLS: cells.filter(pa.array(is_listed[places]))},
        )[""]
    except QueryError as error:
        if error.code in LIMIT_CODES:
            raise
        message = "What the query computes from aggregates fails on those that are released."
        raise NotCheckableError("K022", message) from None
    rows = result[_ROW].to_numpy()
    names = running.unique_names([column.name for column in query.columns])
    keys = _keys_of(query, cells.take(pa.array(rows)))
    suppressed = tuple(_suppressed(query, verdict, (places[rows], keys), names))
    figures = sum(bool(column.aggregates) for column in query.columns) * len(rows)
    is_anything = len(suppressed) < figures if figures else bool(len(rows))
    table = _in_digits(query, result, verdict.check.profile.significant_digits)
    table = table.drop_columns([_ROW]).rename_columns(names)
    return ReleasedTable(table, suppressed, is_anything)


def _in_digits(query: CheckedQuery, result: "pa.Table", digits: int | None) -> "pa.Table":
    """Return rows whose figures have so many significant digits, if any are asked for; of floats,
    the last digits are those of the order in which rows were added up, and are left out."""
    for number, column in enumerate(query.columns):
        if column.aggregates:
            place = result.column_names.index(f"c{number}")
            plain = result[f"c{number}"]
            figures = without_dust(plain) if digits is None else round_digits(plain, digits)
            result = result.set_column(place, f"c{number}", figures)
    return result


def _released_cells(
    folded: FoldedKeys, gathered: GatheredAnswer, verdict: TableVerdict
) -> "pa.Table":
    """Return keys, aggregates where they are released, and which columns are shown where."""
    query, columns = folded.asked, dict[str, Any]()
    for name, column in zip(gathered.cells.column_names, gathered.cells.columns, strict=True):
        if name.startswith("a"):
            is_released = pa.array(verdict.released[:, int(name[1:])])
            columns[name] = pc.if_else(is_released, column, pa.scalar(None, column.type))
        else:
            columns[name] = column
    for number in range(len(folded.judged.keys)):
        columns[f"t{number}"] = (verdict.table.codes[:, number] == TOTAL).astype(np.int64)
    for number in range(len(query.aggregates)):
        # Extremes are not even computed.
        columns.setdefault(f"a{number}", pa.nulls(len(verdict.table.codes), pa.float64()))
    for number, item in enumerate([*query.columns, *_condition(query)]):
        columns[f"ok{number}"] = pa.array(_is_released(verdict, item))
    return pa.table(columns)


def _condition(query: CheckedQuery) -> list[ShownColumn]:
    return [] if query.condition is None else [query.condition]


def _is_released(verdict: TableVerdict, item: ShownColumn) -> "NDArray[np.bool_]":
    released = verdict.released[:, sorted(item.aggregates)]
    return np.asarray(released.all(axis=1), dtype=np.bool_)


def _select(query: CheckedQuery) -> exp.Select:
    entries: list[exp.Expr] = [exp.column(_ROW, quoted=True)]
    for number, item in enumerate(query.columns):
        is_released = exp.column(f"ok{number}", quoted=True)
        shown_value = exp.case().when(is_released, item.expression.copy())
        entries.append(exp.alias_(shown_value, f"c{number}", quoted=True))
    select = exp.select(*entries).from_(exp.table_(_CELLS, quoted=True))
    if query.condition is not None:
        is_released = exp.column(f"ok{len(query.columns)}", quoted=True)
        select = select.where(exp.and_(is_released, exp.paren(query.condition.expression.copy())))
    rows = exp.Ordered(this=exp.column(_ROW, quoted=True))
    select = select.order_by(*(one.copy() for one in query.order), rows)
    for name, value in (("limit", query.limit), ("offset", query.offset)):
        if value is not None:
            select.set(name, value.copy())
    return select


def _keys_of(query: CheckedQuery, cells: "pa.Table") -> list[dict[str, Any]]:
    """Return the values of the keys in each row, without those that it is a total over."""
    names = [key_name(query, number) for number in range(len(query.keys))]
    columns = [f"{part}{number}" for number in range(len(names)) for part in "kt"]
    return [
        {name: row[f"k{n}"] for n, name in enumerate(names) if not row[f"t{n}"]}
        for row in cells.select(columns).to_pylist()
    ]


def _suppressed(
    query: CheckedQuery,
    verdict: TableVerdict,
    listed: "tuple[NDArray[np.int64], list[dict[str, Any]]]",
    names: list[str],
) -> "list[SuppressedCell]":
    """Return what is not shown of the rows that are `listed`, those judged and their keys."""
    (rows, keys), cells = listed, []
    hidden = np.column_stack([~_is_released(verdict, item)[rows] for item in query.columns])
    for place, column in np.argwhere(hidden).tolist():
        row, aggregates = int(rows[place]), sorted(query.columns[column].aggregates)
        mask = int(np.bitwise_or.reduce(verdict.reasons[row, aggregates]))
        cells.append(
            SuppressedCell(
                place,
                names[column],
                keys[place],
                verdict.public_outcome_of(mask),
                (public_reason(mask).value,),
            )
        )
    return cells
