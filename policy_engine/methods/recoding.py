"""How classes are formed: the algorithm and its options."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.methods.findings import Finding, shown

Algorithm = Literal["mondrian", "full-domain"]
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
    """Mondrian cuts rows into classes; full-domain generalises whole columns to one level.

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


_OPTIONS = {
    "mondrian": ("partitioning", "dimensionality", "score", "polish"),
    "full-domain": ("maxSuppression", "loss"),
}
_OF_MANY_DIMENSIONS = {"partitioning": "relaxed", "score": None, "polish": True}
"""Options that a grid does not have, with the value in question where not any."""


def option_conflicts(given: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield every option that belongs to the algorithm not chosen."""
    chosen = given.get("algorithm", "mondrian")
    if chosen not in _OPTIONS:
        return
    for algorithm, options in _OPTIONS.items():
        for name in options if algorithm != chosen else ():
            if name in given:
                message = f"{name} is an option of {algorithm}. The algorithm is {chosen!r}."
                yield Finding("M003", name, message)
    if chosen == "full-domain" and given.get("missing") == "wildcard":
        message = "missing 'wildcard' is an option of mondrian. The algorithm is 'full-domain'."
        yield Finding("M003", "missing", message)
    if given.get("dimensionality") == "single":
        for name, value in _OF_MANY_DIMENSIONS.items():
            if name in given and value in (None, given[name]):
                message = f"{name} {shown(given[name])} needs the dimensionality 'multi'."
                yield Finding("M003", name, f"{message} Given: 'single'.")
