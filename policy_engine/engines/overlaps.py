"""Sketches of records, which show that two sets of records are mostly the same."""

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.readings import record_marks

SIZE = 32
"""The number of records in a sketch; fewer where the table has fewer."""
_PARTS = 32
_NEIGHBOURS = 3
_DIFFERENT = 0.9
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)

Sketch = tuple[int, ...]
Marks = NDArray[np.uint64]


def sketches(table: pa.Table, labels: Sequence[str]) -> tuple[Sketch, ...]:
    """Return sketches of a table's records: of all columns together, and of some of them.

    A sketch is the least `SIZE` of the records' digests (Broder's bottom-k sketch, SEQUENCES 1997):
    two sets of n and m records, of which s are the same, have about a share of s / max(n, m) of it
    in common. Columns are put into 32 parts by their names. There is a sketch of all parts, one
    without each part, and one of every three neighbouring parts, so that records still share some
    sketches after a column was dropped, added, renamed or changed. All sketches include the labels.
    There is no sketch where more than one in ten records repeats another in its columns: other
    tables of the kind would have the same records.
    """
    base = np.zeros(table.num_rows, np.uint64)
    for name in labels:
        base += _mix(_mark(table, name) ^ _number(name))
    parts: dict[int, Marks] = {}
    for name in table.column_names:
        if name not in labels:
            part = int(_number(name)) % _PARTS
            parts[part] = parts.get(part, np.uint64(0)) + _mix(_mark(table, name))
    candidates = (
        _sketch(base + marks) for marks in _part_sums([parts[sketch] for sketch in sorted(parts)])
    )
    return tuple(dict.fromkeys(sketch for sketch in candidates if sketch))


def _part_sums(parts: Sequence[Marks]) -> Iterator[Marks]:
    """Yield the sums of all parts, of all but one, and of neighbouring parts."""
    if not parts:
        return
    total: Marks = np.sum(parts, axis=0, dtype=np.uint64)
    yield total
    if len(parts) > 1:
        yield from (total - part for part in parts)
    for start in range(len(parts) if len(parts) > _NEIGHBOURS else 0):
        some = [parts[(start + place) % len(parts)] for place in range(_NEIGHBOURS)]
        together: Marks = np.sum(some, axis=0, dtype=np.uint64)
        yield together


def _number(name: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]))


def _mark(table: pa.Table, name: str) -> Marks:
    return record_marks(table, [name])


def _sketch(records: Marks) -> Sketch:
    different = np.unique(_mix(records))
    if len(different) < _DIFFERENT * len(records):
        return ()
    return tuple(different[:SIZE].tolist())


def _mix(values: Marks) -> Marks:
    """Return hashes whose every bit depends on all bits (Steele et al., OOPSLA 2014)."""
    values = (values ^ (values >> np.uint64(30))) * _FIRST
    values = (values ^ (values >> np.uint64(27))) * _SECOND
    return values ^ (values >> np.uint64(31))
