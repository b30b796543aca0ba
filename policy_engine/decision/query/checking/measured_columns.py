"""Which columns of tables are measures: neither who somebody is, nor two of which all is told."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from policy_engine.decision.query.checking.checked_query import CheckedAggregate, NotCheckableError

if TYPE_CHECKING:
    import pyarrow as pa

_PAIR = 2
_WITHOUT_VALUES = ("count", "units", "binary", "extreme")
_UNIQUE_SHARE = 0.9
"""A column of whole numbers or texts of which so many are different tells who a row is of."""


def check_pairs(aggregates: Sequence[CheckedAggregate]) -> None:
    """Refuse several statistics of the same two columns, under whatever conditions.

    Together, they are moments of which each person's part can be solved for. Raises
    NotCheckableError (K018).
    """
    statistics: dict[frozenset[str], str] = {}
    for one in aggregates:
        if len(one.arguments) == _PAIR:
            columns, statistic = pair_statistic(one)
            if statistics.setdefault(frozenset(columns), statistic) != statistic:
                message = "More than one statistic of the same two columns is not known to be safe."
                raise NotCheckableError("K018", message, "Ask for one of them.")


_SYMMETRIC = (exp.Corr, exp.CovarPop, exp.CovarSamp, exp.RegrSxy)


def pair_statistic(aggregate: CheckedAggregate) -> tuple[tuple[str, ...], str]:
    """Return the two columns of a statistic, in order, and which one it is of them."""
    sides = [sorted(_names(one)) for one in aggregate.arguments]
    is_turned = sides != sorted(sides) and not isinstance(aggregate.function, _SYMMETRIC)
    name = aggregate.function.sql("duckdb")
    columns = tuple(dict.fromkeys(name for side in sorted(sides) for name in side))
    return columns, f"{name} turned" if is_turned else name


def column_statistic(aggregate: CheckedAggregate) -> tuple[tuple[str, ...], str]:
    """Return the column of a statistic of one, and which one it is: of whom, is not part of it."""
    [argument] = aggregate.arguments
    name = aggregate.function.sql("duckdb")
    value = argument.unnest()
    is_plain = isinstance(value, exp.Column)
    return tuple(sorted(_names(argument))), name if is_plain else f"{name} | {value.sql('duckdb')}"


def check_unit_is_no_measure(aggregates: Iterable[CheckedAggregate], unit: str) -> None:
    """Refuse an aggregate of values of the unit of privacy, which may only be counted.

    Raises NotCheckableError (K018).
    """
    for one in aggregates:
        if one.kind not in _WITHOUT_VALUES and unit.lower() in _columns(one):
            message = f"{unit!r} is the unit of privacy, and no measure."
            raise NotCheckableError("K018", message, "Count it, or aggregate another column.")


def check_identifiers(
    aggregates: Iterable[CheckedAggregate], tables: "Mapping[str, pa.Table]"
) -> None:
    """Refuse a statistic of two columns one of which has nearly unique whole numbers or texts.

    Such a column gives each person a known weight. Raises NotCheckableError (K018).
    """
    pairs = [one for one in aggregates if len(one.arguments) == _PAIR]
    names = {name for one in pairs for name in _columns(one)}
    for table in tables.values() if names else ():
        for name in table.column_names:
            if name.lower() in names and _is_identifier(table[name]):
                message = f"{name!r} has nearly as many values as rows: it tells who a row is of."
                raise NotCheckableError("K018", message, "Take another column of the two.")


def _columns(aggregate: CheckedAggregate) -> set[str]:
    """Return the columns that the values of an aggregate are of, in lower case."""
    return {name for one in aggregate.arguments for name in _names(one)}


def _names(argument: exp.Expr) -> set[str]:
    return {column.name.lower() for column in argument.find_all(exp.Column)}


def _is_identifier(values: "pa.ChunkedArray") -> bool:
    kind = values.type
    is_measured = pa.types.is_floating(kind) or (pa.types.is_decimal(kind) and kind.scale > 0)
    present = len(values) - values.null_count
    if is_measured or present <= 1:
        return False
    return bool(pc.count_distinct(values).as_py() >= _UNIQUE_SHARE * present)
