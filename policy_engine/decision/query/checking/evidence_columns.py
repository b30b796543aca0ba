"""The columns of evidence of each contribution: by row, by unit, and of both together.

Of contribution c there are: "n<c>" units that contribute, "o<c>" and "q<c>" units of which a row
does not or says no, "p<c>" units that say yes, "r<c>" the rows of the two units that have most, and
"t<c>" all of them; of totals and what has a shape "z<c>" units that contribute something, "g<c>"
less than nothing, "s<c>" the total of sizes, "d<c>" the two largest, "e<c>_0" and "e<c>_1" the
smallest and the largest contribution, and of two values "s<c>b" and so on for the second one.
"""

from collections.abc import Iterable, Sequence

from sqlglot import exp

from policy_engine.decision.query.checking.contributions import Contribution
from policy_engine.decision.query.checking.sql_nodes import (
    above_zero,
    column,
    count_where,
    differs,
    double,
    named,
    present,
)

_PAIR = 2

UNIT = "u"
"""The column of the unit of a row."""
SIZED = frozenset({"total", "shape"})
"""The kinds of aggregates in which one contribution may be most of all."""
ROWS, UNITS = "rows", "units"
"""The columns of how many rows and units each row of the answer is about."""


def by_row(
    contributions: Sequence[Contribution],
    letter: str = "x",
    counted: exp.Expr | None = None,
    owned: exp.Expr | None = None,
) -> list[exp.Expr]:
    """Return the columns of evidence where each of the rows that are `counted` is another unit.

    The values of other rows are missing in the columns of values that begin with the `letter`. Rows
    that are not `owned` are of no unit: nobody is counted for them.
    """
    entries = [count_where(_both(counted, owned), UNITS)]
    for place, one in enumerate(contributions):
        first = column(f"{letter}{place}_0")
        value = one.value_where_present(place, letter)
        number = exp.Count(this=value)
        if one.is_every_row:
            number = count_where(counted, "").this
        if "count" in one.kinds and counted is not None:
            entries += _ones(number, place)
        if one.is_every_row:
            continue
        if owned is not None:
            number = exp.Count(this=exp.case().when(owned.copy(), value.copy()))
        entries.append(named(number, f"n{place}"))
        if one.kinds & {"count", "units"}:
            missing = exp.Is(this=first.copy(), expression=exp.null())
            some = _both(_both(counted, missing), owned)
            entries.append(count_where(some, f"o{place}"))
        if "binary" in one.kinds:
            lower = exp.EQ(this=first.copy(), expression=exp.Literal.number(one.low))
            entries.append(count_where(_both(differs(first, one.low), owned), f"p{place}"))
            entries.append(count_where(_both(lower, owned), f"q{place}"))
        if one.kinds & SIZED:
            for label, size in sized(one, place, letter):
                entries += _sizes(double(size), label, owned)
    return entries


def _both(one: exp.Expr | None, other: exp.Expr | None) -> exp.Expr | None:
    """Return whether all of two conditions hold that there are."""
    conditions = [part.copy() for part in (one, other) if part is not None]
    return exp.and_(*conditions) if len(conditions) > 1 else next(iter(conditions), None)


def _ones(number: exp.Expr, place: int) -> list[exp.Expr]:
    """Return the rows of units that have one each."""
    two = exp.Array(expressions=[exp.cast(exp.Literal.number(1), exp.DType.DOUBLE)] * 2)
    size = exp.cast(
        exp.Least(this=number.copy(), expressions=[exp.Literal.number(2)]), exp.DType.BIGINT
    )
    largest = exp.Anonymous(this="LIST_SLICE", expressions=[two, exp.Literal.number(1), size])
    return [named(largest, f"r{place}"), named(double(number), f"t{place}")]


