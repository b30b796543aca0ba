"""Local differential privacy: every attribute of every record answered at random."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.result import EncodedColumn
from policy_engine.errors import AuditError, Problem

MOST_VALUES = 256
"""Of a column with more values than this, hardly an answer would be true."""
_DRAWN_AT_ONCE = 1 << 22
_WHOLE = 1 << 32


def retention(epsilon: float, values: int = 2) -> float:
    """Return how likely an answer among so many values is the true one.

    e^epsilon / (e^epsilon + values - 1), every other value being equally likely (Warner, 1965;
    Kairouz, Oh and Viswanath, NeurIPS 2014). Raises AuditError (A006) unless epsilon is positive.
    """
    if not (math.isfinite(epsilon) and epsilon > 0):
        message = f"The epsilon is not positive. Given: {epsilon!r}. Allowed: a number above 0."
        raise AuditError.of("A006", message)
    return 1 / (1 + (values - 1) * math.exp(-epsilon))


def epsilon_of_coins(kept: float, values: int = 2) -> float:
    """Return the epsilon of keeping a value with probability `kept` and else drawing any of them.

    Two fair coins have an epsilon of ln 3 (MOSAICrOWN D5.2, section 4.1).
    """
    return math.log1p(kept * values / (1 - kept))


def composed_epsilon(encoding: Sequence[EncodedColumn], epsilon: float) -> float:
    """Return the epsilon of a record: the sum over its attributes (MOSAICrOWN D5.1, definition 4).

    An attribute is a bit, a number, or a column of values however many features it became. The
    label is none: it stays as it is.
    """
    return epsilon * sum(
        column.width if column.kind in ("bits", "kept") else 1 for column in encoding
    )


def perturb(
    features: NDArray[Any],
    encoding: Sequence[EncodedColumn],
    epsilon: float,
    random: np.random.Generator,
) -> NDArray[Any]:
    """Return features (n, d) of the same type with every attribute answered at random.

    Bits flip; a column of one feature per value is answered with one of its values, a number
    with one of those that occur in its column. Which values there are is taken to be public.
    Raises AuditError (A006) with all columns that have more than 256 values, or whose cells
    stand for several.
    """
    perturbed = features.copy()
    problems: list[Problem] = []
    for column, part in _parts(perturbed, encoding):
        try:
            part[:] = _answered(column, part, epsilon, random)
        except AuditError as error:
            problems.extend(error.problems)
    if problems:
        raise AuditError(*problems)
    return perturbed


def perturb_bits(bits: NDArray[Any], epsilon: float, random: np.random.Generator) -> NDArray[Any]:
    """Return a matrix (n, d) of 0 and 1 in which each is flipped with probability 1/(1+e^epsilon).

    Needs some 30 MB beside the result, whatever the size.
    """
    flipped = np.empty_like(bits)
    flips = _below(1 - retention(epsilon))
    rows = max(1, _DRAWN_AT_ONCE // max(bits.shape[1], 1))
    for start in range(0, len(bits), rows):
        block = bits[start : start + rows]
        is_flipped = random.integers(_WHOLE, size=block.shape, dtype=np.uint32) < flips
        flipped[start : start + rows] = np.where(is_flipped, 1 - block, block)
    return flipped


def perturb_codes(
    codes: NDArray[np.int64], values: int, epsilon: float, random: np.random.Generator
) -> NDArray[np.int64]:
    """Return codes (n,) of so many values, each kept or replaced by any other one."""
    if values < 2:
        return codes.copy()
    changes = _below(1 - retention(epsilon, values))
    is_changed = random.integers(_WHOLE, size=len(codes), dtype=np.uint32) < changes
    shifts = random.integers(1, values, len(codes))
    return np.where(is_changed, (codes + shifts) % values, codes)


def estimated_shares(codes: NDArray[np.int64], values: int, epsilon: float) -> NDArray[np.float64]:
    """Return how often each value was the true one, (values,), estimated without bias.

    Of few answers a share may be below 0.
    """
    kept = retention(epsilon, values)
    other = (1 - kept) / (values - 1)
    shares = np.bincount(codes, minlength=values) / len(codes)
    return (shares - other) / (kept - other)


def _parts(
    features: NDArray[Any], encoding: Sequence[EncodedColumn]
) -> Iterator[tuple[EncodedColumn, NDArray[Any]]]:
    start = 0
    for column in encoding:
        yield column, features[:, start : start + column.width]
        start += column.width


def _answered(
    column: EncodedColumn, part: NDArray[Any], epsilon: float, random: np.random.Generator
) -> NDArray[Any]:
    if column.kind == "bits":
        return perturb_bits(part, epsilon, random)
    if column.kind == "one-hot":
        return _one_hot(column, part, epsilon, random)
    answered = [_number(column, one, epsilon, random) for one in part.T]
    return np.stack(answered, axis=1)


def _one_hot(
    column: EncodedColumn, part: NDArray[Any], epsilon: float, random: np.random.Generator
) -> NDArray[Any]:
    codes = part.argmax(axis=1)
    rows = np.arange(len(part))
    if np.count_nonzero(part) != len(part) or not (part[rows, codes] == 1).all():
        message = f"Cells of {column.name!r} stand for no value, or for several."
        raise AuditError.of("A006", message, "Perturb the original records.")
    answered = np.zeros_like(part)
    answered[rows, perturb_codes(codes, column.width, epsilon, random)] = 1
    return answered


def _number(
    column: EncodedColumn, numbers: NDArray[Any], epsilon: float, random: np.random.Generator
) -> NDArray[Any]:
    values, codes = np.unique(numbers, return_inverse=True)
    if len(values) > MOST_VALUES:
        message = (
            f"The column {column.name!r} has {len(values):,} values. Randomized response "
            f"answers among {MOST_VALUES} at most."
        )
        raise AuditError.of("A006", message, "Group its values into ranges, or leave it out.")
    answered: NDArray[Any] = values[perturb_codes(codes, len(values), epsilon, random)]
    return answered


def _below(probability: float) -> int:
    """Return the bound below which a random number of 32 bits lies with at least a probability.

    Rounded up: never less noise than epsilon asks for.
    """
    return math.ceil(probability * _WHOLE)
