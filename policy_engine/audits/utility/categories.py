"""How often the categories of a drawn column occur, and an estimate of how often they did."""

from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from policy_engine.audits.utility.model import CategoryCounts
from policy_engine.engines.arrays import is_text
from policy_engine.engines.masking.numbers import plain_array
from policy_engine.engines.masking.surveys import labels_as
from policy_engine.errors import CertificateError, PolicyEngineError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.pram import estimate_frequencies
from policy_engine.kernels.spread import Ints

_NO_MATRIX = NotApplicable(reason="the matrix is in the certificate, and there is none")
_SINGULAR = NotApplicable(reason="the matrix is singular, so other counts give the same ones")


class Transitions(NamedTuple):
    """How categories were drawn: their texts, and the probability of every published one (columns),
    given that before (rows); `keeps_counts` where the expected counts are those before."""

    categories: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]
    keeps_counts: bool = False


def category_counts(
    name: str,
    drawn: Transitions | None,
    released: pa.ChunkedArray,
    original: pa.ChunkedArray | None = None,
    *,
    is_sample: bool = False,
) -> CategoryCounts:
    """Return how often each category of a column occurs, and an estimate of how often it did.

    Counts that are kept on average are the estimate themselves. Else it is T of T P = T', with the
    matrix P and the published counts T' (Gouweleeuw, Kooiman, Willenborg, de Wolf: Post
    Randomisation for Statistical Disclosure Control, Journal of Official Statistics 14(4), 1998).
    Without an original its counts are None. Of a sample, the original may have categories that no
    sampled row had. Raises CertificateError (V002) for other categories that the matrix lacks.
    """
    drawable = drawn.categories if drawn else ()
    published = _counted(released, drawable)
    before = None if original is None else _counted(original, drawable or published)
    foreign = {*published, *(() if is_sample else before or ())} - {*drawable}
    if drawn and foreign:
        raise _foreign_category(name)
    categories = (*drawable, *sorted({*published, *(before or ())} - {*drawable}))
    counts = np.array([published.get(one, 0) for one in categories], dtype=np.int64)
    return CategoryCounts(
        name=name,
        categories=categories,
        published=tuple(counts.tolist()),
        estimated=_estimated(drawn, counts),
        original=None if before is None else tuple(before.get(one, 0) for one in categories),
    )


def _foreign_category(name: str) -> PolicyEngineError:
    message = f"The column {name!r} has categories that the matrix of the certificate lacks."
    hint = "Compare the release with the table that it was made from."
    return CertificateError.of("V002", message, hint)


def _counted(column: pa.ChunkedArray, categories: Iterable[str]) -> Counter[str]:
    """Return how often each category of a column occurs, by its text, as a known one spells it."""
    value_counts = plain_array(column).drop_null().value_counts()
    values, categories = value_counts.field("values"), tuple(categories)
    spelled = _spellings(categories)
    if categories and len(values) and not is_text(values.type):
        typed = (
            labels_as(pa.array(categories, pa.string()), values.type).cast(pa.string()).to_pylist()
        )
        spelled = {**spelled, **dict(zip(typed, categories, strict=True))}
    counts: Counter[str] = Counter()
    for text, times in zip(
        values.cast(pa.string()).to_pylist(), value_counts.field("counts").to_pylist(), strict=True
    ):
        counts[text if text in categories else spelled.get(_meaning(text), text)] += times
    return counts


def _spellings(categories: Iterable[str]) -> Mapping[Decimal | str, str]:
    """Return the categories by what their texts mean, those that mean what no other does."""
    times = Counter(map(_meaning, categories))
    return {_meaning(one): one for one in categories if times[_meaning(one)] == 1}


def _meaning(text: str) -> Decimal | str:
    """Return the number that a text is, or else the text without blanks around it."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text.strip()
    return number if number.is_finite() else text.strip()


def _estimated(drawn: Transitions | None, counts: Ints) -> tuple[float, ...] | NotApplicable:
    """Return the estimates of categories, of which the matrix has the first ones."""
    if drawn is None:
        return _NO_MATRIX
    if drawn.keeps_counts:
        return tuple(counts.astype(np.float64).tolist())
    matrix = np.array(drawn.matrix).reshape(len(drawn.categories), len(drawn.categories))
    try:
        estimated = estimate_frequencies(matrix, counts[: len(matrix)])
    except ValueError:
        return _SINGULAR
    return (*estimated.tolist(), *[0.0] * (len(counts) - len(matrix)))
