"""What every engine can do, and how it reports its progress."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.data.catalog import MEMORY
from policy_engine.data.places.patterns import is_pattern, pattern_digest
from policy_engine.data.sheets import split_sheet
from policy_engine.data.storage import (
    Location,
    digest,
    local_path,
    manifest_digest,
    read_errors,
    tree_digest,
)
from policy_engine.engines.samples import SampleEvidence
from policy_engine.engines.snapshots import TableSnapshot
from policy_engine.engines.suppression_gain import SuppressionGain
from policy_engine.errors import InternalError
from policy_engine.methods import Measurement
from policy_engine.plan.inputs import Join, Read
from policy_engine.plan.steps import (
    AggregateStep,
    Anonymize,
    Mask,
    Publish,
    Randomise,
    Sample,
    Synthesise,
    TrainGenerator,
)

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from policy_engine.data.group_keys import GroupKeys
    from policy_engine.data.taxonomy import Taxonomy
    from policy_engine.engines.class_evidence import ClassEvidence
    from policy_engine.engines.guiding import GuideFitting
    from policy_engine.engines.identified import ReleasedPersons
    from policy_engine.engines.masking.columns import ColumnJudgement
    from policy_engine.engines.masking.evidence import MaskingEvidence
    from policy_engine.engines.statistics.tallies import Key, Tallies
    from policy_engine.engines.strata import SampledOutput
    from policy_engine.kernels.class_permutations import Unmoved
    from policy_engine.kernels.estimates import NotApplicable
    from policy_engine.kernels.grouping import ClassTotals
    from policy_engine.kernels.label_disclosure import LabelDisclosure
    from policy_engine.plan.plan import Plan

FIRST_ROWS = 1_000
"""How many rows are read to see what a column holds."""
Progress = Callable[[str, int, int], None]
"""Called with the name of a stage, the rows done, and the rows in all (0: unknown)."""


def silent(_stage: str, _done: int, _total: int) -> None:
    """Report nothing."""


Stage = Literal["partitioning", "polishing", "searching the lattice", "leaving rows out"]
_LEFT_TEXTS = {
    "partitioning": "parts that could perhaps be cut further",
    "polishing": "classes that were not gone over to the end",
    "searching the lattice": "combinations of heights that could be better",
    "leaving rows out": "set of rows that was not tried",
}


class EarlyStop(BaseModel):
    """A search that its time limit ended, after `seconds`: the best result by then was taken.

    Every bound holds all the same. `left` counts what was not examined: parts of the rows, or
    columns of a grid, that might be cut further; classes that might be polished; nodes of the
    lattice that might be better.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    stage: Stage
    left: Annotated[int, Field(ge=0, le=2**63)]

    def __str__(self) -> str:
        """Return it in words."""
        return (
            f"{self.stage} ended after {self.seconds:g} s, {self.left:,} {_LEFT_TEXTS[self.stage]}"
        )


def deadline(seconds: float | None) -> Callable[[], bool] | None:
    """Return a function that tells whether the time limit is over; None without a limit."""
    if seconds is None:
        return None
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


@dataclass(frozen=True)
class StoredData:
    """Where data is stored: its location, its number of rows, and its sha-256 (`storage.digest`, or
    `storage.tree_digest` for the folder of a model). Of a table that keeps its earlier versions,
    `snapshot` says which one that is."""

    location: str
    digest: str
    rows: int = 0
    snapshot: TableSnapshot | None = None

    @classmethod
    def from_file(cls, path: Location, rows: int = 0) -> "StoredData":
        """Return the stored data of a file, of a folder of files, or of those of a pattern.

        Raises DataError (C003) where it cannot be read.
        """
        with read_errors(path):
            if isinstance(path, Path) and is_pattern(path):
                return cls(str(path), pattern_digest(path), rows)
            file = split_sheet(path)[0] if isinstance(path, Path) else path
            return cls(str(path), digest(file), rows)

    @classmethod
    def from_tables(cls, tables: Mapping[str, str], rows: int) -> "StoredData":
        """Return the stored data of tables in memory that are one release, given the sha-256 of
        each by its name."""
        return cls(MEMORY, manifest_digest({**tables}), rows)

    @classmethod
    def from_folder(cls, path: Location) -> "StoredData":
        """Return the stored data of a local folder with everything in it, as a model is released.

        Raises DataError (C003) where it cannot be read, or holds anything but files and folders.
        """
        with read_errors(path):
            folder = local_path(path)
            if folder.is_symlink() or not folder.is_dir():
                raise OSError(f"{folder.name!r} is a link, or not a folder")
            return cls(str(path), tree_digest(folder))


