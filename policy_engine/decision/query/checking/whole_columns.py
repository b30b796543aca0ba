"""What follows from the whole columns that aggregates are of, whatever rows a query chooses.

Whether a column has two values, few, or negative ones is told by which rule judges its aggregates.
Where the rows of a cell decided that, who asks would learn from it whether a chosen person's value
is another than those of the rest, or the sign of one contribution: J. Kenthapadi, N. Mishra,
K. Nissim, Simulatable auditing (PODS 2005).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from policy_engine.audits.outputs.few_values import LEAST_RANKED
from policy_engine.audits.outputs.model import Statbarn
from policy_engine.audits.outputs.reasons import Reason
from policy_engine.decision.query.checking.checked_query import (
    CheckedAggregate,
    CheckedQuery,
    NotCheckableError,
)
from policy_engine.decision.query.checking.contributions import tried
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.checking.sql_nodes import named
from policy_engine.decision.query.checking.unfiltered_rows import UnfilteredRows
from policy_engine.decision.query.checking.unit_columns import is_unit
from policy_engine.decision.query.grammar import to_sql

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    Masks = NDArray[np.uint32]

_PAIR = 2
_MOST_COUNTED = 3 * LEAST_RANKED
"""Different values by a sketch, which may be off by some: then they are counted."""


@dataclass(frozen=True)
class WholeColumn:
    """How many different values a column has, at least, and the smallest of them as SQL."""

    values: int
    low: str


def with_known_codes(
    query: CheckedQuery, rows: UnfilteredRows, tables: "Mapping[str, pa.Table]"
) -> CheckedQuery:
    """Return the query in which totals of two-valued columns are treated as counts.

    Raises NotCheckableError: K017 for an argument that cannot be read, K022 if the query fails.
    """
    totals = [one for one in query.aggregates if one.kind == "total"]
    columns = whole_columns(totals, rows, tables)

    def known(aggregate: CheckedAggregate) -> CheckedAggregate:
        column = columns.get(_text(aggregate)) if aggregate.kind == "total" else None
        if column is None or column.values != _PAIR:
            return aggregate
        return replace(aggregate, kind="binary", statbarn=Statbarn.FREQUENCIES, low=column.low)

    return replace(query, aggregates=tuple(map(known, query.aggregates)))


def check_ranked(
    query: CheckedQuery, rows: UnfilteredRows, tables: "Mapping[str, pa.Table]"
) -> None:
    """Refuse percentiles and modes of a column with few different values in all its rows, and
    deviations of one with two.

    Percentiles at many shares are the counts of each value; a deviation of a yes or no is that of
    those who say yes. Raises NotCheckableError: K018, K017 for an argument that cannot be read,
    K022 if the query fails.
    """
    spread = [one for one in query.aggregates if one.kind == "shape"]
    for text, column in whole_columns(spread, rows, tables).items():
        if column.values <= _PAIR:
            message = f"{text} has no more than two different values: its deviation is a count."
            raise NotCheckableError("K018", message, "Ask for its mean, which is a rate.")
    ranked = [one for one in query.aggregates if one.kind in ("position", "mode")]
    for text, column in whole_columns(ranked, rows, tables).items():
        if column.values < LEAST_RANKED:
            message = f"{text} has {column.values} different values: at least {LEAST_RANKED} are "
            message += "needed for a percentile or a mode."
            raise NotCheckableError("K018", message, "Count the rows of each value by GROUP BY.")


def check_addable(
    query: CheckedQuery, rows: UnfilteredRows, tables: "Mapping[str, pa.Table]"
) -> None:
    """Refuse totals and means of DECIMAL columns that are too large to be added up in all rows.

    Whether those of a cell are would tell who is in it. Raises NotCheckableError: K022, also if the
    query fails, and K017 for an argument that cannot be read.
    """
    if not any(_is_long_decimal(one) for table in tables.values() for one in table.schema.types):
        return
    added = [one for one in query.aggregates if one.kind in ("total", "binary")]
    values = {_text(one): tried(rows.resolved(one.arguments[0])) for one in added}
    entries = []
    for place, one in enumerate(values.values()):
        size = exp.Abs(this=exp.TryCast(this=one.copy(), to=exp.DType.DOUBLE.into_expr()))
        kind = exp.Anonymous(this="TYPEOF", expressions=[exp.Min(this=one.copy())])
        entries += [named(exp.Sum(this=size), f"s{place}"), named(kind, f"t{place}")]
    figures = _figures(rows, entries, tables)
    for place, text in enumerate(values):
        decimal, total = _DECIMAL.fullmatch(figures[f"t{place}"]), figures[f"s{place}"]
        if decimal and total is not None and total >= _MOST_ADDED / 10.0 ** int(decimal[1]):
            message = f"{text} is too large to be added up exactly."
            raise NotCheckableError("K022", message, "Give the column as floats (DOUBLE).")


def _is_long_decimal(kind: "pa.DataType") -> bool:
    """Return whether fewer than 10^10 numbers of a type may be too large to be added up."""
    return bool(pa.types.is_decimal(kind) and kind.precision > _SHORT)


_DECIMAL, _SHORT, _MOST_ADDED = re.compile(r"DECIMAL\(\d+,(\d+)\)"), 28, 0.99e38
"""Totals of DECIMAL have 38 digits."""


def unruled_figures(
    query: CheckedQuery, cells: int, rows: UnfilteredRows, tables: "Mapping[str, pa.Table]"
) -> "Masks":
    """Return the reasons (bits) against cells of figures of which no rule judges, for a value that
    is somewhere in the column, in the cell or elsewhere: (cells, aggregates).

    Such are totals of a column with negative values, and figures of one with infinite ones, NaN or
    such as have no square. Raises NotCheckableError: K017 for an argument that cannot be read, K022
    if the query fails.
    """
    masks = np.zeros((cells, len(query.aggregates)), np.uint32)
    numbers = [
        (number, rows.resolved(one))
        for number, aggregate in enumerate(query.aggregates)
        if aggregate.kind in _OF_NUMBERS
        for one in aggregate.arguments
        if isinstance(one.unnest(), exp.Column)
    ]
    entries = [
        named(function(this=value.copy()), f"{name}{place}")
        for place, (_, value) in enumerate(numbers)
        for name, function in (("i", exp.Min), ("a", exp.Max))
    ]
    ends = _figures(rows, entries, tables)
    for place, (number, _) in enumerate(numbers):
        least, most = ends[f"i{place}"], ends[f"a{place}"]
        if least is None:
            continue
        if query.aggregates[number].kind == "total" and least < 0:
            masks[:, number] |= np.uint32(Reason.NEGATIVE_VALUES.bit)
        if not (-_LARGEST <= least <= most <= _LARGEST):
            masks[:, number] |= np.uint32(Reason.EVIDENCE_MISSING.bit)
    return masks


_OF_NUMBERS = ("total", "binary", "shape", "coefficient")
_LARGEST = 1e60
"""Squares of larger numbers overflow, and so may totals of them."""


def whole_columns(
    aggregates: list[CheckedAggregate], rows: UnfilteredRows, tables: "Mapping[str, pa.Table]"
) -> dict[str, WholeColumn]:
    """Return what is known of the columns of aggregates, by the text of their argument.

    Raises NotCheckableError: K017 for an argument that cannot be read, K022 if the query fails.
    """
    values = {_text(one): tried(rows.resolved(one.arguments[0])) for one in aggregates}
    sketches = [
        named(exp.ApproxDistinct(this=one.copy()), f"v{n}") for n, one in enumerate(values.values())
    ]
    about = _figures(rows, sketches, tables)
    few = [n for n in range(len(values)) if about[f"v{n}"] <= _MOST_COUNTED]
    entries = []
    for n, one in enumerate(values.values()):
        if n in few:
            different = exp.Count(this=exp.Distinct(expressions=[one.copy()]))
            entries += [named(different, f"v{n}"), named(exp.Min(this=one.copy()), f"i{n}")]
    counted = _figures(rows, entries, tables)
    return {
        text: WholeColumn(counted.get(f"v{n}", _MOST_COUNTED), str(counted.get(f"i{n}", "")))
        for n, text in enumerate(values)
    }


def has_many_values(node: exp.Expr, rows: UnfilteredRows, tables: "Mapping[str, pa.Table]") -> bool:
    """Return whether a column has as many values in all its rows as a percentile of it asks for.

    Raises NotCheckableError: K017 for an argument that cannot be read, K022 if the query fails.
    """
    different = exp.Count(this=exp.Distinct(expressions=[tried(rows.resolved(node))]))
    return bool(_figures(rows, [named(different, "v")], tables)["v"] >= LEAST_RANKED)


def _figures(
    rows: UnfilteredRows, entries: list[exp.Expr], tables: "Mapping[str, pa.Table]"
) -> dict[str, Any]:
    """Return aggregates of all rows, by their names in their order."""
    if not entries:
        return {}
    select = rows.source.copy()
    select.set("expressions", entries)
    [figures] = run_checked({"": to_sql(select, "duckdb")}, tables)[""].to_pylist()
    return dict(figures)


def _text(aggregate: CheckedAggregate) -> str:
    return aggregate.arguments[0].sql("duckdb", comments=False)


# -- counts of different values ----------------------------------------------------------------


def check_distinct(query: CheckedQuery, rows: UnfilteredRows, unit: exp.Expr | None) -> None:
    """Refuse counts of different values, other than of units, in groups that who asks chooses.

    It is one of a group if all of it are alike. Raises NotCheckableError (K018).
    """
    is_whole = query.sets == ((),) and rows.condition is None and not rows.source.args.get("joins")
    for one in query.aggregates:
        if one.kind != "units" or is_unit(one.arguments[0], unit):
            continue
        if not is_whole or one.condition is not None:
            message = "Different values are counted in the rows of one whole table alone, without "
            message += "conditions or groups, unless they are those of the unit of privacy."
            raise NotCheckableError("K018", message, "Count the rows of each value by GROUP BY.")
