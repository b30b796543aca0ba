"""Rows coded for tasks: quasi-identifiers and sensitive columns as codes, others unchanged."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from policy_engine.engines.arrays import from_numpy, to_numpy, unchunk
from policy_engine.engines.identifiers import pseudonyms
from policy_engine.engines.persons import person_texts
from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.spark.quantiles import Quantiles, parsed_type
from policy_engine.engines.spark.targets import TARGET, TargetLookup
from policy_engine.engines.spark.values import Lookup, Task, gather_tables, map_in_tasks, quote_name

PERSON = "policy_engine__person"
CARRIED = "policy_engine__carried"
"""How the names of columns begin that are carried along with coded rows and decide nothing."""
LABEL = "label"
"""The column of the codes of a label, if classes need it."""


@dataclass(frozen=True)
class Coding:
    """How rows are coded.

    `quasi` and `sensitive` hold the codes by column; quasi-identifiers with too many values have
    parts instead of codes, and keep their values too. `person` is the column that identifies
    persons, and `person_kind` the type that its texts can be read as, None where it has a type.
    `kept` columns stay unchanged, except that those in `pseudonyms` are replaced, with `key`.
    Classes may be cut by `targets`, and need the codes of a `label`, given its name.
    """

    quasi: Mapping[str, Lookup | Quantiles]
    sensitive: Mapping[str, Lookup]
    kept: tuple[str, ...]
    pseudonyms: tuple[str, ...] = ()
    key: bytes = field(default=b"", repr=False)
    person: str = ""
    person_kind: pa.DataType | None = None
    targets: TargetLookup | None = None
    label: tuple[str, Lookup] | None = None

    @property
    def codes(self) -> list[str]:
        """The names of the columns of codes."""
        quasi = [f"quasi{number}" for number in range(len(self.quasi))]
        return quasi + [f"sensitive{number}" for number in range(len(self.sensitive))]

    @property
    def wide(self) -> dict[str, Quantiles]:
        """The quasi-identifiers with too many values."""
        return {
            name: lookup for name, lookup in self.quasi.items() if isinstance(lookup, Quantiles)
        }

    def names(self) -> list[str]:
        """Return the names of all columns of the coded rows."""
        wide = [f"wide{number}" for number in range(len(self.wide))]
        kept = [f"kept{number}" for number in range(len(self.kept))]
        person = [PERSON] if self.person else []
        return [*self.codes, *self.guided, *wide, *person, *kept]

    @property
    def guided(self) -> list[str]:
        """The names of the columns of targets, and of that of the label."""
        targets = self.targets.names if self.targets else []
        return targets + [LABEL] * (self.label is not None)

    def code_rows(self, frame: DataFrame, partitions: int) -> DataFrame:
        """Return the coded rows of a frame, each person's rows in one of the `partitions`.

        Without persons, rows are moved only if `partitions` is not 0.
        """
        column_names = dict.fromkeys((*self.quasi, *self.sensitive, *self.kept))
        column_names |= {self.person: None} if self.person else {}
        column_names |= dict.fromkeys(self.targets.columns if self.targets else ())
        column_names |= {self.label[0]: None} if self.label else {}
        frame_columns = frame.select([quote_name(name) for name in column_names])
        rows = map_in_tasks(
            frame_columns, _coding_task(self, tuple(column_names)), self._schema(frame)
        )
        if self.person:
            return rows.repartition(max(partitions, 1), PERSON)
        return rows.repartition(partitions) if partitions else rows

    def _schema(self, frame: DataFrame) -> StructType:
        fields = [StructField(name, IntegerType()) for name in (*self.codes, *self.guided)]
        for number, (name, quantiles) in enumerate(self.wide.items()):
            fields.append(StructField(f"wide{number}", parsed_type(frame.schema[name], quantiles)))
        fields += [StructField(PERSON, StringType())] if self.person else []
        for number, name in enumerate(self.kept):
            kind = StringType() if name in self.pseudonyms else frame.schema[name].dataType
            fields.append(StructField(f"kept{number}", kind))
        return StructType(fields)


def _coding_task(coding: Coding, names: tuple[str, ...]) -> Task:
    """Return a task that codes rows."""

    @carry_errors
    def code(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            column = dict(zip(names, map(unchunk, table.columns), strict=True))
            columns = [
                from_numpy(lookup.look_up(column[name])) for name, lookup in _lookups(coding)
            ]
            if coding.targets:
                columns += map(from_numpy, _columns(coding.targets.look_up(table)))
            if coding.label:
                label, label_lookup = coding.label
                columns.append(from_numpy(label_lookup.look_up(column[label])))
            columns += [lookup.parse_column(column[name]) for name, lookup in coding.wide.items()]
            if coding.person:
                columns.append(person_texts(column[coding.person], coding.person_kind))
            for name in coding.kept:
                is_pseudonym = name in coding.pseudonyms
                columns.append(
                    _pseudonymise(name, column[name], coding.key) if is_pseudonym else column[name]
                )
            yield from pa.table(columns, names=coding.names()).to_batches()

    return code


def _lookups(coding: Coding) -> list[tuple[str, Lookup | Quantiles]]:
    return [*coding.quasi.items(), *coding.sensitive.items()]


def _columns(values: NDArray[np.int32]) -> list[NDArray[np.int32]]:
    return [np.ascontiguousarray(one) for one in values.T]


def _pseudonymise(name: str, column: pa.Array, key: bytes) -> pa.Array:
    return unchunk(pseudonyms(name, pa.chunked_array([column]), key).cast(pa.string()))


def persons_by_code(frame: DataFrame, code: str, codes: int) -> NDArray[np.int64]:
    """Return how many distinct persons have each code in a column, (codes,)."""
    pairs = frame.select(PERSON, code).where(f"{code} >= 0").distinct()
    person_counts = pairs.groupBy(code).count().toArrow()
    counts = np.zeros(codes, dtype=np.int64)
    counts[to_numpy(unchunk(person_counts.column(code)))] = to_numpy(
        unchunk(person_counts.column("count"))
    )
    return counts


@dataclass(frozen=True)
class CodedRows:
    """The rows of a task: codes (rows, columns) and, where persons are counted, persons (rows,).

    Persons are numbered within the task. `targets` (rows, targets) are those by which classes are
    cut, and `label` (rows,) the codes of the label that they need.
    """

    codes: NDArray[np.int32]
    persons: NDArray[np.int64] | None
    targets: NDArray[np.int32] | None = None
    label: NDArray[np.int32] | None = None

    @classmethod
    def of(cls, table: pa.Table, codes: list[str]) -> "CodedRows":
        """Return the rows of a table with columns of `codes` and maybe `PERSON`."""
        columns = [to_numpy(unchunk(table.column(name))) for name in codes]
        persons = None
        if PERSON in table.column_names:
            numbers = unchunk(table.column(PERSON)).dictionary_encode()
            persons = to_numpy(numbers.indices, missing=len(numbers.dictionary)).astype(np.int64)
        targets = [
            to_numpy(unchunk(table.column(name)))
            for name in table.column_names
            if name.startswith(TARGET)
        ]
        label = to_numpy(unchunk(table.column(LABEL))) if LABEL in table.column_names else None
        return cls(
            np.column_stack(columns).astype(np.int32, copy=False),
            persons,
            np.column_stack(targets).astype(np.int32, copy=False) if targets else None,
            None if label is None else label.astype(np.int32, copy=False),
        )

    def replace_by_parts(self, parts: Mapping[int, NDArray[np.int32]]) -> "CodedRows":
        """Return the rows with each code replaced by its part, in the columns that have parts."""
        if not parts:
            return self
        codes = self.codes.copy()
        for column, part in parts.items():
            codes[:, column] = part[self.codes[:, column]]
        return replace(self, codes=codes)

    def select_rows(self, rows: NDArray[np.int64]) -> "CodedRows":
        """Return some of the rows."""
        return CodedRows(
            self.codes[rows],
            None if self.persons is None else self.persons[rows],
            None if self.targets is None else self.targets[rows],
            None if self.label is None else self.label[rows],
        )
