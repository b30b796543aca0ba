"""Which data an asset's IRI stands for: where it lies, in which format, with which columns."""

import csv
import gzip
import re
import sys
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args
from urllib.parse import quote, unquote

from policy_engine import terms
from policy_engine.data.storage import Place as Location
from policy_engine.data.storage import data_files, folder_values, is_remote
from policy_engine.errors import (
    NOWHERE,
    DataError,
    Place,
    PolicyEngineError,
    Problem,
    did_you_mean,
    join_names,
)

if TYPE_CHECKING:
    from policy_engine.data.taxonomy import Taxonomy

Format = Literal["csv", "csv.gz", "parquet"]
FORMATS: tuple[str, ...] = get_args(Format)
SparkFormat = Literal[Format, "orc", "json", "table"]
SPARK_FORMATS = (*FORMATS, "orc", "json")
"""The endings of files that the Spark engine knows; the local one knows `FORMATS` alone."""
MEMORY = "memory"
TABLE = "table:"
"""How the location of a table of a Spark catalog begins, before its name."""


@dataclass(frozen=True)
class Dataset:
    """One dataset: its IRI, its location (a path or URI, `table:NAME`, or `memory`), format and
    columns."""

    iri: str
    location: str
    format: SparkFormat | Literal["memory"]
    columns: tuple[str, ...]

    def spelled(self, name: str) -> str | None:
        """Return the column that a name stands for, in its case or, as in SQL, in any other.

        Names of IRIs are in Unicode's form C, those of data in any.
        """
        if name in self.columns:
            return name
        same = [one for one in self.columns if one and _lower(one) == _lower(name)]
        return same[0] if len(same) == 1 else None


@dataclass(frozen=True)
class Catalog:
    """The datasets at hand. `tables` holds those that are in memory, by IRI, and `taxonomies`
    those that the columns may be generalised by, by their name in the policy."""

    datasets: tuple[Dataset, ...] = ()
    tables: Mapping[str, Any] = field(default_factory=dict, repr=False)
    taxonomies: Mapping[str, "Taxonomy"] = field(default_factory=dict, repr=False)

    def dataset(self, iri: str) -> Dataset:
        """Return the dataset of an IRI. Raises DataError (C001) where the catalog lacks it."""
        for dataset in self.datasets:
            if dataset.iri == iri:
                return dataset
        known = [dataset.iri for dataset in self.datasets]
        message = f"No data is given for {iri!r}."
        message += f" Data is given for {join_names(known)}." if known else ""
        raise DataError.of("C001", message, f"Give {iri}=PATH.")

    def digests(self, names: tuple[str, ...]) -> dict[str, str]:
        """Return the sha-256 of taxonomies. Raises DataError (C012) with all that are not given."""
        missing = [name for name in names if name not in self.taxonomies]
        if missing:
            problems = [
                Problem(
                    "C012", f"No taxonomy is given for {name!r}.", "Give taxonomies={NAME: FILE}."
                )
                for name in missing
            ]
            raise DataError(*problems)
        return {name: self.taxonomies[name].digest for name in names}


def place_of(location: str | Path) -> Location:
    """Return a local location as a path; a URI or the name of a table as it is."""
    is_path = not is_remote(location) and not str(location).startswith(TABLE)
    return Path(location) if is_path else str(location)


def make_catalog(
    data: Mapping[str, Any],
    taxonomies: Mapping[str, "Taxonomy"] | None = None,
    described: Callable[[str, Any], Dataset] | None = None,
) -> Catalog:
    """Return the catalog of the data given by IRI: paths, or tables in memory.

    A table is anything that pyarrow reads: its own tables, pandas and polars frames, and
    whatever else has the Arrow PyCapsule interface. Only the columns' names are looked at; by
    an engine with data of its own kinds, by what `described` says of them. Raises DataError
    where a file is missing, unreadable, of an unknown format or without a proper header.
    """
    datasets: list[Dataset] = []
    tables: dict[str, Any] = {}
    if not isinstance(data, Mapping):
        message = (
            f"Data is given by IRI, as in {{iri: path or table}}. Given: a {type(data).__name__}."
        )
        raise DataError.of("C010", message)
    for name, source in data.items():
        iri = terms.canonical(name)
        if any(iri == dataset.iri for dataset in datasets):
            raise DataError.of("C010", f"Data for {iri!r} is given twice.")
        if described:
            datasets.append(described(iri, source))
            tables |= {} if isinstance(source, str | Path) else {iri: source}
        elif isinstance(source, str | Path):
            datasets.append(_file(iri, Path(source)))
        else:
            tables[iri] = _table(source)
            names = tuple(tables[iri].column_names)
            check_names(names, iri)
            datasets.append(Dataset(iri=iri, location=MEMORY, format="memory", columns=names))
    return Catalog(tuple(datasets), tables, taxonomies or {})


