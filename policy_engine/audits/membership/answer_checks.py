"""Whether numbers can be the probabilities, or the logits, of classes."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.errors import AuditError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


WIDEST = 1e30
"""The largest logit whose differences to others still fit into 32 bits."""


_TOLERANCE = 1e-3


_MOST_DIGITS = 4


_ARE_LOGITS = "Are these logits? Then name the columns z0, z1, and so on."


def check_probabilities(values: Floats, hint: str = _ARE_LOGITS) -> None:
    """Raise AuditError (A004) with what is wrong with how many rows, and the first of them.

    The `hint` says what to do where they are logits.
    """
    unknown = np.asarray(np.isnan(values).any(axis=1))
    outside = ~unknown & ((values < -1e-6) | (values > 1 + 1e-6)).any(axis=1)
    off = ~unknown & ~outside & (np.abs(values.sum(axis=1) - 1) > _tolerance(values))
    problems = [
        *_describe_rows(unknown, "hold a probability that is missing", values),
        *_describe_rows(outside, "hold a probability below 0 or above 1", values),
        *_describe_rows(off, "do not sum to 1", values),
    ]
    if problems:
        raise AuditError.of("A004", " ".join(problems), hint)


def _describe_rows(rows: Bools, fault: str, values: Floats) -> list[str]:
    if not rows.any():
        return []
    first = int(rows.argmax())
    values_shown = ", ".join(f"{value:.4g}" for value in values[first, :5].tolist())
    more = ", ..." if values.shape[1] > 5 else ""
    count = int(rows.sum())
    return [
        f"{count:,} of {len(rows):,} rows {fault}; the first is row {first}: {values_shown}{more}."
    ]


def _tolerance(values: Floats) -> float:
    """Return how far a sum may be from 1: more where probabilities are rounded to few digits."""
    for digits in range(2, _MOST_DIGITS + 1):
        if np.allclose(values, values.round(digits), rtol=0, atol=1e-9):
            return float(max(_TOLERANCE, values.shape[1] * 0.5 * 10.0**-digits))
    return _TOLERANCE


def check_logits(values: Floats) -> None:
    """Raise AuditError (A004) where a logit is missing or too large to be distinguished.

    One that is as far below 0 says that a class is impossible; it may not say so of all classes.
    """
    wrong = np.asarray(np.isnan(values).any(axis=1)) | (values > WIDEST).any(axis=1)
    wrong |= (values < -WIDEST).all(axis=1)
    fault = f"hold a logit that is missing or infinite, or further than {WIDEST:.0e} from 0"
    problems = _describe_rows(wrong, fault, values)
    if problems:
        raise AuditError.of("A004", problems[0])
