"""How carefully classes are formed, so that those with equal cells keep every bound as one.

On the output, classes with equal cells are one class: equal rows on both sides of a relaxed cut,
siblings under one node of a taxonomy, classes with one mode. Some bounds two classes can hold
each by itself and break together: delta-disclosure privacy, of which a class need not have a
value that another may only just have, and bounds on values counted in persons.
"""

from enum import Enum

from policy_engine.kernels.layout import Cutting
from policy_engine.methods.columns import NESTED
from policy_engine.plan.anonymization import Anonymization
from policy_engine.plan.steps import CellStyle


class Care(Enum):
    """As the plan asks; with cuts that no two classes with equal cells can come of; or all rows
    in one class, which holds every bound that the table can satisfy."""

    AS_ASKED = "as asked"
    APART = "apart"
    WHOLE = "whole"

    def least(self, k: int, rows: int) -> int:
        """Return the least size of a class of a table of so many rows."""
        return rows if self is Care.WHOLE else k

    def cutting(self, asked: Anonymization) -> Cutting:
        """Return how nodes are cut."""
        if self is Care.AS_ASKED:
            return Cutting(asked.recoding.score, asked.recoding.partitioning == "relaxed")
        return Cutting(asked.recoding.score, keeps_apart=True)


def cares(asked: Anonymization) -> tuple[Care, ...]:
    """Return in which ways to form classes, one after the other, until one keeps every bound."""
    if asked.is_kept_by_union:
        return (Care.AS_ASKED,)
    if asked.recoding.algorithm == "full-domain":
        return (Care.AS_ASKED, Care.WHOLE)
    return tuple(Care)


def can_merge(asked: Anonymization, style: CellStyle, care: Care) -> bool:
    """Tell whether classes that were formed by cuts could have equal cells and break a bound.

    Strict cuts leave ranges and sets of other values on both sides. Where ranges are written as
    two ends, none stand for a missing value and for any; and a value that a taxonomy lacks may
    be called as one of its nodes is.
    """
    if asked.is_kept_by_union or care is Care.WHOLE:
        return False
    quasi = asked.columns.quasi_identifier
    if style == "bounds" or any(one.unlisted == "root" for one in quasi):
        return True
    is_relaxed = asked.recoding.partitioning == "relaxed"
    is_nested = any(one.generalization in NESTED for one in quasi)
    return care is Care.AS_ASKED and (is_relaxed or is_nested)
