"""Tables of one key, put together in this process."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy, is_text, to_numpy, unchunk
from policy_engine.errors import DataError, PolicyEngineError
from policy_engine.plan.inputs import Join
from policy_engine.plan.joins import Joined

BLANK = r"\A[\t-\r\x1c-\x20\x{85}\p{Z}]*\z"
"""Texts that are no key, as a missing cell is none, in a pattern that RE2 and Java read alike."""
Codes = NDArray[np.int32]
"""The key of every row, by its number among all keys; -1 where it has none."""


def join_tables(tables: Sequence[pa.Table], step: Join) -> pa.Table:
    """Return the rows of the first table that have a partner in every other, with these.

    Of tables one of which has several rows for a key, of that one instead. Keys are the same where
    their texts are, letter by letter; an integer's text is its digits, and a blank is not a key.
    Raises DataError (R012) for keys of other types, and for those that stand in several rows,
    (R001) where none is in all.
    """
    codes, size = _codes([_key(t, one) for t, one in zip(tables, step.inputs, strict=True)])
    counts = [np.bincount(one[one >= 0], minlength=size) for one in codes]
    shared = np.logical_and.reduce([one > 0 for one in counts])
    if not shared.any():
        raise no_partner(step)
    check_repeated([int((one[shared] > 1).sum()) for one in counts], step)
    longest = int(np.argmax([one[shared].max() for one in counts]))
    # The last place stands for rows without a key, whose code is -1.
    has_partner = np.append(shared, np.False_)[codes[longest]]
    keys = codes[longest][has_partner]
    rows = [_rows_of(one, keys, size) for one in codes]
    rows[longest] = np.flatnonzero(has_partner)
    parts = [
        table.select(list(one.columns)).take(from_numpy(of))
        for table, one, of in zip(tables, step.inputs, rows, strict=True)
    ]
    schema = pa.schema([field for part in parts for field in part.schema])
    return pa.table([column for part in parts for column in part.columns], schema=schema)


def _key(table: pa.Table, one: Joined) -> pa.Array:
    column = unchunk(table.column(one.on))
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (is_text(kind) or pa.types.is_integer(kind)):
        raise no_key(one, str(kind))
    # The texts of a whole table may be more than the offsets of usual ones reach.
    return column.cast(kind).cast(pa.large_string())


def _codes(keys: Sequence[pa.Array]) -> tuple[list[Codes], int]:
    """Return the codes of each table's rows, and how many keys there are."""
    known = pa.concat_arrays(keys).dictionary_encode()
    ends = np.cumsum([len(one) for one in keys])[:-1]
    codes = to_numpy(known.indices, missing=-1)
    blank = np.flatnonzero(pc.match_substring_regex(known.dictionary, BLANK))
    if len(blank):
        codes = np.where(np.isin(codes, blank), codes.dtype.type(-1), codes)
    return np.split(codes, ends), len(known.dictionary)


def _rows_of(codes: Codes, keys: Codes, size: int) -> NDArray[np.int64]:
    """Return the row of each key, in a table that has one for it."""
    place = np.zeros(size, dtype=np.int64)
    has_key = codes >= 0
    place[codes[has_key]] = np.flatnonzero(has_key)
    return place[keys]


def check_repeated(repeated: Sequence[int], step: Join) -> None:
    """Raise DataError (R012) where keys stand in several rows, though that would count persons
    more than once, or put together rows of which nothing says that they belong together.

    `repeated` are the numbers of such keys in each input.
    """
    several = [(one, n) for one, n in zip(step.inputs, repeated, strict=True) if n]
    for one, number in several if len(several) > 1 or not step.may_repeat else ():
        message = f"{one.asset} has several rows for {number:,} of the keys {one.on!r}"
        hint = "Name the key as pe:privacyUnit: its persons are counted then, not its rows."
        if step.may_repeat:
            message += f", and so has {several[1][0].asset}"
            hint = "Make one of them a table of one row for each key first."
        raise DataError.of("R012", f"{message}.", hint)


def no_partner(step: Join) -> PolicyEngineError:
    """Return the error of inputs that have no key in common."""
    names = " and ".join(one.asset for one in step.inputs)
    message = f"No key stands in all of {names}: the joined table has no rows."
    hint = "Keys are compared letter by letter: 007 is not 7."
    return DataError.of("R001", message, hint)


def no_key(one: Joined, kind: str) -> PolicyEngineError:
    """Return the error of a column whose type makes it no key."""
    message = f"The column {one.on!r} of {one.asset} is of type {kind}, by which nothing is joined."
    return DataError.of("R012", message, "Allowed are texts and integers.")
