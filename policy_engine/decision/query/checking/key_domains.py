"""Which values a key of an answer may show although few have them: those of its whole column.

That a key is listed says that somebody in the answer has it, and who asks chooses who is in the
answer: a person among others who are known to have another value. So a table is listed with all
values of a column, of those that nobody in the answer has, too, or only where something is
released. Which of the two follows from whole columns alone, not from the rows of the answer.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from policy_engine.decision.query.checking.checked_query import CheckedQuery
from policy_engine.decision.query.checking.plain_arguments import computed_names

if TYPE_CHECKING:
    import pyarrow as pa

_MOST = 1_000
MOST_LISTED = 10_000
"""Combinations of keys of which all are listed."""


def key_domains(
    query: CheckedQuery, tables: "Mapping[str, pa.Table]", least: int
) -> "dict[int, pa.Array]":
    """Return all values of each key that may list them: a column of one of the tables.

    Half of them are of so many rows at `least`: the values of others are like names.
    """
    computed = computed_names(query.source)
    domains = {}
    for number, key in enumerate(query.keys):
        if isinstance(key, exp.Column) and key.name.lower() not in computed:
            values = _column_domain(key.name, tables, least)
            if values is not None:
                domains[number] = values
    return domains


def listed_sets(sets: Sequence[tuple[int, ...]], domains: "Mapping[int, pa.Array]") -> list[int]:
    """Return the numbers of the grouping sets that are listed with all combinations of keys."""
    return [
        number
        for number, keys in enumerate(sets)
        if domains.keys() >= {*keys} and math.prod(len(domains[key]) for key in keys) <= MOST_LISTED
    ]


def _column_domain(name: str, tables: "Mapping[str, pa.Table]", least: int) -> "pa.Array | None":
    columns = [
        table[column]
        for table in tables.values()
        for column in table.column_names
        if column.lower() == name.lower()
    ]
    if len(columns) != 1:
        return None
    counted = columns[0].value_counts()
    counts = counted.field("counts").to_numpy()
    if len(counts) > _MOST or 2 * int((counts >= least).sum()) < len(counts):
        return None
    return counted.field("values")
