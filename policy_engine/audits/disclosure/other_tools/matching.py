"""Cells of another tool's release over the values of its original."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.disclosure.other_tools.cell_shapes import (
    ANY,
    Axis,
    CellShape,
    read_shape,
    set_members,
)
from policy_engine.audits.disclosure.other_tools.missing_marks import (
    DistinctTexts,
    column_axis,
    is_mark,
)
from policy_engine.audits.utility.matching import MatchedColumn, match_values
from policy_engine.data.cells import Cell
from policy_engine.data.column_names import fold_name
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.arrays import from_numpy, from_texts, is_nested_or_span
from policy_engine.engines.encoding import ColumnCodes
from policy_engine.engines.generalizations import taxonomies
from policy_engine.engines.generalizations.calendars import spans
from policy_engine.kernels.spread import Spread

Ints = NDArray[np.int64]
Runs = tuple[tuple[int, int], ...]
"""The codes that a cell stands for: from the first to before the second of each pair."""


@dataclass(frozen=True)
class ReadCells:
    """A column matched, whose cells stand for several values; some are `labels` that nobody can
    read."""

    column: MatchedColumn
    labels: tuple[str, ...] = ()


def match_cells(
    name: str, original: pa.Table, release: pa.Table, taxonomy: Taxonomy | None
) -> ReadCells | None:
    """Return a column whose released cells are not all values, None where they are.

    In columns of numbers and times, cells are ranges and sets; of a range without a value of the
    original, its middle is the value. In others, cells are sets of the original's values, prefixes
    of them, marks for any, or what a taxonomy has above them.
    """
    if any(is_nested_or_span(one.schema.field(name).type) for one in (original, release)):
        return None
    own, released = (DistinctTexts.of(table, name) for table in (original, release))
    axis = column_axis(original, name)
    are_values = released.axis == axis and (axis == "numbers" or released.kind == own.kind)
    if not len(own.texts) or (axis is not None and are_values):
        return None
    if axis is None:
        return _categories(name, original, release, released, own.texts.to_pylist(), taxonomy)
    return ReadCells(_on_axis(name, original, release, released, own.texts.to_pylist(), axis))


def _on_axis(
    name: str,
    original: pa.Table,
    release: pa.Table,
    released: DistinctTexts,
    own_texts: list[str],
    axis: Axis,
) -> MatchedColumn:
    spelled = {_spelling(text) for text in own_texts}
    values = np.sort(_places(own_texts, axis))
    shapes: dict[int, CellShape] = {}
    texts = released.texts.to_pylist()
    for place, text in enumerate(texts):
        shape = read_shape(text, axis) or CellShape((ANY,))
        if axis == "times" and _spelling(text) in spelled:
            continue
        if axis == "numbers" and _is_number(shape):
            texts[place] = text if _PLAIN.fullmatch(text) else f"{shape.parts[0].low:.15g}"
        elif any(start < end for start, end in _runs(shape, values)):
            shapes[place], texts[place] = shape, own_texts[0]
        else:
            texts[place] = _middle(shape, own_texts, axis)
    column = match_values(name, "", "masked", original, _with_texts(release, name, released, texts))
    first = int(column.has_missing)
    places = _places(column.labels[first:].tolist(), axis)

    def runs(place: int) -> Runs:
        inside = tuple((a + first, b + first) for a, b in _runs(shapes[place], places) if a < b)
        missing = ((0, 1),) if shapes[place].may_be_missing and first else ()
        return _every(column) if ANY in shapes[place].parts else (*missing, *inside)

    return _with_cells(column, released, {place: runs(place) for place in shapes})


_PLAIN = re.compile(r"-?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
"""Numbers that are read as such in a file; `007` and `+7` are not."""


def _is_number(shape: CellShape) -> bool:
    single = len(shape.parts) == 1 and shape.parts[0].low == shape.parts[0].high
    return single and not shape.may_be_missing


def _spelling(text: str) -> str:
    return re.sub(r"\d", "0", text.strip())


def _places(texts: Sequence[str], axis: Axis) -> NDArray[np.float64]:
    if axis == "numbers":
        return np.array(texts, dtype=object).astype(np.float64)
    return spans([text.strip() for text in texts])[0].astype(np.float64)


def _runs(shape: CellShape, places: NDArray[np.float64]) -> Iterator[tuple[int, int]]:
    for part in shape.parts:
        low = np.searchsorted(places, part.low, "left" if part.has_low else "right")
        high = np.searchsorted(places, part.high, "right" if part.has_high else "left")
        yield int(low), int(high)


def _middle(shape: CellShape, own_texts: list[str], axis: Axis) -> str:
    """Return the middle of a range that no value of the original is in; of times, the nearest."""
    middle = float(np.mean([part.middle for part in shape.parts]))
    if axis == "numbers":
        return f"{middle:.15g}"
    return own_texts[int(np.argmin(np.abs(_places(own_texts, axis) - middle)))]


def _categories(
    name: str,
    original: pa.Table,
    release: pa.Table,
    released: DistinctTexts,
    own_texts: list[str],
    taxonomy: Taxonomy | None,
) -> ReadCells | None:
    values, texts = set(own_texts), released.texts.to_pylist()
    others = [place for place, text in enumerate(texts) if text not in values]
    if not others:
        return None
    replaced = [text if text in values else own_texts[0] for text in texts]
    column = match_values(
        name, "", "kept", original, _with_texts(release, name, released, replaced)
    )
    codes_of = _code_finder(column, taxonomy)
    codes_by_place = {place: codes_of(texts[place]) for place in others}
    labels = tuple(texts[place] for place in others if not codes_by_place[place])
    if labels:
        return ReadCells(match_values(name, "", "kept", original, release), labels)
    return ReadCells(_with_cells(column, released, codes_by_place))


def _code_finder(column: MatchedColumn, taxonomy: Taxonomy | None) -> Callable[[str], Runs]:
    """Return what gives the codes of categories that a cell stands for, none of one that nobody
    can read."""
    first = int(column.has_missing)
    code_of = {label: code for code, label in enumerate(column.labels.tolist()) if code >= first}
    axis = ColumnCodes(
        np.zeros(0, np.int32), column.labels, column.position, is_ordered=False,
        has_missing=column.has_missing,
    )  # fmt: skip
    below = taxonomies.code_finder(axis, taxonomy, "root") if taxonomy else None
    alike = _by_folded_name(code_of)

    def codes(text: str) -> Runs:
        if is_mark(text) or not text.strip("* "):
            return _every(column)
        if len(alike.get(fold_name(text), ())) == 1:
            return _single_runs(alike[fold_name(text)])
        members = set_members(text)
        if members and all(one in code_of for one in members):
            return _single_runs(code_of[one] for one in members)
        if below is not None:
            return _single_runs(below(Cell((text,))).tolist())
        prefix = text.rstrip("*")
        masked = (c for v, c in code_of.items() if len(v) == len(text) and v.startswith(prefix))
        return _single_runs(masked) if prefix != text else ()

    return codes


def _by_folded_name(code_of: Mapping[str, int]) -> dict[str, list[int]]:
    """Return the codes of values that differ in case, blanks around them or accents alone."""
    codes: dict[str, list[int]] = {}
    for value, code in code_of.items():
        codes.setdefault(fold_name(value), []).append(code)
    return codes


def _single_runs(codes: Sequence[int] | Iterator[int]) -> Runs:
    return tuple((code, code + 1) for code in sorted({*codes}))


def _every(column: MatchedColumn) -> Runs:
    return ((0, column.size),)


def _with_texts(
    release: pa.Table, name: str, released: DistinctTexts, texts: list[str]
) -> pa.Table:
    """Return a release with other texts in a column for its distinct ones."""
    indices = from_numpy(released.indices, released.indices < 0)
    column = from_texts(texts).take(indices)
    place = release.schema.get_field_index(name)
    return release.set_column(place, name, pa.chunked_array([column]))


def _with_cells(
    column: MatchedColumn, released: DistinctTexts, runs: dict[int, Runs]
) -> MatchedColumn:
    """Return a column in which rows have cells of several values, by the place of their text."""
    cells: dict[Runs, int] = {((code, code + 1),): code for code in range(column.size)}
    cell_of_text = np.full(len(released.texts) + 1, -1, dtype=np.int64)
    for place, one in runs.items():
        joined = _joined(one)
        cell_of_text[place] = cells.setdefault(joined, len(cells))
    own = cell_of_text[released.indices]
    cell_of = np.where(own < 0, column.after.cell_of.astype(np.int64), own)
    starts = np.cumsum([0, *map(len, cells)], dtype=np.int64)
    low, high = np.array([run for one in cells for run in one], dtype=np.int64).T
    return replace(column, after=Spread(cell_of, starts, low, high, column.size))


def _joined(runs: Runs) -> Runs:
    """Return the same codes in as few runs as possible, in order."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(runs):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)
