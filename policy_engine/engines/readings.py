"""What a cell means, however it is written: by this, two records are the same or differ.

A number is its value, whatever its spelling or its type in a file; a truth value is 1 or 0, a
date or a point in time is in seconds since 1970, a time of day in seconds since midnight; any
other text is itself. A cell is read by itself, whatever else its column holds.
"""

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, time

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.contents import row_marks, texts_of_values
from policy_engine.engines.distinct_values import index_distinct

TRUTHS = {"false": 0.0, "true": 1.0}
_FIGURE = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{2}:[0-9]{2}")


def parse_cell(text: str) -> float | str:
    """Return the number that a cell's text stands for, or else the text."""
    bare = text.strip()
    if bare.lower() in TRUTHS:
        return truth(bare)
    if _FIGURE.fullmatch(bare):
        number = float(bare)
        return number + 0.0 if math.isfinite(number) else text
    if _MOMENT.match(bare):
        with suppress(ValueError, OverflowError):
            return moment(bare)
    return text


def truth(text: str) -> float:
    """Return 1 for true and 0 for false. Raises ValueError for anything else."""
    if text.lower() not in TRUTHS:
        raise ValueError(text)
    return TRUTHS[text.lower()]


def moment(text: str) -> float:
    """Return a date, or a date and time, in seconds since 1970, a time of day since midnight.

    Without a zone they are in UTC. Raises ValueError for anything else.
    """
    if ":" in text and "-" not in text:
        clock = time.fromisoformat(text)
        return clock.hour * 3600 + clock.minute * 60 + clock.second + clock.microsecond / 1e6
    date = datetime.fromisoformat(text)
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


def record_marks(table: pa.Table, names: Sequence[str]) -> NDArray[np.uint64]:
    """Return a hash of what each row's cells in some columns mean, (rows,).

    It is the same on every machine, in every table and type of file. Raises DataError (C009) for a
    type without equality.
    """
    return row_marks([_read(name, table.column(name)) for name in names], table.num_rows)


def _read(name: str, column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return a column with the meaning of its cells as texts; the empty text is missing."""
    rows, values = index_distinct(name, column)
    says = [str(parse_cell(text)) if text else None for text in texts_of_values(values)]
    return pa.DictionaryArray.from_arrays(rows, pa.array(says, pa.string()))