def find_taxonomies(
    names: tuple[str, ...], given: Mapping[str, Any], folder: Path | None
) -> "dict[str, Taxonomy]":
    """Return the taxonomies that a policy names: as given, by path or read already, else the
    file of that name in the policy's own folder, or below it.

    A name that leads out of the folder is never opened. Raises DataError where one cannot be
    read; one that is neither given nor there is left out.
    """
    if not isinstance(given, Mapping):
        message = (
            "Taxonomies are given by name, as in {name: path or Taxonomy}. "
            f"Given: a {type(given).__name__}."
        )
        raise DataError.of("C012", message)
    found = {}
    for name in names:
        source = given.get(name)
        if source is None and folder and ":" not in name and ".." not in Path(name).parts:
            source = folder / name if not Path(name).is_absolute() else None
            source = source if source and is_file(source) else None
        if source is not None:
            found[name] = _taxonomy(source)
    return found


def _taxonomy(source: Any) -> "Taxonomy":
    from policy_engine.data.taxonomy import Taxonomy, read_taxonomy  # noqa: PLC0415 (imports numpy)

    if isinstance(source, Taxonomy):
        return source
    if not isinstance(source, str | Path):
        message = f"A {type(source).__name__} is not a taxonomy."
        raise DataError.of("C012", message, "Give a path, or what read_taxonomy returns.")
    path = Path(source)
    if not is_file(path):
        raise DataError.of("C002", f"There is no file {str(path)!r}.", _neighbours(path))
    try:
        return read_taxonomy(path.read_bytes(), path.name)
    except OSError as error:
        raise unreadable(path, error) from None


def column_name(dataset: str, column: str) -> str | None:
    """Return the name of a dataset's column by its IRI, None for a column of another one."""
    if terms.dataset_of(column) != dataset:
        return None
    return unquote(column.removeprefix(f"{dataset}/"))


def is_file(path: Path) -> bool:
    """Tell whether there is such a file; DataError (C003) where that cannot be told."""
    try:
        return path.is_file()
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None


def files_of(path: Path) -> tuple[Path, ...]:
    """Return the files that make up a table: itself, or those of a folder that ends like data.

    Raises DataError (C003) where that cannot be told, (C010) where a folder holds none.
    """
    try:
        if not path.is_dir():
            return (path,)
        found = tuple(path / name for name in data_files(path))
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    if not found:
        raise DataError.of("C010", "The folder holds no files of data.", source=str(path))
    return found


def unreadable(path: Path, error: Exception) -> PolicyEngineError:
    """Return the error of a file that is there and cannot be read."""
    reason = getattr(error, "strerror", None) or "its name is not allowed or its bytes are damaged"
    hint = ""
    if isinstance(error, UnicodeEncodeError):
        reason, hint = "its name is not UTF-8", "Give it another name."
    hint = _in_utf_8(path) or hint
    return DataError.of("C003", f"The file cannot be read: {reason}.", hint, source=str(path))


def _in_utf_8(path: Path) -> str:
    """Return what makes a name one that files can have, empty where it is one, or none is."""
    encoding = sys.getfilesystemencoding()
    if encoding == "utf-8" or str(path).isascii():
        return ""
    return f"Python has the names of files in {encoding}: start it with PYTHONUTF8=1."


