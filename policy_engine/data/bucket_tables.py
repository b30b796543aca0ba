"""The two tables of a release by buckets: exact quasi-identifiers, and sensitive values."""

from collections.abc import Mapping
from pathlib import Path

from policy_engine.data.storage import data_files
from policy_engine.data.table_files import FORMATS, match_format, unreadable_file
from policy_engine.errors import DataError

QUASI_IDENTIFIERS = "quasi-identifiers"
SENSITIVE = "sensitive"
TABLES = (QUASI_IDENTIFIERS, SENSITIVE)
"""The names of the tables, which those of their files begin with."""


def table_paths(folder: Path) -> Mapping[str, Path]:
    """Return where the tables of a release by buckets are, by name.

    `folder` ends like one of the formats that the local engine writes.
    """
    kind = match_format(folder.name, FORMATS) or "csv"
    return {name: folder / f"{name}.{kind}" for name in TABLES}


def is_in_buckets(location: Path) -> bool:
    """Tell whether a folder has the two tables of a release by buckets, and no other data.

    Raises DataError (C003) where that cannot be told.
    """
    if not match_format(location.name, FORMATS):
        return False
    try:
        if not location.is_dir():
            return False
        return {*data_files(location)} == {path.name for path in table_paths(location).values()}
    except (OSError, ValueError) as error:
        raise unreadable_file(location, error) from None


def refuse_buckets(location: Path) -> None:
    """Raise DataError (C014) for a release by buckets where one table is meant."""
    if is_in_buckets(location):
        message = f"{str(location)!r} is a release by buckets: two tables that nothing joins row "
        hint = "Requests and queries read it. Give one of its files to read that as a table."
        raise DataError.of("C014", f"{message}by row.", hint)
