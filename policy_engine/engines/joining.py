"""Tables joined by a key, in this process."""

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
"""Matches texts that are not keys, like missing cells; valid in RE2 and in Java."""
Codes = NDArray[np.int32]
"""The number of every row's key among all keys, (rows,); -1 where it has none."""


def join_tables(tables: Sequence[pa.Table], step: Join) -> pa.Table:
    """Return the inner join of tables, in the order of the first one's rows.

    If one table has several rows for a key, in the order of that one's. Keys are equal if their
    texts are, letter by letter; an integer's text is its digits, and a blank is not a key. Raises
    DataError (R012) for keys of other types, and for keys in several rows of a table where the
    step does not allow that, (R001) where no key is in every table.
    """
    codes, size = _codes([_key(t, joined) for t, joined in zip(tables, step.inputs, strict=True)])
    counts = [np.bincount(joined[joined >= 0], minlength=size) for joined in codes]
    shared = np.logical_and.reduce([joined > 0 for joined in counts])
    if not shared.any():
        raise no_common_key_error(step)
    check_repeated([int((joined[shared] > 1).sum()) for joined in counts], step)
    longest = int(np.argmax([joined[shared].max() for joined in counts]))
    # The last place stands for rows without a key, whose code is -1.
    has_partner = np.append(shared, np.False_)[codes[longest]]
    keys = codes[longest][has_partner]
    rows = [_key_rows(joined, keys, size) for joined in codes]
    rows[longest] = np.flatnonzero(has_partner)
    parts = [
        table.select(list(joined.columns)).take(from_numpy(of))
        for table, joined, of in zip(tables, step.inputs, rows, strict=True)
    ]
    schema = pa.schema([field for part in parts for field in part.schema])
    return pa.table([column for part in parts for column in part.columns], schema=schema)


def _key(table: pa.Table, joined: Joined) -> pa.Array:
    column = unchunk(table.column(joined.on))
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (is_text(kind) or pa.types.is_integer(kind)):
        raise key_type_error(joined, str(kind))
    # All texts of a table together may exceed the 32-bit offsets of Arrow's strings.
    return column.cast(kind).cast(pa.large_string())


def _codes(keys: Sequence[pa.Array]) -> tuple[list[Codes], int]:
    """Return the codes of each table's rows, and how many keys there are."""
    encoded = pa.concat_arrays(keys).dictionary_encode()
    ends = np.cumsum([len(array) for array in keys])[:-1]
    codes = to_numpy(encoded.indices, missing=-1)
    blank = np.flatnonzero(pc.match_substring_regex(encoded.dictionary, BLANK))
    if len(blank):
        codes = np.where(np.isin(codes, blank), codes.dtype.type(-1), codes)
    return np.split(codes, ends), len(encoded.dictionary)


def _key_rows(codes: Codes, keys: Codes, size: int) -> NDArray[np.int64]:
    """Return the row of each key, (keys,), in a table that has one row for it."""
    place = np.zeros(size, dtype=np.int64)
    has_key = codes >= 0
    place[codes[has_key]] = np.flatnonzero(has_key)
    return place[keys]


def check_repeated(repeated_counts: Sequence[int], step: Join) -> None:
    """Raise DataError (R012) where repeated keys would count persons more than once, or join rows
    that nothing says belong together.

    `repeated_counts` holds the number of such keys in each input.
    """
    several = [
        (joined, count) for joined, count in zip(step.inputs, repeated_counts, strict=True) if count
    ]
    for joined, number in several if len(several) > 1 or not step.may_repeat else ():
        message = f"{joined.asset} has several rows for {number:,} of the keys {joined.on!r}"
        hint = "Name the key as pe:privacyUnit: its persons are counted then, not its rows."
        if step.may_repeat:
            message += f", and so has {several[1][0].asset}"
            hint = "Make one of them a table of one row for each key first."
        raise DataError.of("R012", f"{message}.", hint)


def no_common_key_error(step: Join) -> PolicyEngineError:
    """Return the error (R001) of inputs that have no key in common."""
    names = " and ".join(joined.asset for joined in step.inputs)
    message = f"No key is in all of {names}: the joined table has no rows."
    hint = "Keys are compared letter by letter: 007 is not 7."
    return DataError.of("R001", message, hint)


def key_type_error(joined: Joined, kind: str) -> PolicyEngineError:
    """Return the error (R012) of a column whose type cannot be a key."""
    message = (
        f"The column {joined.on!r} of {joined.asset} is of type {kind}, by which nothing is joined."
    )
    return DataError.of("R012", message, "Allowed are texts and integers.")
