"""What every equivalence class must keep, as the partitioner needs to know it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Constraint:
    """The bounds that a cut may not break, on either of its sides.

    `size` is the least number of rows (the k of k-anonymity); `distinct` is the least
    number of distinct values of every sensitive column (the l of l-diversity), 1 where the
    values of the sensitive columns do not matter.
    """

    size: int
    distinct: int = 1
