"""Which values of a row an aggregate may be of, so that what it tells is what is checked.

A total of an expression is a weighted total, and two weights tell a person's value: that of
`CASE WHEN id = 7 THEN 2 * pay ELSE pay END` less that of `pay` is the pay of one. The same holds of
what is added to a value (a constant hides who contributes nothing, and who contributes most), of
products of columns, of functions that bend somewhere, and of columns that a subquery computes. So
an aggregate is of a column of a table as it is, under a condition that is checked as a population
of its own. Not even a constant or a type is allowed: floating point rounds each value by itself, so
that a few constants weigh the same values in different ways.
"""

from collections.abc import Iterator

from sqlglot import exp

from policy_engine.decision.query.checking.checked_query import NotCheckableError

_ROUNDED = (exp.Round, exp.Floor, exp.Ceil, exp.Trunc)
_PAIR = 2


def without_choice(argument: exp.Expr, *, has_zero: bool) -> tuple[exp.Expr, exp.Expr | None]:
    """Return what is aggregated, and the condition under which it is: that of a CASE of one branch.

    With `has_zero` its other values may be zero, too, which changes no total.
    """
    node = argument.unnest()
    branches = node.args.get("ifs") or ([node] if isinstance(node, exp.If) else [])
    if not isinstance(node, exp.Case | exp.If) or len(branches) != 1:
        return argument, None
    name = "default" if isinstance(node, exp.Case) else "false"
    default = node.args.get(name) or exp.null()
    is_none = isinstance(default, exp.Null) or (has_zero and _is_zero(default))
    if not is_none or (isinstance(node, exp.Case) and node.this is not None):
        return argument, None
    return branches[0].args["true"], branches[0].this


def _is_zero(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and float(node.this) == 0


def is_measured(node: exp.Expr) -> bool:
    """Return whether an expression is one column as it is."""
    return isinstance(node.unnest(), exp.Column)


def is_rounded(node: exp.Expr) -> bool:
    """Return whether an expression is a column, rounded or not."""
    node = node.unnest()
    if not isinstance(node, _ROUNDED):
        return is_measured(node)
    others = [value for name, value in node.args.items() if name != "this" and value]
    return is_measured(node.this) and all(map(_is_constant, others))


def _is_constant(node: object) -> bool:
    if isinstance(node, exp.Neg | exp.Paren):
        return _is_constant(node.this)
    return isinstance(node, exp.Literal) and not node.is_string


def measured_column(node: exp.Expr) -> str:
    """Return the name of the column that an argument is of, in lower case."""
    return str(next(node.find_all(exp.Column)).name).lower()


def computed_names(tree: exp.Query) -> frozenset[str]:
    """Return the names, in lower case, under which subqueries show what is no column of a table.

    A column under another name is one, too: the ledger knows columns by their own names. Raises
    NotCheckableError (K017) where columns get names beside the name of their table.
    """
    for alias in tree.find_all(exp.TableAlias):
        if alias.args.get("columns"):
            message = "Names of columns beside that of a subquery are not allowed"
            raise NotCheckableError("K017", f"{message} in a query whose answer is checked.")
    selects = [node for node in tree.find_all(exp.Select) if node is not tree]
    return frozenset(name for select in selects for name in _computed(select))


def _computed(select: exp.Select) -> Iterator[str]:
    for entry in select.expressions:
        item, name = entry.unalias(), entry.alias_or_name.lower()
        if not isinstance(item, exp.Column | exp.Star) or (
            isinstance(item, exp.Column) and item.name.lower() != name
        ):
            yield name
