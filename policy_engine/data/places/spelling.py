"""How places are spelt that are neither files nor folders, and how they are shown."""

import re
from pathlib import Path
from typing import TypeGuard

DATABASE_FILES = ("duckdb", "sqlite")
SERVERS = ("postgresql", "postgres")
_DATABASE = re.compile(rf"({'|'.join((*DATABASE_FILES, *SERVERS))}):", re.IGNORECASE)
_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_BEGINNING = re.compile(
    rf"(?:jdbc:)?(?:(?:{'|'.join(SERVERS)}):/*|[a-z][a-z0-9+.-]+:/+)", re.IGNORECASE
)
_CUTS = re.compile("[:/?#@]")
_HOST_AND_QUERY = re.compile(r"[^:/?#@]*:[0-9]*(/[^?@]*)?\?")
_SECRET = "***"  # noqa: S105 (what is shown in the place of one)


def is_database(source: object) -> TypeGuard[str]:
    """Tell whether a text names a table of a database."""
    return isinstance(source, str) and _DATABASE.match(source) is not None


def is_output_database(source: object) -> TypeGuard[str]:
    """Tell whether a text names a table in a file of a database, which a release may be."""
    return is_database(source) and scheme(source) in DATABASE_FILES


def is_place(source: object) -> TypeGuard[str]:
    """Tell whether a text names a table of a database, or is a URL; a Path is always a path."""
    if is_database(source):
        return True
    return isinstance(source, str) and _URL.match(source) is not None and scheme(source) != "file"


def source_name(source: str | Path) -> str:
    """Return what the source of a table is called: the last part of its path, or the name of a
    table of a database; nothing secret."""
    if not is_place(source):
        return Path(source).name
    place, _, table = redacted(source).partition("#")
    return (
        table.rpartition(".")[2]
        if table and is_database(source)
        else Path(place.partition("?")[0]).name
    )


def scheme(place: str) -> str:
    """Return what a place begins with, in small letters."""
    return place.partition(":")[0].lower()


def redacted(place: str) -> str:
    """Return a place as it may be shown and kept: without a password, and without a query, since
    that may hold one, or a signature that lets anybody read; so too where it is not spelt rightly.

    A password that was not escaped may have any mark in it: up to the last @, all is left out.
    Where marks could be those of a password or of a query, all is left out to the end.
    """
    beginning = _BEGINNING.match(place)
    if not beginning:
        return place
    start, rest = beginning[0], place[beginning.end() :]
    user = _CUTS.split(rest, maxsplit=1)[0]
    if rest[len(user) :].startswith(":") and "@" in rest:
        if _HOST_AND_QUERY.match(rest):
            return f"{start}{user}:{_SECRET}"
        rest = f"{user}:{_SECRET}@{rest.rpartition('@')[2]}"
    before, is_query, query = rest.partition("?")
    if not is_query:
        return start + rest
    table = query.partition("#")[2] if query.count("#") == 1 else ""
    return f"{start}{before}?{_SECRET}" + (f"#{table}" if table else "")
