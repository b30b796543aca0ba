"""The data of an asset's IRI: where it is, in which format, with which columns."""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from policy_engine import terms
from policy_engine.data.bucket_tables import TABLES, is_in_buckets, refuse_buckets, table_paths
from policy_engine.data.column_names import check_column_names, lower_case
from policy_engine.data.group_keys import GroupKeys, read_group_keys
from policy_engine.data.places.frames import computed
from policy_engine.data.places.opening import read_place
from policy_engine.data.places.spelling import is_database, is_place, redacted
from policy_engine.data.storage import Location, is_remote
from policy_engine.data.table_files import (
    ReadFormat,
    SparkFormat,
    is_file,
    missing_file,
    read_header,
    unreadable_file,
)
from policy_engine.data.transition_matrix import TransitionMatrix, read_matrix
from policy_engine.errors import DataError, Problem, join_names

if TYPE_CHECKING:
    from policy_engine.data.taxonomy import Taxonomy

MEMORY = "memory"
INFERRED = b"policy-engine-inferred"
"""The mark on a column of a table in memory whose type nobody declared."""
TABLE = "table:"
"""How the location of a table of a Spark catalog begins, before its name."""


class Dataset(NamedTuple):
    """One dataset; its location is a path or URI, `table:NAME`, or `memory`.

    A release by buckets has the `columns` of both of its `tables`, which are by their names.
    """

    iri: str
    location: str
    format: SparkFormat | ReadFormat | Literal["memory"]
    columns: tuple[str, ...]
    tables: Mapping[str, "Dataset"] = MappingProxyType({})

    def parts(self) -> "tuple[Dataset, ...]":
        """Return the tables that its rows are in: both of a release by buckets, or itself."""
        return tuple(self.tables.values()) or (self,)

    def find_column(self, name: str) -> str | None:
        """Return the column of a name, in its case or, as in SQL, in any other; None without one.

        The names in IRIs are in Unicode's form C, those of data in any form.
        """
        if name in self.columns:
            return name
        matches = [
            column for column in self.columns if column and lower_case(column) == lower_case(name)
        ]
        return matches[0] if len(matches) == 1 else None


@dataclass(frozen=True)
class Catalog:
    """The given datasets.

    `tables` are those in memory, by IRI; `taxonomies`, `matrices` of transitions and the `keys` of
    groups are by their name in the policy.
    """

    datasets: tuple[Dataset, ...] = ()
    tables: Mapping[str, Any] = field(default_factory=dict, repr=False)
    taxonomies: Mapping[str, "Taxonomy"] = field(default_factory=dict, repr=False)
    matrices: Mapping[str, TransitionMatrix] = field(default_factory=dict, repr=False)
    keys: Mapping[str, GroupKeys] = field(default_factory=dict, repr=False)

    def dataset(self, iri: str) -> Dataset:
        """Return the dataset of an IRI. Raises DataError (C001) where the catalog lacks it."""
        for dataset in self.datasets:
            if dataset.iri == iri:
                return dataset
        iris = [dataset.iri for dataset in self.datasets]
        message = f"No data is given for {iri!r}."
        message += f" Data is given for {join_names(iris)}." if iris else ""
        raise DataError.of("C001", message, f"Give {iri}=PATH.")

    def with_tables(self) -> "Catalog":
        """Return the catalog with every table of a release by buckets as a dataset."""
        parts = tuple(part for dataset in self.datasets for part in dataset.parts())
        return replace(self, datasets=parts)

    def taxonomy_digests(self, names: tuple[str, ...]) -> dict[str, str]:
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

    def group_keys(self, name: str) -> GroupKeys:
        """Return the keys of groups. Raises DataError (C012) where they are not given."""
        if name not in self.keys:
            message = f"No keys are given for {name!r}."
            hint = "Give taxonomies={IRI: FILE}, or put the file of that name beside the policy."
            raise DataError.of("C012", message, hint)
        return self.keys[name]

    def matrix_digests(self, names: tuple[str, ...]) -> dict[str, str]:
        """Return the sha-256 of matrices. Raises DataError (C012) with all that are not given."""
        missing = [missing_matrix(name) for name in names if name not in self.matrices]
        if missing:
            raise DataError(*missing)
        return {name: self.matrices[name].digest for name in names}


def missing_matrix(name: str) -> Problem:
    """Return the problem (C012) of a matrix that nobody gave."""
    return Problem("C012", f"No matrix is given for {name!r}.", "Give taxonomies={NAME: FILE}.")


