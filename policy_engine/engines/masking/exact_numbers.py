"""Numbers in forms that tell each from all others: as floats where these do, else by digits."""

from collections.abc import Iterator
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy, from_texts, to_numpy
from policy_engine.engines.masking.cells import exact_arithmetic
from policy_engine.engines.masking.numbers import MOST_EXACT
from policy_engine.engines.text_types import EXACT_DIGITS

_MOST_DIGITS = 17
"""The shortest text of a float has no more."""
_LEAST_NORMAL = 2.0**-1022
Bools = NDArray[np.bool_]


def numbers_apart(values: pa.Array) -> Iterator[tuple[Bools, pa.Array]]:
    """Yield numbers as floats, and those that are not what the shortest text of a float says by all
    of their digits, each with where they are, (numbers,).

    Equal numbers have one form, however they are written. `values` are integers, decimals or texts
    of numbers, none of them missing.
    """
    is_integer = pa.types.is_integer(values.type)
    texts = values if is_integer else values.cast(pa.string())
    floats = texts.cast(pa.float64(), safe=False)
    sizes = np.abs(to_numpy(floats))
    is_float = sizes < MOST_EXACT
    if not is_integer:
        is_short = to_numpy(pc.binary_length(texts)) <= EXACT_DIGITS
        is_float = is_short & np.isfinite(sizes) & (sizes >= _LEAST_NORMAL)
    rest = np.flatnonzero(~is_float)
    if len(rest):
        long = texts.take(from_numpy(rest)).cast(pa.string())
        is_float[rest] = _are_floats(long, floats.take(from_numpy(rest)))
    yield is_float, floats.filter(from_numpy(is_float))
    yield ~is_float, _digits(texts.filter(from_numpy(~is_float)).cast(pa.string()))


def _are_floats(texts: pa.Array, floats: pa.Array) -> Bools:
    """Return which numbers are those that the shortest texts of their floats say, (numbers,)."""
    mantissas = pc.replace_substring_regex(texts, r"([eE].*$)|[^0-9]", "")
    digits = pc.replace_substring_regex(mantissas, "^0+|0+$", "")
    count, sizes = to_numpy(pc.binary_length(digits)), np.abs(to_numpy(floats))
    is_normal = np.isfinite(sizes) & ((sizes >= _LEAST_NORMAL) | (count == 0))
    is_exact = is_normal & (count <= EXACT_DIGITS)
    is_exact |= to_numpy(pc.equal(texts, floats.cast(pa.string()))).astype(np.bool_)
    doubtful = np.flatnonzero(np.isfinite(sizes) & ~is_exact & (count <= _MOST_DIGITS))
    chosen = from_numpy(doubtful)
    pairs = zip(texts.take(chosen).to_pylist(), floats.take(chosen).to_pylist(), strict=True)
    with exact_arithmetic():
        same = [Decimal(text) == Decimal(repr(number)) for text, number in pairs]
    is_exact[doubtful] = same
    return np.asarray(is_exact)


def _digits(texts: pa.Array) -> pa.Array:
    """Return texts of numbers without exponents, and without zeros that say nothing."""
    is_odd = pc.match_substring_regex(texts, "[.eE]")
    odd = texts.filter(is_odd).dictionary_encode()
    with exact_arithmetic():
        plain = [format(Decimal(text), "f") for text in odd.dictionary.to_pylist()]
    trimmed = [text.rstrip("0").removesuffix(".") if "." in text else text for text in plain]
    return pc.replace_with_mask(texts, is_odd, from_texts(trimmed).take(odd.indices))
