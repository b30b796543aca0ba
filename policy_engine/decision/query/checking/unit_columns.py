"""The unit of privacy of each row that a query reads, however deep its tables lie."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from policy_engine.decision.query.checking.checked_query import NotCheckableError
from policy_engine.decision.query.checking.reading_checked import check_row_expression
from policy_engine.decision.query.scope import DATASET
from policy_engine.errors import InternalError

UNIT = "unit of privacy"
"""The column of the unit in subqueries; no query can name what it does not select."""

FindUnit = Callable[[str], str | None]
"""Returns the column of the unit in a dataset, None if it has none."""

_PLAIN_CLAUSES = {"expressions", "from_", "joins", "where"}


@dataclass(frozen=True)
class _UnitSource:
    """A table or subquery in FROM, and the columns of it that are its unit, hidden ones first."""

    name: str
    columns: tuple[str, ...]


@dataclass
class _UnitReader:
    """Adds the unit to every subquery."""

    find_unit: FindUnit
    label: str = UNIT
    ctes: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def select(self, node: exp.Select) -> exp.Expr | None:
        """Return the unit of a SELECT's rows, None if no table has it."""
        clause = node.args.get("with_")
        if clause is not None and clause.args.get("recursive"):
            raise _refusal("WITH RECURSIVE")
        for one in clause.expressions if clause is not None else ():
            self.ctes[one.alias.lower()] = self._plain(one.this)
        sources = list(self._sources(node))
        units = [one for one in sources if one.columns]
        for one in units[1:]:
            if not _is_joined(one, units, node):
                message = f"Rows of {one.name!r} are joined with those of other units of privacy."
                raise NotCheckableError("K019", message, "Join tables of units by their unit.")
        columns = [exp.column(one.columns[0], table=one.name, quoted=True) for one in units]
        return exp.func("COALESCE", *columns) if len(columns) > 1 else next(iter(columns), None)

    def _sources(self, node: exp.Select) -> Iterator[_UnitSource]:
        start = node.args.get("from_")
        tables = [start.this] if start is not None else []
        for table in tables + [join.this for join in node.args.get("joins") or ()]:
            if table.args.get("joins"):
                raise _refusal("A join in parentheses")
            yield self._source(table)

    def _source(self, table: exp.Expr) -> _UnitSource:
        if isinstance(table, exp.Subquery) and isinstance(table.this, exp.Query):
            return _UnitSource(table.alias, self._plain(table.this))
        if not isinstance(table, exp.Table):
            raise _refusal(f"{table.key.upper()} in FROM")
        iri = table.meta.get(DATASET)
        if iri is None:
            return _UnitSource(table.alias_or_name, self.ctes[table.name.lower()])
        column = self.find_unit(iri)
        return _UnitSource(table.alias_or_name, () if column is None else (column,))

    def _plain(self, node: exp.Expr) -> tuple[str, ...]:
        """Add the unit to a subquery of rows; return the columns of it that are the unit."""
        used = {name for name, value in node.args.items() if value}
        if not isinstance(node, exp.Select) or used - _PLAIN_CLAUSES:
            raise _refusal("A subquery that is more than columns of joined and filtered rows")
        for part in (*node.expressions, *_conditions(node)):
            check_row_expression(part.unalias())
        unit = self.select(node)
        if unit is None:
            return ()
        visible = [
            one.alias_or_name
            for one in node.expressions
            if isinstance(one.unalias(), exp.Column) and one.unalias().name == unit.name
        ]
        node.append("expressions", exp.alias_(unit, self.label, quoted=True))
        return (self.label, *visible)


def add_unit(source: exp.Select, find_unit: FindUnit) -> exp.Expr:
    """Add the unit to every subquery of a query; return the unit of its rows.

    Raises NotCheckableError: K019 if the policy's unit is not in the
    data, or rows are joined that are of several units; K017 for subqueries that are not plain.
    """
    unit = _UnitReader(find_unit).select(source)
    if unit is None:
        message = "The tables lack the column of the policy's unit of privacy."
        raise NotCheckableError("K019", message, "Join the table that has it.")
    return unit


def add_row(source: exp.Select, dataset: str, row: str) -> exp.Expr:
    """Add the column `row` of a dataset to every subquery that reads it; return a row's number.

    Raises NotCheckableError (K019) for a query that reads the dataset twice.
    """
    number = _UnitReader(lambda iri: row if iri == dataset else None, "number of a row")
    column = number.select(source)
    if column is None:
        raise InternalError.of("X001", "A query lacks the dataset that it is about.")
    return column


def _refusal(part: str) -> NotCheckableError:
    message = f"{part} is not allowed in a query whose answer is checked."
    return NotCheckableError("K017", message)


def _conditions(node: exp.Select) -> Iterator[exp.Expr]:
    where = node.args.get("where")
    yield from () if where is None else (where.this,)
    joins = node.args.get("joins") or ()
    yield from (join.args["on"] for join in joins if join.args.get("on") is not None)


def _is_joined(one: _UnitSource, units: list[_UnitSource], node: exp.Select) -> bool:
    """Return whether a table is joined to an earlier one by the unit, so that a row has one."""
    earlier = [other for other in units[: units.index(one)] if other.name != one.name]
    [join] = [join for join in node.args["joins"] if join.this.alias_or_name == one.name][:1]
    names = {name.name.lower() for name in join.args.get("using") or ()}
    columns = {name.lower() for name in one.columns}
    if names & columns and any(names & {n.lower() for n in e.columns} for e in earlier):
        return True
    condition = join.args.get("on")
    parts = condition.flatten() if isinstance(condition, exp.And) else [condition]
    return any(
        isinstance(part, exp.EQ) and _is_equal(part, one, other)
        for part in parts
        for other in earlier
    )


def _is_equal(part: exp.EQ, one: _UnitSource, other: _UnitSource) -> bool:
    sides = [part.left, part.right]
    return any(_is_of(a, one) and _is_of(b, other) for a, b in (sides, sides[::-1]))


def _is_of(node: exp.Expr, source: _UnitSource) -> bool:
    return (
        isinstance(node, exp.Column)
        and node.table.lower() == source.name.lower()
        and node.name.lower() in {name.lower() for name in source.columns}
    )
