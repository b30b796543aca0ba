"""The conditions on rows that statistics are made of: comparisons of columns with literals."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from math import isfinite

from sqlglot import exp

from policy_engine.plan.aggregates.model import Comparison, RowCondition

Name = Callable[[exp.Expr], str]
"""The name of a column; raises NotAskableError for anything else."""


class NotAskableError(Exception):
    """A query of a kind that is not answered, and why: each of the `problems` is a sentence."""

    def __init__(self, *problems: str) -> None:
        self.problems = tuple(dict.fromkeys(problems))
        super().__init__(" ".join(self.problems))


@contextmanager
def noted(problems: list[str]) -> Iterator[None]:
    """Add to the problems what is not answered, and go on after it."""
    try:
        yield
    except NotAskableError as error:
        problems += error.problems


_LONGEST = 60


def short_sql(node: exp.Expr) -> str:
    """Return a part of a query for a message."""
    text = node.sql()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def bare(node: exp.Expr) -> exp.Expr:
    """Return what is in parentheses, of a node that is."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def row_conditions(node: exp.Expr, name: Name) -> tuple[RowCondition, ...]:
    """Return the comparisons that a WHERE joins by AND.

    Each is of one row alone, so that no row counts for what is in others. Raises NotAskableError
    with every part that is anything but a comparison of a column with literals.
    """
    conditions: list[RowCondition] = []
    problems: list[str] = []
    for part in _joined(node):
        with noted(problems):
            conditions += _conditions(part, name)
    if problems:
        raise NotAskableError(*problems)
    return tuple(conditions)


def _joined(node: exp.Expr) -> Iterator[exp.Expr]:
    stack = [node]
    while stack:
        one = stack.pop()
        if isinstance(one, exp.Paren):
            stack.append(one.this)
        elif isinstance(one, exp.And):
            stack += [one.expression, one.this]
        else:
            yield one


def _conditions(node: exp.Expr, name: Name) -> Iterator[RowCondition]:
    is_negated = isinstance(node, exp.Not)
    inner = bare(node.this) if is_negated else node
    if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
        comparison: Comparison = "is not missing" if is_negated else "is missing"
        yield RowCondition(column=name(inner.this), comparison=comparison)
    elif isinstance(inner, exp.In) and inner.expressions and not inner.args.get("query"):
        comparison = "is none of" if is_negated else "is any of"
        yield _condition(name(inner.this), comparison, inner.expressions)
    elif isinstance(inner, exp.Between) and not is_negated:
        yield _condition(name(inner.this), ">=", [inner.args["low"]])
        yield _condition(name(inner.this), "<=", [inner.args["high"]])
    elif type(inner) in _COMPARISONS and not is_negated:
        yield _compared(inner, name)
    else:
        raise _unlike(node)


_ALLOWED = "comparisons of a column with a literal, IN, BETWEEN and IS NULL"
_COMPARISONS: Mapping[type[exp.Expr], tuple[Comparison, Comparison]] = {
    exp.EQ: ("is any of", "is any of"),
    exp.NEQ: ("is none of", "is none of"),
    exp.LT: ("<", ">"),
    exp.LTE: ("<=", ">="),
    exp.GT: (">", "<"),
    exp.GTE: (">=", "<="),
}
"""The comparison of a column with a literal, and of a literal with a column."""


def _compared(node: exp.Expr, name: Name) -> RowCondition:
    as_written, turned = _COMPARISONS[type(node)]
    left, right = bare(node.this), bare(node.expression)
    if isinstance(left, exp.Column):
        return _condition(name(left), as_written, [right])
    if isinstance(right, exp.Column):
        return _condition(name(right), turned, [left])
    raise _unlike(node)


def _unlike(node: exp.Expr) -> NotAskableError:
    """Return the error for a part of a WHERE that is no such comparison."""
    why = f"{short_sql(node)} is not answered in WHERE. Allowed are {_ALLOWED}, joined by AND."
    return NotAskableError(why)


def _condition(column: str, comparison: Comparison, operands: Sequence[exp.Expr]) -> RowCondition:
    values = [*map(bare, operands)]
    numbers = [_number(one) for one in values]
    texts = [_text(one) for one in values]
    of_numbers = all(one is not None for one in numbers)
    if not of_numbers and None in texts:
        raise NotAskableError(f"Conditions on rows are {_ALLOWED}: all numbers, or all texts.")
    if not of_numbers and comparison not in ("is any of", "is none of"):
        raise NotAskableError(f"{comparison} compares a column with a number, not with a text.")
    chosen = sorted({str(one) for one in (numbers if of_numbers else texts)})
    return RowCondition(
        column=column, comparison=comparison, values=tuple(chosen), of_numbers=of_numbers
    )


def _number(node: exp.Expr) -> Decimal | None:
    sign, literal = (-1, node.this) if isinstance(node, exp.Neg) else (1, node)
    if not isinstance(literal, exp.Literal) or literal.is_string:
        return None
    try:
        # What a column is compared with is the nearest float, as its own numbers are.
        nearest = float(literal.name)
    except ValueError:
        return None
    # Zero is added since a negative zero is no other number.
    return Decimal(repr(sign * nearest + 0.0)).normalize() if isfinite(nearest) else None


def _text(node: exp.Expr) -> str | None:
    if isinstance(node, exp.Boolean):
        return str(node.this).lower()
    return node.name if isinstance(node, exp.Literal) and node.is_string else None
