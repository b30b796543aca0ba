"""What every engine can do, and how it tells of its progress."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.data.storage import Location, digest, local_path, read_errors, tree_digest
from policy_engine.methods import Measurement
from policy_engine.plan.inputs import Join, Read
from policy_engine.plan.steps import Anonymize, Mask, Publish

if TYPE_CHECKING:
    from policy_engine.data.taxonomy import Taxonomy
    from policy_engine.kernels.grouping import ClassTotals

FIRST_ROWS = 1_000
"""How many rows are looked at to see what a column holds."""
Progress = Callable[[str, int, int], None]
"""Told what is being done, how many rows of it are done, and how many there are (0: unknown)."""


def silent(_stage: str, _done: int, _total: int) -> None:
    """Tell nobody."""


Stage = Literal["partitioning", "polishing", "searching the lattice"]
_LEFT = {
    "partitioning": "parts that could perhaps be cut further",
    "polishing": "classes that were not gone over to the end",
    "searching the lattice": "combinations of heights that could be better",
}


class Ended(BaseModel):
    """A search that was ended by its limit, in `seconds`: the best found by then was taken.

    Every bound holds all the same. `left` is what was not looked at: parts of the rows, or columns
    of a grid, that could perhaps be cut further; classes that could be polished; nodes of the
    lattice that could be better.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    stage: Stage
    left: Annotated[int, Field(ge=0, le=2**63)]

    def __str__(self) -> str:
        """Return it in words."""
        return f"{self.stage} ended after {self.seconds:g} s, {self.left:,} {_LEFT[self.stage]}"


def deadline(seconds: float | None) -> Callable[[], bool] | None:
    """Return what tells whether so many seconds from now are over, None where there is no limit."""
    if seconds is None:
        return None
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


@dataclass(frozen=True)
class Stored:
    """A table where it lies: its location, its sha-256 (`storage.digest`; `storage.tree_digest`
    of a model's folder), its rows."""

    location: str
    digest: str
    rows: int = 0

    @classmethod
    def of_file(cls, path: Location, rows: int = 0) -> "Stored":
        """Return a file, or a folder of files, as it lies; DataError (C003) where it cannot be
        read."""
        with read_errors(path):
            return cls(str(path), digest(path), rows)

    @classmethod
    def of_folder(cls, path: Location) -> "Stored":
        """Return a folder of this machine with all that is in it, as a model is released.

        Raises DataError (C003) where it cannot be read, or holds what is neither file nor folder.
        """
        with read_errors(path):
            folder = local_path(path)
            if folder.is_symlink() or not folder.is_dir():
                raise OSError(f"{folder.name!r} is a link, or no folder")
            return cls(str(path), tree_digest(folder))


@dataclass(frozen=True)
class Measured:
    """What was measured on a table: of every bound, and of its classes together."""

    measurements: tuple[Measurement, ...]
    whole: "ClassTotals"


@dataclass(frozen=True)
class Anonymized:
    """A table that was anonymised, in its engine's own kind, and how it came to be.

    `rows` were given and `suppressed` of them left out; the `approximated` columns were first cut
    at quantiles, being of too many values. `ended` tells how the search was ended by its time
    limit, where it was; `salt` is what the pseudonyms are this release's own by, in hexadecimal
    digits. What its engine alone needs to write and to measure it is its `own`, such as who the
    rows are about.
    """

    table: Any = field(repr=False)
    rows: int
    suppressed: int = 0
    approximated: tuple[str, ...] = ()
    ended: Ended | None = None
    salt: str | None = field(default=None, repr=False)
    own: Any = field(default=None, repr=False)


@dataclass(frozen=True)
class Written:
    """A table as it lies, with what it was `made` as, None where the engine did not make it.

    A table in memory is `held` in its engine's own kind, also once it was written to a place.
    """

    stored: Stored
    made: Anonymized | None = field(default=None, repr=False)
    held: Any = field(default=None, repr=False)

    def at(self, location: Location) -> "Written":
        """Return the same where it was moved to."""
        return replace(self, stored=replace(self.stored, location=str(location)))


class Engine(Protocol):
    """Reads, transforms, writes and groups tables; `Any` stands for its own kind of table.

    No call depends on those before it: what one found is in what it returned.
    """

    taxonomies: Mapping[str, "Taxonomy"]
    """The taxonomies that plans name."""

    @property
    def session(self) -> Any:
        """The session in whose catalog tables are published, None where there is none."""
        ...

    def read(self, step: Read) -> tuple[Any, Stored]:
        """Return the columns of the input, and the input as it lies."""
        ...

    def join(self, tables: Sequence[Any], step: Join) -> tuple[Any, tuple[int, ...]]:
        """Return the rows of several tables put together that have the same key, and how many
        rows each had."""
        ...

    def texts(self, table: Any, names: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """Return different texts of a table's first rows by column, none of one without texts."""
        ...

    def mask(self, table: Any, step: Mask) -> Any:
        """Return the table with the columns of a step masked, value by value."""
        ...

    def anonymize(self, table: Any, step: Anonymize, output: Publish) -> Anonymized:
        """Return the table with its quasi-identifiers generalised, in an order of its own."""
        ...

    def write(self, made: Anonymized, destination: Path | str | None) -> Written:
        """Write a table, flushed to the disk; or keep it in memory without a destination."""
        ...

    def write_again(self, written: Written, destination: Path | str) -> Written:
        """Write what was written, or is held, to another place as well."""
        ...

    def output(self, written: Written) -> Any:
        """Return a table that was written, its columns by their types."""
        ...

    def columns(self, written: Written) -> tuple[str, ...]:
        """Return the names of a written table's columns."""
        ...

    def measure(self, written: Written, step: Anonymize) -> "Measured":
        """Read a written table again, form its classes and measure every bound on them."""
        ...

    def measure_masks(self, written: Written, step: Mask) -> tuple[Measurement, ...]:
        """Read a written table again, and measure which cells do not keep their masking."""
        ...

    def close(self, keep: Written | None = None) -> None:
        """Let go of what was held for a run, but for a release in memory that is to be kept."""
        ...
