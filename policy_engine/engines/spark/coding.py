"""Rows as tasks work on them: the columns that classes are about in codes, others as they are."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from policy_engine.engines.arrays import from_numpy, to_numpy, unchunk
from policy_engine.engines.identifiers import pseudonyms
from policy_engine.engines.persons import person_texts
from policy_engine.engines.spark.failures import carrying
from policy_engine.engines.spark.quantiles import Quantiles, type_of
from policy_engine.engines.spark.values import Lookup, Task, gathered, in_tasks, quoted

PERSON = "policy_engine__person"


@dataclass(frozen=True)
class Coding:
    """How rows are coded.

    `quasi` and `sensitive` hold the codes by column; quasi-identifiers of too many values have
    parts in the place of codes, and their values are kept too. `person` is the column that tells
    persons apart, and `person_kind` the type that all of its texts are written in, None where it
    has a type of its own. `kept` columns stay as they are, but for the pseudonyms made with `key`.
    """

    quasi: Mapping[str, Lookup | Quantiles]
    sensitive: Mapping[str, Lookup]
    kept: tuple[str, ...]
    pseudonyms: tuple[str, ...] = ()
    key: bytes = field(default=b"", repr=False)
    person: str = ""
    person_kind: pa.DataType | None = None

    @property
    def codes(self) -> list[str]:
        """The names of the columns of codes."""
        quasi = [f"quasi{number}" for number in range(len(self.quasi))]
        return quasi + [f"sensitive{number}" for number in range(len(self.sensitive))]

    @property
    def wide(self) -> dict[str, Quantiles]:
        """The quasi-identifiers of too many values."""
        return {name: one for name, one in self.quasi.items() if isinstance(one, Quantiles)}

    def names(self) -> list[str]:
        """Return the names of all columns of the rows coded."""
        wide = [f"wide{number}" for number in range(len(self.wide))]
        kept = [f"kept{number}" for number in range(len(self.kept))]
        return [*self.codes, *wide, *([PERSON] if self.person else []), *kept]

    def coded(self, frame: DataFrame, partitions: int) -> DataFrame:
        """Return a frame's rows coded, those of a person in one of so many partitions; without
        persons, they are moved only if `partitions` is not 0."""
        needed = dict.fromkeys((*self.quasi, *self.sensitive, *self.kept))
        needed |= {self.person: None} if self.person else {}
        chosen = frame.select([quoted(name) for name in needed])
        rows = in_tasks(chosen, _coding(self, tuple(needed)), self._schema(frame))
        if self.person:
            return rows.repartition(max(partitions, 1), PERSON)
        return rows.repartition(partitions) if partitions else rows

    def _schema(self, frame: DataFrame) -> StructType:
        fields = [StructField(name, IntegerType()) for name in self.codes]
        for number, (name, found) in enumerate(self.wide.items()):
            fields.append(StructField(f"wide{number}", type_of(frame.schema[name], found)))
        fields += [StructField(PERSON, StringType())] if self.person else []
        for number, name in enumerate(self.kept):
            kind = StringType() if name in self.pseudonyms else frame.schema[name].dataType
            fields.append(StructField(f"kept{number}", kind))
        return StructType(fields)


def _coding(coding: Coding, names: tuple[str, ...]) -> Task:
    """Return a task that codes rows."""

    @carrying
    def code(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gathered(batches):
            column = dict(zip(names, map(unchunk, table.columns), strict=True))
            made = [from_numpy(one.look_up(column[name])) for name, one in _lookups(coding)]
            made += [one.typed(column[name]) for name, one in coding.wide.items()]
            if coding.person:
                made.append(person_texts(column[coding.person], coding.person_kind))
            for name in coding.kept:
                hidden = name in coding.pseudonyms
                made.append(_hidden(name, column[name], coding.key) if hidden else column[name])
            yield from pa.table(made, names=coding.names()).to_batches()

    return code


def _lookups(coding: Coding) -> list[tuple[str, Lookup | Quantiles]]:
    return [*coding.quasi.items(), *coding.sensitive.items()]


def _hidden(name: str, column: pa.Array, key: bytes) -> pa.Array:
    return unchunk(pseudonyms(name, pa.chunked_array([column]), key).cast(pa.string()))


def persons_by_code(frame: DataFrame, code: str, codes: int) -> NDArray[np.int64]:
    """Return how many distinct persons of a frame have each code in a column, (codes,)."""
    pairs = frame.select(PERSON, code).where(f"{code} >= 0").distinct()
    told = pairs.groupBy(code).count().toArrow()
    counts = np.zeros(codes, dtype=np.int64)
    counts[to_numpy(unchunk(told.column(code)))] = to_numpy(unchunk(told.column("count")))
    return counts


@dataclass(frozen=True)
class CodedRows:
    """The rows of a task side by side: codes (rows, columns), and persons (rows,), if told apart.

    Persons are numbered within the task.
    """

    codes: NDArray[np.int32]
    persons: NDArray[np.int64] | None

    @classmethod
    def of(cls, table: pa.Table, codes: list[str]) -> "CodedRows":
        """Return the rows of a table that holds such columns."""
        columns = [to_numpy(unchunk(table.column(name))) for name in codes]
        persons = None
        if PERSON in table.column_names:
            numbers = unchunk(table.column(PERSON)).dictionary_encode()
            persons = to_numpy(numbers.indices, missing=len(numbers.dictionary)).astype(np.int64)
        return cls(np.column_stack(columns).astype(np.int32, copy=False), persons)

    def in_parts(self, parts: Mapping[int, NDArray[np.int32]]) -> "CodedRows":
        """Return the rows with the part of each code in its place, in some of the columns."""
        if not parts:
            return self
        codes = self.codes.copy()
        for column, part in parts.items():
            codes[:, column] = part[self.codes[:, column]]
        return CodedRows(codes, self.persons)

    def taken(self, rows: NDArray[np.int64]) -> "CodedRows":
        """Return some of the rows."""
        persons = None if self.persons is None else self.persons[rows]
        return CodedRows(self.codes[rows], persons)
