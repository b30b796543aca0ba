"""The unit of privacy of each row that a query reads, however deep its tables lie."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from secrets import token_hex

from sqlglot import exp

from policy_engine.decision.query.checking.checked_query import NotCheckableError
from policy_engine.decision.query.checking.reading_checked import check_row_expression
from policy_engine.decision.query.scope import DATASET
from policy_engine.errors import InternalError

UNIT, NUMBER, ROW = "unit of privacy", "number of a row", "row of its dataset"
"""How the columns begin that are added to subqueries, and the one that is added to tables."""

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
    label: str
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
        visible = [one.alias_or_name for one in node.expressions if _is_column(one.unalias(), unit)]
        node.append("expressions", exp.alias_(unit, self.label, quoted=True))
        return (self.label, *visible)


def check_names(tree: exp.Expr, columns: Iterable[str] = ()) -> None:
    """Refuse a query, or columns of its tables, with a name that is one of those added.

    Who could write a column of that name could say who a row is of. Raises NotCheckableError
    (K017).
    """
    written = (str(one.name) for one in tree.find_all(exp.Identifier, exp.Literal))
    for name in (*written, *columns):
        if name.strip().lower().startswith((UNIT, NUMBER, ROW)):
            raise _refusal(f"The name {name!r}")


def _fresh(name: str) -> str:
    """Return a name that nobody who writes a query can know."""
    return f"{name} {token_hex(16)}"


def _is_column(node: exp.Expr, unit: exp.Expr) -> bool:
    """Return whether a selected column is that of the unit, and not one of another table."""
    return (
        isinstance(node, exp.Column)
        and isinstance(unit, exp.Column)
        and node.name.lower() == unit.name.lower()
        and node.table.lower() in ("", unit.table.lower())
    )


def add_unit(source: exp.Select, find_unit: FindUnit) -> exp.Expr:
    """Add the unit to every subquery of a query; return the unit of its rows.

    Raises NotCheckableError: K019 if the policy's unit is not in the
    data, or rows are joined that are of several units; K017 for subqueries that are not plain.
    """
    unit = _UnitReader(find_unit, _fresh(UNIT)).select(source)
    if unit is None:
        message = "The tables lack the column of the policy's unit of privacy."
        raise NotCheckableError("K019", message, "Join the table that has it.")
    return unit


def add_row(source: exp.Select, dataset: str, row: str) -> exp.Expr:
    """Add the column `row` of a dataset to every subquery that reads it; return a row's number.

    Raises NotCheckableError (K019) for a query that reads the dataset twice.
    """
    number = _UnitReader(lambda iri: row if iri == dataset else None, _fresh(NUMBER))
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


def is_unit(argument: exp.Expr, unit: exp.Expr | None) -> bool:
    """Return whether what is counted is the column of the unit."""
    value = argument.unnest()
    is_column = isinstance(value, exp.Column) and isinstance(unit, exp.Column)
    return is_column and value.name.lower() == unit.name.lower()  # type: ignore[union-attr]
