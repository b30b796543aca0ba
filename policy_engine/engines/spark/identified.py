"""Persons that are known again in other releases, on a cluster: who each row is of."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

from policy_engine.engines.arrays import from_numpy, to_numpy, unchunk
from policy_engine.engines.identified import (
    ReleasedPersons,
    Respelt,
    Words,
    released_persons,
    respelt_words,
    with_intersections,
    with_words,
    words_in,
    words_of_persons,
    words_of_rows,
)
from policy_engine.engines.origins import WORD
from policy_engine.engines.persons import person_texts, person_type
from policy_engine.engines.reading_back import cell_columns
from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.spark.masking import keys_of_rows, with_row_keys
from policy_engine.engines.spark.values import (
    arrow_schema,
    gather_tables,
    map_in_tasks,
    normalise_table,
    quote_name,
    text_types,
)
from policy_engine.errors import DataError, PolicyEngineError
from policy_engine.plan.joint import EARLIER, within_name
from policy_engine.plan.steps import Anonymize


def identify_frame(
    frame: DataFrame, unit: str, key: bytes, names: Sequence[str], *, is_csv: bool
) -> tuple[DataFrame, str]:
    """Return some columns of a frame, with who each row is of, and the type of the unit: as the
    local engine's `identify`."""
    kind: pa.DataType | None = None
    type_of_unit = ""
    if unit:
        column = frame.select(quote_name(unit))
        [kind] = text_types(column, numbers=is_csv).values()
        type_of_unit = person_type(arrow_schema(column).field(0).type, kind)
    keyed = frame if unit else with_row_keys(frame, frame.columns, key)

    @carry_errors
    def put(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            if unit:
                words = words_of_persons(person_texts(unchunk(table.column(unit)), kind), key)
            else:
                keys = keys_of_rows(table, key)
                words = words_of_rows(keys.keys, keys.repeats)
            yield from with_words(table, words, names).to_batches()

    fields = [*(frame.schema[name] for name in names), StructField(WORD, LongType())]
    return map_in_tasks(keyed, put, StructType(fields)), type_of_unit


def respelt_in_frame(
    frame: DataFrame, unit: str, key: bytes, most: int, *, is_csv: bool
) -> Respelt:
    """Return who may be written another way in other tables: as the local engine's `respelt`.

    Raises DataError (R011) for more than `most`, which the driver is not to hold.
    """
    column = frame.select(quote_name(unit))
    [kind] = text_types(column, numbers=is_csv).values()

    @carry_errors
    def put(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            respelt = respelt_words(person_texts(unchunk(table.column(0)), kind), key)
            pairs = [from_numpy(one.view(np.int64).copy()) for one in respelt]
            yield from pa.table(pairs, names=[WORD, "plain"]).to_batches()

    fields = [StructField(WORD, LongType()), StructField("plain", LongType())]
    pairs = map_in_tasks(column, put, StructType(fields)).distinct().limit(most + 1).toArrow()
    if pairs.num_rows > most:
        raise _too_many_error("its persons are", most)
    persons, plain = (
        to_numpy(unchunk(one)).astype(np.int64).view(np.uint64) for one in pairs.columns
    )
    return persons, plain


def _too_many_error(rows: str, most: int) -> PolicyEngineError:
    message = f"What releases tell together is found out by the driver, and {rows} "
    hint = "Let it hold more with SparkEngine(most_linked=...), or release without a ledger."
    return DataError.of("R011", f"{message}more than the {most:,} that it holds.", hint)


def persons_of_frame(frame: DataFrame, most: int) -> Words:
    """Return the persons of the rows of a frame, (rows,). Raises DataError (R011) for more than
    `most`, which the driver is not to hold."""
    rows = frame.count()
    if rows > most:
        raise _too_many_error(f"{rows:,} rows are", most)
    return words_in(frame.select(WORD).toArrow())


def frame_with_earlier(
    frame: DataFrame, persons: Words, cells: NDArray[np.int64], valued: Sequence[tuple[int, str]]
) -> DataFrame:
    """Return a frame with hidden columns as the local engine's `with_earlier` makes them."""
    pairs = pa.table(
        {
            WORD: from_numpy(persons.view(np.int64).copy()),
            EARLIER: from_numpy(cells.astype(np.int32)),
        }
    )
    names = [*frame.columns, EARLIER]
    cells_of_persons = frame.sparkSession.createDataFrame(pairs)
    joined = frame.join(cells_of_persons, WORD, "left").select([quote_name(name) for name in names])

    @carry_errors
    def put(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            own = to_numpy(unchunk(table.column(EARLIER))).astype(np.int32)
            made = with_intersections(table.drop_columns([EARLIER]), own, valued)
            yield from made.to_batches()

    fields = [*frame.schema.fields, StructField(EARLIER, IntegerType())]
    fields += [StructField(within_name(place), StringType()) for place, _ in valued]
    return map_in_tasks(joined, put, StructType(fields))


def persons_of_release(frame: DataFrame, step: Anonymize) -> ReleasedPersons | None:
    """Return who is in which class of a release, given its rows with who they are of; None where
    that is not known."""
    if WORD not in frame.columns:
        return None
    columns = step.columns
    cells = [one for name in columns.quasi_names for one in cell_columns(name, frame.columns)]
    names = dict.fromkeys((*cells, *columns.sensitive_names, WORD))
    table = normalise_table(frame.select([quote_name(name) for name in names]).toArrow())
    return released_persons(table, words_in(table), step)
