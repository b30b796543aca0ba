"""How carefully classes are formed, so that classes with equal cells satisfy every bound together.

In the output, classes with equal cells are one class: equal rows on both sides of a relaxed cut,
siblings under one node of a taxonomy, classes with the same mode. Two classes can satisfy some
bounds apart and violate them together: delta-disclosure privacy, where one class may lack a value
that another just may have, and bounds on values counted in persons.
"""

from enum import Enum

from policy_engine.kernels.layout import Cutting
from policy_engine.methods.columns import NESTED
from policy_engine.plan.anonymization import Anonymization
from policy_engine.plan.steps import CellStyle


class CareLevel(Enum):
    """As planned; with cuts that never leave two classes with equal cells; or all rows in one
    class, which satisfies every bound that the table can satisfy."""

    AS_PLANNED = "as planned"
    APART = "apart"
    WHOLE = "whole"

    def least(self, k: int, rows: int) -> int:
        """Return the least number of rows of a class, for a table of `rows` rows."""
        return rows if self is CareLevel.WHOLE else k

    def cutting(self, anonymization: Anonymization) -> Cutting:
        """Return how the partitioner cuts nodes."""
        if self is CareLevel.AS_PLANNED:
            return Cutting(
                anonymization.recoding.score, anonymization.recoding.partitioning == "relaxed"
            )
        return Cutting(anonymization.recoding.score, keeps_apart=True)


def care_levels(anonymization: Anonymization) -> tuple[CareLevel, ...]:
    """Return the levels of care to try, in order, until the classes satisfy every bound."""
    # Microaggregation itself merges classes with equal cells.
    if anonymization.is_kept_by_union or anonymization.recoding.algorithm == "microaggregation":
        return (CareLevel.AS_PLANNED,)
    if anonymization.recoding.algorithm == "full-domain":
        return (CareLevel.AS_PLANNED, CareLevel.WHOLE)
    return tuple(CareLevel)


def can_merge(anonymization: Anonymization, style: CellStyle, care: CareLevel) -> bool:
    """Tell whether classes formed by cuts could have equal cells, and together break a bound.

    Strict cuts leave different ranges and sets on both sides. But where ranges are written as two
    columns, two empty ends mean a missing value as well as any value; and a value that a taxonomy
    lacks may have the same label as one of its nodes.
    """
    if anonymization.is_kept_by_union or care is CareLevel.WHOLE:
        return False
    quasi = anonymization.columns.quasi_identifier
    if style == "bounds" or any(column.unlisted == "root" for column in quasi):
        return True
    is_relaxed = anonymization.recoding.partitioning == "relaxed"
    is_nested = any(column.generalization in NESTED for column in quasi)
    return care is CareLevel.AS_PLANNED and (is_relaxed or is_nested)