def column_iri(dataset: str, name: str) -> str:
    """Return the IRI of a column: its dataset's, a slash, and the column's name."""
    return f"{dataset}/{quote(name, safe='')}"


def format_of(path: Path, formats: tuple[str, ...] = FORMATS) -> Format:
    """Return the format that a file's ending tells. Raises DataError (C004) for others."""
    known = with_ending(path.name, formats)
    if known:
        return known  # type: ignore[return-value]
    allowed = join_names(f".{name}" for name in formats)
    raise DataError.of("C004", f"The ending of {path.name!r} is not known. Known are {allowed}.")


def with_ending(name: str, formats: tuple[str, ...]) -> SparkFormat | None:
    """Return the one of the formats that a file's name ends with, None where it has none."""
    for known in sorted(formats, key=len, reverse=True):
        if name.lower().endswith(f".{known}"):
            return known  # type: ignore[return-value]
    return None


_FORM = (
    "The data writes it in another form of Unicode than C, which names in IRIs have. "
    "Rename its column."
)
_ESCAPED = re.compile(r"[\s/?#%]")


def missing_columns(wanted: tuple[str, ...], dataset: Dataset) -> Iterator[Problem]:
    """Yield a problem for each column that the dataset lacks, with the nearest names."""
    missing = [name for name in wanted if name not in dataset.columns]
    if len(missing) == len(wanted):
        # What the first line holds may be a person's data: it is not quoted.
        message = f"{dataset.iri} has none of the columns {join_names(wanted)}."
        known = {*map(_normal, dataset.columns)}
        form = _FORM if any(_normal(name) in known for name in wanted) else ""
        yield Problem("C005", message, form or _hint(dataset) or "Has the file a header?")
        return
    for name in missing:
        yield no_column(name, dataset)


def no_column(name: str, dataset: Dataset, place: Place = NOWHERE) -> Problem:
    """Return the problem of a column that a dataset lacks, with the nearest name.

    Where that looks the same, its IRI shows what sets it apart.
    """
    message = f"{dataset.iri} has no column {name!r}."
    alike = [one for one in dataset.columns if one and folded(one) == folded(name)]
    shown = f"Did you mean {alike[0]!r}, {column_iri(dataset.iri, alike[0])}?" if alike else ""
    if alike and _normal(alike[0]) == _normal(name):
        shown = _FORM
    return Problem("C005", message, shown or _near(name, dataset), place)


def _near(name: str, dataset: Dataset) -> str:
    """Return the columns with names near to one, as IRIs too where these are written otherwise."""
    hint = did_you_mean(name, dataset.columns)
    told = [one for one in dataset.columns if repr(one) in hint and _ESCAPED.search(one)]
    if not told:
        return hint
    return f"{hint} As an IRI: {join_names([column_iri(dataset.iri, one) for one in told], 'or')}."


def folded(name: str) -> str:
    """Return a name without what nobody tells names apart by: case, blanks around, and the form
    that its accents are written in (Unicode Standard Annex 15)."""
    return _normal(_normal(name).casefold()).strip()


def _lower(name: str) -> str:
    return _normal(_normal(name).lower())


