"""Which types the columns of CSV files are said to have, in the words of CSVW's datatypes."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

from policy_engine.data.csv_format import absolute_path
from policy_engine.data.places.patterns import files_at

Datatype = Literal["string", "integer", "number", "date", "dateTime", "time"]
DATATYPES: tuple[Datatype, ...] = get_args(Datatype)

_Types = Mapping[str, Datatype]
_NONE: _Types = MappingProxyType({})
_TYPES: ContextVar[Mapping[Path, _Types]] = ContextVar("types", default=MappingProxyType({}))


@contextmanager
def columns_as(types: _Types, path: str | Path) -> Iterator[None]:
    """Have columns of a CSV file, of a folder or of the files of a pattern be of some types within
    the block, in this thread. The others have the type that all of their cells have."""
    files = {absolute_path(Path(file)): types for file in files_at(path)}
    token = _TYPES.set({**_TYPES.get(), **files})
    try:
        yield
    finally:
        _TYPES.reset(token)


def types_of(path: Path) -> _Types:
    """Return the types that the columns of a file are said to have, by their names."""
    by_path = _TYPES.get()
    if not by_path:
        return _NONE
    place = absolute_path(path)
    return next((by_path[one] for one in (place, *place.parents) if one in by_path), _NONE)
