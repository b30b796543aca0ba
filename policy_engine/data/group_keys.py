"""The keys of groups that everybody may know, from a file that is not the data."""

import csv
import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, field

from policy_engine.errors import DataError, PolicyEngineError, join_names

MOST_KEYS = 1_000_000


@dataclass(frozen=True)
class GroupKeys:
    """The public keys of groups: a text of every column in each of the `rows`, in their order.

    `digest` is the sha-256 of the file.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...] = field(repr=False)
    digest: str = ""
    name: str = ""

    def of(self, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Return the keys with their columns in the given order.

        Raises DataError (C016) where the columns are others.
        """
        if sorted(names) != sorted(self.columns):
            message = f"The keys have the columns {join_names(self.columns)}. Groups are by "
            raise DataError.of("C016", f"{message}{join_names(names)}.", source=self.name)
        places = [self.columns.index(name) for name in names]
        return tuple(tuple(row[place] for place in places) for row in self.rows)


def read_group_keys(content: bytes, name: str = "") -> GroupKeys:
    """Return the keys of a CSV file with a header; cells are texts, exactly as written.

    Raises DataError (C016) where it is not UTF-8, ragged, empty, or has a key twice.
    """
    try:
        text = io.StringIO(content.decode("utf-8-sig"), newline="")
        lines = [row for row in csv.reader(text, strict=True) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise _wrong(f"they are not CSV in UTF-8 ({type(error).__name__})", name) from None
    if len(lines) < 2:
        raise _wrong("there is no key below the header", name)
    header, *rows = map(tuple, lines)
    if len({*header}) < len(header):
        raise _wrong("two columns have one name", name)
    ragged = next((number for number, row in enumerate(rows, 2) if len(row) != len(header)), None)
    if ragged:
        raise _wrong(f"row {ragged} has another number of cells than the header", name)
    if len({*rows}) < len(rows):
        raise _wrong("a key is given twice", name)
    if len(rows) > MOST_KEYS:
        raise _wrong(f"there are {len(rows):,}, and {MOST_KEYS:,} are allowed", name)
    return GroupKeys(header, tuple(rows), hashlib.sha256(content).hexdigest(), name)


def _wrong(fault: str, name: str) -> PolicyEngineError:
    message = f"The keys of groups cannot be read: {fault}."
    hint = "Give a CSV file with a column for each that is grouped by."
    return DataError.of("C016", message, hint, name)
