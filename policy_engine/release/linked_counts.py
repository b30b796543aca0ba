"""Counts of rows beside counts of values: who has a value of a column is one of all rows.

What is counted is told apart by what has a value of which column; each is compared alone first, for
that is less to compare. Together they tell more: there are no more values than rows, and where keys
decide who has a value, as that a person is employed does about a wage, just as many.
"""

from collections.abc import Sequence

from policy_engine.audits.outputs.tabulating import Tabulation
from policy_engine.release.count_readings import CountReading


def linked_counts(readings: Sequence[CountReading], own: Tabulation) -> list[CountReading]:
    """Return the readings of counts that tell of each other, of different rows or values, and none
    where the last table has none of them, or counts what all others do."""
    counts = [one for one in readings if one.are_counts]
    is_any_own = any(one.table.made is own for one in counts)
    return counts if is_any_own and len({one.system for one in counts}) > 1 else []
