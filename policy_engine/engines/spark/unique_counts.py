"""How many rows of a frame are unique on sets of its columns, by grouped counts."""

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from policy_engine.engines.spark.reading import column

_ROWS, _SET = "__policy_engine_rows", "__policy_engine_set"
_SETS = 32
"""So many sets are counted in one pass, for each of which every row is copied."""
_WIDEST = 60
"""Spark tells sets of fewer than 64 columns apart."""
ColumnSet = tuple[str, ...]


def unique_rows(frame: DataFrame, sets: Sequence[ColumnSet]) -> tuple[int, ...]:
    """Return how many rows are unique on each set of columns; a missing value is one like any
    other, and both zeros are one."""
    different_sets = list(dict.fromkeys(sets))
    narrow = [one for one in different_sets if len(one) <= _WIDEST]
    counts = {one: _grouped(frame, one) for one in different_sets if len(one) > _WIDEST}
    for part in _parts(narrow):
        counts |= _in_one_pass(frame, part)
    return tuple(counts[one] for one in sets)


def _parts(sets: Sequence[ColumnSet]) -> list[list[ColumnSet]]:
    """Return sets in parts that are counted in one pass each."""
    parts: list[list[ColumnSet]] = []
    for one in sets:
        last = parts[-1] if parts else None
        names = {name for other in [*(last or ()), one] for name in other}
        if last is None or len(last) == _SETS or len(names) > _WIDEST:
            parts.append([one])
        else:
            last.append(one)
    return parts


def _in_one_pass(frame: DataFrame, sets: Sequence[ColumnSet]) -> dict[ColumnSet, int]:
    names = list(dict.fromkeys(name for one in sets for name in one))
    keys = {name: f"c{number}" for number, name in enumerate(names)}
    renamed = frame.select(*(column(name).alias(key) for name, key in keys.items()))
    rows = renamed.groupingSets([[keys[name] for name in one] for one in sets], *keys.values()).agg(
        F.count("*").alias(_ROWS), F.grouping_id().alias(_SET)
    )
    unique = rows.where(F.col(_ROWS) == 1).groupBy(_SET).count().collect()
    counts = {row[0]: row[1] for row in unique}
    return {one: counts.get(_grouping_id(names, one), 0) for one in sets}


def _grouping_id(names: Sequence[str], one: ColumnSet) -> int:
    """Return the number by which Spark calls a set: a bit for each column that is not in it."""
    return int("".join("0" if name in one else "1" for name in names), 2)


def _grouped(frame: DataFrame, one: ColumnSet) -> int:
    rows = frame.groupBy(*map(column, one)).agg(F.count("*").alias(_ROWS))
    return rows.where(F.col(_ROWS) == 1).count()
