"""Rows of a cluster in parts, so that columns are microaggregated together part by part."""

import pickle
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql.types import IntegerType, StructField, StructType

from policy_engine.engines.arrays import from_numpy
from policy_engine.engines.masking.perturbing import KnownGroup, RowKeys
from policy_engine.engines.masking.surveys import Kinds, columns_of, is_present
from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.spark.values import gather_tables, map_in_tasks
from policy_engine.kernels.microaggregation import (
    FarBlocks,
    PlacedRows,
    RowsQuestion,
    cut_far,
    default_block_size,
)

PART = "\ufffdpart"
"""The column that says in which part a row is."""


_Placed = Callable[[pa.Table], tuple[NDArray[np.bool_], PlacedRows]]


class NearRows:
    """The rows of a frame with the columns that a group needs, and what tells rows apart.

    `keys_of` reads the latter of a table. The frame is held: it is read several times.
    """

    def __init__(
        self,
        frame: DataFrame,
        columns: KnownGroup,
        kinds: Kinds,
        keys_of: Callable[[pa.Table], RowKeys],
    ) -> None:
        self._frame, self._known = frame, columns
        self._placed = _placing(columns, kinds, keys_of)

    def cut(self, limit: int) -> FarBlocks:
        """Return parts of at most `limit` rows, or of one block, in which the groups of the table
        are formed."""
        facts, size = self._known.facts, self._known.group[0].shared_by
        limit = max(limit, default_block_size(facts.rows, size))
        return cut_far(self._ask, size, facts.rows, limit)

    def in_parts(self, blocks: FarBlocks) -> DataFrame:
        """Return the rows with the part of each, those of a part in one task.

        Rows without a value are in any.
        """
        placed = self._placed

        @carry_errors
        def put(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for table in gather_tables(batches):
                present, rows = placed(table)
                part = np.arange(table.num_rows) % blocks.count
                part[present] = blocks.of_rows(rows)
                numbered = table.append_column(PART, from_numpy(part.astype(np.int32)))
                yield from numbered.to_batches()

        schema = StructType([*self._frame.schema.fields, StructField(PART, IntegerType())])
        return map_in_tasks(self._frame, put, schema).repartition(blocks.count, PART)

    def _ask(self, question: RowsQuestion) -> list[Any]:
        placed = self._placed

        @carry_errors
        def answer(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for table in gather_tables(batches):
                _, rows = placed(table)
                if len(rows.values):
                    reply = pa.array([pickle.dumps(question.reply(rows))], pa.binary())
                    yield pa.record_batch([reply], names=["reply"])

        replies = map_in_tasks(self._frame, answer, "reply binary").toArrow().column(0)
        return [pickle.loads(one) for one in replies.to_pylist()]  # noqa: S301 (our tasks')


def _placing(columns: KnownGroup, kinds: Kinds, keys_of: Callable[[pa.Table], RowKeys]) -> _Placed:
    def placed(table: pa.Table) -> tuple[NDArray[np.bool_], PlacedRows]:
        """Return which rows have a value, (rows,), and those as they are microaggregated."""
        present = is_present(table, columns_of(columns.group))
        rows = columns.masked_rows(table, present, kinds, keys_of(table))
        return present, PlacedRows(rows.values, rows.words[:, 0])

    return placed


def tables_by_part(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the rows of each part that a task has."""
    for table in gather_tables(batches, sys.maxsize):
        for part in pc.unique(table.column(PART)).to_pylist():
            yield table.filter(pc.equal(table.column(PART), part))
