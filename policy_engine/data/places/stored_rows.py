"""Rows of a database: which table is meant, and in which order its rows are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from policy_engine.errors import DataError, PolicyEngineError, did_you_mean, join_names

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_NAMED = 20


class TableName(NamedTuple):
    """A table or a view of a database, in a schema where the database has them."""

    schema: str
    name: str

    @property
    def whole(self) -> str:
        """Its name behind that of its schema and a dot."""
        return f"{self.schema}.{self.name}" if self.schema else self.name

    @property
    def quoted(self) -> str:
        """Its name as SQL has it, whatever letters are in it."""
        return ".".join(quoted(part) for part in self if part)


def quoted(name: str) -> str:
    """Return a name as SQL has it: in double quotes, those in it doubled."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def chosen_table(wanted: str, tables: Sequence[TableName], place: str) -> TableName:
    """Return the table of a name, with its schema or, where one alone has it, without.

    Raises DataError (C019) where there is none, or several.
    """
    whole = [one for one in tables if one.whole == wanted]
    matches = whole or [one for one in tables if one.name == wanted]
    if len(matches) == 1:
        return matches[0]
    names = sorted(one.whole for one in matches or tables)
    if matches:
        message = f"Several tables are called {wanted!r}: {join_names(names)}."
        raise DataError.of("C019", message, "Give the schema as well.", place)
    named = join_names(names) if 0 < len(names) <= _MOST_NAMED else f"{len(names):,} tables"
    message = f"The database has no table {wanted!r} that may be read. It has {named}."
    short = {one.name for one in tables}
    hint = did_you_mean(wanted, [*names, *short])
    raise DataError.of("C019", message, hint, place)


def missing_database(place: str, path: str) -> PolicyEngineError:
    """Return the error (C002) of a database whose file is not there: none is ever made."""
    return DataError.of("C002", f"There is no file {path!r}.", source=place)


def ordered(table: "pa.Table") -> "pa.Table":
    """Return a table with its rows in the order of their values, column by column, so that it has
    one digest however its database keeps them.

    Texts are compared by their bytes, missing values come last. Of types that have no order, the
    way in which Python writes their values is compared. Zeros lose their sign.
    """
    import pyarrow as pa  # noqa: PLC0415 (slow to import)
    import pyarrow.compute as pc  # noqa: PLC0415

    if not table.num_columns:
        return table
    columns = [_plain(one) for one in table.columns]
    plain = pa.table(columns, names=table.column_names)
    keys = pa.table(
        [_key(one) for one in columns], names=[str(place) for place in range(len(columns))]
    )
    order = pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in keys.column_names])
    return plain.take(order).combine_chunks()


def _plain(column: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 (slow to import)
    import pyarrow.compute as pc  # noqa: PLC0415

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        return pc.add(column, pa.scalar(0.0, column.type))  # zeros with a sign equal those without
    return column


def _key(column: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    kind = column.type
    tests = (pa.types.is_primitive, pa.types.is_decimal, pa.types.is_string, pa.types.is_binary)
    if any(test(kind) for test in tests) and not pa.types.is_interval(kind):
        return column
    return pa.array([None if one is None else repr(one) for one in column.to_pylist()], pa.string())
