"""The tables that a query names: datasets of the catalog, and their names in SQL."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from policy_engine import terms
from policy_engine.data.catalog import Catalog, Dataset
from policy_engine.data.table_files import list_table_files
from policy_engine.engines.person_spellings import known_persons
from policy_engine.engines.tables import infer_types, plain_texts, read_table
from policy_engine.errors import PolicyEngineError, QueryError, did_you_mean, join_names

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Tables:
    """The datasets of a catalog by the names that a query may use for them.

    `units` are the columns that tell persons apart, by dataset.
    """

    catalog: Catalog
    units: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def _types(self) -> "dict[tuple[str, tuple[str, ...]], Mapping[str, pa.DataType]]":
        return {}

    @cached_property
    def names(self) -> Mapping[str, str]:
        """What each dataset is called, by its IRI: its local name, or its IRI where several
        datasets, or none, have that name. No two names differ in their case alone."""
        local = {one.iri: _table_name(one.iri) for one in self.catalog.datasets}
        times = Counter(name.lower() for name in local.values())
        names: dict[str, str] = {}
        for iri, name in local.items():
            name_or_iri = name if name and times[name.lower()] == 1 else iri
            used = {other.lower() for other in names.values()}
            names[iri] = (
                name_or_iri if name_or_iri.lower() not in used else f"{name_or_iri} {len(names)}"
            )
        return names

    def dataset(self, name: str) -> Dataset:
        """Return the dataset of a name: its IRI, or the last segment of it in any case.

        Raises QueryError (Q003) if there is none, or several have the name.
        """
        datasets, iri = self.catalog.datasets, terms.canonical(name)
        matching = [one for one in datasets if one.iri == iri]
        matching = matching or [one for one in datasets if name in _table_names(one.iri)]
        matching = matching or [
            one for one in datasets if name.lower() in [*map(str.lower, _table_names(one.iri))]
        ]
        if len(matching) == 1:
            return matching[0]
        if matching:
            message = (
                f"Several tables are called {name!r}: {join_names(one.iri for one in matching)}."
            )
            raise QueryError.of("Q003", message, "Write the whole IRI in double quotes.")
        raise self._unknown(name)

    def is_name(self, name: str) -> bool:
        """Return whether a dataset has this name, or could be thought to have it."""
        names = {one.iri.lower() for one in self.catalog.datasets}
        names |= {call.lower() for one in self.catalog.datasets for call in _table_names(one.iri)}
        names |= {own.lower() for own in self.names.values()}
        return name.lower() in names

    def _unknown(self, name: str) -> PolicyEngineError:
        names = list(self.names.values())
        message = f"There is no table {name!r}."
        message += f" Given: {join_names(sorted(names))}." if names else " None is given."
        return QueryError.of("Q003", message, did_you_mean(name, names))

    def read(self, iri: str, columns: tuple[str, ...]) -> "pa.Table":
        """Return columns of a dataset's rows; CSV cells stay as written.

        If no columns are given, a single one, for the number of rows. Raises DataError if the data
        cannot be read.
        """
        selected = list(columns or self.catalog.dataset(iri).columns[:1])
        table = self.catalog.tables.get(iri)
        if table is not None:
            return plain_texts(table.select(selected))
        location = Path(self.catalog.dataset(iri).location)
        return read_table(location, tuple(selected)).select(selected)

    def with_known_units(self, iri: str, table: "pa.Table") -> "pa.Table":
        """Return rows of a dataset with the text by which each person is known in the column of its
        unit: who is written in two ways counts once."""
        if self.units.get(iri) not in table.column_names:
            return table
        place = table.schema.get_field_index(self.units[iri])
        field = table.schema.field(place)
        persons = known_persons(table.column(place))
        return table.set_column(place, field.with_type(persons.type), persons)

    def typed(self, table: "pa.Table") -> "pa.Table":
        """Return a table that was read with the engine's types; NaN becomes missing."""
        # Types first: before that, CSV cells are text, and dictionary values are hidden.
        return plain_texts(_convert_for_sql(infer_types(table)))

    def types(self, iri: str, columns: tuple[str, ...]) -> "Mapping[str, pa.DataType]":
        """Return the types of columns: from the data or, for CSV, from all values as written.

        A CSV column without any value has the type `null`. Types are determined once.
        """
        types = self._types.get((iri, columns))
        if types is None:
            types = self._types[iri, columns] = self._types_of(iri, columns)
        return types

    def _types_of(self, iri: str, columns: tuple[str, ...]) -> "Mapping[str, pa.DataType]":
        if not columns:
            return {}
        if self.catalog.dataset(iri).format.startswith("csv"):
            return _written_types(self.typed(self.read(iri, columns)))

        table = self.catalog.tables.get(iri)
        path = Path(self.catalog.dataset(iri).location)
        if table is None and self.catalog.dataset(iri).format != "parquet":
            table = read_table(path, columns)
        schema = pq.read_schema(list_table_files(path)[0]) if table is None else table.schema
        # Columns that are not in a file are in the names of its folders.
        return {
            name: _value_type(schema.field(name).type) if name in schema.names else pa.string()
            for name in columns
        }


def _table_name(iri: str) -> str:
    """Return the last segment of an IRI with its escapes decoded."""
    name = terms.local_name(iri)
    try:
        plain = unquote(name, errors="strict")
    except UnicodeDecodeError:
        return name
    return plain if plain.isprintable() else name


def _table_names(iri: str) -> tuple[str, str]:
    return terms.local_name(iri), _table_name(iri)


def _written_types(table: "pa.Table") -> "dict[str, pa.DataType]":
    return {
        name: pa.null() if column.null_count == len(column) else column.type
        for name, column in zip(table.column_names, table.columns, strict=True)
    }


def _value_type(kind: "pa.DataType") -> "pa.DataType":
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _convert_for_sql(table: "pa.Table") -> "pa.Table":
    """Return the table with its times in microseconds, where none is finer: SQL compares those
    of other units with nothing. Half floats, which SQL has none of, are whole ones."""
    columns = []
    for column in table.columns:
        kind = column.type
        if pa.types.is_timestamp(kind) and kind.unit == "ns":
            kind = pa.timestamp("us", kind.tz)
        elif pa.types.is_time64(kind):
            kind = pa.time64("us")
        elif pa.types.is_float16(kind):
            kind = pa.float32()
        try:
            columns.append(column.cast(kind))
        except pa.ArrowInvalid:
            columns.append(column)
    return pa.table(columns, names=table.column_names)
