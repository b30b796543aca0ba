"""The meaning of names at one place of a query: tables, their columns, and aliases."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from policy_engine.errors import PolicyEngineError, QueryError, did_you_mean, join_names


@dataclass(frozen=True)
class TableSource:
    """A table or subquery, and its visible columns; "" is a column without a name."""

    name: str
    columns: tuple[str, ...]
    dataset: str = ""

    def matches(self, name: str) -> list[str]:
        """Return the columns with a name, in any case."""
        return [one for one in self.columns if one and one.lower() == name.lower()]


@dataclass
class Scope:
    """The meaning of names at one place of a query."""

    ctes: Mapping[str, tuple[str, ...]]
    outer: "Scope | None"
    sources: list[TableSource] = field(default_factory=list)
    merged: dict[str, list[list[TableSource]]] = field(default_factory=dict)
    aliases: set[str] = field(default_factory=set)

    def chain(self) -> "Iterator[Scope]":
        """Yield the scopes in which names are looked up, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def add(self, source: TableSource) -> None:
        """Add a table. Raises QueryError (Q004) if another one has its name."""
        if any(one.name.lower() == source.name.lower() for one in self.sources):
            message = f"Two tables are called {source.name!r} in one FROM."
            raise QueryError.of("Q004", message, "Give each a name of its own with AS.")
        self.sources.append(source)

    def holders(self, name: str) -> list[TableSource]:
        """Return the tables that have a column of a name."""
        return [source for source in self.sources if source.matches(name)]

    def same(self, name: str, source: TableSource) -> list[TableSource]:
        """Return the tables whose columns of this name a join merged into one, with this table."""
        groups = self.merged.get(name.lower(), [])
        merged_groups = (group for group in groups if any(one is source for one in group))
        return next(merged_groups, [source])

    def merge(self, name: str, sources: Sequence[TableSource]) -> None:
        """Record that a join merges the columns of a name."""
        merged = [other for source in sources for other in self.same(name, source)]
        groups = self.merged.get(name.lower(), [])
        untouched = [group for group in groups if not any(one is group[0] for one in merged)]
        self.merged[name.lower()] = [*untouched, merged]

    def one_meaning(self, name: str, holders: Sequence[TableSource]) -> bool:
        """Return whether a name means one column: of one table, or one merged by a join."""
        same = self.same(name, holders[0])
        return all(any(holder is one for one in same) for holder in holders)


def rename_columns(columns: tuple[str, ...], alias: exp.Expr | None) -> tuple[str, ...]:
    """Return the names of columns, the first of them renamed as by `AS t(a, b)`.

    Raises QueryError (Q004) for more names than columns.
    """
    new_names = [one.name for one in (alias.args.get("columns") or ())] if alias else []
    if len(new_names) > len(columns):
        message = f"There are {len(columns)} columns. {len(new_names)} names were given for them."
        raise QueryError.of("Q004", message)
    return (*new_names, *columns[len(new_names) :])


def find_table(name: str, sources: Sequence[TableSource]) -> TableSource:
    """Return the first table of a name. Raises QueryError (Q004) if there is none."""
    for source in sources:
        if source.name.lower() == name.lower():
            return source
    names = [source.name for source in sources if source.name]
    message = f"There is no table {name!r} in FROM."
    raise QueryError.of("Q004", message, did_you_mean(name, names))


def unknown_column_error(name: str, sources: Sequence[TableSource]) -> PolicyEngineError:
    """Return the error for a column that none of the tables has."""
    columns = list(dict.fromkeys(c for source in sources for c in source.columns if c))
    tables = [source.name for source in sources if source.name]
    where = f" in {join_names(tables, 'or')}" if tables else ""
    message = f"There is no column {name!r}{where}."
    hint = f"The columns are {join_names(columns)}." if 0 < len(columns) <= 20 else ""
    return QueryError.of("Q004", message, did_you_mean(name, columns) or hint)


def ambiguous_column_error(name: str, sources: Sequence[TableSource]) -> PolicyEngineError:
    """Return the error for a column that several tables have."""
    message = f"{name!r} is a column of {join_names(source.name for source in sources)}."
    return QueryError.of("Q004", message, "Write the table before it: TABLE.COLUMN.")
