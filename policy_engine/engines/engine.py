"""What every engine can do, and how it tells of its progress."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.data.storage import Place, digest, local_path, reading, whole_digest
from policy_engine.methods import Measurement
from policy_engine.plan.inputs import Join, Read
from policy_engine.plan.plan import Anonymize, Publish

if TYPE_CHECKING:
    from policy_engine.data.taxonomy import Taxonomy
    from policy_engine.kernels.grouping import Whole

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
    """A table where it lies: its location, its sha-256 (`storage.digest`; `storage.whole_digest`
    of a model's folder), its rows."""

    location: str
    digest: str
    rows: int = 0

    @classmethod
    def of_file(cls, path: Place, rows: int = 0) -> "Stored":
        """Return a file, or a folder of files, as it lies; DataError (C003) where it cannot be
        read."""
        with reading(path):
            return cls(str(path), digest(path), rows)

    @classmethod
    def of_folder(cls, path: Place) -> "Stored":
        """Return a folder of this machine with all that is in it, as a model is released.

        Raises DataError (C003) where it cannot be read, or holds what is neither file nor folder.
        """
        with reading(path):
            place = local_path(path)
            if place.is_symlink() or not place.is_dir():
                raise OSError(f"{place.name!r} is a link, or no folder")
            return cls(str(path), whole_digest(place))


@dataclass(frozen=True)
class Measured:
    """What was measured on a table: of every bound, and of its classes together."""

    measurements: tuple[Measurement, ...]
    whole: "Whole"


class Engine(Protocol):
    """Reads, transforms, writes and groups tables; `Any` stands for its own kind of table."""

    suppressed: int
    """How many rows the last anonymisation left out."""
    rows: int
    """How many rows it was given."""
    ended: Ended | None
    """How the last anonymisation's search was ended by its time limit, where it was."""
    approximated: tuple[str, ...]
    """The columns that were first cut at quantiles, being of too many values."""
    taxonomies: Mapping[str, "Taxonomy"]
    """The taxonomies that plans name."""
    salt: str
    """What the pseudonyms of this run are its own by, in hexadecimal digits."""

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

    def anonymize(self, table: Any, step: Anonymize, output: Publish) -> Any:
        """Return the table with its quasi-identifiers generalised, in an order of its own."""
        ...

    def write(self, table: Any, destination: Path | str | None) -> Stored:
        """Write the table, flushed to the disk; or keep it in memory without a destination."""
        ...

    @property
    def written(self) -> Any:
        """The table that was written last, as it can be written again."""
        ...

    def output(self, place: Path | str | None = None) -> Any:
        """Return the table that was written last, its columns by their types; as it lies in a
        place, where it is not held."""
        ...

    def columns(self, stored: Stored) -> tuple[str, ...]:
        """Return the names of a stored table's columns."""
        ...

    def measure(self, stored: Stored, step: Anonymize) -> "Measured":
        """Read a stored table again, form its classes and measure every bound on them."""
        ...

    def close(self, *, keep: bool = False) -> None:
        """Let go of what was held for a run; with `keep`, a release in memory stays."""
        ...
