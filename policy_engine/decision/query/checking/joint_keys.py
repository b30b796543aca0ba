"""Which combinations of its keys occur in the rows of an answer that shows none with all of them.

By `GROUPING SETS ((region), (district))` nobody sees which districts are in which region, and
everybody knows it, also of a district of which the condition of the query chooses nobody.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from policy_engine.audits.outputs.model import TOTAL
from policy_engine.audits.outputs.nested_keys import found_pairs
from policy_engine.decision.query.checking.checked_query import NotCheckableError
from policy_engine.decision.query.checking.contributions import tried
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.checking.gathering_evidence import GatheredAnswer, one_nan
from policy_engine.decision.query.checking.sql_nodes import grouped, named
from policy_engine.decision.query.checking.unfiltered_rows import UnfilteredRows
from policy_engine.decision.query.grammar import to_sql

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray
    from sqlglot import exp

    Counts = NDArray[np.int64]

_PAIR = 2


def with_joint_keys(
    gathered: GatheredAnswer, tables: "Mapping[str, pa.Table]", unfiltered: UnfilteredRows
) -> GatheredAnswer:
    """Return an answer with the combinations of all its keys that occur in its rows, unless its own
    rows tell them, or it has no totals.

    Of keys that lie in others by these, rows that the query does not choose say where the other
    values lie. Raises NotCheckableError (K022) if a query fails.
    """
    table = gathered.table
    is_total, width = table.codes == TOTAL, len(table.keys)
    if width < _PAIR or not is_total.any() or (~is_total).all(axis=1).any():
        return gathered
    joint = _combinations(gathered, gathered.queries.rows(range(width)), tables)
    if unfiltered.condition is not None:
        with suppress(NotCheckableError):
            others = _combinations(gathered, _every_row(gathered, unfiltered), tables)
            joint = np.unique(np.concatenate([joint, _alike(joint, others)]), axis=0)
    return replace(gathered, table=replace(table, joint=joint))


def _every_row(gathered: GatheredAnswer, unfiltered: UnfilteredRows) -> "exp.Select":
    """Return the query of the keys of all rows, whatever the condition says of them."""
    keys = enumerate(gathered.queries.query.keys)
    select = unfiltered.source.copy()
    entries = [named(tried(unfiltered.resolved(key)), f"k{number}") for number, key in keys]
    select.set("expressions", entries)
    return select


def _combinations(
    gathered: GatheredAnswer, rows: "exp.Select", tables: "Mapping[str, pa.Table]"
) -> "Counts":
    """Return the codes of the keys of some rows, (combinations, keys), of values that the answer
    has."""
    width = len(gathered.table.keys)
    query = grouped(rows, range(width), [])
    answer = run_checked({"": to_sql(query, "duckdb")}, tables)[""]
    columns = []
    for number, labels in enumerate(gathered.table.labels):
        places = {one_nan(label): place for place, label in enumerate(labels)}
        values = answer[f"k{number}"].to_pylist()
        columns.append([places.get(one_nan(value), TOTAL) for value in values])
    codes = np.array(columns, np.int64).reshape(width, -1).T
    return np.asarray(codes[(codes != TOTAL).all(axis=1)])


def _alike(joint: "Counts", others: "Counts") -> "Counts":
    """Return other combinations in which keys lie in others as they do in those that occur."""
    for lower, upper in found_pairs(joint):
        both = np.unique(np.concatenate([joint, others])[:, [lower, upper]], axis=0)
        values, counts = np.unique(both[:, 0], return_counts=True)
        others = others[~np.isin(others[:, lower], values[counts > 1])]
    return others
