"""Recoding: every value becomes its label at one level of a taxonomy."""

from collections.abc import Mapping
from math import inf
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from policy_engine.methods.masking import ColumnMasking


class Recoding(ColumnMasking):
    """Every value becomes its label at one `level` of a `taxonomy`, a file or an IRI.

    Level 0 are the values themselves, the last level is the root. A value that the taxonomy lacks
    is refused. Hundepool et al.: Statistical Disclosure Control, Wiley 2012 (global recoding).
    """

    notation: ClassVar[str] = "recoding"

    row_counts: ClassVar[tuple[str, ...]] = ("labels", "smallestLabel")

    masking: Literal["recoding"] = "recoding"
    taxonomy: Annotated[str, Field(min_length=1)]
    level: Annotated[int, Field(ge=1, le=64, strict=True)]

    @property
    def makes_labels(self) -> bool:
        """Whether texts stand for values of any type: labels do."""
        return True

    @property
    def is_of_categories(self) -> bool:
        """Whether its values are categories: what the taxonomy lists."""
        return True

    @property
    def taxonomies(self) -> tuple[str, ...]:
        """The name of its taxonomy."""
        return (self.taxonomy,)

    @property
    def figure_ranges(self) -> Mapping[str, tuple[float, float]]:
        """The figures that a certificate may have of it, each with its least and greatest value."""
        return {**super().figure_ranges, "labels": (0, inf), "smallestLabel": (1, inf)}

    def may_have_of_rows(self, figures: Mapping[str, float], rows: int) -> bool:
        """Tell whether there are rows enough for all labels to have those of the smallest."""
        labels, smallest = figures.get("labels"), figures.get("smallestLabel")
        if (smallest is not None) != bool(labels):
            return False
        most = labels * smallest if labels and smallest else 0
        return most <= rows and super().may_have_of_rows(figures, rows)
