"""Parts of the records on which an attack is measured by itself."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.attacks.attack import rows_by_class
from policy_engine.audits.membership.observations import CONFIDENCES, ModelSignal, Observations
from policy_engine.audits.membership.result import SliceKind

MOST_VALUES = 20

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RecordSlice:
    """Some of the audited records: `rows` of them, ascending."""

    kind: SliceKind
    name: str
    rows: Rows


def record_slices(
    target: ModelSignal,
    classes: Sequence[str],
    columns: Mapping[str, NDArray[Any]],
) -> tuple[RecordSlice, ...]:
    """Return the parts of the audited records: the same for every attack, so found once.

    Of a classifier: the classes; what it gets right and wrong; the thirds of the records by the
    confidence of its prediction, where it gives one. Of any model: of each column, (2m,) texts,
    the at most 20 values with the most records.
    """
    slices: list[RecordSlice] = []
    if isinstance(target, Observations):
        slices += [*_classes(target, classes), *_correctness(target)]
        slices += _thirds(target) if CONFIDENCES in target.gives else []
    for name, values in columns.items():
        slices += _values(name, values)
    return tuple(part for part in slices if len(part.rows))


def _classes(target: Observations, classes: Sequence[str]) -> Iterator[RecordSlice]:
    for name, rows in zip(classes, rows_by_class(target.labels, len(classes)), strict=True):
        yield RecordSlice("class", name, rows)


def _correctness(target: Observations) -> Iterator[RecordSlice]:
    yield RecordSlice("correctness", "classified correctly", np.flatnonzero(target.is_right))
    yield RecordSlice("correctness", "classified wrongly", np.flatnonzero(~target.is_right))


def _thirds(target: Observations) -> Iterator[RecordSlice]:
    """Split at the terciles of the highest probability; records as confident stay together."""
    bounds = np.quantile(target.certainty, [1 / 3, 2 / 3], method="lower")
    third = np.searchsorted(bounds, target.certainty, side="left")
    for number, name in enumerate(("least", "middling", "most")):
        yield RecordSlice("confidence", f"{name} confident third", np.flatnonzero(third == number))


def _values(name: str, column: NDArray[Any]) -> Iterator[RecordSlice]:
    values, code_of = np.unique(column.astype(str), return_inverse=True)
    parts = rows_by_class(code_of, len(values))
    largest = sorted(range(len(values)), key=lambda code: (-len(parts[code]), code))
    for code in largest[:MOST_VALUES]:
        yield RecordSlice("column", f"{name} = {values[code]}", parts[code])
