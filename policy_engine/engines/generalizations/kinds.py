"""Choose the generalisation of a column, and read its cells back."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.data.cells import Cell, read_cell
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.encoding import ColumnCodes, Identity, encode
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
from policy_engine.engines.generalizations.representatives import (
    centroid,
    check_cells,
    representative,
)
from policy_engine.engines.generalizations.sets import Sets
from policy_engine.engines.generalizations.taxonomies import Taxonomies
from policy_engine.errors import CertificateError, InternalError
from policy_engine.methods.columns import (
    PERTURBATIVE,
    SUPPRESSION,
    QuasiIdentifier,
)

_IDENTITY: dict[str | None, Identity] = {
    **dict.fromkeys(("set", "prefix", "taxonomy"), "text"),
    "calendar": "reading",
}
"""When two cells are the same value: groups of texts depend on the text, periods on the time zone
that a moment is written in; all others only on the number or the moment."""

CodeFinder = Callable[[str | None], NDArray[np.int32]]


def encode_quasi_identifier(
    quasi_identifier: QuasiIdentifier,
    column: pa.ChunkedArray,
    *,
    numbers: bool,
    is_generalised: bool = True,
) -> ColumnCodes:
    """Return a quasi-identifier encoded for its generalisation. Raises the errors of `encode`."""
    identity = _IDENTITY.get(quasi_identifier.generalization, "value")
    return encode(
        quasi_identifier.name,
        column,
        numbers=numbers,
        is_generalised=is_generalised,
        identity=identity,
    )


def generalizer(  # noqa: PLR0911 (one for each)
    name: str,
    column: ColumnCodes,
    quasi_identifier: QuasiIdentifier,
    taxonomy: Taxonomy | None = None,
) -> Generalizer:
    """Return the generalisation of a column; by default ranges where it is ordered, else sets.

    Raises DataError where it does not apply to the values (R006), or the taxonomy lacks some
    (R007).
    """
    match quasi_identifier.generalization:
        case None | "suppression" if column.is_ordered:
            return Ranges.of(name, column)
        case None | "suppression":
            return Sets.of(name, column, quasi_identifier.order)
        case "range":
            return Ranges.of(name, column)
        case "set":
            return Sets.of(name, column, quasi_identifier.order)
        case "prefix":
            return Prefixes.of(name, column, quasi_identifier.mask)
        case "interval":
            return Intervals.of(name, column, quasi_identifier.precision, quasi_identifier.fanout)
        case "calendar":
            return Calendars.of(name, column)
        case "taxonomy":
            return Taxonomies.of(
                name, column, _require_taxonomy(name, taxonomy), quasi_identifier.unlisted
            )
        case "centroid":
            return centroid(name, column, quasi_identifier.order)
        case other:
            return representative(other, name, column)


def losses(
    name: str,
    cells: list[str | None],
    quasi_identifier: QuasiIdentifier,
    taxonomy: Taxonomy | None = None,
    *,
    wildcard: bool = False,
) -> NDArray[np.float64] | None:
    """Return the normalised certainty penalty of every distinct cell of a column, as written.

    None where values are replaced by representatives, whose loss cells do not show. A cell that
    may also be missing costs 1, except a set, where missing is one more member; a missing value
    that is a `wildcard` adds nothing. Of cells that are suppressed or not, a missing one costs 1.
    Raises CertificateError (V002) where a cell does not fit the generalisation.
    """
    cells_read = [parse_quasi_cell(name, text) for text in cells]
    if quasi_identifier.generalization in PERTURBATIVE:
        check_cells(name, cells_read, quasi_identifier.generalization)
        return None
    if quasi_identifier.generalization == SUPPRESSION:
        return _price_suppressed(name, cells_read)
    kind = quasi_identifier.generalization or kind_of_cells(name, cells_read)
    if kind == "set":
        return sets.price_cells(name, cells_read, wildcard=wildcard)
    has_values = np.array([bool(cell.values) for cell in cells_read], dtype=np.bool_)
    may_also_be_missing = (
        np.array([cell.may_be_missing for cell in cells_read], dtype=np.bool_) & has_values
    )
    loss = np.zeros(len(cells_read))
    loss[has_values] = _price_cells(
        name, kind, [c for c in cells_read if c.values], quasi_identifier, taxonomy
    )
    return np.where(may_also_be_missing & (not wildcard), 1.0, loss)


def _price_suppressed(name: str, cells_read: list[Cell]) -> NDArray[np.float64]:
    """Return 1 for each cell that is missing, 0 for one that is a value.

    Which were missing in the input, the output does not tell. Raises CertificateError (V002) for
    other cells.
    """
    if any(cell.is_range or len(cell.values) + cell.may_be_missing != 1 for cell in cells_read):
        message = f"The column {name!r} holds a cell that is neither a value nor missing."
        raise CertificateError.of("V002", message)
    return np.array([float(cell.may_be_missing) for cell in cells_read])


def covered_codes(
    cell: str | None,
    quasi_identifier: QuasiIdentifier,
    column: ColumnCodes,
    taxonomy: Taxonomy | None = None,
) -> NDArray[np.int32]:
    """Return the codes of an original column that a cell may stand for, ascending."""
    return code_finder(quasi_identifier, column, taxonomy)(cell)


def code_finder(
    quasi_identifier: QuasiIdentifier, column: ColumnCodes, taxonomy: Taxonomy | None = None
) -> CodeFinder:
    """Return a function from a cell to the codes of an original column that it may stand for.

    The codes ascend. `column` comes from `encode_quasi_identifier`. A representative may stand for
    any value, and so may a cell that was suppressed. The function raises CertificateError (V002) on
    text that is not a cell.
    """
    values = _value_finder(quasi_identifier, column, taxonomy)
    may_be_suppressed = quasi_identifier.generalization == SUPPRESSION

    def codes(text: str | None) -> NDArray[np.int32]:
        cell = parse_quasi_cell(quasi_identifier.name, text)
        if may_be_suppressed and not cell.values:
            return np.arange(len(column.labels), dtype=np.int32)
        present = values(cell) if cell.values else np.zeros(0, dtype=np.int32)
        missing = cell.may_be_missing and column.has_missing
        return np.concatenate([np.zeros(1, np.int32), present]) if missing else present

    return codes


def _value_finder(  # noqa: PLR0911 (one for each)
    quasi_identifier: QuasiIdentifier, column: ColumnCodes, taxonomy: Taxonomy | None
) -> Callable[[Cell], NDArray[np.int32]]:
    match quasi_identifier.generalization:
        case None | "suppression":
            find = ranges.code_finder if column.is_ordered else sets.code_finder
            return find(column)
        case "range":
            return ranges.code_finder(column)
        case "set":
            return sets.code_finder(column)
        case "prefix":
            return prefixes.code_finder(column, quasi_identifier.mask)
        case "interval":
            return intervals.code_finder(column)
        case "calendar":
            return calendars.code_finder(column)
        case "taxonomy":
            return taxonomies.code_finder(
                column,
                _require_taxonomy(quasi_identifier.name, taxonomy),
                quasi_identifier.unlisted,
            )
        case _:
            codes = all_values(column)
            return lambda _: codes


def _price_cells(
    name: str,
    kind: str,
    cells: list[Cell],
    quasi_identifier: QuasiIdentifier,
    taxonomy: Taxonomy | None,
) -> NDArray[np.float64]:
    if kind == "range":
        return ranges.price_cells(name, cells)
    if kind == "interval":
        return intervals.price_cells(name, cells)
    if any(len(cell.values) > 1 for cell in cells):
        message = f"The column {name!r} holds a range or set, but its generalisation is {kind}."
        raise CertificateError.of("V002", message)
    if kind == "prefix":
        return prefixes.price_cells(cells, quasi_identifier.mask)
    if kind == "calendar":
        return calendars.price_cells(name, cells)
    return taxonomies.price_cells(
        name, cells, _require_taxonomy(name, taxonomy), quasi_identifier.unlisted
    )


def kind_of_cells(name: str, cells: list[Cell]) -> str:
    """Return which default, range or set, cells are: single values are ranges where possible."""
    if any(cell.is_range for cell in cells):
        return "range"
    singles = all(len(cell.values) < 2 for cell in cells)
    return "range" if singles and ranges.are_ordered(name, cells) else "set"


def parse_quasi_cell(name: str, text: str | None) -> Cell:
    """Return a parsed cell. Raises CertificateError (V002) where it is not one."""
    try:
        return read_cell(text)
    except ValueError:
        message = f"The column {name!r} holds a cell that is not a range, set or value."
        raise CertificateError.of("V002", message) from None


def _require_taxonomy(name: str, taxonomy: Taxonomy | None) -> Taxonomy:
    if taxonomy is None:
        raise InternalError.of("X001", f"The taxonomy of {name!r} was not read.")
    return taxonomy
