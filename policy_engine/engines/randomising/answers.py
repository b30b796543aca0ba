"""What is published for the answers of a randomiser, and the answers that published cells are."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy, from_texts, to_numpy, unchunk
from policy_engine.engines.randomising.values import distinct_of
from policy_engine.kernels.local_privacy.bounded_numbers import BoundedNumbers, published_steps
from policy_engine.kernels.local_privacy.local_hashing import LocalHashing
from policy_engine.kernels.local_privacy.randomised_response import RandomisedResponse
from policy_engine.kernels.local_privacy.unary_encoding import UnaryEncoding
from policy_engine.methods.randomiser import CategoryRandomiser, NumberRandomiser, exact

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Answers:
    """The answers of a column as they are published: of the rows that `answered`, (rows,), in
    their order. `strange` cells are none that could have been published."""

    answered: Bools
    strange: int
    codes: Ints | None = None
    bits: Bools | None = None
    hashes: Words | None = None

    @property
    def number(self) -> int:
        """How many answers there are."""
        return int(np.count_nonzero(self.answered))


# -- categories -----------------------------------------------------------------------------------


def publish_categories(
    randomiser: CategoryRandomiser, epsilon: Fraction, codes: Ints, words: Words
) -> pa.Array:
    """Return the cells that are published for categories by their codes, (rows,), as texts.

    `words` are (rows, words of an answer).
    """
    mechanism = randomiser.mechanism(epsilon)
    if isinstance(mechanism, RandomisedResponse):
        answers = mechanism.respond(codes, words[:, 0]).astype(np.int32)
        return pa.DictionaryArray.from_arrays(from_numpy(answers), from_texts(randomiser.values))
    if isinstance(mechanism, UnaryEncoding):
        return _bit_texts(mechanism.respond(codes, words))
    hashes, hashed_values = mechanism.respond(codes, words)
    digits = np.ascontiguousarray(hashes).astype(">u8").tobytes().hex()
    texts = (
        f"{digits[32 * row : 32 * row + 32]}:{one}"
        for row, one in enumerate(hashed_values.tolist())
    )
    return from_texts([*texts])


_MARK = ord("b")
"""What a text of bits begins with: without it, whoever reads a file may take it for a number."""


def _bit_texts(bits: Bools) -> pa.Array:
    rows, width = bits.shape
    data = np.full((rows, width + 1), _MARK, dtype=np.uint8)
    data[:, 1:] = bits + ord("0")
    ends = np.arange(rows + 1, dtype=np.int64) * (width + 1)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(data.tobytes())]
    return pa.Array.from_buffers(pa.large_string(), rows, buffers)


def read_categories(
    column: pa.ChunkedArray, randomiser: CategoryRandomiser, epsilon: Fraction
) -> Answers:
    """Return the answers that published cells are."""
    mechanism = randomiser.mechanism(epsilon)
    if isinstance(mechanism, RandomisedResponse):
        return _coded(column, randomiser.values)
    texts = unchunk(column).cast(pa.large_string())
    present = to_numpy(texts.is_valid())
    if isinstance(mechanism, UnaryEncoding):
        return _read_bits(texts, present, mechanism)
    return _read_hashes(texts, present, mechanism)


def _coded(column: pa.ChunkedArray, values: Sequence[str]) -> Answers:
    """Return answers by their place among the texts that may be published."""
    places = {value: place for place, value in enumerate(values)}
    distinct, rows = distinct_of(column)
    codes = np.array([*(places.get(one, -1) for one in distinct), -2], dtype=np.int64)[rows]
    answered = codes >= 0
    return Answers(answered, int(np.count_nonzero(codes == -1)), codes=codes[answered])


def _read_bits(texts: pa.Array, present: Bools, mechanism: UnaryEncoding) -> Answers:
    width = mechanism.values + 1
    answered = present & (to_numpy(pc.binary_length(texts), missing=-1) == width)
    some = texts.filter(from_numpy(answered))
    data = np.frombuffer("".join(some.to_pylist()).encode(), np.uint8).reshape(len(some), width)
    is_bits = np.isin(data[:, 1:], [ord("0"), ord("1")]).all(axis=1) & (data[:, 0] == _MARK)
    answered[answered] = is_bits
    strange = int(np.count_nonzero(present & ~answered))
    return Answers(answered, strange, bits=data[is_bits, 1:] == ord("1"))


_HASHED = re.compile("([0-9a-f]{16})([0-9a-f]{16}):([0-9]{1,5})", re.ASCII)


def _read_hashes(texts: pa.Array, present: Bools, mechanism: LocalHashing) -> Answers:
    answered, hashes, hashed_values = present.copy(), list[tuple[int, int]](), list[int]()
    for row, text in enumerate(texts.to_pylist()):
        match = _HASHED.fullmatch(text) if text is not None else None
        if match is None or int(match[3]) >= mechanism.response.values:
            answered[row] = False
            continue
        hashes.append((int(match[1], 16), int(match[2], 16)))
        hashed_values.append(int(match[3]))
    strange = int(np.count_nonzero(present & ~answered))
    pairs = np.array(hashes, dtype=np.uint64).reshape(-1, 2)
    return Answers(answered, strange, codes=np.array(hashed_values, dtype=np.int64), hashes=pairs)


# -- numbers --------------------------------------------------------------------------------------


def publish_numbers(
    randomiser: NumberRandomiser, epsilon: Fraction, steps: Ints, words: Words
) -> pa.Array:
    """Return the cells that are published for numbers by their steps, (rows,), as numbers: integers
    where the whole grid is."""
    mechanism = randomiser.mechanism(epsilon)
    answers = mechanism.respond(steps, words[:, 0])
    numbers = published_numbers(randomiser, mechanism)
    kind = np.int64 if randomiser.is_whole else np.float64
    return from_numpy(np.array([kind(one) for one in numbers])[answers])


def published_numbers(randomiser: NumberRandomiser, mechanism: BoundedNumbers) -> list[Fraction]:
    """Return the number that each answer is published as."""
    lower, grid = exact(randomiser.lower), exact(randomiser.grid)
    return [lower + step * grid for step in published_steps(mechanism).tolist()]


def read_numbers(
    column: pa.ChunkedArray, randomiser: NumberRandomiser, epsilon: Fraction
) -> Answers:
    """Return the answers that published cells are."""
    mechanism = randomiser.mechanism(epsilon)
    numbers = [float(one) for one in published_numbers(randomiser, mechanism)]
    places = {number: place for place, number in enumerate(numbers)}
    distinct, rows = distinct_of(column)
    codes = [places.get(_float(text), -1) for text in distinct]
    answer_places = np.array([*codes, -2], dtype=np.int64)[rows]
    answered = answer_places >= 0
    return Answers(
        answered, int(np.count_nonzero(answer_places == -1)), codes=answer_places[answered]
    )


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
