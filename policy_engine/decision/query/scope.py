"""The columns and tables that a query reads, and the query with every star expanded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from policy_engine.decision.query.grammar import depth_guard, not_allowed_error
from policy_engine.decision.query.names import (
    Scope,
    TableSource,
    ambiguous_column_error,
    find_table,
    rename_columns,
    unknown_column_error,
)
from policy_engine.decision.query.stars import Star
from policy_engine.decision.query.tables import Tables
from policy_engine.errors import PolicyEngineError, QueryError

DATASET = "dataset"
"""The mark, in the metadata of the tree, for a table of the catalog."""

Read = tuple[str, str]
"""A column that is read: the IRI of its dataset and its name."""


@dataclass(frozen=True)
class TableReading:
    """What a query reads.

    `columns` are those of each dataset, in the order of the dataset; none if no column of it is
    named, so that it is read as a whole. `tree` is the query without stars and natural joins.
    `listed` are the columns that each entry of the outermost select list reads, empty if the query
    has no such list.
    """

    tree: exp.Query
    columns: Mapping[str, tuple[str, ...]]
    listed: tuple[frozenset[Read], ...] = ()


def read_columns(tree: exp.Query, tables: Tables) -> TableReading:
    """Return what a query reads: every column that appears anywhere in it.

    Raises QueryError for a table (Q003) or a column (Q004) that does not exist or is ambiguous, and
    for what is not understood (Q005).
    """
    reader = _Reader(tables)
    with depth_guard():
        copied = tree.copy()
        reader.query(copied, {}, None)
    columns = {}
    for iri in reader.touched:
        names = {name for other, name in reader.events if other == iri}
        columns[iri] = tuple(n for n in tables.catalog.dataset(iri).columns if n in names)
    return TableReading(copied, columns, tuple(reader.listed))


class _Reader:
    """Walks a query, records what it reads, and expands its stars."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.events: list[Read] = []
        self.touched: dict[str, None] = {}
        self.listed: list[frozenset[Read]] = []
        self.unnamed = 0

    # -- queries ------------------------------------------------------------------------------

    def query(
        self,
        node: exp.Expr,
        ctes: Mapping[str, tuple[str, ...]],
        outer: Scope | None,
        own: exp.CTE | None = None,
    ) -> tuple[str, ...]:
        """Walk a query; return the names of its columns, "" for a column without one.

        The name of a recursive query (`own`) stands for its first part in the parts that follow.
        """
        known_ctes = self._ctes(node, ctes, outer)
        if isinstance(node, exp.Select):
            return self._select(node, known_ctes, outer)
        if isinstance(node, exp.SetOperation):
            columns = self.query(node.this, known_ctes, outer)
            if own is not None and own.alias.lower() not in _names_given(node):
                known_ctes = {
                    **known_ctes,
                    own.alias.lower(): rename_columns(columns, own.args.get("alias")),
                }
            self.query(node.expression, known_ctes, outer)
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
            columns = self.query(node.this, known_ctes, outer)
        else:
            raise not_allowed_error(f"{node.key.upper()} is not allowed as a query.")
        scope = Scope(known_ctes, outer, [TableSource("", columns)])
        for part in ("order", "limit", "offset"):
            self._walk(node.args.get(part), scope)
        return columns

    def _ctes(
        self, node: exp.Expr, ctes: Mapping[str, tuple[str, ...]], outer: Scope | None
    ) -> Mapping[str, tuple[str, ...]]:
        known_ctes, new_names = dict(ctes), set[str]()
        clause = node.args.get("with_")
        for one in clause.expressions if clause is not None else ():
            name = one.alias.lower()
            if self.tables.is_name(name):
                raise not_allowed_error(f"WITH reuses {one.alias!r}, which is the name of a table.")
            if name in new_names or not name:
                raise not_allowed_error(f"WITH names {one.alias!r} twice.")
            new_names.add(name)
            _set_name(one.args["alias"], name)
            # Each part is walked once: nested parts would otherwise be walked twice at every level.
            is_own = node.args["with_"].args.get("recursive") and isinstance(
                one.this, exp.SetOperation
            )
            columns = self.query(one.this, known_ctes, outer, one if is_own else None)
            known_ctes[name] = rename_columns(columns, one.args.get("alias"))
        return known_ctes

    def _select(
        self, node: exp.Select, ctes: Mapping[str, tuple[str, ...]], outer: Scope | None
    ) -> tuple[str, ...]:
        scope = Scope(ctes, outer)
        start = node.args.get("from_")
        if start:
            self._from(start.this, scope)
        self._joins(node, scope, 0)
        self._write_stars_out(node, scope)
        scope.aliases = {e.alias.lower() for e in node.expressions if isinstance(e, exp.Alias)}
        names = self._select_list(node, scope, is_top=outer is None and node.parent is None)
        for part, value in node.args.items():
            if part == "order":
                self._walk([one for one in value.expressions if not _is_alias(one, scope)], scope)
            elif part not in ("from_", "joins", "expressions", "with_"):
                self._walk(value, scope)
        return names

    def _select_list(self, node: exp.Select, scope: Scope, *, is_top: bool) -> tuple[str, ...]:
        names = []
        for entry in node.expressions:
            start = len(self.events)
            self._walk(entry, scope)
            if is_top:
                self.listed.append(frozenset(self.events[start:]))
            names.append(entry.alias_or_name if isinstance(entry, exp.Alias | exp.Column) else "")
        return tuple(names)

    # -- tables -------------------------------------------------------------------------------

    def _from(self, node: exp.Expr, scope: Scope) -> list[TableSource]:
        """Add the contents of a FROM to the scope; return the sources added."""
        before = len(scope.sources)
        if isinstance(node, exp.Table):
            scope.add(self._table(node, scope))
        elif isinstance(node, exp.Subquery) and not isinstance(node.this, exp.Query):
            self._parenthesised(node, scope)
        elif isinstance(node, exp.Subquery):
            scope.add(self._derived(node, node, scope))
        elif isinstance(node, exp.Lateral) and isinstance(node.this, exp.Subquery):
            scope.add(self._derived(node, node.this, scope))
        else:
            raise not_allowed_error(f"{node.key.upper()} is not allowed in FROM.", "Name a table.")
        self._joins(node, scope, before)
        return scope.sources[before:]

    def _parenthesised(self, node: exp.Subquery, scope: Scope) -> None:
        if node.args.get("alias"):
            raise not_allowed_error("A join in parentheses cannot have an alias.")
        self._from(node.this, scope)

    def _table(self, node: exp.Table, scope: Scope) -> TableSource:
        if not isinstance(node.this, exp.Identifier):
            raise not_allowed_error(
                f"{node.this.key.upper()} is not allowed in FROM.", "Name a table."
            )
        name, alias = node.name, node.args.get("alias")
        if name.lower() in scope.ctes:
            # In a dialect with case-sensitive names, it would be a table of the database.
            _set_name(node, name.lower())
            return TableSource(node.alias_or_name, rename_columns(scope.ctes[name.lower()], alias))
        dataset = self.tables.dataset(name)
        if alias and alias.args.get("columns"):
            raise not_allowed_error("Aliases for the columns of a table are not allowed in FROM.")
        node.meta[DATASET] = dataset.iri
        self.touched.setdefault(dataset.iri)
        return TableSource(node.alias_or_name, dataset.columns, dataset.iri)

    def _derived(self, node: exp.Expr, inner: exp.Expr, scope: Scope) -> TableSource:
        """Return the columns of a subquery in FROM; it may refer to the tables before it."""
        columns = self.query(inner, scope.ctes, scope)
        alias = node.args.get("alias")
        if not (alias and alias.this):
            self.unnamed += 1
            name = exp.to_identifier(f"_subquery_{self.unnamed}", quoted=True)
            alias = exp.TableAlias(this=name)
            node.set("alias", alias)
        return TableSource(alias.this.name, rename_columns(columns, alias))

    def _joins(self, node: exp.Expr, scope: Scope, start: int) -> None:
        """Add the joined tables; `start` counts the tables before all of them.

        A comma binds less tightly than a join: tables before it are not joined to those after it.
        """
        for join in node.args.get("joins") or ():
            if not any(join.args.get(p) for p in ("method", "side", "kind", "on", "using")):
                start = len(scope.sources)
            self._join(join, scope, start)

    def _join(self, node: exp.Join, scope: Scope, start: int) -> None:
        left = scope.sources[start:]
        right = self._from(node.this, scope)
        if str(node.args.get("method") or "").upper() == "NATURAL":
            self._write_natural_out(node, left, right)
        for name in node.args.get("using") or ():
            self._merge(name.name, left, right, scope)
        self._walk(node.args.get("on"), scope)

    def _write_natural_out(
        self, node: exp.Join, left: Sequence[TableSource], right: Sequence[TableSource]
    ) -> None:
        left_names = [name for source in left for name in source.columns if name]
        common = [n for n in left_names if any(source.matches(n) for source in right)]
        if not common:
            raise QueryError.of("Q004", "The tables of a NATURAL JOIN have no column in common.")
        node.set("method", None)
        unique = {name.lower(): name for name in reversed(common)}
        names = [name for name in dict.fromkeys(common) if unique[name.lower()] == name]
        node.set("using", [exp.to_identifier(name, quoted=True) for name in names])

    def _merge(
        self, name: str, left: Sequence[TableSource], right: Sequence[TableSource], scope: Scope
    ) -> None:
        """Record the columns that USING joins by, which are one column from here on."""
        lefts = [source for source in left if source.matches(name)]
        rights = [source for source in right if source.matches(name)]
        if not lefts or not rights:
            raise unknown_column_error(name, left if not lefts else right)
        if len(rights) > 1 or not scope.one_meaning(name, lefts):
            raise ambiguous_column_error(name, [*lefts, *rights])
        for source in (*lefts, *rights):
            self._note(source, name)
        scope.merge(name, [*lefts, *rights])

    # -- stars --------------------------------------------------------------------------------

    def _write_stars_out(self, node: exp.Select, scope: Scope) -> None:
        entries: list[exp.Expr] = []
        for entry in node.expressions:
            if isinstance(entry, exp.Star):
                entries += Star(entry, scope.sources, scope).entries()
            elif isinstance(entry, exp.Column) and isinstance(entry.this, exp.Star):
                source = find_table(entry.table, scope.sources)
                entries += Star(entry.this, [source], None).entries()
            else:
                entries.append(entry)
        node.set("expressions", entries)

    # -- columns ------------------------------------------------------------------------------

    def _walk(self, node: object, scope: Scope) -> None:
        """Record every column below a node, including those of subqueries."""
        if isinstance(node, list):
            for one in node:
                self._walk(one, scope)
        elif isinstance(node, exp.Column):
            self._column(node, scope)
        elif isinstance(node, exp.Query):
            self.query(node, scope.ctes, scope)
        elif isinstance(node, exp.Table):
            raise not_allowed_error("A table is allowed only in FROM.")
        elif isinstance(node, exp.Expr):
            for part in node.iter_expressions():
                self._walk(part, scope)

    def _column(self, node: exp.Column, scope: Scope) -> None:
        if not isinstance(node.this, exp.Identifier):
            raise not_allowed_error("* is allowed only in the select list and in COUNT(*).")
        name = node.name
        if node.table:
            every = [source for one in scope.chain() for source in one.sources]
            source = find_table(node.table, every)
            node.set("table", exp.to_identifier(source.name, quoted=True))
            self._settle(node, source, name)
            return
        is_alias = name.lower() in scope.aliases
        for here in scope.chain():
            holders = here.holders(name)
            if holders:
                self._settle_all(node, name, holders, here, is_alias=is_alias)
                return
        if not is_alias:
            raise self._no_column(name, scope)

    def _settle_all(
        self,
        node: exp.Column,
        name: str,
        holders: Sequence[TableSource],
        scope: Scope,
        *,
        is_alias: bool,
    ) -> None:
        """Record an unqualified name as all that it may be, also an alias of the select list."""
        if not is_alias and not scope.one_meaning(name, holders):
            raise ambiguous_column_error(name, holders)
        for source in holders:
            self._note(source, name)
        if len(holders) == 1 and not is_alias:
            _set_name(node, holders[0].matches(name)[0])

    def _settle(self, node: exp.Column, source: TableSource, name: str) -> None:
        self._note(source, name)
        _set_name(node, source.matches(name)[0])

    def _note(self, source: TableSource, name: str) -> None:
        columns = source.matches(name)
        if not columns:
            raise unknown_column_error(name, [source])
        if len(columns) > 1:
            message = f"{source.name!r} has several columns {name!r} that differ only in case."
            raise QueryError.of("Q004", message, "Give them different names.")
        if source.dataset:
            self.events.append((source.dataset, columns[0]))

    def _no_column(self, name: str, scope: Scope) -> PolicyEngineError:
        sources = [source for one in scope.chain() for source in one.sources]
        if any(source.name.lower() == name.lower() for source in sources):
            return not_allowed_error(f"{name!r} is a table; a whole row is not allowed as a value.")
        return unknown_column_error(name, sources)


def _names_given(node: exp.Expr) -> set[str]:
    """Return the names that a query defines in its own WITH."""
    clause = node.args.get("with_")
    return {one.alias.lower() for one in clause.expressions} if clause is not None else set()


def _set_name(node: exp.Expr, name: str) -> None:
    node.set("this", exp.to_identifier(name, quoted=True))


def _is_alias(node: exp.Expr, scope: Scope) -> bool:
    """Return whether an entry of ORDER BY is an alias of the select list."""
    key = node.this
    return isinstance(key, exp.Column) and not key.table and key.name.lower() in scope.aliases
