"""The persons that answers to queries are about, as who knows columns of a table tells them apart.

An answer is about sets of rows: those that WHERE selects, by the values of GROUP BY; or, where rows
are published, by what is known of them. Rows of groups that HAVING leaves out are not shown.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc
import sqlglot
from sqlglot import exp
from sqlglot.errors import TokenError

from policy_engine.audits.disclosure.answers import AnsweredQuery, Ints
from policy_engine.data.catalog import make_catalog
from policy_engine.decision.query import logic, running
from policy_engine.decision.query.filters import Filter
from policy_engine.decision.query.grammar import (
    depth_guard,
    not_allowed_error,
    parse_query,
    to_sql,
)
from policy_engine.decision.query.rewriting import TableView, rewrite
from policy_engine.decision.query.scope import TableReading, read_columns
from policy_engine.decision.query.tables import Tables
from policy_engine.errors import Place, PolicyEngineError, Problem, QueryError, join_names
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.releases import ABSENT

if TYPE_CHECKING:
    import pyarrow as pa

_DIALECT = "duckdb"
_ORIGINAL = "original"
_AGGREGATES = frozenset({"bool_and", "bool_or", "geomean", "mad", "quantile", "sem", "var_samp"})
"""Aggregates without a parser class of their own."""
_CHOICES = (exp.Predicate, exp.Case, exp.If, exp.Nullif, exp.CountIf)
"""Parts that make an aggregate be about other rows than its group."""
_OF_TODAY = (exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp)
_NAMES_OF_TODAY = frozenset({"now", "today"})


def answered_queries(
    sql: str, table: "pa.Table", known_columns: Collection[str], source: str = ""
) -> tuple[AnsweredQuery, ...]:
    """Return the cells of queries in DuckDB's SQL, separated by semicolons, on the rows of a table.

    Whatever a query calls its only table, that is this one. Who knows the `known_columns` of a
    person knows the cell, unless the query chooses rows by others. Raises QueryError with all
    queries, by number, that are not understood (Q001, Q002, Q004, Q005) or fail (Q008).
    """
    original = _Original.of(table, tuple(known_columns))
    answered, problems = [], list[Problem]()
    for number, (text, line) in enumerate(_statements(sql, source), 1):
        try:
            answered.append(original.answered(number, text))
        except PolicyEngineError as error:
            problems += (_of_query(one, number, line) for one in error.problems)
    if problems:
        raise QueryError(*problems, source=source)
    if not answered:
        message = "There is no query that was answered."
        raise QueryError.of("Q002", message, "Give the queries, separated by semicolons.", source)
    return tuple(answered)


def _statements(sql: str, source: str) -> Iterator[tuple[str, int]]:
    """Yield the statements of a text with the number of lines before each."""
    try:
        tokens = sqlglot.tokenize(sql, read=_DIALECT)
    except TokenError:
        message = "The queries cannot be parsed: a part is not a keyword, name or literal of SQL."
        raise QueryError.of("Q001", message, "Is a quote left open?", source) from None
    start, is_empty = 0, True
    for token in tokens:
        if token.text == ";" and sql[token.start : token.end + 1] == ";":
            if not is_empty:
                yield sql[start : token.start], sql.count("\n", 0, start)
            start, is_empty = token.end + 1, True
        else:
            is_empty = False
    if not is_empty:
        yield sql[start:], sql.count("\n", 0, start)


def _of_query(problem: Problem, number: int, lines: int) -> Problem:
    place = problem.place
    if place.line:
        place = Place(place.pointer, place.line + lines, place.column)
    return replace(problem, message=f"Query {number}: {problem.message}", place=place)


@dataclass(frozen=True)
class _Original:
    """The table that queries were answered on, with the number of each row in the column `row`."""

    tables: Tables
    table: "pa.Table"
    row: str
    known: tuple[str, ...]

    @classmethod
    def of(cls, table: "pa.Table", known_columns: tuple[str, ...]) -> "_Original":
        row, used = "row", {name.lower() for name in table.column_names}
        while row in used:
            row = f"{row}_"
        tables = Tables(make_catalog({_ORIGINAL: table}))
        numbered = tables.typed(table).append_column(row, [np.arange(table.num_rows)])
        return cls(tables, numbered, row, known_columns)

    def answered(self, number: int, text: str) -> AnsweredQuery:
        """Return the cells of a query, or why the intruder cannot tell them."""
        tree = _select_of_one(parse_query(text, _DIALECT))
        _call(tree, _ORIGINAL)
        reading = read_columns(tree, self.tables)
        choice = _Choice(reading, self._columns)
        columns = self._in_order(choice.columns(self.known))
        unknown = [name for name in columns if name not in self.known]
        if unknown:
            reason = f"it depends on {join_names(unknown)}, which the intruder does not know"
            return AnsweredQuery(number, columns, NotApplicable(reason=reason))
        if choice.has_choosing_aggregates:
            reason = "it has a condition within an aggregate: give it as a query with WHERE"
            return AnsweredQuery(number, columns, NotApplicable(reason=reason))
        return AnsweredQuery(number, columns, self._cells(reading, choice))

    @property
    def _columns(self) -> tuple[str, ...]:
        return tuple(name for name in self.table.column_names if name != self.row)

    def _in_order(self, names: Collection[str]) -> tuple[str, ...]:
        return tuple(name for name in self._columns if name in names)

    def _cells(self, reading: TableReading, choice: "_Choice") -> Ints:
        """Return the number of each row's cell, -1 where the answer is not about it."""
        [iri] = reading.columns
        names = (*reading.columns[iri], self.row)
        view = TableView(self.tables.names[iri], names, Filter(logic.true()))
        counted = choice.listing(exp.column(self.row, quoted=True), self.known)
        with depth_guard():
            text = to_sql(rewrite(counted, {iri: view}), _DIALECT)
        answer = running.run({"": text}, {view.table: self.table.select(list(names))})[""]
        rows = answer.column(answer.num_columns - 1).combine_chunks()
        sizes = pc.list_value_length(rows).fill_null(0).to_numpy(zero_copy_only=False)
        cells = np.full(self.table.num_rows, ABSENT, dtype=np.int64)
        cells[rows.flatten().to_numpy(zero_copy_only=False)] = np.repeat(
            np.arange(len(sizes)), sizes
        )
        return cells


