"""How the cells of a CSV file are written: what separates them, its encoding, its decimals."""

import codecs
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from policy_engine.data.places.patterns import files_at
from policy_engine.errors import DataError

_NOT_BETWEEN = frozenset('"\r\n.\\-+') | frozenset("0123456789")
_NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}


@dataclass(frozen=True)
class CsvFormat:
    """How a CSV file is written, in the words of CSVW's dialects; what is empty is found out.

    The `delimiter` is one character, or `tab`; the `encoding` is one that Python knows; the
    `decimal` is `,` or `.`. Raises DataError (C008, C010) for others.
    """

    delimiter: str = ""
    encoding: str = ""
    decimal: str = ""

    def __post_init__(self) -> None:
        """Check what is given."""
        mark = _NAMES.get(self.delimiter.lower(), self.delimiter)
        object.__setattr__(self, "delimiter", mark)
        is_mark = len(mark) == 1 and mark.isascii() and not mark.isalpha()
        if mark and (not is_mark or mark in _NOT_BETWEEN):
            message = f"The delimiter is not allowed to be {mark!r}."
            hint = "Allowed is one character between cells, such as ';' or '|', or 'tab'."
            raise DataError.of("C010", message, hint)
        if self.decimal not in ("", ",", "."):
            message = f"The decimal mark is not allowed to be {self.decimal!r}."
            raise DataError.of("C010", message, "Allowed is ',' or '.'.")
        if self.encoding:
            object.__setattr__(self, "encoding", _known_encoding(self.encoding))


def _known_encoding(name: str) -> str:
    """Return Python's name of an encoding. Raises DataError (C008) for one that is not known."""
    try:
        info = codecs.lookup(name)
        "".encode(name)  # else it is not one of texts
        for errors in ("replace", "surrogateescape"):  # else it is one of names of machines
            codecs.getincrementaldecoder(name)(errors).decode(b"a")
    except (LookupError, ValueError, TypeError):
        message = f"The encoding {name!r} is not known."
        hint = "Allowed are those of Python, such as 'utf-8', 'windows-1252' or 'iso-8859-15'."
        raise DataError.of("C008", message, hint) from None
    return "utf-8" if info.name == "utf-8-sig" else info.name


_Declared = tuple[frozenset[Path], CsvFormat]
_DECLARED: ContextVar[tuple[_Declared, ...]] = ContextVar("declared", default=())


@contextmanager
def csv_files_as(form: CsvFormat, *paths: str | Path) -> Iterator[None]:
    """Have files, folders or patterns be read in a format within the block, in this thread.

    No other file is: what is written, and read again, is UTF-8 with commas. Of blocks within one
    another, the inner one counts for a file that both name.
    """
    files = frozenset(absolute_path(Path(file)) for one in paths for file in files_at(one))
    token = _DECLARED.set(((files, form), *_DECLARED.get()))
    try:
        yield
    finally:
        _DECLARED.reset(token)


def declared_format(path: Path) -> CsvFormat:
    """Return the format that a file, or the folder that it is in, was said to have."""
    pairs = _DECLARED.get()
    if not pairs:
        return CsvFormat()
    place = absolute_path(path)
    around = {place, *place.parents}
    return next((form for paths, form in pairs if not paths.isdisjoint(around)), CsvFormat())


def absolute_path(path: Path) -> Path:
    """Return a path without links and from the root, as far as that can be told."""
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):  # a loop of links; a name that is not allowed
        return path


class FormatWarning(UserWarning):
    """A file is not read as UTF-8 with commas, and nobody has said so."""


def _warn(text: str) -> None:
    warnings.warn(text, FormatWarning, stacklevel=2)


_TELL: ContextVar[Callable[[str], None]] = ContextVar("tell", default=_warn)


@contextmanager
def telling(tell: Callable[[str], None]) -> Iterator[None]:
    """Have `tell` say what is found out about files within the block; by default, a warning."""
    token = _TELL.set(tell)
    try:
        yield
    finally:
        _TELL.reset(token)


def tell_format(text: str) -> None:
    """Say what was found out about a file."""
    _TELL.get()(text)