def parse_location(location: str | Path) -> Location:
    """Return a local location as a path; a URI, the name of a table or the place of one in a
    database as it is."""
    is_elsewhere = is_remote(location) or is_database(location)
    is_path = not is_elsewhere and not str(location).startswith(TABLE)
    return Path(location) if is_path else str(location)


def make_catalog(
    data: Mapping[str, Any],
    taxonomies: Mapping[str, "Taxonomy"] | None = None,
    describe: Callable[[str, Any], Dataset] | None = None,
    *,
    in_buckets: bool = False,
) -> Catalog:
    """Return the catalog of the data given by IRI: paths, other places, or tables in memory.

    A table is anything that pyarrow reads: its own tables, pandas and polars frames, and
    whatever else has the Arrow PyCapsule interface; queries, datasets and readers are computed here
    (`computed`), and tables of databases, given as texts, are read (`read_place`). Of files, only
    the columns' names are read. An engine with data of its own kinds has them described by
    `describe`. Where releases may be `in_buckets`, they are given as their folder, or as both
    tables by their names. Raises
    DataError where a file is missing, unreadable, of an unknown format or without a proper header.
    """
    datasets: list[Dataset] = []
    tables: dict[str, Any] = {}
    if not isinstance(data, Mapping):
        message = (
            f"Data is given by IRI, as in {{iri: path or table}}. Given: a {type(data).__name__}."
        )
        raise DataError.of("C010", message)
    for name, source in data.items():
        problem = terms.name_problem(name) if ":" in name else None
        if problem:
            raise DataError.of("C010", problem[1])
        iri = terms.canonical(name)
        if any(iri == dataset.iri for dataset in datasets):
            raise DataError.of("C010", f"Data for {iri!r} is given twice.")
        if in_buckets and not is_place(source) and _is_bucketed(source):
            dataset, in_memory = _bucketed(iri, source)
            datasets.append(dataset)
            tables |= in_memory
        elif describe and is_database(source):
            message = f"{redacted(source)!r} is a place that the local engine reads."
            raise DataError.of("C019", message, "Spark reads files, and tables of its catalog.")
        elif describe:
            datasets.append(describe(iri, source))
            tables |= {} if isinstance(source, str | Path) else {iri: source}
        elif isinstance(source, str | Path) and not is_place(source):
            refuse_buckets(Path(source))
            format_name, names = read_header(Path(source))
            datasets.append(Dataset(iri, str(Path(source)), format_name, names))
        else:
            tables[iri] = read_place(source) if is_place(source) else _to_table(source)
            names = tuple(tables[iri].column_names)
            check_column_names(names, iri)
            datasets.append(Dataset(iri=iri, location=MEMORY, format="memory", columns=names))
    return Catalog(tuple(datasets), tables, taxonomies or {})


def _is_bucketed(source: Any) -> bool:
    if isinstance(source, Mapping):
        return {*source} == {*TABLES}
    return isinstance(source, str | Path) and is_in_buckets(Path(source))


def _bucketed(iri: str, source: Any) -> tuple[Dataset, dict[str, Any]]:
    """Return a release by buckets as a dataset, and its tables in memory by their IRIs."""
    paths = {} if isinstance(source, Mapping) else table_paths(Path(source))
    tables = paths or source
    parts = make_catalog({f"{iri}/{name}": tables[name] for name in TABLES})
    columns = dict.fromkeys(name for one in parts.datasets for name in one.columns)
    dataset = Dataset(
        iri,
        str(Path(source)) if paths else MEMORY,
        parts.datasets[0].format,
        tuple(columns),
        dict(zip(TABLES, parts.datasets, strict=True)),
    )
    return dataset, {**parts.tables}