@dataclass(frozen=True)
class TableMeasurements:
    """What was measured on a table: every bound, and the totals of its classes.

    `mark` is that of the cells of classes by microaggregation (`cells_mark`). A release by buckets
    has no classes: it has `rows_in_buckets`, and the sha-256 of each of its `tables`, by the name
    of its file or, in memory, of the table. `label` is what accuracy-guided classes disclose of the
    label, None for others; `moves` tells how many rows are as they were where values are permuted.
    """

    measurements: tuple[Measurement, ...]
    totals: "ClassTotals | None"
    mark: int | None = None
    rows_in_buckets: int = 0
    tables: Mapping[str, str] = field(default_factory=dict)
    label: "LabelDisclosure | NotApplicable | None" = None
    moves: "Unmoved | None" = None

    @property
    def rows(self) -> int:
        """The rows of the output."""
        return self.totals.rows if self.totals else self.rows_in_buckets


class LeftRows(NamedTuple):
    """The rows of a table, in its engine's own kind, that are left when others were `suppressed`,
    and what that gained, None for nothing that is known."""

    table: Any
    suppressed: int = 0
    gain: SuppressionGain | None = None


@dataclass(frozen=True)
class AnonymizedTable:
    """A table that was anonymised, in its engine's own kind, and how it came to be.

    A release by buckets has its `sensitive` values in a second table, and others None.
    `suppressed` of its `rows` input rows are left out, for the `gain` where it is known, and
    `suppressed_cells` by column are nulled,
    where single ones are; `missing_cells` of capped columns were missing before. The `approximated`
    columns were first cut at quantiles, since they have too many values. `early_stop` tells how the
    time limit ended the search, if it did; `salt` is what the pseudonyms are this release's own by,
    in hexadecimal digits. `sample`, `masked` and `formed` are what was seen when its rows were
    sampled, its columns masked, and its classes microaggregated; `doubts` is what the owner should
    know besides. `origins` are the rows of the input that its rows are made from, (rows,), where
    the input has its rows numbered, and `before` has their values in columns that intruders know.
    `persons` are words for the persons of its rows, (rows,), where the engine knows them by now.
    The cells of `compared` columns are compared with those of the input when they are read back.
    `engine_state` is what only the engine needs to write and to measure it, such as the person of
    each row.
    """

    table: Any = field(repr=False)
    rows: int
    sensitive: Any = field(default=None, repr=False)
    suppressed: int = 0
    gain: SuppressionGain | None = None
    suppressed_cells: Mapping[str, int] = field(default_factory=dict)
    missing_cells: Mapping[str, int] = field(default_factory=dict)
    approximated: tuple[str, ...] = ()
    early_stop: EarlyStop | None = None
    salt: str | None = field(default=None, repr=False)
    sample: SampleEvidence | None = field(default=None, repr=False)
    masked: "MaskingEvidence | None" = field(default=None, repr=False)
    formed: "ClassEvidence | None" = field(default=None, repr=False)
    doubts: tuple[str, ...] = ()
    origins: "NDArray[np.int64] | None" = field(default=None, repr=False)
    before: Any = field(default=None, repr=False)
    persons: "NDArray[np.uint64] | None" = field(default=None, repr=False)
    compared: tuple[str, ...] = ()
    engine_state: Any = field(default=None, repr=False)


@dataclass(frozen=True)
class WrittenTable:
    """A table that was written, and the anonymised table it was written from, if this run made it.

    `masked`, `formed` and `missing_cells` are what the input tells of masked columns, of classes by
    microaggregation and of capped columns, where another run made the table; `before` has the rows
    of its input, each in the place of its own, as far as they are needed. A release
    in memory keeps its `table`, in its engine's own kind, also after it was written to a place, and
    one by buckets both `tables`, by their names.
    """

    stored: StoredData
    anonymized: AnonymizedTable | None = field(default=None, repr=False)
    table: Any = field(default=None, repr=False)
    tables: Mapping[str, Any] = field(default_factory=dict, repr=False)
    masked: "MaskingEvidence | None" = field(default=None, repr=False)
    formed: "ClassEvidence | None" = field(default=None, repr=False)
    missing_cells: Mapping[str, int] | None = None
    before: Any = field(default=None, repr=False)

    @property
    def rows_before(self) -> Any:
        """The values that intruders know, row by row as released, None where nobody can tell."""
        return self.anonymized.before if self.anonymized else self.before

    @property
    def evidence(self) -> "MaskingEvidence | None":
        """What is known of the masked columns, None where only the output is at hand."""
        return self.anonymized.masked if self.anonymized else self.masked

    @property
    def class_evidence(self) -> "ClassEvidence | None":
        """What is known of classes by microaggregation, None where only the output is at hand."""
        return self.anonymized.formed if self.anonymized else self.formed

    @property
    def missing_before(self) -> Mapping[str, int] | None:
        """How many cells of each capped column were missing in the rows of the input, None where
        only the output is at hand."""
        return self.anonymized.missing_cells if self.anonymized else self.missing_cells

    def made_here(self) -> AnonymizedTable:
        """Return what was written. Raises InternalError (X001) where another run made it."""
        if self.anonymized is None:
            raise InternalError.of("X001", "The table was not made here.")
        return self.anonymized

    def with_location(self, location: Location) -> "WrittenTable":
        """Return the same table, moved to another place."""
        return replace(self, stored=replace(self.stored, location=str(location)))


