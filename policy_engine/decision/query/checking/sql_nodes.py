"""Parts of SQL of which the queries for evidence are made."""

from collections.abc import Sequence

from sqlglot import exp


def column(name: str) -> exp.Expr:
    """Return a column by its name as it is."""
    return exp.column(name, quoted=True)


def named(node: exp.Expr, name: str) -> exp.Expr:
    """Return an entry of a select list; the expression itself becomes part of it."""
    return exp.Alias(this=node, alias=exp.to_identifier(name, quoted=True))


def present(node: exp.Expr) -> exp.Expr:
    """Return whether a value is there."""
    return exp.Not(this=exp.Is(this=node.copy(), expression=exp.null()))


def double(node: exp.Expr) -> exp.Expr:
    """Return a number as a floating-point one."""
    return exp.cast(node.copy(), exp.DType.DOUBLE)


def differs(node: exp.Expr, value: str = "0") -> exp.Expr:
    """Return whether a value is another number."""
    return exp.NEQ(this=node.copy(), expression=exp.Literal.number(value))


def above_zero(node: exp.Expr) -> exp.Expr:
    """Return whether a value is positive."""
    return exp.GT(this=node.copy(), expression=exp.Literal.number(0))


def count_where(condition: exp.Expr | None, name: str) -> exp.Expr:
    """Return the entry of how many rows there are, of which a condition holds, if there is one."""
    count: exp.Expr = exp.Count(this=exp.Star())
    if condition is not None:
        count = exp.Filter(this=count, expression=exp.Where(this=condition.copy()))
    return named(count, name)


def rows_of(inner: exp.Select, entries: Sequence[exp.Expr], name: str = "r") -> exp.Select:
    """Return a query of entries over the rows of another one."""
    alias = exp.TableAlias(this=exp.to_identifier(name, quoted=True))
    select = exp.Select().from_(exp.Subquery(this=inner, alias=alias))
    select.set("expressions", [*entries])
    return select


def grouped(
    inner: exp.Select, keys: Sequence[int], entries: Sequence[exp.Expr], name: str = "r"
) -> exp.Select:
    """Return a query of entries by the keys "k<i>" of the rows of another one, in their order."""
    names = [column(f"k{number}") for number in keys]
    return ordered(rows_of(inner, [*names, *entries], name), names)


def ordered(select: exp.Select, names: Sequence[exp.Expr]) -> exp.Select:
    """Return a query grouped by columns, and in their order."""
    if not names:
        return select
    by_names = select.group_by(*[one.copy() for one in names], copy=False)
    return by_names.order_by(*[one.copy() for one in names], copy=False)