def _to_table(source: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    source = computed(source)
    try:
        if type(source).__module__.partition(".")[0] == "pandas":
            table = pa.Table.from_pandas(source, preserve_index=False)
            kinds = source.dtypes.items()
            object_names = {
                str(name) for name, kind in kinds if str(_object_type(kind)) == "object"
            }
            return _mark_inferred(table, object_names)
        table = pa.table(source)
        columns = source.items() if isinstance(source, Mapping) else ()
        return _mark_inferred(
            table, {name for name, one in columns if isinstance(one, list | tuple)}
        )
    except (AttributeError, ArithmeticError, TypeError, ValueError, pa.ArrowException) as error:
        message = f"A {type(source).__name__} cannot be read as a table ({type(error).__name__})."
        hint = "Give a path, a pyarrow table, or a frame whose columns each hold one type."
        hint += " Several files are given as a folder, or as parts/*.csv."
        raise DataError.of("C010", message, hint) from None


def _object_type(kind: Any) -> Any:
    """Return the type of a column of pandas, of categories theirs."""
    categories = getattr(kind, "categories", None)
    return kind if categories is None else categories.dtype


def _mark_inferred(table: Any, columns: Container[str]) -> Any:
    """Return a table with its decimals marked whose type follows from the values given alone."""
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    def marked(field: Any) -> Any:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        is_marked = pa.types.is_decimal(kind) and field.name in columns
        return field.with_metadata({INFERRED: "type"}) if is_marked else field

    fields = [marked(field) for field in table.schema]
    return pa.table(table.columns, schema=pa.schema(fields, table.schema.metadata))


def find_taxonomies(
    names: tuple[str, ...], sources_by_name: Mapping[str, Any], folder: Path | None
) -> "dict[str, Taxonomy]":
    """Return the taxonomies that a policy names, by name.

    Each is the one of `sources_by_name`, as a path or a Taxonomy, else the file of that name in the
    policy's `folder`, or below it; a name that leads out of the folder is never opened. One that
    is in neither is left out. Raises DataError where one cannot be read.
    """
    if not isinstance(sources_by_name, Mapping):
        message = (
            "Taxonomies are given by name, as in {name: path or Taxonomy}. "
            f"Given: a {type(sources_by_name).__name__}."
        )
        raise DataError.of("C012", message)
    sources = {name: _source(name, sources_by_name, folder) for name in names}
    return {name: _to_taxonomy(source) for name, source in sources.items() if source is not None}


def find_matrices(
    names: tuple[str, ...], sources_by_name: Mapping[str, Any], folder: Path | None
) -> dict[str, TransitionMatrix]:
    """Return the matrices of transitions that a policy names, found as taxonomies are.

    Raises DataError where one cannot be read.
    """
    sources = {name: _source(name, sources_by_name, folder) for name in names}
    return {name: _to_matrix(source) for name, source in sources.items() if source is not None}


def find_keys(
    names: tuple[str, ...], sources_by_name: Mapping[str, Any], folder: Path | None
) -> dict[str, GroupKeys]:
    """Return the keys of groups that a policy names by IRIs, by these.

    Each is the file of `sources_by_name`, or the one beside the policy that is called as the IRI
    ends. Raises DataError where one cannot be read.
    """
    found_keys = {}
    for iri in names:
        source = sources_by_name.get(iri)
        if source is None:
            source = _source(terms.local_name(iri), sources_by_name, folder)
        if source is not None:
            found_keys[iri] = _to_keys(source)
    return found_keys


def _to_keys(source: Any) -> GroupKeys:
    if isinstance(source, GroupKeys):
        return source
    return _read_source(source, read_group_keys, "keys of groups", "the path of a CSV file")


def _source(name: str, sources: Mapping[str, Any], folder: Path | None) -> Any:
    """Return what is given by a name, or the file of that name in a folder; None for neither."""
    source = sources.get(name)
    if source is None and folder and ":" not in name and ".." not in Path(name).parts:
        source = folder / name if not Path(name).is_absolute() else None
        source = source if source and is_file(source) else None
    return source


_T = TypeVar("_T")


def _to_matrix(source: Any) -> TransitionMatrix:
    if isinstance(source, TransitionMatrix):
        return source
    return _read_source(source, read_matrix, "a matrix of transitions", "the path of a CSV file")


def _to_taxonomy(source: Any) -> "Taxonomy":
    from policy_engine.data.taxonomy import Taxonomy, read_taxonomy  # noqa: PLC0415 (imports numpy)

    if isinstance(source, Taxonomy):
        return source
    return _read_source(
        source, read_taxonomy, "a taxonomy", "a path, or what read_taxonomy returns"
    )


def _read_source(source: Any, read: Callable[[bytes, str], _T], what: str, hint: str) -> _T:
    """Return what a file holds. Raises DataError where it is not a path or cannot be read."""
    if not isinstance(source, str | Path):
        message = f"A {type(source).__name__} is not {what}."
        raise DataError.of("C012", message, f"Give {hint}.")
    path = Path(source)
    if not is_file(path):
        raise missing_file(path)
    try:
        return read(path.read_bytes(), path.name)
    except OSError as error:
        raise unreadable_file(path, error) from None