def _select_of_one(tree: exp.Query) -> exp.Select:
    """Return a query that reads one table and nothing else. Raises QueryError (Q005)."""
    tables, start = list(tree.find_all(exp.Table)), tree.args.get("from_")
    if len(tables) > 1:
        raise not_allowed_error(f"It reads {len(tables)} tables. {_ONE_TABLE}")
    if not isinstance(tree, exp.Select) or len(list(tree.find_all(exp.Query))) > 1:
        raise not_allowed_error(f"It has queries within it. {_ONE_TABLE}")
    if start is None or not tables or start.this is not tables[0]:
        raise not_allowed_error(f"It reads no table. {_ONE_TABLE}")
    group = tree.args.get("group")
    if group is not None and group.find(exp.GroupingSets, exp.Cube, exp.Rollup):
        raise not_allowed_error("It has groups of several kinds.", "Give a query for each of them.")
    distinct = tree.args.get("distinct")
    if tree.args.get("qualify") or (distinct is not None and distinct.args.get("on")):
        raise not_allowed_error("It chooses rows by their order (QUALIFY, DISTINCT ON).")
    if any(_is_of_today(node) for node in tree.find_all(exp.Func)):
        message = "What it selects depends on the day of the answer."
        raise not_allowed_error(message, "Write that date in its place.")
    return tree


_ONE_TABLE = "An answer is taken apart that selects from one table, which is the original."


def _is_of_today(node: exp.Func) -> bool:
    if not isinstance(node, exp.Anonymous):
        return isinstance(node, _OF_TODAY)
    name = str(node.this).lower()
    return name in _NAMES_OF_TODAY or (name == "age" and len(node.expressions) == 1)


