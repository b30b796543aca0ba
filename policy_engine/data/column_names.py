"""The names of columns: as IRIs, which are too similar, and which a table lacks."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from policy_engine import terms
from policy_engine.errors import NOWHERE, DataError, Place, Problem, did_you_mean, join_names
from policy_engine.terms import compose

if TYPE_CHECKING:
    from policy_engine.data.catalog import Dataset

_UNICODE_HINT = (
    "The data writes it in another form of Unicode than C, which names in IRIs have. "
    "Rename its column."
)
_ESCAPED = re.compile(r"[\s/?#%]")
_MOST_PLACES = 20


def column_name(dataset: str, column: str) -> str | None:
    """Return the name of a dataset's column by its IRI, None for a column of another one."""
    if terms.dataset_of(column) != dataset:
        return None
    return unquote(column.removeprefix(f"{dataset}/"))


@lru_cache(maxsize=4_096)
def column_iri(dataset: str, name: str) -> str:
    """Return the IRI of a column: its dataset's, a slash, and the column's name."""
    return f"{dataset}/{quote(name, safe='')}"


def missing_columns(names: tuple[str, ...], dataset: "Dataset") -> Iterator[Problem]:
    """Yield a problem for each column that the dataset lacks, with the nearest names."""
    missing = [name for name in names if name not in dataset.columns]
    if missing and len(missing) == len(names):
        # The first line may be a person's data: it is not quoted.
        lacks = "none of the columns" if len(names) > 1 else "no column"
        message = f"{dataset.iri} has {lacks} {join_names(names)}."
        normalized = {*map(compose, dataset.columns)}
        hint = _UNICODE_HINT if any(compose(name) in normalized for name in names) else ""
        yield Problem(
            "C005",
            message,
            hint or separator_hint(dataset.columns) or "Does the file have a header?",
        )
        return
    for name in missing:
        yield missing_column(name, dataset)


def missing_column(name: str, dataset: "Dataset", place: Place = NOWHERE) -> Problem:
    """Return the problem of a column that a dataset lacks, with the nearest name.

    Where that name looks the same, its IRI shows the difference.
    """
    message = f"{dataset.iri} has no column {name!r}."
    matches = [
        column for column in dataset.columns if column and fold_name(column) == fold_name(name)
    ]
    hint = f"Did you mean {matches[0]!r}{_iri_of(matches[0], dataset)}?" if matches else ""
    if matches and compose(matches[0]) == compose(name):
        hint = _UNICODE_HINT
    return Problem("C005", message, hint or _similar_columns(name, dataset), place)


def _iri_of(column: str, dataset: "Dataset") -> str:
    """Return a column's IRI behind a comma; nothing where the dataset is called by its file."""
    return f", {column_iri(dataset.iri, column)}" if terms.is_absolute(dataset.iri) else ""


def _similar_columns(name: str, dataset: "Dataset") -> str:
    """Return a hint at similar columns, with their IRIs where these are spelt differently."""
    hint = did_you_mean(name, dataset.columns)
    columns = [
        column for column in dataset.columns if repr(column) in hint and _ESCAPED.search(column)
    ]
    if not hint and dataset.format in _OF_ARRAYS and len(dataset.columns) <= _FEW:
        # The names of arrays are their own, and no value of a first row.
        return f"It has {join_names(dataset.columns)}."
    if not columns or not terms.is_absolute(dataset.iri):
        return hint
    iris = [column_iri(dataset.iri, column) for column in columns]
    return f"{hint} As an IRI: {join_names(iris, 'or')}."


_FEW, _OF_ARRAYS = 20, ("npy", "npz")


def fold_name(name: str) -> str:
    """Return a name in which names that people take for the same one are equal.

    Case, blanks around it and the form of its accents (Unicode Standard Annex 15) are gone.
    """
    return compose(compose(name).casefold()).strip()


def lower_case(name: str) -> str:
    """Return a name in lower case, its accents in Unicode's form C."""
    return compose(compose(name).lower())


def separator_hint(names: Sequence[str]) -> str:
    """Return what to do with a table of one column whose name has the separators of others."""
    header = names[0] if len(names) == 1 else ""
    for mark, name in ((";", "semicolons"), ("\t", "tabs")):
        if mark in header:
            return f"The cells of a CSV file are separated by commas; these seem to be by {name}."
    return ""


def check_column_names(names: tuple[str, ...], source: str) -> None:
    """Check the names of a table's columns.

    Raises DataError where there are none (C010), two are equal (C006), or one can be confused
    with another or with a path segment (C015).
    """
    if not names:
        raise DataError.of("C010", "The table has no columns.", source=source)
    check_unique_names(names, source)
    _check_distinguishable(names, source)


def check_unique_names(names: Sequence[str], source: str) -> None:
    """Raise DataError (C006) where two of the names of a table's columns are equal."""
    counts = Counter(names)
    repeated = [number for number, name in enumerate(names, start=1) if counts[name] > 1]
    if repeated:
        # Without a header, the first line is a person's data: no name is quoted.
        places = ", ".join(map(str, repeated[:_MOST_PLACES]))
        more = ", and more" if len(repeated) > _MOST_PLACES else ""
        message = f"Column names must be unique. Columns {places}{more} share theirs with others."
        raise DataError.of("C006", message, "Does the file have a header?", source=source)


def _check_distinguishable(names: tuple[str, ...], source: str) -> None:
    """Refuse names that SQL, or a reader, takes for the same one.

    None is quoted: the first line of a file may be a person's data.
    """
    numbers: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if name in (".", ".."):
            message = f"Column {number} is named by a dot or two, a step of a path in an IRI."
            raise DataError.of("C015", message, "Rename it.", source)
        other = numbers.setdefault(fold_name(name), number)
        if other != number:
            message = f"The names of columns {other} and {number} differ only in case, in blanks "
            message += "around them or in the form of their accents."
            raise DataError.of("C015", message, "Rename one of them.", source)