class Engine(Protocol):
    """Reads, transforms, writes and groups tables; `Any` stands for its own kind of table.

    The result of a call does not depend on others: everything that a later call needs is in what
    an earlier one returned. What an engine keeps between calls saves time alone, until `close`.
    """

    taxonomies: Mapping[str, "Taxonomy"]
    """The taxonomies that plans name."""
    group_keys: Mapping[str, "GroupKeys"]
    """The public keys of groups that plans name."""

    @property
    def session(self) -> Any:
        """The session in whose catalog tables are published, None where there is none."""
        ...

    def read(self, step: Read, *, may_be_empty: bool = False) -> tuple[Any, StoredData]:
        """Return the columns of the input, and where the input is stored."""
        ...

    def stored(self, step: Read) -> StoredData:
        """Return where an input is stored, and its digest, without reading its rows."""
        ...

    def check_countable(self, table: Any, step: AggregateStep) -> None:
        """Raise DataError (C009) for a table with columns that no statistics can be made of, by
        their types alone."""
        ...

    def tally(
        self, table: Any, step: AggregateStep, public: "Sequence[Key] | None", secret: bytes
    ) -> "Tallies":
        """Return the exact statistics of a table, with the contributions of units bounded by a
        `secret` of 16 bytes; `public` are the keys of groups, None where the data have them."""
        ...

    def statistics_table(self, table: "pa.Table") -> AnonymizedTable:
        """Return a table of statistics, in the engine's own kind, to be written."""
        ...

    def randomise(self, table: Any, step: Randomise) -> AnonymizedTable:
        """Return an answer for each record of a table, in an order that tells nothing."""
        ...

    def strange_cells(self, written: WrittenTable, step: Randomise) -> tuple[int, ...]:
        """Read a written table back, and return how many cells of each column are none that could
        have been drawn."""
        ...

    def synthesise(
        self, table: Any, step: Synthesise, output: Publish, seed: int, held_out: float = 0
    ) -> AnonymizedTable:
        """Return rows that a generator made up once it had learnt a table, all drawn by a seed; it
        never sees the share of rows `held_out`."""
        ...

    def train_generator(
        self,
        table: Any,
        step: TrainGenerator,
        output: Publish,
        seed: int,
        held_out: float,
        folder: Path,
    ) -> AnonymizedTable:
        """Write a generator that has learnt a table into a folder, and return rows drawn from what
        was written; it never sees the share of rows `held_out`."""
        ...

    def foreign_cells(
        self, written: WrittenTable, step: Synthesise | TrainGenerator
    ) -> tuple[int, tuple[int, ...]]:
        """Read a table back that this run has made up, and return how many rows it has, and how
        many cells of each column lie outside of what the input has."""
        ...

    def join(self, tables: Sequence[Any], step: Join) -> tuple[Any, tuple[int, ...]]:
        """Return the rows of several tables joined by their key, and the number of rows of each
        table."""
        ...

    def texts(self, table: Any, names: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """Return the distinct texts in a table's first rows, by column; none for other types."""
        ...

    def sample(self, table: Any, step: Sample) -> tuple[Any, SampleEvidence]:
        """Return a sample of the rows of a table, and what is known of it."""
        ...

    def weights(self, written: WrittenTable, step: Sample) -> Mapping[float | None, int]:
        """Read a written table back, and return its rows by weight, None for what is none."""
        ...

    def compare_sampled(
        self, written: WrittenTable, plan: "Plan", table: Any = None
    ) -> "SampledOutput":
        """Read a written table back as a sample, of an input `table` if one is given."""
        ...

    def row_number(self, table: Any) -> int:
        """Return how many rows a table that was read has."""
        ...

    def strange_rows(
        self, written: WrittenTable, table: Any, names: Sequence[str], present: str = ""
    ) -> int:
        """Return how many rows of a written table have values, in some columns that are published
        as they are, that no row of its input has, or have them more often.

        Of the `present` column, which may lack values, only rows with one count. Values are the
        same however the files of the two write them.
        """
        ...

    def missing_cells(self, table: Any, step: Anonymize) -> Mapping[str, int]:
        """Return how many cells of each column with a cap an input lacks."""
        ...

    def other_types(
        self,
        written: WrittenTable,
        table: Any,
        names: Sequence[str],
        labelled: Sequence[str] = (),
    ) -> Mapping[str, str]:
        """Return the types of those of some columns of a written table that do not keep those of
        its input, by name; `labelled` columns may hold texts. Files without types have none."""
        ...

    def mask(self, table: Any, step: Mask) -> tuple[Any, "MaskingEvidence"]:
        """Return the table with the columns of a step masked, and what was seen of them."""
        ...

    def look_at_masked(
        self, table: Any, step: Mask, output: WrittenTable, unmasked: Sequence[str]
    ) -> "MaskingEvidence":
        """Return what an input tells of the columns of a step, without masking them.

        So do the rows of an output that another run made of it, where its `unmasked` columns,
        which are published as they are, tell them apart.
        """
        ...

    def released_rows(self, table: Any, step: Anonymize, output: Publish) -> "LeftRows":
        """Return the rows of a table that are not suppressed when classes are formed."""
        ...

    def guide(self, table: Any, fitting: "GuideFitting") -> Any:
        """Return a table with the targets of its rows in hidden columns, by which their classes are
        cut: what `fitting` learns from its rows."""
        ...

    def identify(self, table: Any, unit: str, key: bytes, names: Sequence[str]) -> tuple[Any, str]:
        """Return some columns of a table, with who each of its rows is of in a hidden one, and a
        word for the type of the unit, empty without one.

        Persons are those of the `unit` or, without one, rows by their whole content; who they are
        is told by keyed hashes that are the same in every table.
        """
        ...

    def respelt(
        self, table: Any, unit: str, key: bytes
    ) -> "tuple[NDArray[np.uint64], NDArray[np.uint64]]":
        """Return who of a table's persons may be written another way in other tables, and what
        tells that, (persons,) each, in any order: the keyed hashes of `identify`, and one that is
        the same for all persons who differ in case, blanks or punctuation.

        Only a `unit` of texts has any. Raises DataError (R011) where the driver cannot hold so
        many.
        """
        ...

    def everybody(self, table: Any) -> "NDArray[np.uint64]":
        """Return the persons of the rows of a table that tells them, (rows,), in any order.

        Raises DataError (R018) where the driver cannot hold so many.
        """
        ...

    def with_earlier(
        self,
        table: Any,
        persons: "NDArray[np.uint64]",
        cells: "NDArray[np.int64]",
        valued: Sequence[tuple[int, str]],
    ) -> Any:
        """Return a table with the intersection of the classes of earlier releases that each row is
        in, and its pairs with the `valued` sensitive columns, in hidden columns.

        `persons` (persons,) are all of the input, in order, and `cells` their intersections.
        """
        ...

    def released_persons(self, written: WrittenTable, step: Anonymize) -> "ReleasedPersons | None":
        """Read a written table back that this run has made of identified rows, and return who is in
        which class; None where that is not known of such a release."""
        ...

    def anonymize(self, table: Any, step: Anonymize, output: Publish) -> AnonymizedTable:
        """Return the table with its quasi-identifiers generalised, in a new order of rows."""
        ...

    def write(self, anonymized: AnonymizedTable, destination: Path | str | None) -> WrittenTable:
        """Write a table, flushed to the disk; without a destination, keep it in memory."""
        ...

    def write_again(self, written: WrittenTable, destination: Path | str) -> WrittenTable:
        """Write a table that was written, or is in memory, to another place as well."""
        ...

    def output(self, written: WrittenTable) -> Any:
        """Return a table that was written, its columns with their types."""
        ...

    def columns(self, written: WrittenTable) -> tuple[str, ...]:
        """Return the names of a written table's columns."""
        ...

    def unique_rows(self, table: Any, sets: Sequence[tuple[str, ...]]) -> tuple[int, ...]:
        """Return how many rows of a table that was read, or of a written one, which is read back,
        are unique on each set of columns; a missing value is a value like any other."""
        ...

    def measure(self, written: WrittenTable, step: Anonymize) -> "TableMeasurements":
        """Read a written table back, form its classes and measure every bound on them."""
        ...

    def measure_maskings(self, written: WrittenTable, step: Mask) -> tuple["ColumnJudgement", ...]:
        """Read a written table back, and count the cells that are not masked as they should be."""
        ...

    def close(self, keep: WrittenTable | None = None) -> None:
        """Free what a run keeps in memory, except a release in memory that is to be kept."""
        ...