def _call(tree: exp.Select, name: str) -> None:
    """Let the only table of a query be the one of a name, under the name that it had."""
    table = tree.args["from_"].this
    if not table.alias:
        alias = exp.TableAlias(this=exp.to_identifier(table.name, quoted=True))
        table.set("alias", alias)
    table.set("this", exp.to_identifier(name, quoted=True))


@dataclass(frozen=True)
class _Choice:
    """How a query chooses the rows that an answer is about, and puts them into cells."""

    reading: TableReading
    names: tuple[str, ...]

    @property
    def _entries(self) -> list[tuple[exp.Expr, frozenset[str]]]:
        """The select list, with the columns that each entry reads."""
        read = [frozenset(name for _, name in one) for one in self.reading.listed]
        return list(zip(self.reading.tree.expressions, read, strict=True))

    @property
    def _is_aggregate(self) -> bool:
        parts = (self.reading.tree.args.get(one) for one in ("group", "having"))
        return any(parts) or any(_aggregates(entry) for entry, _ in self._entries)

    @property
    def has_choosing_aggregates(self) -> bool:
        """Whether an aggregate is of some of the rows of its group alone."""
        return any(
            isinstance(one.parent, exp.Filter) or one.find(*_CHOICES)
            for entry, _ in self._entries
            for one in _aggregates(entry)
        )

    def columns(self, known_columns: Collection[str]) -> frozenset[str]:
        """Return the columns that a row's cell follows from.

        Of published rows, those that are known find the row, and the others are what is learned.
        """
        where, group = (self.reading.tree.args.get(one) for one in ("where", "group"))
        names = self._read_by(where.this) if where is not None else set()
        if not self._is_aggregate:
            return frozenset(names).union(*(read for _, read in self._keys(known_columns)))
        for one in group.expressions if group is not None else ():
            names |= self._read_by(one, is_group=True)
        if group is not None and group.args.get("all"):
            names.update(*(read for entry, read in self._entries if not _aggregates(entry)))
        return frozenset(names)

    def _keys(self, known_columns: Collection[str]) -> list[tuple[exp.Expr, frozenset[str]]]:
        """Return what is published of rows and follows from known columns."""
        return [
            (entry, read)
            for entry, read in self._entries
            if read and read <= {*known_columns} and not entry.find(exp.Window)
        ]

    def _read_by(self, clause: exp.Expr, *, is_group: bool = False) -> set[str]:
        """Return the columns that a clause reads, by aliases and numbers of the select list too."""
        if is_group and isinstance(clause, exp.Literal) and not clause.is_string:
            place = int(clause.name) - 1 if clause.name.isdecimal() else -1
            return {*self._entries[place][1]} if 0 <= place < len(self._entries) else set()
        names = set[str]()
        for column in clause.find_all(exp.Column):
            name = column.name.lower()
            names |= {one for one in self.names if one.lower() == name}
            if not column.table:
                same = (read for entry, read in self._entries if entry.alias.lower() == name)
                names.update(*same)
        return names

    def listing(self, row: exp.Expr, known_columns: Collection[str]) -> exp.Query:
        """Return the query with the rows of each cell in its last column."""
        tree = self.reading.tree.copy()
        for part in ("order", "limit", "offset", "distinct"):
            tree.set(part, None)
        rows = exp.ArrayAgg(this=row)
        if self._is_aggregate:
            tree.set("expressions", [*tree.expressions, rows])
        else:
            keys = [entry.copy() for entry, _ in self._keys(known_columns)]
            tree.set("expressions", [*keys, rows])
            plain = [one.unalias().copy() for one in keys]
            tree.set("group", exp.Group(expressions=plain) if plain else None)
        return tree


def _aggregates(entry: exp.Expr) -> Sequence[exp.Expr]:
    """Return the aggregates of an entry that are not of a window."""
    return [
        one
        for one in entry.find_all(exp.AggFunc, exp.Anonymous)
        if _is_aggregate(one) and not one.find_ancestor(exp.Window)
    ]


def _is_aggregate(node: exp.Expr) -> bool:
    return isinstance(node, exp.AggFunc) or str(node.this).lower() in _AGGREGATES
