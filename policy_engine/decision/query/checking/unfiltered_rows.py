"""The rows that a query reads before any condition on them, and all of its conditions as one.

Who asks may write a condition in WHERE, in a subquery, or as a column that a subquery computes. All
are put together here, over the columns of tables, so that it can be told how a row would fare with
other values: J. Kenthapadi, N. Mishra, K. Nissim, Simulatable auditing (PODS 2005).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from sqlglot import exp

from policy_engine.decision.query.checking.allowed_functions import check_length
from policy_engine.decision.query.checking.checked_query import NotCheckableError
from policy_engine.decision.query.scope import DATASET

Outputs = Mapping[str, exp.Expr | None]
"""What each column of a source stands for, by its name in lower case; None for what is computed
on a side of a join that may be missing."""


@dataclass(frozen=True)
class RowSource:
    """A table or subquery that rows are read from, under its name in the query."""

    name: str
    columns: Outputs


@dataclass(frozen=True)
class UnfilteredRows:
    """The rows of a query without its conditions.

    `source` selects nothing from the joined tables, whose names are those of their datasets;
    `condition` is what the query asks of a row, over their columns. `sources` are the tables and
    subqueries as the query names them, and `is_partial` whether any of them may lack a row. `text`
    tells the source from others, as it was before views replaced its tables. `datasets` are those
    that tables are of, by their names in the source.
    """

    source: exp.Select
    condition: exp.Expr | None = None
    sources: tuple[RowSource, ...] = ()
    is_partial: bool = False
    text: str = ""
    datasets: Mapping[str, str] = field(default_factory=dict)

    def resolved(self, node: exp.Expr) -> exp.Expr:
        """Return an expression over the query's rows as one over the columns of tables.

        Raises NotCheckableError (K017) for what a subquery computes where it may be missing, and
        for what becomes too long.
        """
        copied = exp.paren(node.copy(), copy=False)
        columns = list(copied.find_all(exp.Column))
        check_length(chain([copied], map(self._meaning, columns)))
        for column in columns:
            column.replace(self._meaning(column))
        inner: exp.Expr = copied.this
        return inner

    def _meaning(self, column: exp.Column) -> exp.Expr:
        name, table = column.name.lower(), column.table.lower()
        holders = [
            one.columns[name]
            for one in self.sources
            if table in ("", one.name.lower()) and name in one.columns
        ]
        if not holders or None in holders:
            raise _refusal("A column that a subquery computes, on the optional side of a join,")
        meanings = [one.copy() for one in holders if one is not None]
        if len(meanings) > 1 and self.is_partial:
            return exp.func("COALESCE", *meanings)
        return meanings[0] if isinstance(meanings[0], exp.Column) else exp.paren(meanings[0])


def unfiltered_rows(source: exp.Select, columns: Mapping[str, tuple[str, ...]]) -> UnfilteredRows:
    """Return the rows of a query without its conditions.

    `columns` are those that it reads of each dataset. Raises NotCheckableError (K017) for a
    subquery that is filtered, or joined, where a join may lack its rows.
    """
    flattener = _Flattener(columns)
    rows = flattener.flattened(source, {})
    text = rows.source.select("1").sql("duckdb")
    return replace(rows, text=text, datasets=flattener.datasets)


@dataclass
class _Flattener:
    """Replaces subqueries by the tables that they read."""

    columns: Mapping[str, tuple[str, ...]]
    taken: dict[str, int] = field(default_factory=dict)
    datasets: dict[str, str] = field(default_factory=dict)

    def flattened(self, select: exp.Select, ctes: Mapping[str, exp.Select]) -> UnfilteredRows:
        """Return the rows of one SELECT."""
        clause = select.args.get("with_")
        inner = {one.alias.lower(): one.this for one in (clause.expressions if clause else ())}
        scope = {**ctes, **inner}
        start = select.args.get("from_")
        if start is None:
            raise _refusal("A query without FROM")
        joins = select.args.get("joins") or ()
        rows = self._first(start.this, scope, is_optional=any(_lacks_left(one) for one in joins))
        for join in joins:
            rows = self._joined(rows, join, scope)
        where = select.args.get("where")
        if where is None:
            return rows
        return replace(rows, condition=_both(rows.condition, rows.resolved(where.this)))

    def _first(
        self, node: exp.Expr, ctes: Mapping[str, exp.Select], *, is_optional: bool
    ) -> UnfilteredRows:
        inner = self._inner(node, ctes)
        if inner is None:
            table, source = self._table(node)
            return UnfilteredRows(exp.Select().from_(table), sources=(source,))
        rows, source = inner
        if is_optional and rows.condition is not None:
            raise _refusal("A filtered subquery on the optional side of a join")
        return replace(rows, sources=(_optional(source) if is_optional else source,))

    def _joined(
        self, rows: UnfilteredRows, join: exp.Join, ctes: Mapping[str, exp.Select]
    ) -> UnfilteredRows:
        """Return rows joined with one more table or subquery."""
        inner = self._inner(join.this, ctes)
        condition = rows.condition
        if inner is None:
            table, source = self._table(join.this)
        else:
            more, source = inner
            is_optional = _lacks_right(join)
            is_filtered = is_optional and more.condition is not None
            if is_filtered or more.source.args.get("joins"):
                raise _refusal("A subquery of joined rows, or filtered and optional, in a join")
            source = _optional(source) if is_optional else source
            table = more.source.args["from_"].this
            condition = _both(condition, more.condition)
        is_partial = rows.is_partial or _lacks_left(join)
        more_rows = replace(rows, sources=(*rows.sources, source), is_partial=is_partial)
        link = join.copy()
        link.set("this", table)
        link.set("using", None)
        on = join.args.get("on")
        parts = [more_rows.resolved(on)] if on is not None else []
        parts += [_equal(rows, source, one.name) for one in join.args.get("using") or ()]
        link.set("on", exp.and_(*parts) if parts else None)
        select = rows.source.copy()
        select.append("joins", link)
        return replace(more_rows, source=select, condition=condition)

    def _inner(
        self, node: exp.Expr, ctes: Mapping[str, exp.Select]
    ) -> tuple[UnfilteredRows, RowSource] | None:
        """Return the rows of a subquery, and its columns; None for a table."""
        is_named = isinstance(node, exp.Table) and node.meta.get(DATASET) is None
        select = ctes[node.name.lower()] if is_named else node.this
        if not isinstance(select, exp.Select):
            return None
        rows = self.flattened(select, ctes)
        columns = {
            one.alias_or_name.lower(): rows.resolved(one.unalias())
            for one in select.expressions
            if one.alias_or_name
        }
        return rows, RowSource(node.alias_or_name, columns)

    def _table(self, node: exp.Expr) -> tuple[exp.Expr, RowSource]:
        """Return a table under a name of its own, and its columns."""
        iri, name = node.meta[DATASET], node.name.lower()
        number = self.taken[name] = self.taken.get(name, 0) + 1
        unique = name if number == 1 else f"{name} {number}"
        self.datasets[unique] = iri
        table = node.copy()
        table.set("alias", exp.TableAlias(this=exp.to_identifier(unique, quoted=True)))
        columns = {
            column.lower(): exp.column(column, table=unique, quoted=True)
            for column in self.columns[iri]
        }
        return table, RowSource(node.alias_or_name, columns)


def _optional(source: RowSource) -> RowSource:
    """Return a source whose computed columns have no meaning: they are missing with their row."""
    columns = {
        name: one if isinstance(one, exp.Column) else None for name, one in source.columns.items()
    }
    return RowSource(source.name, columns)


def _equal(rows: UnfilteredRows, source: RowSource, name: str) -> exp.Expr:
    """Return the condition of a join by a column that both sides have."""
    own = source.columns[name.lower()]
    if own is None:
        raise _refusal("A join by what a subquery computes")
    return exp.EQ(this=rows.resolved(exp.column(name, quoted=True)), expression=own.copy())


def _lacks_left(join: exp.Join) -> bool:
    return str(join.args.get("side") or "").upper() in ("RIGHT", "FULL")


def _lacks_right(join: exp.Join) -> bool:
    return str(join.args.get("side") or "").upper() in ("LEFT", "FULL")


def _both(one: exp.Expr | None, other: exp.Expr | None) -> exp.Expr | None:
    if one is None or other is None:
        return one if other is None else other
    return exp.and_(one.copy(), other.copy())


def _refusal(part: str) -> NotCheckableError:
    message = f"{part} is not allowed in a query whose answer is checked."
    return NotCheckableError("K017", message, "Join the tables, and write conditions in WHERE.")


def conjuncts(node: exp.Expr | None) -> Iterator[exp.Expr]:
    """Yield the parts that a condition joins by AND."""
    if node is None:
        return
    node = node.unnest()
    if isinstance(node, exp.And):
        yield from conjuncts(node.left)
        yield from conjuncts(node.right)
    else:
        yield node
