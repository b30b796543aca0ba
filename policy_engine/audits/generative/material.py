"""What an audit of a generator is given: its samples, records it has seen, and others."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.generative.cells import joined_cells
from policy_engine.audits.generative.subjects import Subjects
from policy_engine.engines.arrays import from_numpy

Floats = NDArray[np.floating[Any]]
Scores = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


_MOST_FITTED = 3_000
_ONE_EACH = 80
"""A stream of random numbers of its own."""


@dataclass(frozen=True)
class AuditedColumn:
    """A column of a table: numbers, times as numbers, or categories, whose codes are places in
    `texts`."""

    name: str
    is_number: bool
    texts: tuple[str, ...] = ()
    is_time: bool = False


@dataclass(frozen=True, eq=False)
class RecordSet:
    """Records of one file, all in the same code.

    `values` (n, d) have a column for each one of a table: its numbers, nan where one is missing, or
    codes of categories, -1 where one is missing. Of arrays they are the features, flat. `labels`
    (n,) count the classes, from 0; -1 is a class that no other file has. `persons` (n,) are the
    numbers of those whose records they are, the same in all files of all models, None where every
    record counts by itself. What floats would round is told apart by `exact` (n, d), if all sides
    have it: numbers that are equal for equal cells. `densities` (n,) are what the model says of
    them, where it was asked already, see `Densities`. `cells` (n rows) are those of the file, of
    all columns and the label's, for models that are asked of tables.
    """

    name: str
    values: Floats
    labels: Ints | None = None
    persons: Ints | None = None
    exact: Ints | None = None
    densities: Scores | None = None
    cells: pa.Table | None = None

    def __len__(self) -> int:
        return len(self.values)

    def taken(self, rows: Ints) -> "RecordSet":
        """Return some of the records."""
        others = (self.labels, self.persons, self.exact)
        labels, persons, exact = (None if one is None else one[rows] for one in others)
        densities = None if self.densities is None else self.densities[rows]
        cells = None if self.cells is None else self.cells.take(from_numpy(rows))
        return RecordSet(self.name, self.values[rows], labels, persons, exact, densities, cells)


@dataclass(frozen=True, eq=False)
class Material:
    """All that attacks may use, and who was a member.

    `columns` are those of tables, without the label and the `unit`, the column that tells persons
    apart; `shape` is that of one record of arrays:
    (features,), (height, width) or (height, width, channels). `classes` are the labels by name, and
    `secrets` the places of columns that nobody should learn. The `reference` has records of
    the same population that no generator has seen, and that are not audited. Where it `is_drawn`
    at random here who is a member, persons of both sides have as many records but for chance.
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
    unit: str = ""
    is_drawn: bool = False

    @cached_property
    def audited(self) -> RecordSet:
        """The members, then the holdout: whom attacks score."""
        sides = self.members, self.holdout
        return RecordSet(
            "audited records",
            np.concatenate([one.values for one in sides]),
            _joined(*(one.labels for one in sides)),
            exact=_joined(*(one.exact for one in sides)),
            densities=_joined(*(one.densities for one in sides)),
            cells=joined_cells([one.cells for one in sides]),
        )

    @cached_property
    def subjects(self) -> Subjects:
        """The members, then others: whom figures are of."""
        members, others = self.members.persons, self.holdout.persons
        if members is None or others is None:
            return Subjects.of_records(len(self.members), len(self.holdout))
        subjects = Subjects.of_persons(members, others)
        return subjects if self.is_drawn else subjects.evened(self.seed)

    @property
    def counts_persons(self) -> bool:
        """Whether figures are of persons, who may have several records."""
        return self.subjects.places is not None

    def one_each(self) -> "Material":
        """Return it with one record of each audited person, drawn at random."""
        if not self.counts_persons:
            return self
        generator = np.random.default_rng([self.seed, _ONE_EACH])
        members, holdout = (_one_each(one, generator) for one in (self.members, self.holdout))
        return replace(self, members=members, holdout=holdout)

    @cached_property
    def has_classes(self) -> bool:
        """Whether the audited records are of several classes."""
        labels = self.audited.labels
        return labels is not None and len(np.unique(labels)) > 1

    def without_classes(self) -> "Material":
        """Return it with records that have no classes."""
        return replace(
            self,
            members=replace(self.members, labels=None),
            holdout=replace(self.holdout, labels=None),
            synthetic=None if self.synthetic is None else replace(self.synthetic, labels=None),
            reference=None if self.reference is None else replace(self.reference, labels=None),
            classes=(),
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
        return reference.taken(rows)

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


def _one_each(records: RecordSet, generator: np.random.Generator) -> RecordSet:
    """Return one record of each person, in the order of the records."""
    order = generator.permutation(len(records))
    persons = records.persons
    assert persons is not None  # noqa: S101 (the caller asks it)
    _, first = np.unique(persons[order], return_index=True)
    return records.taken(np.sort(order[first]))


def _joined(*parts: NDArray[Any] | None) -> NDArray[Any] | None:
    present = [one for one in parts if one is not None]
    return np.concatenate(present) if len(present) == len(parts) else None