def per_unit(contributions: Sequence[Contribution]) -> list[exp.Expr]:
    """Return the columns of a unit's rows in a cell: their number "n", and its contributions."""
    entries = [count_where(None, "n")]
    for place, one in enumerate(contributions):
        first = column(f"x{place}_0")
        if one.is_every_row:
            continue
        entries.append(named(exp.Count(this=one.value_where_present(place)), f"n{place}"))
        if one.kinds & SIZED:
            for label, value in sized(one, place):
                entries.append(named(exp.Sum(this=double(value)), f"s{label}"))
        if "binary" in one.kinds:
            entries.append(count_where(differs(first, one.low), f"p{place}"))
    return entries


def by_unit(contributions: Sequence[Contribution], owned: exp.Expr | None = None) -> list[exp.Expr]:
    """Return the columns of evidence over those that there are `per_unit`; what is not `owned`
    is of no unit."""
    rows = exp.cast(exp.Sum(this=column("n")), exp.DType.BIGINT)
    entries = [named(rows, ROWS), count_where(owned, UNITS)]
    for place, one in enumerate(contributions):
        number = column("n" if one.is_every_row else f"n{place}")
        if "count" in one.kinds:
            two = exp.Max(this=double(number), count=exp.Literal.number(2))
            entries.append(named(two, f"r{place}"))
            entries.append(named(exp.Sum(this=double(number)), f"t{place}"))
        if one.is_every_row:
            continue
        entries.append(count_where(_both(above_zero(number), owned), f"n{place}"))
        if one.kinds & {"count", "units"}:
            lacks = exp.LT(this=number.copy(), expression=column("n"))
            entries.append(count_where(_both(lacks, owned), f"o{place}"))
        if "binary" in one.kinds:
            yes = column(f"p{place}")
            lacks = exp.LT(this=yes.copy(), expression=number.copy())
            entries.append(count_where(_both(above_zero(yes), owned), f"p{place}"))
            entries.append(count_where(_both(lacks, owned), f"q{place}"))
        if one.kinds & SIZED:
            for label, _ in sized(one, place):
                entries += _sizes(column(f"s{label}"), label, owned)
    return entries


def sized(one: Contribution, place: int, letter: str = "x") -> list[tuple[str, exp.Expr]]:
    """Return the one or two values of a contribution whose sizes are known, by how they are called;
    each is missing where the other is."""
    first = one.value_where_present(place, letter)
    if len(one.arguments) < _PAIR:
        return [(f"{place}", first)]
    sides = [column(f"{letter}{place}_{side}") for side in (0, 1)]
    second = exp.case().when(present(sides[0]), sides[1])
    return [(f"{place}", first), (f"{place}b", second)]


def _sizes(value: exp.Expr, label: str, owned: exp.Expr | None) -> list[exp.Expr]:
    """Return what is known of contributions: the largest two, their total, their signs, and the
    smallest and largest one."""
    size, zero = exp.Abs(this=value.copy()), exp.Literal.number(0)
    largest = exp.Max(this=size, count=exp.Literal.number(2))
    return [
        count_where(_both(differs(value), owned), f"z{label}"),
        count_where(exp.LT(this=value.copy(), expression=zero), f"g{label}"),
        named(exp.Sum(this=size.copy()), f"s{label}"),
        named(largest, f"d{label}"),
        named(exp.Min(this=value.copy()), f"e{label}_0"),
        named(exp.Max(this=value.copy()), f"e{label}_1"),
    ]


def of_both(names: Iterable[str]) -> list[str]:
    """Return the columns of evidence of two sets of units together, over those of each: as SQL."""
    return [f'{_together(name)} AS "{name}"' for name in names]


def _together(name: str) -> str:
    if name[0] in "rd":
        return f'LIST_SLICE(LIST_REVERSE_SORT(FLATTEN(LIST("{name}"))), 1, 2)'
    if name[0] == "e":
        return f'{"MIN" if name.endswith("_0") else "MAX"}("{name}")'
    total = f'SUM("{name}")'
    return total if name[0] in "st" else f"CAST({total} AS BIGINT)"
