"""SQL conditions joined in three-valued logic, with constants folded."""

from collections.abc import Sequence

from sqlglot import exp

_MOST_PARTS = 20_000


class NotUnderstood(Exception):  # noqa: N818 (it is caught, and says what to deny)
    """A condition that cannot be evaluated from the columns of a row; its text says why."""


def true() -> exp.Expr:
    """Return TRUE."""
    return exp.Boolean(this=True)


def false() -> exp.Expr:
    """Return FALSE."""
    return exp.Boolean(this=False)


def is_true(node: exp.Expr) -> bool:
    """Return whether a condition is the constant TRUE."""
    return isinstance(node, exp.Boolean) and bool(node.this)


def is_false(node: exp.Expr) -> bool:
    """Return whether a condition is the constant FALSE."""
    return isinstance(node, exp.Boolean) and not node.this


def conjunction(parts: Sequence[exp.Expr]) -> exp.Expr:
    """Return the AND of all parts. Raises NotUnderstood if there are too many to run."""
    if any(map(is_false, parts)):
        return false()
    rest = [part for part in parts if not is_true(part)]
    return check_size(exp.and_(*rest, copy=False)) if rest else true()


def disjunction(parts: Sequence[exp.Expr]) -> exp.Expr:
    """Return the OR of all parts. Raises NotUnderstood if there are too many to run."""
    if any(map(is_true, parts)):
        return true()
    rest = [part for part in parts if not is_false(part)]
    return check_size(exp.or_(*rest, copy=False)) if rest else false()


def negation(part: exp.Expr) -> exp.Expr:
    """Return the NOT of a condition."""
    if isinstance(part, exp.Boolean):
        return true() if is_false(part) else false()
    return exp.not_(part, copy=False)


def parts(node: exp.Expr, joint: type[exp.And] | type[exp.Or]) -> frozenset[str]:
    """Return the SQL texts of the parts that AND or OR joins into a condition.

    Whether parts are unknown or false makes no difference to whether the condition is true.
    """
    node = node.unnest()
    if isinstance(node, exp.Coalesce) and [*map(is_false, node.expressions)] == [True]:
        return parts(node.this, joint)
    if not isinstance(node, joint):
        return frozenset([node.sql()])
    return frozenset().union(*(parts(part, joint) for part in node.flatten()))


def coalesce(part: exp.Expr, otherwise: exp.Expr) -> exp.Expr:
    """Return a condition with a truth value in place of NULL."""
    if isinstance(part, exp.Null):
        return otherwise
    if isinstance(part, exp.Boolean):
        return part
    return exp.Coalesce(this=part, expressions=[otherwise])


def nan_to_null(column: exp.Expr) -> exp.Expr:
    """Return a numeric column with NULL in place of NaN: missing, as everywhere else.

    Engines disagree about NaN: for some it is greater than every number and equal to itself, for
    others it compares with nothing, and not all have a literal for it. For none of them is it at
    most 0, or less than 0 after a change of sign.
    """
    nought = exp.Literal.number(0)
    is_low = exp.LTE(this=column.copy(), expression=nought)
    is_high = exp.LT(this=exp.Neg(this=column.copy()), expression=nought.copy())
    some = exp.If(this=exp.Or(this=is_low, expression=is_high), true=column.copy())
    return exp.Case(ifs=[some])


def exactly_one(parts: Sequence[exp.Expr]) -> exp.Expr:
    """Return whether one part is true and all others are false.

    Two true parts settle it, whatever the unknown ones are. Raises NotUnderstood if there are too
    many parts to run.
    """
    if len(parts) == 1:
        return parts[0]
    unknown = [exp.Is(this=exp.Paren(this=part.copy()), expression=exp.null()) for part in parts]
    too_many = exp.GT(this=_count(parts), expression=exp.Literal.number(1))
    case = exp.Case(
        ifs=[
            exp.If(this=too_many, true=false()),
            exp.If(this=disjunction(unknown), true=exp.null()),
        ],
        default=exp.EQ(this=_count(parts), expression=exp.Literal.number(1)),
    )
    return check_size(case)


def check_size(node: exp.Expr) -> exp.Expr:
    """Return a condition. Raises NotUnderstood if it is too long to be run."""
    if sum(1 for _ in node.walk()) > _MOST_PARTS:
        raise NotUnderstood("it has too many constraints")
    return node


def _count(parts: Sequence[exp.Expr]) -> exp.Expr:
    """Return how many parts are true."""
    one, nought = exp.Literal.number(1), exp.Literal.number(0)
    ones = [
        exp.Case(ifs=[exp.If(this=part.copy(), true=one.copy())], default=nought.copy())
        for part in parts
    ]
    count: exp.Expr = ones[0]
    for other in ones[1:]:
        count = exp.Add(this=count, expression=other)
    return exp.Paren(this=count)
