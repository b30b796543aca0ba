"""Which rows of the session's data somebody chose, where a unit may have several.

Two choices of the same persons may differ by one row of one of them, so that it matters which rows
they are: those of the labels that they have, or else those with the same contents.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from policy_engine.audits.outputs.model import Counts
from policy_engine.audits.outputs.row_contents import are_same_rows, comparable
from policy_engine.errors import PolicyEngineError, RequestError

if TYPE_CHECKING:
    from policy_engine.audits.outputs.microdata import Microdata


def chosen_rows(part: "Microdata", whole: "Microdata") -> Counts:
    """Return the number that each row of a part has in the whole table, (rows,), -1 for a row that
    does not say whose it is.

    Raises RequestError (K025) where nothing says so: neither the labels nor the contents.
    """
    if not part.unit:
        return part.units
    if not whole.has_repeats:
        numbers = np.full(whole.unit_count + 1, -1)
        numbers[whole.units[whole.units >= 0]] = np.flatnonzero(whole.units >= 0)
        return np.asarray(numbers[part.units], np.int64)
    places = whole.positions(part) if part.index is not None else None
    columns = {name: part.table[name] for name in part.table.column_names}
    if places is None or not are_same_rows(whole.table, places, columns):
        places = _rows_of_contents(part.table, whole.table)
    return np.where(part.units >= 0, places, -1)


def _rows_of_contents(part: pa.Table, whole: pa.Table) -> Counts:
    """Return the rows of a table that have the contents of those of another, each once.

    Of rows that are alike in all columns it does not matter which one it is.
    """
    shared = [name for name in part.column_names if name in whole.column_names]
    pairs = [comparable(whole[name], part[name]) for name in shared]
    kinds = _kinds([np.concatenate(pair) for pair in pairs])
    own, others = kinds[: whole.num_rows], kinds[whole.num_rows :]
    count = int(kinds.max(initial=-1)) + 1
    wanted, there = np.bincount(others, minlength=count), np.bincount(own, minlength=count)
    whole_kinds = _kinds([comparable(whole[name], whole[name])[0] for name in whole.column_names])
    first = np.unique(own, return_index=True)[1]
    varies = np.zeros(count, np.bool_)
    varies[own[whole_kinds != whole_kinds[first][np.searchsorted(own[first], own)]]] = True
    if (wanted > there).any() or (varies & (wanted > 0) & (wanted < there)).any():
        raise _unknown_rows_error()
    starts = np.cumsum(there) - there
    order, other_order = (np.argsort(some, kind="stable") for some in (own, others))
    places = np.zeros(len(others), np.int64)
    ranks = np.arange(len(others)) - np.repeat(np.cumsum(wanted) - wanted, wanted)
    places[other_order] = order[starts[others[other_order]] + ranks]
    return places


def _kinds(columns: Sequence[Counts]) -> Counts:
    """Return the number of what each row has in all columns, (rows,): alike rows have one."""
    kinds = np.zeros(len(columns[0]), np.int64)
    for codes in columns:
        width = int(codes.max(initial=0)) + 1
        kinds = np.unique(kinds * width + codes, return_inverse=True)[1].reshape(-1)
    return kinds


def _unknown_rows_error() -> PolicyEngineError:
    message = "Nothing says which rows of the session's data the rows are: a unit has several, and "
    message += "neither the index nor the columns tell them apart."
    hint = "Keep the index of the data, and its columns as they are; give changed ones a new name."
    return RequestError.of("K025", message, hint)
