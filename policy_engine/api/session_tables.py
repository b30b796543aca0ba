"""Tables that sessions are asked for, in the words of pandas."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from policy_engine.api.pandas_options import key_names
from policy_engine.audits.outputs.chosen_keys import settled_keys
from policy_engine.audits.outputs.filled_keys import can_be_filled, lies_in
from policy_engine.audits.outputs.layout import GridLayout, Shares
from policy_engine.audits.outputs.microdata import (
    ChosenColumns,
    CodedColumn,
    Microdata,
    coded,
    numbers_of,
)
from policy_engine.audits.outputs.nested_keys import NestedKeys
from policy_engine.audits.outputs.tabulating import (
    ShownAggregate,
    TableRows,
    Tabulation,
    tabulate,
)
from policy_engine.errors import PolicyEngineError, RequestError

_SHARES: Mapping[Any, Shares] = {
    False: "",
    True: "all",
    "all": "all",
    "index": "index",
    "columns": "columns",
}
_AXES: Mapping[Any, Shares] = {0: "index", 1: "columns"}
_PANDAS = {"nobs": "size", "average": "mean", "quantile": "median", "len": "size"}


@dataclass(frozen=True)
class TableRequest:
    """A table that is asked for: keys to the left and on top, and aggregates of columns.

    Keys and the columns of `sources` are names, series or arrays; an aggregate names its source.
    """

    left: tuple[Any, ...]
    top: tuple[Any, ...]
    aggregates: tuple[ShownAggregate, ...]
    sources: Mapping[str, Any]
    layout: GridLayout
    fills: bool = False

    @property
    def text(self) -> str:
        """What is asked for, in a few words."""
        names = ", ".join(one.name for one in self.aggregates)
        keys = " x ".join(", ".join(map(_word, some)) for some in (self.left, self.top) if some)
        return f"{names} by {keys}" if keys else names


def crosstab_request(
    index: Any,
    columns: Any,
    values: Any,
    aggfunc: Any,
    normalize: Any,
    *,
    is_total: bool,
    total: str,
    rownames: Any = None,
    colnames: Any = None,
) -> TableRequest:
    """Return what `pandas.crosstab` would be asked for. Raises K025."""
    if (values is None) != (aggfunc is None):
        raise _request_error("values and aggfunc are given together, or neither is.")
    axis = normalize if isinstance(normalize, bool | str) else _AXES.get(normalize, normalize)
    if not isinstance(axis, bool | str) or axis not in _SHARES:
        message = "normalize is True, False, 'all', 'index' or 0, 'columns' or 1. "
        raise _request_error(f"{message}Given: {normalize!r}.")
    shares = _SHARES[axis]
    if shares and values is not None:
        raise _request_error("Shares are of counts: normalize without values.")
    sources = {} if values is None else {_word(values): values}
    aggregates = (
        (ShownAggregate("count", "size"),)
        if values is None
        else tuple(_aggregates(aggfunc, _word(values)))
    )
    left, top = _keys(index), _keys(columns)
    names = key_names(rownames, left, "rownames")
    key_names(colnames, top, "colnames")
    layout = GridLayout(
        len(left), total, is_total, shares, is_named=len(aggregates) > 1, names_left=names
    )
    return TableRequest(left, top, aggregates, sources, layout, fills=True)


def pivot_request(
    values: Any, index: Any, columns: Any, aggfunc: Any, *, is_total: bool, total: str
) -> TableRequest:
    """Return what `pandas.pivot_table` would be asked for. Raises K025."""
    if values is None:
        raise _request_error("A pivot table names its values.")
    names = _column_names(values)
    functions = aggfunc if isinstance(aggfunc, Mapping) else dict.fromkeys(names, aggfunc)
    if names != [name for name in names if name in functions]:
        raise _request_error("aggfunc is one aggregate, or has one for each of the values.")
    aggregates = [one for name in names for one in _aggregates(functions[name], name)]
    left, top = _keys(index), _keys(columns)
    if not left and not top:
        raise _request_error("A pivot table has an index or columns.")
    layout = GridLayout(len(left), total, is_total, is_named=True)
    sources = {name: name for name in names}
    return TableRequest(left, top, tuple(aggregates), sources, layout, fills=bool(top))


def aggregates_of(by: Any, functions: Any, named: Mapping[str, Any], column: Any) -> TableRequest:
    """Return what `DataFrame.groupby(by).agg(...)` would be asked for. Raises K025."""
    columns = [] if column is None else _column_names(column)
    aggregates: list[ShownAggregate] = []
    if functions == "size":
        aggregates.append(ShownAggregate("size", "size"))
    elif isinstance(functions, Mapping):
        aggregates += [one for name, some in functions.items() for one in _aggregates(some, name)]
    elif functions is not None:
        if not columns:
            raise _request_error("Of which columns? Write groupby(...)['income'].mean().")
        aggregates += [one for name in columns for one in _aggregates(functions, name)]
    for name, pair in named.items():
        own, function = _named_pair(name, pair, columns)
        aggregates.append(ShownAggregate(name, _function(function), own))
    if not aggregates:
        raise _request_error("agg names at least one aggregate.")
    left = _keys(by)
    sources = {one.column: one.column for one in aggregates if one.column}
    return TableRequest(left, (), tuple(aggregates), sources, GridLayout(len(left)))


_PAIR = 2


def _named_pair(name: str, pair: Any, columns: Sequence[str]) -> tuple[str, Any]:
    """Return the column and the aggregate that a name stands for: a pair, a `pandas.NamedAgg`
    without arguments, or an aggregate of the only column that is chosen."""
    if len(columns) == 1 and (isinstance(pair, str) or callable(pair)):
        return columns[0], pair
    if hasattr(pair, "aggfunc") and not (getattr(pair, "args", ()) or getattr(pair, "kwargs", {})):
        return str(pair.column), pair.aggfunc
    if not isinstance(pair, tuple) or len(pair) != _PAIR:
        raise _request_error(f"{name} is a column and an aggregate: ('income', 'mean').")
    return str(pair[0]), pair[1]


def quantiles_of(by: Any, shares: Any, column: Any) -> TableRequest:
    """Return what `DataFrame.groupby(by)[column].quantile(shares)` would be asked for.

    Raises RequestError (K025).
    """
    some = list(shares) if isinstance(shares, list | tuple) else [shares]
    for one in some:
        if isinstance(one, bool) or not isinstance(one, float | int) or not 0 <= one <= 1:
            raise _request_error(f"A quantile is that of a share from 0 to 1. Given: {one!r}.")
    if column is None:
        raise _request_error("Of which columns? Write groupby(...)['income'].quantile(0.25).")
    names = _column_names(column)
    aggregates = tuple(
        ShownAggregate(f"quantile {one:g} {name}", "quantile", name, float(one))
        for name in names
        for one in some
    )
    left = _keys(by)
    sources = {name: name for name in names}
    return TableRequest(left, (), aggregates, sources, GridLayout(len(left)))


def recipe_request(
    by: Sequence[str], across: str, measures: Sequence[str], *, has_totals: bool, total: str
) -> TableRequest:
    """Return what a finished table was asked for: measures such as `count` and `mean:income`.

    Raises RequestError (K025).
    """
    aggregates = []
    for measure in measures:
        function, _, column = measure.partition(":")
        plain = "size" if not column and function in ("count", "size") else function
        if plain != "size" and not column:
            raise _request_error(f"{measure!r} is an aggregate of which column? Write mean:income.")
        aggregates.append(ShownAggregate(measure, plain, column))
    if across and len(aggregates) > 1:
        raise _request_error("A table with a key on top has one measure.")
    sources = {one.column: one.column for one in aggregates if one.column}
    layout = GridLayout(len(by), total, has_totals, is_named=not across)
    top = (across,) if across else ()
    return TableRequest(tuple(by), top, tuple(aggregates), sources, layout, fills=bool(across))


def tabulated(
    request: TableRequest,
    rows: Microdata,
    *,
    fills: bool = False,
    nested: NestedKeys | None = None,
) -> Tabulation:
    """Return the table that is asked for, of rows of data. Raises DataError, RequestError.

    A table that `fills` has a row for each combination of its keys, of those that nobody has, too,
    unless one key decides about another, as a district does about its region. Keys by the names of
    columns that are `nested` form no lines of those that lie in one, nor does a key by which the
    rows were chosen: a column of the whole data of which they are all rows with one value.
    """
    if not rows.rows:
        raise _request_error("There are no rows, so that a table of them has no cells.")
    keys = [*request.left, *request.top]
    names = list(request.sources)
    chosen = rows.choose([*keys, *(request.sources[name] for name in names)])
    key_columns = _distinct(chosen, len(keys))
    values = dict(zip(names, chosen.columns[len(keys) :], strict=True))
    needed = {one.column for one in request.aggregates if one.function != "count"}
    coded_keys = tuple(coded(name, column) for name, column in key_columns)
    for key in coded_keys:
        if not key.labels:
            message = f"The key {key.name!r} has no value in any row, so there is nothing to group."
            raise _request_error(message)
    table = TableRows(
        keys=coded_keys,
        units=chosen.units,
        values={
            name: numbers_of(name, column) if name in needed else _presence(name, column)
            for name, (_, column) in values.items()
        },
        sets=_sets(request),
        fills=request.fills or (fills and can_be_filled(coded_keys)),
        numbers=chosen.numbers,
        nested=_nested(keys, coded_keys, nested),
        settled=settled_keys(keys, coded_keys, rows),
        is_chosen=rows.whole is not None and rows.rows < rows.whole.rows,
    )
    return tabulate(table, request.aggregates)


def nested_by(hierarchies: Sequence[Sequence[str]], rows: Microdata) -> NestedKeys:
    """Return which columns lie in which in all rows, of those of one hierarchy each: of two that
    lie in each other, the first in the second."""
    nested = NestedKeys()
    for names in hierarchies:
        present = [one for one in names if one in rows.table.column_names]
        for lower, upper in permutations(present, 2):
            if (upper, lower) not in nested.pairs and _lies_within(rows, lower, upper):
                nested = nested.with_pair(lower, upper)
    return nested


def _lies_within(rows: Microdata, column: str, within: str) -> bool:
    one, other = (coded(name, some) for name, some in rows.choose([column, within]).columns)
    return column != within and lies_in(one, other)


def check_nested(rows: Microdata, column: str, within: str) -> None:
    """Raise RequestError (K025) where some value of a column does not lie in one of another."""
    if not _lies_within(rows, column, within):
        raise _request_error(
            f"{column!r} does not lie in {within!r}: one of its values has several of those."
        )


def _nested(
    keys: Sequence[Any], coded_keys: Sequence[CodedColumn], nested: NestedKeys | None
) -> tuple[tuple[int, int], ...]:
    pairs = () if nested is None else nested.among(coded_keys)
    return tuple(pair for pair in pairs if all(isinstance(keys[one], str) for one in pair))


def _presence(name: str, column: Any) -> Any:
    """Return numbers that are missing where a column is: what a count counts."""
    codes = coded(name, column).codes.astype(float)
    codes[codes < 0] = float("nan")
    return codes


def _column_names(names: Any) -> list[str]:
    some = list(names) if isinstance(names, list | tuple) else [names]
    for one in some:
        if not isinstance(one, str):
            raise _request_error(f"A column is given by its name. Given: {type(one).__name__}.")
    return some


def _distinct(chosen: ChosenColumns, count: int) -> list[tuple[str, Any]]:
    names = [name for name, _ in chosen.columns[:count]]
    return [
        (name if names.count(name) == 1 else f"{name} ({place + 1})", column)
        for place, (name, column) in enumerate(chosen.columns[:count])
    ]


def _sets(request: TableRequest) -> tuple[tuple[int, ...], ...]:
    """Return the keys of each part of the table: its cells, and totals where there are some."""
    left = tuple(range(len(request.left)))
    top = tuple(range(len(left), len(left) + len(request.top)))
    if not (request.layout.is_total or request.layout.shares):
        return ((*left, *top),)
    return tuple(dict.fromkeys(((*left, *top), left, top, ())))


def _keys(keys: Any) -> tuple[Any, ...]:
    if keys is None:
        return ()
    return tuple(keys) if isinstance(keys, list | tuple) else (keys,)


def _aggregates(functions: Any, column: str) -> Iterator[ShownAggregate]:
    some: Sequence[Any] = functions if isinstance(functions, list | tuple) else [functions]
    for one in some:
        function = _function(one)
        yield ShownAggregate(f"{function} {column}", function, "" if function == "size" else column)


def _function(function: Any) -> str:
    """Return the name of an aggregate, that of a function too."""
    name = function if isinstance(function, str) else str(getattr(function, "__name__", function))
    return _PANDAS.get(name, name)


def _word(source: Any) -> str:
    return source if isinstance(source, str) else str(getattr(source, "name", None) or "values")


def _request_error(message: str) -> PolicyEngineError:
    return RequestError.of("K025", message)
