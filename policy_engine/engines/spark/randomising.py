"""Records randomised one by one by the tasks of a cluster, and read back.

A task that is run again has to give the same answers: two for one record would tell more. So the
words of a record are hashes of what it holds, of which of equal ones it is, and of a key that the
driver draws for the release and forgets.
"""

import hashlib
import json
import secrets
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 (Spark's own convention)
from pyspark.sql.types import (
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from policy_engine.engines.arrays import from_numpy
from policy_engine.engines.masking.perturbing import KEY_BYTES, RowKeys
from policy_engine.engines.randomising.persons import memory_key, person_words, record_words
from policy_engine.engines.randomising.randomness import Randomness
from policy_engine.engines.randomising.tables import (
    count_strange,
    randomise_persons,
    randomise_rows,
)
from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.spark.masking import ROW_KEYS, ROW_WORDS, keys_of_rows, with_row_keys
from policy_engine.engines.spark.values import gather_tables, map_in_tasks, quote_name
from policy_engine.methods.randomiser import NumberRandomiser
from policy_engine.plan.steps import Randomise

_ORDER = "order of records"


def randomise_frame(frame: DataFrame, step: Randomise, key: bytes | None) -> DataFrame:
    """Return the answers for the records of a frame, or for one of every person, in an order that
    tells nothing.

    Raises DataError (C013) if the step has a unit of privacy and no key is given.
    """
    secret = memory_key(key) if step.unit else b""
    release_key, order = secrets.token_bytes(KEY_BYTES), _ORDER
    while order in step.names:
        order += "_"
    used = frame.select([quote_name(name) for name in step.columns_used])
    keyed = (
        _of_persons(used, step, secret)
        if step.unit
        else with_row_keys(used, step.columns_used, release_key)
    )
    fields = [*_fields(step), StructField(order, LongType())]
    kinds = pa.schema([(one.name, _KINDS[type(one.dataType)]) for one in fields])

    @carry_errors
    def answer(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            rows = keys_of_rows(table, release_key)

            def fresh(
                places: NDArray[np.int64], label: str, number: int, rows: RowKeys = rows
            ) -> NDArray[np.uint64]:
                some = RowKeys(rows.keys[places], rows.repeats[places], rows.key)
                return some.words(_number(label), number)

            made = (
                randomise_persons(table, step, secret)
                if step.unit
                else randomise_rows(table, step, Randomness(fresh=fresh))
            )
            places = fresh(np.arange(table.num_rows), order, 1)[:, 0].view(np.int64)
            made = made.append_column(order, from_numpy(places))
            yield from made.cast(kinds).to_batches()

    made = map_in_tasks(keyed, answer, StructType(fields))
    return made.orderBy(quote_name(order)).drop(order)


def _of_persons(frame: DataFrame, step: Randomise, secret: bytes) -> DataFrame:
    """Return the one record of each person that is answered for, with what tells persons apart as
    the keys of rows."""

    @carry_errors
    def put(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            persons, is_person = person_words(table.column(step.unit), secret)
            words = record_words(table, persons, step, secret)
            words = np.concatenate([persons.view(np.int64), words], axis=1)
            for place, name in enumerate((*ROW_WORDS, *_RECORD_WORDS)):
                table = table.append_column(name, from_numpy(words[:, place].copy()))  # noqa: PLW2901
            yield from table.filter(from_numpy(is_person)).to_batches()

    added = [StructField(name, LongType()) for name in (*ROW_WORDS, *_RECORD_WORDS)]
    keyed = map_in_tasks(frame, put, StructType([*frame.schema.fields, *added]))
    of_person = Window.partitionBy(*ROW_WORDS).orderBy(*_RECORD_WORDS)
    place = (F.row_number().over(of_person) - 1).cast(IntegerType())
    numbered = keyed.withColumn(ROW_KEYS[2], place).drop(*_RECORD_WORDS)
    return numbered.filter(F.col(ROW_KEYS[2]) == 0)


_RECORD_WORDS = ("\ufffdrecord high", "\ufffdrecord low")


def _number(label: str) -> int:
    """Return a number that tells draws for a label from those for any other."""
    return int.from_bytes(hashlib.blake2b(label.encode(), digest_size=8).digest())


_KINDS = {StringType: pa.string(), LongType: pa.int64(), DoubleType: pa.float64()}


def _fields(step: Randomise) -> list[StructField]:
    return [
        StructField(
            one.name,
            (LongType() if one.is_whole else DoubleType())
            if isinstance(one, NumberRandomiser)
            else StringType(),
        )
        for one in step.columns
    ]


def count_strange_cells(frame: DataFrame, step: Randomise) -> tuple[int, ...]:
    """Return how many cells of each column of a published frame are none that could have been
    published."""

    @carry_errors
    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts = [count_strange(table, step) for table in gather_tables(batches)]
        yield pa.record_batch([pa.array([json.dumps(counts)])], names=["counts"])

    columns = frame.select([quote_name(name) for name in step.names])
    parts = map_in_tasks(columns, count, "counts string").collect()
    rows = [row for part in parts for row in json.loads(part.counts)]
    return tuple(sum(one) for one in zip(*rows, strict=True)) if rows else (0,) * len(step.names)
