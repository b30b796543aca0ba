"""Which class of statistics an aggregate of SQL is, and what evidence the class needs."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sqlglot import exp

from policy_engine.audits.outputs.model import Statbarn
from policy_engine.decision.query.checking.checked_query import CheckedAggregate, NotCheckableError
from policy_engine.decision.query.checking.plain_arguments import (
    is_measured,
    is_rounded,
    measured_column,
    without_choice,
)

_PREDICATES = (
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.And, exp.Or, exp.Not, exp.Is, exp.In),
    *(exp.Between, exp.Like, exp.ILike, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Boolean),
)
_SHAPES = (
    *(exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop),
    *(exp.Skewness, exp.Kurtosis, exp.CovarPop, exp.CovarSamp),
    exp.RegrSxy,
)
_PAIRED = (exp.CovarPop, exp.CovarSamp, exp.RegrSxy)
_COEFFICIENTS = (exp.RegrSlope, exp.RegrIntercept, exp.RegrR2)
_POSITIONS = (exp.Median, exp.Quantile, exp.PercentileCont, exp.PercentileDisc)
_SHAPE_NAMES = ("sem", "var_samp", "kurtosis_pop")
AGGREGATE_NAMES = frozenset({*_SHAPE_NAMES, "bool_and", "bool_or", "geomean", "mad"})
"""Functions without a parser class that are aggregates."""


def is_aggregate(node: exp.Expr) -> bool:
    """Return whether a part of a query is an aggregate, with its own FILTER or WITHIN GROUP."""
    named = isinstance(node, exp.Anonymous) and str(node.this).lower() in AGGREGATE_NAMES
    return named or isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup)


def classify(node: exp.Expr) -> CheckedAggregate:
    """Return what an aggregate is. Raises NotCheckableError (K018) for one that is not known."""
    condition = None
    if isinstance(node, exp.Filter):
        node, condition = node.this, node.expression.this
    if isinstance(node, exp.WithinGroup):
        node = _ordered(node)
    for kinds, reader in _READERS.items():
        if isinstance(node, kinds):
            return reader(node, condition)
    if isinstance(node, exp.Anonymous) and str(node.this).lower() in _SHAPE_NAMES:
        [argument] = node.expressions if len(node.expressions) == 1 else [None]
        if argument is not None:
            function = exp.Anonymous(this=node.this, expressions=[_column(0)])
            value, condition = _chosen(argument, condition)
            return _shape_of(function, (value,), condition)
    raise _unknown(node)


def _unknown(node: exp.Expr) -> NotCheckableError:
    name = str(node.this) if isinstance(node, exp.Anonymous) else node.sql_name()  # type: ignore[attr-defined]
    message = f"What {name.upper()} tells of single persons is not known, or not in this form."
    return NotCheckableError("K018", message, f"Known are {_KNOWN}.")


_KNOWN = (
    "COUNT, SUM, AVG, MEDIAN, quantiles, MODE, standard deviations, variances, SKEWNESS, KURTOSIS, "
    "CORR, COVAR and REGR functions"
)


def _column(number: int) -> exp.Expr:
    return exp.column(f"x{number}", quoted=True)


def _ordered(node: exp.WithinGroup) -> exp.Expr:
    """Return the aggregate of an ordered set with its argument where others have theirs."""
    order, function = node.expression, node.this
    if len(order.expressions) != 1 or not isinstance(function, exp.AggFunc):
        raise _unknown(function)
    [one] = order.expressions
    if isinstance(function, exp.Mode):
        return exp.Mode(this=one.this)
    if not isinstance(function, exp.PercentileCont | exp.PercentileDisc):
        raise _unknown(function)
    share = _share(function.this, function)
    share = 1 - share if one.args.get("desc") else share
    literal = exp.Literal.number(repr(share))
    return type(function)(this=one.this, expression=literal)


# -- counts ------------------------------------------------------------------------------------


def _count(node: exp.Expr, condition: exp.Expr | None) -> CheckedAggregate:
    argument = node.this
    if node.args.get("expressions"):
        raise _unknown(node)
    if isinstance(argument, exp.Distinct):
        if len(argument.expressions) != 1 or argument.args.get("on"):
            raise _unknown(node)
        function = exp.Count(this=exp.Distinct(expressions=[_column(0)]))
        arguments = (argument.expressions[0],)
        if not isinstance(arguments[0].unnest(), exp.Column):
            raise _not_plain("COUNT(DISTINCT ...)", "a column")
        group = condition is not None
        return CheckedAggregate(
            function, "units", Statbarn.FREQUENCIES, arguments, condition, is_group=group
        )
    is_star = argument is None or isinstance(argument, exp.Star | exp.Literal)
    present = None if is_star else exp.Not(this=exp.Is(this=argument.copy(), expression=exp.null()))
    # What is computed may be missing by a condition: that of a CASE, of a NULLIF.
    is_chosen = not is_star and not isinstance(argument.unnest(), exp.Column)
    return _frequency(_both(condition, present), is_group=condition is not None or is_chosen)


def _count_if(node: exp.Expr, condition: exp.Expr | None) -> CheckedAggregate:
    return _frequency(_both(condition, node.this), is_group=True)


def _pairs(node: exp.Expr, condition: exp.Expr | None) -> CheckedAggregate:
    arguments = _arguments(node)
    present = [exp.Not(this=exp.Is(this=one.copy(), expression=exp.null())) for one in arguments]
    return _frequency(_both(_both(condition, present[0]), present[1]), is_group=False)


def _frequency(condition: exp.Expr | None, *, is_group: bool) -> CheckedAggregate:
    function = exp.Count(this=_column(0))
    return CheckedAggregate(
        function, "count", Statbarn.FREQUENCIES, (), condition, is_group=is_group
    )


def _both(one: exp.Expr | None, other: exp.Expr | None) -> exp.Expr | None:
    if one is None or other is None:
        return one if other is None else other
    return exp.and_(one.copy(), other.copy())


# -- totals and means --------------------------------------------------------------------------


def _total(node: exp.Expr, condition: exp.Expr | None) -> CheckedAggregate:
    [argument] = _arguments(node)
    argument = _with_whole_codes(argument)
    function = type(node)(this=_column(0))
    if isinstance(argument, exp.Literal):
        if not isinstance(node, exp.Sum) or argument.sql() != "1":
            raise _not_plain("A total", "a column as it is, or 1")
        return CheckedAggregate(function, "count", Statbarn.FREQUENCIES, (argument,), condition)
    yes_or_no = _predicate(argument)
    if yes_or_no is not None:
        number = (
            exp.case().when(yes_or_no.copy(), exp.Literal.number(1)).else_(exp.Literal.number(0))
        )
        numbers = _where(yes_or_no, number) if not isinstance(argument, exp.Case) else argument
        if isinstance(yes_or_no, exp.Case):
            _check_codes(yes_or_no, node)
        return CheckedAggregate(
            function, "binary", Statbarn.FREQUENCIES, (numbers,), condition, is_group=True
        )
    is_coded = isinstance(argument, exp.Case) and len(_levels(argument)) > _TWO
    if is_coded and all(isinstance(one, exp.Literal | exp.Null) for one in _results(argument)):
        message = "A total of codes that a CASE gives to groups tells the size of each of them."
        raise NotCheckableError("K018", message, "Count each group by FILTER (WHERE ...).")
    value, condition = _chosen(argument, condition, has_zero=isinstance(node, exp.Sum))
    return CheckedAggregate(function, "total", Statbarn.LINEAR_AGGREGATIONS, (value,), condition)


_TWO = 2


def _with_whole_codes(argument: exp.Expr) -> exp.Expr:
    """Return an argument with the codes 0 and 1 of a CASE as whole numbers, as in THEN 1.0."""
    node = argument.copy()
    case = node.unnest()
    for result in _results(case) if isinstance(case, exp.Case) else ():
        is_number = isinstance(result, exp.Literal) and not result.is_string
        if is_number and float(result.this) in (0, 1):
            result.replace(exp.Literal.number(int(float(result.this))))
    return node


def _check_codes(node: exp.Case, function: exp.Expr) -> None:
    """Refuse a yes or no that counts others than those of its conditions.

    Of other codes, a total would tell how many have which, whoever is in the cell; of none beside 0
    and 1, a mean would tell how many have none.
    """
    results = [one.sql() for one in _results(node)]
    if {*results} - {"0", "1", "NULL"} or (isinstance(function, exp.Avg) and "NULL" in results):
        message = "A CASE in an aggregate gives 1 to who is counted and 0 to all others, each as a "
        message += "whole number."
        raise NotCheckableError("K018", message, "Count each group by FILTER (WHERE ...).")


def _chosen(
    argument: exp.Expr, condition: exp.Expr | None, *, has_zero: bool = False
) -> tuple[exp.Expr, exp.Expr | None]:
    """Return a measured column and under which condition it counts. Raises NotCheckableError."""
    value, choice = without_choice(argument, has_zero=has_zero)
    if not is_measured(value):
        raise _not_plain("An aggregate of numbers", "a column as it is")
    return value, _both(condition, choice)


def _not_plain(part: str, allowed: str) -> NotCheckableError:
    message = f"{part} is of {allowed}: of what is computed it is not known whom it tells of."
    hint = "Scale the result, as in 2 * SUM(pay), or subtract results, as in AVG(a) - AVG(b). "
    hint += "Conditions belong in FILTER (WHERE ...)."
    return NotCheckableError("K018", message, hint)


def _where(condition: exp.Expr, number: exp.Expr) -> exp.Expr:
    """Return a number that is missing where it is not known whether a condition holds."""
    present = exp.Not(this=exp.Is(this=exp.paren(condition.copy()), expression=exp.null()))
    return exp.case().when(present, number)


def _predicate(node: exp.Expr) -> exp.Expr | None:
    """Return the condition that an argument is the yes or no of, None if it is another value."""
    while isinstance(node, exp.Paren | exp.Cast):
        node = node.this
    if isinstance(node, _PREDICATES):
        return node
    if isinstance(node, exp.Case) and len(_levels(node)) <= _TWO:
        results = _results(node)
        if all(isinstance(one, exp.Literal | exp.Null) for one in results):
            return node
    return None


def _results(node: exp.Expr) -> list[exp.Expr]:
    """Return what a CASE can result in."""
    default = node.args.get("default") or exp.null()
    return [*(one.args["true"] for one in node.args["ifs"]), default]


def _levels(node: exp.Expr) -> set[str]:
    """Return the different results of a CASE, 0 and none being one."""
    texts = {one.sql() for one in _results(node)}
    return {"0" if text == "NULL" else text for text in texts}


def _moment(node: exp.Expr, condition: exp.Expr | None) -> CheckedAggregate:
    """REGR_AVGX and REGR_AVGY: means over the rows that have both values."""
    first, second = _arguments(node)
    item, other = (second, first) if isinstance(node, exp.RegrAvgx) else (first, second)
    present = exp.Not(this=exp.Is(this=other.copy(), expression=exp.null()))
    return _total(exp.Avg(this=item), _both(condition, present))


# -- others ------------------------------------------------------------------------------------


def _position(node: exp.Expr, condition: exp.Expr | None) -> CheckedAggregate:
    share = 0.5
    function = type(node)(**{name: _plain(one) for name, one in node.args.items() if one})
    if not isinstance(node, exp.Median):
        written = node.args.get("quantile") or node.args.get("expression")
        share = _share(written, node)
    function.set("this", _column(0))
    if isinstance(node.this, exp.Distinct | exp.Order):
        raise _unknown(node)
    tail = min(share, 1 - share)
    if tail <= 0:
        return _extreme_of(node.this, function, condition)
    value, condition = _ranked(node.this, condition)
    return CheckedAggregate(function, "position", Statbarn.POSITION, (value,), condition, tail)


def _ranked(argument: exp.Expr, condition: exp.Expr | None) -> tuple[exp.Expr, exp.Expr | None]:
    value, choice = without_choice(argument, has_zero=False)
    if not is_rounded(value):
        raise _not_plain("A percentile or a mode", "a column, rounded or not")
    return value, _both(condition, choice)


def _plain(value: object) -> object:
    return value.copy() if isinstance(value, exp.Expr) else value


def _share(node: object, function: exp.Expr) -> float:
    is_number = isinstance(node, exp.Literal) and not node.is_string
    share = float(node.this) if is_number else -1.0  # type: ignore[attr-defined]
    if not 0 <= share <= 1:
        raise _unknown(function)
    return share


def _extreme(node: exp.Expr, condition: exp.Expr | None) -> CheckedAggregate:
    if any(value for name, value in node.args.items() if name != "this"):
        raise _unknown(node)
    return _extreme_of(node.this, type(node)(this=_column(0)), condition)


def _extreme_of(
    argument: exp.Expr, function: exp.Expr, condition: exp.Expr | None
) -> CheckedAggregate:
    return CheckedAggregate(function, "extreme", Statbarn.ENDPOINTS, (argument,), condition)


def _mode(node: exp.Expr, condition: exp.Expr | None) -> CheckedAggregate:
    [argument] = _arguments(node)
    value, condition = _ranked(argument, condition)
    return CheckedAggregate(exp.Mode(this=_column(0)), "mode", Statbarn.MODE, (value,), condition)


def _shape(node: exp.Expr, condition: exp.Expr | None) -> CheckedAggregate:
    arguments = _arguments(node)
    is_paired = isinstance(node, _PAIRED)
    function = type(node)(this=_column(0), **({"expression": _column(1)} if is_paired else {}))
    if is_paired:
        return _shape_of(function, _pair(arguments), condition)
    value, condition = _chosen(arguments[0], condition)
    return _shape_of(function, (value,), condition)


def _spread_of_one(node: exp.Expr, condition: exp.Expr | None) -> CheckedAggregate:
    """REGR_SXX and REGR_SYY: how one column is spread over the rows that have both values."""
    first, second = _pair(_arguments(node))
    item, other = (second, first) if isinstance(node, exp.RegrSxx) else (first, second)
    present = exp.Not(this=exp.Is(this=other.copy(), expression=exp.null()))
    function = exp.RegrSyy(this=_column(0), expression=_column(0))
    return _shape_of(function, (item,), _both(condition, present))


def _pair(arguments: tuple[exp.Expr, ...]) -> tuple[exp.Expr, ...]:
    if not all(map(is_measured, arguments)):
        raise _not_plain("A statistic of two values", "two columns as they are")
    if len({measured_column(one) for one in arguments}) < len(arguments):
        message = "A statistic of two columns is of different ones."
        raise NotCheckableError("K018", message, "Ask for a variance or a standard deviation.")
    return arguments


def _shape_of(
    function: exp.Expr, arguments: tuple[exp.Expr, ...], condition: exp.Expr | None
) -> CheckedAggregate:
    return CheckedAggregate(function, "shape", Statbarn.SHAPE, arguments, condition)


def _coefficient(node: exp.Expr, condition: exp.Expr | None) -> CheckedAggregate:
    function = type(node)(this=_column(0), expression=_column(1))
    parameters = 2 if isinstance(node, _COEFFICIENTS) else 0
    return CheckedAggregate(
        function,
        "coefficient",
        Statbarn.CORRELATION_COEFFICIENTS,
        _pair(_arguments(node)),
        condition,
        parameters=parameters,
    )


def _arguments(node: exp.Expr) -> tuple[exp.Expr, ...]:
    """Return one or two plain arguments. Raises NotCheckableError (K018) for DISTINCT or more."""
    used = {name for name, value in node.args.items() if value and name in _NAMES_OF_ARGUMENTS}
    arguments = tuple(node.args[name] for name in ("this", "expression") if node.args.get(name))
    is_odd = any(isinstance(one, exp.Distinct | exp.Order | exp.Star) for one in arguments)
    others = {name for name, value in node.args.items() if isinstance(value, exp.Expr | list)}
    if is_odd or others - used - _EMPTY or not arguments:
        raise _unknown(node)
    return arguments


_NAMES_OF_ARGUMENTS = {"this", "expression"}
_EMPTY: set[str] = set()

_Reader = Callable[[exp.Expr, exp.Expr | None], CheckedAggregate]
_READERS: Mapping[tuple[type[exp.Expr], ...], _Reader] = MappingProxyType(
    {
        (exp.Count,): _count,
        (exp.CountIf,): _count_if,
        (exp.RegrCount,): _pairs,
        (exp.Sum, exp.Avg): _total,
        (exp.RegrAvgx, exp.RegrAvgy): _moment,
        _POSITIONS: _position,
        (exp.Min, exp.Max): _extreme,
        (exp.Mode,): _mode,
        _SHAPES: _shape,
        (exp.RegrSxx, exp.RegrSyy): _spread_of_one,
        (exp.Corr, *_COEFFICIENTS): _coefficient,
    }
)