def _normal(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _hint(dataset: Dataset) -> str:
    one = dataset.columns[0] if len(dataset.columns) == 1 else ""
    if ";" in one or "\t" in one:
        return "The cells of a CSV file are separated by commas; these seem not to be."
    return ""


def _file(iri: str, path: Path) -> Dataset:
    if not is_file(path) and not (with_ending(path.name, FORMATS) and path.is_dir()):
        if path.is_dir():
            message = f"{str(path)!r} is a folder whose name does not end as a table's does."
            raise DataError.of("C002", message, "Give a file in it.")
        raise DataError.of("C002", f"There is no file {str(path)!r}.", _neighbours(path))
    kind, files = format_of(path), files_of(path)
    names = _names(files[0], kind, path)
    for other in files[1:]:
        if _names(other, kind, path) != names:
            message = f"The files of {str(path)!r} differ in the names or the order of columns."
            raise DataError.of("C014", message, source=str(other))
    check_names(names, str(path))
    return Dataset(iri=iri, location=str(path), format=kind, columns=names)


def values_of_folders(file: Path, table: Path) -> dict[str, str | None]:
    """Return the columns of a table's file that the names of its folders say: text as written."""
    return folder_values(file.relative_to(table).as_posix())


def _names(path: Path, kind: Format, table: Path) -> tuple[str, ...]:
    """Return the names of the columns that a table's file has, and the names of its folders."""
    try:
        names = _parquet_columns(path) if kind == "parquet" else _csv_columns(path, kind)
    except UnicodeDecodeError as error:
        message = f"The header is not UTF-8. The byte 0x{error.object[error.start]:02x} is in it."
        raise DataError.of("C008", message, source=str(path)) from None
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from None
    if any("\udc80" <= letter <= "\udcff" for name in names for letter in name):
        raise DataError.of("C008", "The header is not UTF-8.", source=str(path))
    return (*names, *values_of_folders(path, table))


def _neighbours(path: Path) -> str:
    if _in_utf_8(path):
        return _in_utf_8(path)
    if set(path.name) & set("*?[]{}"):
        return "A path is a name. Several files are given as a folder, as in people.csv/."
    try:
        return did_you_mean(path.name, (other.name for other in path.parent.iterdir()))
    except OSError:
        return ""


def _csv_columns(path: Path, kind: Format) -> tuple[str, ...]:
    opener = gzip.open if kind == "csv.gz" else open
    with opener(path, "rt", encoding="utf-8-sig", newline="", errors="surrogateescape") as text:
        try:
            return tuple(next(csv.reader(text, strict=True), ()))
        except csv.Error as error:
            message = f"The header cannot be read: {error}."
            raise DataError.of("C010", message, source=str(path)) from None


def _parquet_columns(path: Path) -> tuple[str, ...]:
    import pyarrow as pa  # noqa: PLC0415 (slow to import)
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        return tuple(pq.read_schema(path).names)
    except pa.ArrowInvalid as error:
        message = f"The file is not Parquet: {str(error).splitlines()[0]}"
        raise DataError.of("C010", message, source=str(path)) from None


def check_names(names: tuple[str, ...], source: str) -> None:
    """Raise DataError where a table has no columns (C010), two of one name (C006), or one whose
    name can be confused with another's, or with a path segment (C015)."""
    if not names:
        raise DataError.of("C010", "The table has no columns.", source=source)
    times = Counter(names)
    twice = [place for place, name in enumerate(names, start=1) if times[name] > 1]
    if twice:
        # Of a file without a header, names are a person's data: none is quoted.
        places = ", ".join(map(str, twice[:_MOST_PLACES]))
        more = ", and more" if len(twice) > _MOST_PLACES else ""
        message = (
            f"Column names must be unique. They stand several times in columns {places}{more}."
        )
        raise DataError.of("C006", message, "Has the file a header?", source=source)
    _check_apart(names, source)


def _check_apart(names: tuple[str, ...], source: str) -> None:
    """Refuse names that SQL, or whoever reads them, takes for one; none of them is quoted, for
    the first line of a file may be a person's data."""
    first: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if name in (".", ".."):
            message = f"The column {number} is called by a dot or two, a step of a path in an IRI."
            raise DataError.of("C015", message, "Rename it.", source)
        other = first.setdefault(folded(name), number)
        if other != number:
            message = f"The names of the columns {other} and {number} differ in case, in blanks "
            message += "around them or in the form of their accents alone."
            raise DataError.of("C015", message, "Rename one of them.", source)


_MOST_PLACES = 20


def _table(source: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    try:
        if type(source).__module__.partition(".")[0] == "pandas":
            return pa.Table.from_pandas(source, preserve_index=False)
        return pa.table(source)
    except (AttributeError, TypeError, ValueError, pa.ArrowException) as error:
        message = f"A {type(source).__name__} cannot be read as a table ({type(error).__name__})."
        hint = "Give a path, a pyarrow table, or a frame whose columns each hold one type."
        hint += " Several files are given as a folder, as in people.csv/."
        raise DataError.of("C010", message, hint) from None
