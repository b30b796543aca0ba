"""Sketches of records, which show that two sets of records are mostly the same."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.readings import record_marks

SIZE = 32
"""The number of records in a sketch; fewer where the table has fewer."""
SIZE_COUNTED = 64
"""The same of records with the number of times that they are there."""
_PARTS = 32
_NEIGHBOURS = 3
_DIFFERENT, _ALL_DIFFERENT = 0.9, 0.95
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
    There is no such sketch where more than one in ten records repeats another in its columns: other
    tables of the kind would have the same records. There, those of all parts and without one are of
    the distinct records together with how often each is there, at most `SIZE_COUNTED`, if they are
    32 or more. Of two tables that are drawn independently, few have the same number: 27% at most,
    where each is there once in the mean, if numbers are Poisson's.
    """
    base = np.zeros(table.num_rows, np.uint64)
    for name in labels:
        base += _mix(_mark(table, name) ^ _number(name))
    parts: dict[int, Marks] = {}
    for name in table.column_names:
        if name not in labels:
            part = int(_number(name)) % _PARTS
            parts[part] = parts.get(part, np.uint64(0)) + _mix(_mark(table, name))
    ordered = [parts[part] for part in sorted(parts)]
    broad = [_Records.of(base + marks) for marks in _broad_sums(ordered)]
    narrow = [_Records.of(base + marks) for marks in _narrow_sums(ordered)]
    candidates = (*(one.distinct() for one in (*broad, *narrow)), *(one.counted() for one in broad))
    return tuple(dict.fromkeys(sketch for sketch in candidates if sketch))


def _broad_sums(parts: Sequence[Marks]) -> Iterator[Marks]:
    """Yield the sums of all parts, and of all but one."""
    if not parts:
        return
    total: Marks = np.sum(parts, axis=0, dtype=np.uint64)
    yield total
    if len(parts) > 1:
        yield from (total - part for part in parts)


def _narrow_sums(parts: Sequence[Marks]) -> Iterator[Marks]:
    """Yield the sums of neighbouring parts."""
    for start in range(len(parts) if len(parts) > _NEIGHBOURS else 0):
        some = [parts[(start + place) % len(parts)] for place in range(_NEIGHBOURS)]
        together: Marks = np.sum(some, axis=0, dtype=np.uint64)
        yield together


@dataclass(frozen=True, eq=False)
class _Records:
    """The digests of distinct records, in order, and how often each is there, (n,) both."""

    digests: Marks
    counts: Marks

    @classmethod
    def of(cls, marks: Marks) -> "_Records":
        digests, counts = np.unique(_mix(marks), return_counts=True)
        return cls(digests, counts.astype(np.uint64))

    @property
    def share(self) -> float:
        """The share of records that are distinct."""
        return len(self.digests) / max(int(self.counts.sum()), 1)

    def distinct(self) -> Sketch:
        return tuple(self.digests[:SIZE].tolist()) if self.share >= _DIFFERENT else ()

    def counted(self) -> Sketch:
        """Return a sketch with counts, empty where those without are enough, or records too few.

        Both are kept about the border, which a few rows more or less may cross.
        """
        if self.share >= _ALL_DIFFERENT or len(self.digests) < SIZE:
            return ()
        return tuple(np.sort(_mix(self.digests + _mix(self.counts)))[:SIZE_COUNTED].tolist())


def _number(name: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]))


def _mark(table: pa.Table, name: str) -> Marks:
    return record_marks(table, [name])


def _mix(values: Marks) -> Marks:
    """Return hashes whose every bit depends on all bits (Steele et al., OOPSLA 2014)."""
    values = (values ^ (values >> np.uint64(30))) * _FIRST
    values = (values ^ (values >> np.uint64(27))) * _SECOND
    return values ^ (values >> np.uint64(31))
