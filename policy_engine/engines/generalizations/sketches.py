"""A few cells of a column, among which each of its cells costs what it does among all of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.data.cells import ALL, Cell, write_value
from policy_engine.engines.arrays import from_texts
from policy_engine.engines.encoding import encode
from policy_engine.engines.generalizations.calendars import spans
from policy_engine.engines.generalizations.kinds import cell_of, kind_of_cells
from policy_engine.engines.text_types import LazyTextForm, TextForm
from policy_engine.errors import DataError
from policy_engine.methods.columns import PERTURBATIVE, QuasiIdentifier

_BY_ITSELF = {"prefix", "taxonomy", *PERTURBATIVE}
"""How much a cell of these costs hangs on no other cell."""


def sketch(asked: QuasiIdentifier, texts: Sequence[str | None]) -> list[str | None]:
    """Return the cells that tell which kind a column is, its type, and where it begins and ends.

    With the sketches of its other cells, those of all of a column, `losses` prices each of these
    as among all cells; of sets, with the `members` of all of them too. Raises CertificateError
    (V002) where a cell has no shape known.
    """
    if asked.generalization in _BY_ITSELF:
        return []
    found = [cell_of(asked.name, text) for text in texts]
    places = {
        next((place for place, cell in enumerate(found) if is_one(cell)), -1)
        for is_one in (
            lambda cell: not cell.values,
            lambda cell: cell.may_be_missing and cell.values,
            lambda cell: cell.is_range,
            lambda cell: len(cell.values) > 1 and not cell.is_range,
        )
    } - {-1}
    if asked.generalization != "set":
        # Of an interval or a period, `*` is neither a value nor an end.
        is_all = asked.generalization in ("interval", "calendar")
        filled = [
            place
            for place, cell in enumerate(found)
            if cell.values and not (is_all and cell.values == (ALL,))
        ]
        cells = [found[place] for place in filled]
        places |= {filled[place] for place in _outermost(asked, cells)} if cells else set()
    return [texts[place] for place in sorted(places)]


def members(asked: QuasiIdentifier, texts: Sequence[str | None]) -> list[str]:
    """Return a cell for each value that stands in a column of sets."""
    found = (cell_of(asked.name, text) for text in texts)
    return [write_value(value) for value in dict.fromkeys(v for cell in found for v in cell.values)]


def is_of_sets(asked: QuasiIdentifier, sketched: Sequence[str | None]) -> bool:
    """Tell whether a column is one of sets, given its sketch."""
    if asked.generalization:
        return asked.generalization == "set"
    return kind_of_cells(asked.name, [cell_of(asked.name, text) for text in sketched]) == "set"


def _outermost(asked: QuasiIdentifier, found: list[Cell]) -> set[int]:
    """Return the places of the cells that tell the type of a column's ends, and its extent."""
    if asked.generalization == "calendar":
        try:
            start, end = spans([cell.values[0] for cell in found])
        except ValueError:  # told by whoever prices the cells
            return set()
        return _extent(start, np.maximum(end - 1, start))
    ends = from_texts([cell.values[end] for end in (0, -1) for cell in found])
    typing = {place % len(found) for place in _telling(ends)}
    try:
        codes = encode(asked.name, pa.chunked_array([ends]), numbers=True).codes
    except DataError:
        return typing | {_infinite(asked, found)}
    return typing | _extent(*np.split(codes, 2))


def _extent(start: NDArray[Any], end: NDArray[Any]) -> set[int]:
    """Return the places of the pieces off which `trees.priced` reads where a line begins and
    ends, and of those that reach the farthest."""
    first, last = np.lexsort((-start, end))[0], np.lexsort((end, -start))[0]
    return {int(first), int(last), int(start.argmin()), int(end.argmax())}


def _infinite(asked: QuasiIdentifier, found: list[Cell]) -> int:
    """Return the place of a cell that has no place on an axis."""
    for place, cell in enumerate(found):
        try:
            encode(asked.name, pa.chunked_array([from_texts([*cell.values])]), numbers=True)
        except DataError:
            return place
    return 0


def _telling(texts: pa.Array) -> list[int]:
    """Return the places of a few texts that are written as all of them together are."""
    whole, told, places = LazyTextForm(texts).form(), TextForm(), []
    while told != whole:
        low, high = 1, len(texts)
        while low < high:  # the fewest from the start that will do with those that were found
            middle = (low + high) // 2
            if told.merge(LazyTextForm(texts.slice(0, middle)).form()) == whole:
                high = middle
            else:
                low = middle + 1
        places.append(low - 1)
        told = told.merge(LazyTextForm(texts.slice(low - 1, 1)).form())
    return places
