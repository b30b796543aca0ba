"""How classes are formed: the algorithm and its options."""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from policy_engine.methods.findings import Proportion, parameters
from policy_engine.methods.guide import ACCURACY_GUIDED, GUIDE, Guide, GuideParameters

Algorithm = Literal[
    "mondrian",
    "full-domain",
    "microaggregation",
    "local-suppression",
    "bucketization",
    "accuracy-guided",
]
ON_CLUSTERS = ("mondrian", "microaggregation", "local-suppression", "accuracy-guided")
"""Algorithms that treat parts of a table, or few tuples instead of its rows, so that a cluster
can."""
SUPPRESSING = ("mondrian", "full-domain")
"""Algorithms that may leave rows out."""
Buckets = Literal["anatomy", "distinct-l"]
Loss = Literal[
    "loss",
    "certainty-penalty",
    "precision",
    "non-uniform-entropy",
    "height",
    "discernability",
    "average-class-size",
]


Composition = Literal["independent", "intersected", "m-invariant"]
"""What is to hold of a release together with earlier ones of the same persons."""

UNIQUE_KEPT = "maxUniqueKept"
"""The bound on the share of rows that are unique on what is kept exact, as a policy names it."""
_Share = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False), Proportion()]


class RecodingOptions(BaseModel):
    """Mondrian cuts rows into classes; full-domain generalises whole columns to one level;
    microaggregation makes classes of near rows, for their means; local suppression nulls cells
    until each row matches k rows; bucketization publishes quasi-identifiers as they are, and
    sensitive values in a table of their own, by bucket.

    `partitioning`, `dimensionality`, `score` and `polish` are Mondrian's; `loss`, what is made
    least, is full-domain's. `max_suppression` is the share of rows that either may leave out.
    `buckets` are bucketization's: a value at most once in a bucket, or some distinct values in it.
    The `guide` of accuracy-guided classes says which predictions, and what stands for a class.
    `max_unique_kept` is the greatest share of the released rows that may be unique on the columns
    that are kept exact, all together, None for any; no algorithm changes those, so a release either
    keeps it or is refused. `composition` is what holds of a release together with earlier ones of
    the same persons, None where the policy does not say. `missing` tells whether a missing
    quasi-identifier is a value of its own, or matches any.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, populate_by_name=True)

    algorithm: Algorithm = "mondrian"
    partitioning: Literal["strict", "relaxed"] = "strict"
    dimensionality: Literal["multi", "single"] = "multi"
    score: Literal["span", "entropy", "loss"] = "loss"
    polish: Annotated[bool, Field(strict=True)] = False
    max_suppression: Annotated[
        float,
        Field(alias="maxSuppression", ge=0, lt=1, strict=True, allow_inf_nan=False),
        Proportion(),
    ] = 0.0
    loss: Loss = "loss"
    max_unique_kept: Annotated[_Share | None, Field(alias=UNIQUE_KEPT)] = None
    composition: Composition | None = None
    buckets: Buckets = "anatomy"
    guide: Guide | None = None

    @model_validator(mode="after")
    def _has_its_guide(self) -> Self:
        """Raise ValueError for accuracy-guided classes without a guide, and a guide of others."""
        if (self.guide is not None) != (self.algorithm == ACCURACY_GUIDED):
            raise ValueError(f"a guide is what the algorithm {ACCURACY_GUIDED!r} has")
        return self

    @model_serializer(mode="wrap")
    def _omit_unused(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit `buckets`, the `guide` and what bounds unique rows or several releases, where
        there are none."""
        values: dict[str, Any] = serialize(self)
        unused = {"buckets"} if self.algorithm != "bucketization" else set()
        unused |= {"guide"} if self.guide is None else set()
        unused |= {"max_unique_kept", UNIQUE_KEPT} if self.max_unique_kept is None else set()
        unused |= {"composition"} if self.composition is None else set()
        return {name: value for name, value in values.items() if name not in unused}

    def options(self) -> dict[str, Any]:
        """Return every option by the name that policies use."""
        guide = dict.fromkeys(parameters(GuideParameters), "")
        guide = self.guide.options() if self.guide else guide
        own: dict[str, Any] = {"buckets": self.buckets, UNIQUE_KEPT: self.max_unique_kept}
        own["composition"] = self.composition
        return {**self.model_dump(by_alias=True), **own, **guide}

    missing: Literal["category", "wildcard"] = "category"

    @property
    def has_overlapping_classes(self) -> bool:
        """Whether a row is one of k that could be the same, which need not be the same rows for
        each of them, instead of one of k that are the same."""
        return self.algorithm == "local-suppression" and self.missing == "wildcard"


def option_fields() -> dict[str, Any]:
    """Return the fields of all options by the names that policies use."""
    fields = dict(parameters(RecodingOptions))
    del fields[GUIDE]  # a policy says of what it is made
    return {**fields, **parameters(GuideParameters)}
