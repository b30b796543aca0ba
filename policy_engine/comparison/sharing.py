"""What of a comparison may leave the hands of the original's owner."""

from typing import TypeVar

from policy_engine.comparison.model import (
    Classification,
    ColumnChange,
    Comparison,
    PairChange,
    QueryErrors,
)
from policy_engine.estimates import NotApplicable

_Figure = TypeVar("_Figure", float, float | None)
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def shareable(found: Comparison, k: int) -> Comparison:
    """Return a comparison without whatever tells of fewer than k rows of the original.

    What is read off the release alone stays as it is. Left out are the digest of the original,
    how often its values occur and how many there are, and the errors of single queries. Other
    figures of the original are those of all its rows, and are rounded to hundredths, or to what
    k rows are of all where that is more: so exactly that no guess at a few rows can be confirmed.
    """
    step = next((one for one in _STEPS if one >= k / found.original.rows), _STEPS[-1])
    return found.model_copy(
        update={
            "is_shareable": True,
            "original": found.original.model_copy(update={"digest": ""}),
            "entropy": _rounded(found.entropy, step),
            "columns": tuple(_column(one, step) for one in found.columns),
            "pairs": tuple(_pair(one, step) for one in found.pairs),
            "queries": _queries(found.queries, step),
            "classification": _classification(found.classification, step),
        }
    )


def _rounded(figure: _Figure, step: float) -> _Figure:
    return None if figure is None else round(round(figure / step) * step, 2)


def _column(one: ColumnChange, step: float) -> ColumnChange:
    return one.model_copy(
        update={
            "entropy": _rounded(one.entropy, step),
            "hellinger": _rounded(one.hellinger, step),
            "total_variation": _rounded(one.total_variation, step),
            "values_before": None,
            "bins": (),
        }
    )


def _pair(one: PairChange, step: float) -> PairChange:
    figures = ("hellinger", "total_variation", "before", "after")
    return one.model_copy(update={name: _rounded(getattr(one, name), step) for name in figures})


def _queries(found: QueryErrors | NotApplicable, step: float) -> QueryErrors | NotApplicable:
    if isinstance(found, NotApplicable):
        return found
    known = {"median": _rounded(found.median, step), "mean": _rounded(found.mean, step)}
    return found.model_copy(update={**known, "percentiles": ()})


def _classification(
    found: Classification | NotApplicable, step: float
) -> Classification | NotApplicable:
    if isinstance(found, NotApplicable):
        return found
    figures = ("majority", "original", "anonymised", "error")
    return found.model_copy(update={name: _rounded(getattr(found, name), step) for name in figures})
