"""How classes are formed: the algorithm and its options."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Algorithm = Literal["mondrian", "full-domain", "microaggregation", "local-suppression"]
Loss = Literal[
    "loss",
    "certainty-penalty",
    "precision",
    "non-uniform-entropy",
    "height",
    "discernability",
    "average-class-size",
]


class Recoding(BaseModel):
    """Mondrian cuts rows into classes; full-domain generalises whole columns to one level;
    microaggregation makes classes of near rows, for their means; local suppression nulls cells
    until each row matches k rows.

    `partitioning`, `dimensionality`, `score` and `polish` are Mondrian's; `max_suppression`,
    the share of rows that may be left out, and `loss`, what is made least, are full-domain's.
    `missing` tells whether a missing quasi-identifier is a value of its own, or matches any.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, populate_by_name=True)

    algorithm: Algorithm = "mondrian"
    partitioning: Literal["strict", "relaxed"] = "strict"
    dimensionality: Literal["multi", "single"] = "multi"
    score: Literal["span", "entropy", "loss"] = "loss"
    polish: Annotated[bool, Field(strict=True)] = False
    max_suppression: Annotated[
        float, Field(alias="maxSuppression", ge=0, lt=1, strict=True, allow_inf_nan=False)
    ] = 0.0
    loss: Loss = "loss"
    missing: Literal["category", "wildcard"] = "category"

    @property
    def has_overlapping_classes(self) -> bool:
        """Whether a row is one of k that could be the same, which need not be the same rows for
        each of them, instead of one of k that are the same."""
        return self.algorithm == "local-suppression" and self.missing == "wildcard"
