"""Samples of a column's cells, which suffice to price each cell as if among all of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.data.cells import ALL, Cell, write_value
from policy_engine.engines.arrays import from_texts
from policy_engine.engines.encoding import encode
from policy_engine.engines.generalizations.calendars import spans
from policy_engine.engines.generalizations.kinds import kind_of_cells, parse_quasi_cell
from policy_engine.engines.text_types import LazyTextForm, TextForm
from policy_engine.errors import DataError
from policy_engine.methods.columns import PERTURBATIVE, QuasiIdentifier

_PRICED_ALONE = {"prefix", "taxonomy", *PERTURBATIVE}
"""Generalisations whose cells have a price that does not depend on other cells."""


def sketch(quasi_identifier: QuasiIdentifier, texts: Sequence[str | None]) -> list[str | None]:
    """Return the cells that determine a column's kind and type, and its least and greatest value.

    If each part of a column's cells is joined by the sketches of all parts, `losses` prices it as
    among all cells; for sets, by the `members` of all parts too. Raises CertificateError (V002)
    where a text is not a cell.
    """
    if quasi_identifier.generalization in _PRICED_ALONE:
        return []
    cells_read = [parse_quasi_cell(quasi_identifier.name, text) for text in texts]
    places = {
        next((place for place, cell in enumerate(cells_read) if is_one(cell)), -1)
        for is_one in (
            lambda cell: not cell.values,
            lambda cell: cell.may_be_missing and cell.values,
            lambda cell: cell.is_range,
            lambda cell: len(cell.values) > 1 and not cell.is_range,
        )
    } - {-1}
    if quasi_identifier.generalization != "set":
        # In intervals and periods, `*` is neither a value nor an end.
        is_all = quasi_identifier.generalization in ("interval", "calendar")
        filled_places = [
            place
            for place, cell in enumerate(cells_read)
            if cell.values and not (is_all and cell.values == (ALL,))
        ]
        cells = [cells_read[place] for place in filled_places]
        places |= (
            {filled_places[place] for place in _outermost(quasi_identifier, cells)}
            if cells
            else set()
        )
    return [texts[place] for place in sorted(places)]


def members(quasi_identifier: QuasiIdentifier, texts: Sequence[str | None]) -> list[str]:
    """Return a cell for each value in a column of sets."""
    cells_read = (parse_quasi_cell(quasi_identifier.name, text) for text in texts)
    return [
        write_value(value) for value in dict.fromkeys(v for cell in cells_read for v in cell.values)
    ]


def holds_sets(quasi_identifier: QuasiIdentifier, sketch_texts: Sequence[str | None]) -> bool:
    """Tell whether a column holds sets, given its sketch."""
    if quasi_identifier.generalization:
        return quasi_identifier.generalization == "set"
    return (
        kind_of_cells(
            quasi_identifier.name,
            [parse_quasi_cell(quasi_identifier.name, text) for text in sketch_texts],
        )
        == "set"
    )


def _outermost(quasi_identifier: QuasiIdentifier, cells: list[Cell]) -> set[int]:
    """Return the places of the cells that determine the type of a column's ends, and its extent."""
    if quasi_identifier.generalization == "calendar":
        try:
            start, end = spans([cell.values[0] for cell in cells])
        except ValueError:  # reported when the cells are priced
            return set()
        return _extent(start, np.maximum(end - 1, start))
    ends = from_texts([cell.values[end] for end in (0, -1) for cell in cells])
    typing = {place % len(cells) for place in _typing_places(ends)}
    try:
        codes = encode(quasi_identifier.name, pa.chunked_array([ends]), numbers=True).codes
    except DataError:
        return typing | {_infinite_place(quasi_identifier, cells)}
    return typing | _extent(*np.split(codes, 2))


def _extent(start: NDArray[Any], end: NDArray[Any]) -> set[int]:
    """Return the places of the pieces from which `trees.price_pieces` takes where the column begins
    and ends, and of those that reach the farthest."""
    first, last = np.lexsort((-start, end))[0], np.lexsort((end, -start))[0]
    return {int(first), int(last), int(start.argmin()), int(end.argmax())}


def _infinite_place(quasi_identifier: QuasiIdentifier, cells: list[Cell]) -> int:
    """Return the place of a cell that cannot be encoded, as with an infinite end."""
    for place, cell in enumerate(cells):
        try:
            encode(
                quasi_identifier.name, pa.chunked_array([from_texts([*cell.values])]), numbers=True
            )
        except DataError:
            return place
    return 0


def _typing_places(texts: pa.Array) -> list[int]:
    """Return the places of a few texts that together have the same form as all texts."""
    target, reached, places = LazyTextForm(texts).form(), TextForm(), []
    while reached != target:
        low, high = 1, len(texts)
        while low < high:  # the shortest prefix that suffices together with the places so far
            middle = (low + high) // 2
            if reached.merge(LazyTextForm(texts.slice(0, middle)).form()) == target:
                high = middle
            else:
                low = middle + 1
        places.append(low - 1)
        reached = reached.merge(LazyTextForm(texts.slice(low - 1, 1)).form())
    return places
