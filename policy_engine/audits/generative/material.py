"""What an audit of a generator is given: its samples, records it has seen, and others."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Scores = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


_MOST_FITTED = 3_000


@dataclass(frozen=True)
class AuditedColumn:
    """A column of a table: numbers, or categories, whose codes are places in `texts`."""

    name: str
    is_number: bool
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class RecordSet:
    """Records of one file, all in the same code.

    `values` (n, d) have a column for each one of a table: its numbers, nan where one is missing, or
    codes of categories, -1 where one is missing. Of arrays they are the features, flat. `labels`
    (n,) count the classes, from 0; -1 is a class that no other file has.
    """

    name: str
    values: Floats
    labels: Ints | None = None

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, eq=False)
class Material:
    """All that attacks may use, and who was a member.

    `columns` are those of tables, without the label; `shape` is that of one record of arrays:
    (features,), (height, width) or (height, width, channels). `classes` are the labels by name, and
    `secrets` the places of columns that nobody should learn. The `reference` has records of
    the same population that no generator has seen, and that are not audited.
    """

    members: RecordSet
    holdout: RecordSet
    synthetic: RecordSet | None = None
    reference: RecordSet | None = None
    columns: tuple[AuditedColumn, ...] = ()
    shape: tuple[int, ...] = ()
    classes: tuple[str, ...] = ()
    secrets: tuple[int, ...] = ()
    model: Any = None
    seed: int = 0

    @cached_property
    def audited(self) -> RecordSet:
        """The members, then the holdout: whom attacks score."""
        sides = self.members, self.holdout
        labels = [one.labels for one in sides if one.labels is not None]
        return RecordSet(
            "audited records",
            np.concatenate([one.values for one in sides]),
            np.concatenate(labels) if len(labels) == len(sides) else None,
        )

    @cached_property
    def is_member(self) -> Bools:
        """Which of the audited records are members, (n,)."""
        return np.arange(len(self.audited)) < len(self.members)

    @property
    def is_table(self) -> bool:
        """Whether the records are rows of tables."""
        return bool(self.columns)

    @cached_property
    def fitting(self) -> RecordSet | None:
        """The references that expectations are fitted on: all, or 3,000 at even distances."""
        reference = self.reference
        if reference is None or len(reference) <= _MOST_FITTED:
            return reference
        rows = np.linspace(0, len(reference) - 1, _MOST_FITTED).round().astype(np.int64)
        labels = None if reference.labels is None else reference.labels[rows]
        return RecordSet(reference.name, reference.values[rows], labels)

    @property
    def public(self) -> RecordSet:
        """What whoever attacks has: the reference, or else the synthetic records.

        Scales and spaces are fitted on it alone, never on audited records. Raises ValueError where
        there is neither.
        """
        public = self.reference or self.synthetic
        if public is None:
            raise ValueError("there are neither reference nor synthetic records")
        return public
