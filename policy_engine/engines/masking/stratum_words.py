"""What tells strata apart: the values of columns, however a file of any format writes them."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy, is_text, to_numpy
from policy_engine.engines.masking.marks import cell_words
from policy_engine.engines.masking.numbers import plain_array
from policy_engine.engines.row_keys import row_keys
from policy_engine.engines.text_types import STAMP, TIME_OF_DAY, ZONED, parse_times_of_day
from policy_engine.kernels.siphash import Words, key_words
from policy_engine.kernels.streams import mix_rows

_Places = NDArray[np.int64]
_MISSING = "^([nN][aA][nN])?$"


def stratum_words(columns: Sequence[pa.ChunkedArray | pa.Array], key: bytes) -> Words:
    """Return 128 bits for every row, (rows, 2), equal for rows of one stratum: of equal values in
    every column, one or more.

    Each cell is read by itself, so that a stratum is the same in files with types and without: 1,
    1.0 and the texts "1" and " 1" are one value, and so are a point in time and its text. Empty
    texts and NaN are missing, as they are once they are written and read.
    """
    return mix_rows([_column_words(plain_array(one), key) for one in columns], key_words(key))


def _column_words(plain: pa.Array, key: bytes) -> Words:
    if plain.null_count == len(plain):
        return np.zeros((len(plain), 2), dtype=np.uint64)
    if pa.types.is_nested(plain.type) or isinstance(plain.type, pa.BaseExtensionType):
        return cell_words(plain, None, key)
    encoded = plain.dictionary_encode()
    values = encoded.dictionary
    words = _text_words(values, key) if is_text(values.type) else cell_words(values, None, key)
    if pa.types.is_floating(values.type):
        words[np.isnan(to_numpy(values.cast(pa.float64())))] = 0
    missing = np.zeros((1, 2), dtype=np.uint64)
    places = to_numpy(encoded.indices.cast(pa.int64()), missing=len(values))
    return np.asarray(np.concatenate([words, missing])[places])


def _text_words(values: pa.Array, key: bytes) -> Words:
    texts = pc.utf8_trim_whitespace(values)
    words = cell_words(texts, None, key)
    words[_places(texts, _MISSING)] = 0
    times = _places(texts, TIME_OF_DAY)
    if len(times):
        words[times] = row_keys([parse_times_of_day(texts.take(from_numpy(times)))], key)
    stamps = _places(texts, STAMP)
    zoned = np.isin(stamps, _places(texts, ZONED))
    for zone, places in (("UTC", stamps[zoned]), (None, stamps[~zoned])):
        for place, moment in _moments(texts.take(from_numpy(places)), places, zone):
            words[place] = row_keys([moment], key)
    return words


def _places(texts: pa.Array, pattern: str) -> _Places:
    return np.flatnonzero(to_numpy(pc.match_substring_regex(texts, pattern)))


def _moments(texts: pa.Array, places: _Places, zone: str | None) -> list[tuple[_Places, pa.Array]]:
    """Return the texts that are points in time as such, with their places: there is no 30th of
    February, and not every year is one of nanoseconds."""
    if not len(texts):
        return []
    for unit in ("ns", "us"):
        try:
            return [(places, texts.cast(pa.timestamp(unit, zone)))]
        except pa.ArrowInvalid:
            continue
    half = len(texts) // 2
    halves = ((texts[:half], places[:half]), (texts[half:], places[half:])) if half else ()
    return [moment for part, where in halves for moment in _moments(part, where, zone)]
