"""Which values of a key the condition of a query leaves: others are not in it, whatever the data.

`WHERE region = 'north'` chooses a row of a table, and tells of nobody that they are not in another
one; so does `WHERE year >= 2020`. So only those parts of a condition count that read the key alone,
and of which all have to hold; they are asked of the values of the whole column, never of the rows
of the answer. Of a column of numbers, a total less the counts of all other values would tell that
of an excluded one: the ledger knows of it as it does of a withheld one (`value_marks`).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from policy_engine.decision.query.checking.checked_query import CheckedQuery
from policy_engine.decision.query.checking.contributions import tried
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.checking.sql_nodes import column
from policy_engine.decision.query.checking.unfiltered_rows import conjuncts
from policy_engine.decision.query.grammar import to_sql

if TYPE_CHECKING:
    import pyarrow as pa

_VALUES, _KEY = "values of a key", "value"


def left_domains(query: CheckedQuery, domains: "Mapping[int, pa.Array]") -> "dict[int, pa.Array]":
    """Return those of all values of keys, which are columns, that the condition of a query leaves.

    Raises NotCheckableError (K022) if it cannot be evaluated.
    """
    where = query.source.args.get("where")
    parts = [] if where is None else [*conjuncts(where.this)]
    left = {}
    for number, values in domains.items():
        name = query.keys[number].name.lower()
        own = [one for one in parts if _reads(one, name)]
        left[number] = _left(values, own) if own and _is_ordered(values.type) else values
    return left


def _left(values: "pa.Array", parts: "Sequence[exp.Expr]") -> "pa.Array":
    select = exp.select(column(_KEY)).from_(exp.table_(_VALUES, quoted=True))
    for part in parts:
        select = select.where(tried(part.transform(_as_value)))
    left = run_checked({"": to_sql(select, "duckdb")}, {_VALUES: pa.table({_KEY: values})})
    return left[""][_KEY].combine_chunks()


def _is_ordered(kind: "pa.DataType") -> bool:
    """Tell whether values are texts, numbers, dates or times: not whether something is so."""
    if pa.types.is_dictionary(kind):
        return _is_ordered(kind.value_type)
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    is_moment = pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_time(kind)
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return bool(is_number or is_moment or is_text)


def _reads(part: exp.Expr, name: str) -> bool:
    """Tell whether a part of a condition reads one column alone, of a name."""
    names = {one.name.lower() for one in part.find_all(exp.Column)}
    return names == {name} and part.find(exp.Query) is None


def _as_value(node: exp.Expr) -> exp.Expr:
    return column(_KEY) if isinstance(node, exp.Column) else node
