"""Which generalisation a column takes, and how its cells are read back."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.data.cells import Cell, read_cell
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.encoding import Encoded, Identity, encode
from policy_engine.engines.generalizations import (
    calendars,
    intervals,
    prefixes,
    ranges,
    sets,
    taxonomies,
)
from policy_engine.engines.generalizations.calendars import Calendars
from policy_engine.engines.generalizations.generalizer import Generalizer, all_values
from policy_engine.engines.generalizations.intervals import Intervals
from policy_engine.engines.generalizations.prefixes import Prefixes
from policy_engine.engines.generalizations.ranges import Ranges
from policy_engine.engines.generalizations.representatives import KINDS, check_cells
from policy_engine.engines.generalizations.sets import Sets
from policy_engine.engines.generalizations.taxonomies import Taxonomies
from policy_engine.errors import CertificateError, InternalError
from policy_engine.methods.columns import PERTURBATIVE, QuasiIdentifier

_IDENTITY: dict[str | None, Identity] = {
    **dict.fromkeys(("set", "prefix", "taxonomy"), "text"),
    "calendar": "reading",
}
"""What makes two cells one value: groups of texts are told by the text, periods by the clock that
a moment is written with; all else is about the numbers or moments themselves."""

Covered = Callable[[str | None], NDArray[np.int32]]


def encoded(
    asked: QuasiIdentifier, column: pa.ChunkedArray, *, numbers: bool, generalised: bool = True
) -> Encoded:
    """Return a quasi-identifier encoded as what it becomes needs it; errors as of `encode`."""
    identity = _IDENTITY.get(asked.generalization, "value")
    return encode(asked.name, column, numbers=numbers, generalised=generalised, identity=identity)


def generalizer(  # noqa: PLR0911 (one for each)
    name: str, column: Encoded, asked: QuasiIdentifier, taxonomy: Taxonomy | None = None
) -> Generalizer:
    """Return how a column is generalised: by default by ranges where it is ordered, else sets.

    Raises DataError where the values do not fit it (R006), or the taxonomy lacks some (R007).
    """
    match asked.generalization or ("range" if column.is_ordered else "set"):
        case "range":
            return Ranges.of(name, column)
        case "set":
            return Sets.of(name, column, asked.order)
        case "prefix":
            return Prefixes.of(name, column, asked.mask)
        case "interval":
            return Intervals.of(name, column, asked.precision, asked.fanout)
        case "calendar":
            return Calendars.of(name, column)
        case "taxonomy":
            return Taxonomies.of(name, column, _given(name, taxonomy), asked.unlisted)
        case other:
            return KINDS[other].of(name, column)


def losses(
    name: str,
    cells: list[str | None],
    asked: QuasiIdentifier,
    taxonomy: Taxonomy | None = None,
    *,
    wildcard: bool = False,
) -> NDArray[np.float64] | None:
    """Return the normalised certainty penalty of every distinct cell of a column, as written.

    None where values are replaced by representatives, which hide nothing that could be read
    off them. A cell that may be missing too costs 1, except in a set, of which missing is one
    member; as a `wildcard` it costs nothing. Raises CertificateError (V002) where a cell is
    none of the generalization.
    """
    found = [cell_of(name, text) for text in cells]
    if asked.generalization in PERTURBATIVE:
        check_cells(name, found, asked.generalization)
        return None
    kind = asked.generalization or kind_of_cells(name, found)
    if kind == "set":
        return sets.priced(name, found, wildcard=wildcard)
    filled = np.array([bool(cell.values) for cell in found], dtype=np.bool_)
    mixed = np.array([cell.may_be_missing for cell in found], dtype=np.bool_) & filled
    loss = np.zeros(len(found))
    loss[filled] = _priced(name, kind, [c for c in found if c.values], asked, taxonomy)
    return np.where(mixed & (not wildcard), 1.0, loss)


def covered(
    cell: str | None, asked: QuasiIdentifier, column: Encoded, taxonomy: Taxonomy | None = None
) -> NDArray[np.int32]:
    """Return the codes of an original column that one cell may stand for, ascending."""
    return covering(asked, column, taxonomy)(cell)


def covering(asked: QuasiIdentifier, column: Encoded, taxonomy: Taxonomy | None = None) -> Covered:
    """Return what tells the codes of an original column that a cell may stand for, ascending.

    The column is as `encoded` gives it. A representative may stand for any value. What is
    returned raises CertificateError (V002) on a cell that is none.
    """
    values = _covering(asked, column, taxonomy)

    def codes(text: str | None) -> NDArray[np.int32]:
        cell = cell_of(asked.name, text)
        found = values(cell) if cell.values else np.zeros(0, dtype=np.int32)
        missing = cell.may_be_missing and column.has_missing
        return np.concatenate([np.zeros(1, np.int32), found]) if missing else found

    return codes


def _covering(  # noqa: PLR0911 (one for each)
    asked: QuasiIdentifier, column: Encoded, taxonomy: Taxonomy | None
) -> Callable[[Cell], NDArray[np.int32]]:
    match asked.generalization or ("range" if column.is_ordered else "set"):
        case "range":
            return ranges.covering(column)
        case "set":
            return sets.covering(column)
        case "prefix":
            return prefixes.covering(column, asked.mask)
        case "interval":
            return intervals.covering(column)
        case "calendar":
            return calendars.covering(column)
        case "taxonomy":
            return taxonomies.covering(column, _given(asked.name, taxonomy), asked.unlisted)
        case _:
            codes = all_values(column)
            return lambda _: codes


def _priced(
    name: str, kind: str, found: list[Cell], asked: QuasiIdentifier, taxonomy: Taxonomy | None
) -> NDArray[np.float64]:
    if kind == "range":
        return ranges.priced(name, found)
    if kind == "interval":
        return intervals.priced(name, found)
    if any(len(cell.values) > 1 for cell in found):
        message = f"The column {name!r} holds a range or set, where {kind} is asked for."
        raise CertificateError.of("V002", message)
    if kind == "prefix":
        return prefixes.priced(found, asked.mask)
    if kind == "calendar":
        return calendars.priced(name, found)
    return taxonomies.priced(name, found, _given(name, taxonomy), asked.unlisted)


def kind_of_cells(name: str, found: list[Cell]) -> str:
    """Return which of the defaults cells are: single values are ranges where they could be."""
    if any(cell.is_range for cell in found):
        return "range"
    singles = all(len(cell.values) < 2 for cell in found)
    return "range" if singles and ranges.are_ordered(name, found) else "set"


def cell_of(name: str, text: str | None) -> Cell:
    """Return a cell read. Raises CertificateError (V002) where it has no shape known."""
    try:
        return read_cell(text)
    except ValueError:
        message = f"The column {name!r} holds a cell that is not a range, set or value."
        raise CertificateError.of("V002", message) from None


def _given(name: str, taxonomy: Taxonomy | None) -> Taxonomy:
    if taxonomy is None:
        raise InternalError.of("X001", f"The taxonomy of {name!r} was not read.")
    return taxonomy
