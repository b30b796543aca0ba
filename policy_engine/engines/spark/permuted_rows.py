"""Quasi-identifiers that are permuted within the classes of one task's rows, on a cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql.types import DataType, LongType, StructField

from policy_engine.engines.arrays import from_numpy, to_numpy, unchunk
from policy_engine.engines.masking.perturbing import RowKeys
from policy_engine.engines.permuted_moves import ClassMoves
from policy_engine.engines.permuting import (
    PermutedPersons,
    classes_by_row,
    draw_label,
    source_rows,
)
from policy_engine.engines.spark.masking import ROW_KEYS
from policy_engine.engines.synthesising.equal_cells import numbers_of
from policy_engine.kernels.grouping import Groups
from policy_engine.kernels.mondrian import Partition
from policy_engine.plan.steps import Anonymize

Ints = NDArray[np.int64]

CLASS = "policy_engine__class"
"""The column with a number of the class of each row, which is not released."""


def before_column(place: int) -> str:
    """Return the name of the column, which is not released, with the values that the rows had of a
    quasi-identifier."""
    return f"policy_engine__before{place}"


class PermutedColumns(NamedTuple):
    """The quasi-identifiers of rows once they are permuted, and what is `hidden`: the class of each
    row, and what it had before."""

    columns: Mapping[str, pa.Array]
    hidden: Mapping[str, pa.Array]


@dataclass(frozen=True)
class RowPermutation:
    """What decides which row of its class each row gets its values from, column by column.

    `names` are the quasi-identifiers, and `label` tells draws under one `secret` apart.
    """

    names: tuple[str, ...]
    label: int
    secret: bytes = field(repr=False)

    @classmethod
    def of(cls, step: Anonymize, secret: bytes) -> "RowPermutation":
        """Return the permutation of a step."""
        return cls(step.columns.quasi_names, draw_label(step), secret)

    def fields(self, kinds: Mapping[str, DataType]) -> list[StructField]:
        """Return the columns that are hidden, given the types of the quasi-identifiers."""
        pairs = enumerate(self.names)
        before = [StructField(before_column(place), kinds[name]) for place, name in pairs]
        return [StructField(CLASS, LongType()), *before]

    def permute(
        self, kept: Mapping[str, pa.Array], classes: Partition, persons: pa.Array | None
    ) -> PermutedColumns:
        """Return the columns of the rows, in the order of their classes.

        `kept` has the quasi-identifiers of the rows and the columns of `with_row_keys`, and
        `persons` their persons, if those are counted.
        """
        high, low, repeats = (to_numpy(kept[name]).astype(np.int64) for name in ROW_KEYS)
        keys = RowKeys(np.stack([high, low], axis=1).view(np.uint64), repeats, self.secret)
        class_of = classes_by_row(classes)
        people = None if persons is None else PermutedPersons.of(persons, keys)
        sources = source_rows(class_of, keys, self.label, len(self.names), people)[classes.order]
        # The least key of its rows is what a class is called by, whatever task it is formed in.
        names = np.minimum.reduceat(high[classes.order], classes.starts[:-1])
        rows = from_numpy(classes.order)
        hidden = {CLASS: from_numpy(names[class_of[classes.order]])}
        for place, name in enumerate(self.names):
            hidden[before_column(place)] = kept[name].take(rows)
        pairs = enumerate(self.names)
        columns = {name: kept[name].take(from_numpy(sources[:, place])) for place, name in pairs}
        return PermutedColumns(columns, hidden)


def class_numbers(table: pa.Table) -> NDArray[np.int32]:
    """Return a number of the class of every row of a task, (rows,)."""
    names = to_numpy(unchunk(table.column(CLASS)))
    return np.unique(names, return_inverse=True)[1].astype(np.int32)


def stored_moves(table: pa.Table, names: Sequence[str], groups: Groups) -> ClassMoves:
    """Return how the values of rows of some classes, with all their rows, differ from before."""
    pairs = [
        pa.chunked_array([unchunk(table.column(before_column(place))), unchunk(table.column(name))])
        for place, name in enumerate(names)
    ]
    before, after = np.split(numbers_of(pairs), 2)
    return ClassMoves.of(groups.class_of, before, after, groups.persons)
