"""Local differential privacy: every attribute of every record answered at random."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.result import EncodedColumn
from policy_engine.errors import AuditError, Problem
from policy_engine.kernels.local_privacy.frequencies import estimate_frequencies
from policy_engine.kernels.local_privacy.randomised_response import RandomisedResponse

BINS, MOST_BINS = 10, 256
"""How many ranges numbers are answered in: of more than 256, hardly an answer would be true."""
_DRAWN_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Bins:
    """In how many ranges of one width a column of more numbers is answered, each for its middle.

    `ranges` are the ends of columns of one feature each, in its units. A column without any has
    those of its smallest and its largest number, which are read off the records without noise.
    """

    count: int = BINS
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def is_binned(self, name: str, numbers: NDArray[Any]) -> bool:
        """Return whether numbers are answered in ranges, not by a number that occurs."""
        return name in self.ranges or len(np.unique(numbers)) > self.count

    def ends(self, name: str, numbers: NDArray[Any]) -> tuple[float, float]:
        """Return the ends of all ranges together."""
        return self.ranges.get(name) or (float(numbers.min()), float(numbers.max()))


def retention(epsilon: float, values: int = 2) -> float:
    """Return the probability that an answer is the true one of `values` values.

    e^epsilon / (e^epsilon + values - 1), every other value being equally likely (Warner, 1965;
    Kairouz, Oh and Viswanath, NeurIPS 2014). Raises AuditError (A006) unless epsilon is positive.
    """
    return float(_response(values, epsilon).supports.own)


def epsilon_of_coins(probability: float, values: int = 2) -> float:
    """Return the epsilon of keeping a value with a `probability`, and drawing any of them else.

    Two fair coins have an epsilon of ln 3 (MOSAICrOWN D5.2, section 4.1).
    """
    return math.log1p(probability * values / (1 - probability))


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
    bins: Bins | None = None,
) -> NDArray[Any]:
    """Return features (n, d) of the same type with every attribute answered at random.

    Bits flip; a column of one feature per value is answered with one of its values, one of few
    numbers with one of them, one of more with the middle of one of their `bins`. Which values
    there are is taken to be public. Raises AuditError (A006) with all columns whose cells stand
    for several values.
    """
    bins = bins or Bins()
    perturbed = features.copy()
    problems: list[Problem] = []
    for column, part in _parts(perturbed, encoding):
        try:
            part[:] = _randomise_column(column, part, epsilon, random, bins)
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
    response = _response(2, epsilon)
    rows = max(1, _DRAWN_AT_ONCE // max(bits.shape[1], 1))
    for start in range(0, len(bits), rows):
        block = bits[start : start + rows]
        flipped[start : start + rows] = response.respond(block, _words(random, block.shape))
    return flipped


def perturb_codes(
    codes: NDArray[np.int64], values: int, epsilon: float, random: np.random.Generator
) -> NDArray[np.int64]:
    """Return codes (n,) of so many values, each kept or replaced by any other one."""
    return _response(values, epsilon).respond(codes, _words(random, codes.shape))


def estimated_shares(codes: NDArray[np.int64], values: int, epsilon: float) -> NDArray[np.float64]:
    """Return how often each value was the true one, (values,), estimated without bias.

    Of few answers a share may be below 0.
    """
    response = _response(values, epsilon)
    return estimate_frequencies(response.count(codes), len(codes), response.supports).values


def _response(values: int, epsilon: float) -> RandomisedResponse:
    """Return randomised response of an epsilon. Raises AuditError (A006) unless it has one."""
    if not (math.isfinite(epsilon) and epsilon > 0):
        message = f"The epsilon is not positive. Given: {epsilon!r}. Allowed: a number above 0."
        raise AuditError.of("A006", message)
    try:
        return RandomisedResponse.of(values, Fraction(epsilon))
    except ValueError as error:
        raise AuditError.of("A006", str(error), "Give a larger epsilon.") from error


def _words(random: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.uint64]:
    """Return the words of answers: of an audit, they follow from its seed."""
    return random.integers(2**64, size=shape, dtype=np.uint64)


def _parts(
    features: NDArray[Any], encoding: Sequence[EncodedColumn]
) -> Iterator[tuple[EncodedColumn, NDArray[Any]]]:
    start = 0
    for column in encoding:
        yield column, features[:, start : start + column.width]
        start += column.width


def _randomise_column(
    column: EncodedColumn,
    part: NDArray[Any],
    epsilon: float,
    random: np.random.Generator,
    bins: Bins,
) -> NDArray[Any]:
    if column.kind == "bits":
        return perturb_bits(part, epsilon, random)
    if column.kind == "one-hot":
        return _randomise_one_hot(column, part, epsilon, random)
    answers = [_randomise_number(column.name, one, epsilon, random, bins) for one in part.T]
    return np.stack(answers, axis=1)


def _randomise_one_hot(
    column: EncodedColumn, part: NDArray[Any], epsilon: float, random: np.random.Generator
) -> NDArray[Any]:
    codes = part.argmax(axis=1)
    rows = np.arange(len(part))
    if np.count_nonzero(part) != len(part) or not (part[rows, codes] == 1).all():
        message = f"Cells of {column.name!r} stand for no value, or for several."
        raise AuditError.of("A006", message, "Perturb the original records.")
    answers = np.zeros_like(part)
    answers[rows, perturb_codes(codes, column.width, epsilon, random)] = 1
    return answers


def _randomise_number(
    name: str, numbers: NDArray[Any], epsilon: float, random: np.random.Generator, bins: Bins
) -> NDArray[Any]:
    if bins.is_binned(name, numbers):
        return _randomise_binned(numbers, bins.ends(name, numbers), bins.count, epsilon, random)
    values, codes = np.unique(numbers, return_inverse=True)
    answers: NDArray[Any] = values[perturb_codes(codes, len(values), epsilon, random)]
    return answers


def _randomise_binned(
    numbers: NDArray[Any],
    ends: tuple[float, float],
    count: int,
    epsilon: float,
    random: np.random.Generator,
) -> NDArray[Any]:
    """Return the middles of the answered bins; numbers beyond the ends are in the last bin."""
    low, high = ends
    places = np.floor((numbers.astype(np.float64) - low) / (high - low) * count)
    codes = np.clip(places, 0, count - 1).astype(np.int64)
    middles = low + (perturb_codes(codes, count, epsilon, random) + 0.5) * (high - low) / count
    return np.round(middles) if numbers.dtype.kind in "iu" else middles
