"""The queries that compute an answer's aggregates, and the evidence of each of their cells.

Rows are grouped by the keys and the unit of privacy first, then by the keys: so units are counted,
never rows, whatever joins do to rows. Both queries read the same expressions of rows: an aggregate
and its evidence are about the same values. An expression that fails on a row is missing there
(TRY): whether a query fails must not depend on a value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from policy_engine.decision.query.checking.checked_query import CheckedAggregate, CheckedQuery

_SAFE = (exp.Column, exp.Literal, exp.Null, exp.Boolean)
_UNIT = "u"
ROWS, UNITS = "rows", "units"
"""The columns of how many rows and units each row of the answer is about."""
ANSWER = "answer before checks"
"""The table that the query of units beside percentiles reads."""
BASE = "*"
"""Stands for everybody in a cell, of whom a condition may hold or not."""
CELLS = "cells before checks"
"""The table of keys that the query of memberships reads."""


@dataclass(frozen=True)
class Contribution:
    """What some aggregates read of a row, and the kinds of evidence that they need of it."""

    arguments: tuple[exp.Expr, ...]
    condition: exp.Expr | None
    kinds: frozenset[str]
    low: str = "0"

    @property
    def is_every_row(self) -> bool:
        """Whether it is only that there is a row."""
        return not self.arguments and self.condition is None


@dataclass(frozen=True)
class EvidenceQueries:
    """Builds the SQL for the grouping sets of a query, over its tables as they may be read.

    `unit` is the unit of a row, None where each row is another. Aggregates of the same values share
    a contribution: `places` has its number for each aggregate.
    """

    query: CheckedQuery
    unit: exp.Expr | None

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The number of the contribution of each aggregate."""
        names = [_key(one) for one in self.query.aggregates]
        unique = list(dict.fromkeys(names))
        return tuple(unique.index(name) for name in names)

    @cached_property
    def contributions(self) -> tuple[Contribution, ...]:
        """What the aggregates read of a row, each once."""
        shared: dict[str, list[CheckedAggregate]] = {}
        for one in self.query.aggregates:
            shared.setdefault(_key(one), []).append(one)
        return tuple(
            Contribution(
                some[0].arguments,
                some[0].condition,
                frozenset(one.kind for one in some),
                some[0].low,
            )
            for some in shared.values()
        )

    def rows(self, keys: Sequence[int]) -> exp.Select:
        """Return the query of rows: keys, the unit "u", and each contribution to aggregates.

        The columns of contribution c are "x<c>_0" and "x<c>_1"; a count's is 1 where it counts.
        """
        select = self.query.source.copy()
        where = select.args.get("where")
        if where is not None:
            where.set("this", tried(where.this))
        for join in select.args.get("joins") or ():
            if join.args.get("on") is not None:
                join.set("on", _tried_parts(join.args["on"]))
        entries = [_named(tried(self.query.keys[number]), f"k{number}") for number in keys]
        if self.unit is not None:
            entries.append(_named(self.unit.copy(), _UNIT))
        for place, contribution in enumerate(self.contributions):
            columns = enumerate(_columns(contribution))
            entries += [_named(one, f"x{place}_{number}") for number, one in columns]
        select.set("expressions", entries)
        return select

    def answer(self, keys: Sequence[int]) -> exp.Select:
        """Return the query of aggregates "a<j>" by keys, in the order of the keys.

        Extremes, which are never released, are not computed. "l<j>" are the different values of the
        explanatory variable of a regression, "h<j>_0" and "h<j>_1" the most common ones of what has
        a shape.
        """
        entries = [_number("rows")]
        for number, aggregate in enumerate(self.query.aggregates):
            place = self.places[number]
            if aggregate.kind != "extreme":
                entries.append(_named(_renamed(aggregate.function, place), f"a{number}"))
            if aggregate.kind == "coefficient" and aggregate.parameters:
                levels = exp.Count(this=exp.Distinct(expressions=[_column(f"x{place}_1")]))
                entries.append(_named(levels, f"l{number}"))
            for side, value in self._spread(number):
                entries.append(_named(exp.Mode(this=value), f"h{number}_{side}"))
        return self._grouped(self.rows(keys), keys, entries)

    def evidence(self, keys: Sequence[int]) -> exp.Select:
        """Return the query of the evidence of each contribution, by keys in their order."""
        if self.unit is None:
            return self._grouped(self.rows(keys), keys, self._by_row())
        return self._grouped(self._per_unit(keys), keys, self._by_unit())

    def most_joined(self) -> exp.Select:
        """Return the query of how many rows "n" one unit has at most, whatever the conditions."""
        source = self.query.source.copy()
        source.set("where", None)
        source.set("expressions", [_named((self.unit or exp.null()).copy(), _UNIT)])
        inner = exp.Select().from_(exp.Subquery(this=source, alias=_alias("q")))
        inner.set("expressions", [_number("n")])
        unit = _column(_UNIT)
        present = exp.Not(this=exp.Is(this=unit.copy(), expression=exp.null()))
        inner = inner.where(present).group_by(unit)
        select = exp.Select().from_(exp.Subquery(this=inner, alias=_alias("r")))
        select.set("expressions", [_named(exp.Max(this=_column("n")), "n")])
        return select

    def beyond(self, keys: Sequence[int]) -> exp.Select | None:
        """Return the query of units beside percentiles, and with modes; None if there are none.

        It reads the answer as the table `ANSWER`. "w<j>_0" and "w<j>_1" are the units of which a
        value is not the most common one.
        """
        entries = []
        for number, aggregate in enumerate(self.query.aggregates):
            value = _column(f"x{self.places[number]}_0")
            item = exp.column(f"a{number}", table=ANSWER, quoted=True)
            for name, operator in _BESIDE.get(aggregate.kind, ()):
                compared = operator(this=value.copy(), expression=item.copy())
                entries.append(self._units_where(compared, f"{name}{number}"))
            for side, spread in self._spread(number):
                common = exp.column(f"h{number}_{side}", table=ANSWER, quoted=True)
                differs = exp.NEQ(this=spread, expression=common)
                entries.append(self._units_where(differs, f"w{number}_{side}"))
        if not entries:
            return None
        select = self._joined(keys, ANSWER)
        names = [exp.column(f"k{number}", table="r", quoted=True) for number in keys]
        select.set("expressions", [*names, *entries])
        return _ordered(select, names)

    def levels(self) -> exp.Select:
        """Return the query of the values of contributions to totals: about how many different
        ones "v<c>" there are, and the smallest "i<c>" and the largest "h<c>"."""
        entries = []
        for place, one in enumerate(self.contributions):
            value = _column(f"x{place}_0")
            if "total" in one.kinds:
                entries.append(_named(exp.ApproxDistinct(this=value), f"v{place}"))
                entries.append(_named(exp.Min(this=value.copy()), f"i{place}"))
                entries.append(_named(exp.Max(this=value.copy()), f"h{place}"))
        return self._grouped(self.rows(()), (), entries)

    def between(self, place: int, ends: tuple[str, str]) -> exp.Select:
        """Return the query of how many contributions are neither of two values."""
        value = _column(f"x{place}_0")
        return self._grouped(
            self.rows(()),
            (),
            [_count_where(exp.and_(*(_differs(value, end) for end in ends)), "n")],
        )

    def memberships_of(self, number: int) -> tuple[str, ...]:
        """Return the columns of `memberships` that tell who is in the populations of an aggregate:
        empty where everybody in the cell is.

        Of a yes or no those are who says yes, and who says anything; of what is under a condition
        those of whom it holds, and `BASE`: that a figure is the same without a person tells that
        the condition does not hold of the person.
        """
        place = self.places[number]
        contribution, aggregate = self.contributions[place], self.query.aggregates[number]
        if contribution.is_every_row:
            return ("",)
        if aggregate.kind == "binary":
            return f"p{place}", f"n{place}"
        return (f"n{place}",) if aggregate.condition is None else (f"n{place}", BASE)

    def memberships(self, keys: Sequence[int]) -> exp.Select:
        """Return the query of which units are in which "cell" of the table `CELLS`, and how many of
        their rows count for each contribution."""
        entries = []
        for place, one in enumerate(self.contributions):
            first = exp.column(f"x{place}_0", table="r", quoted=True)
            if one.is_every_row:
                continue
            entries.append(_named(exp.Count(this=_both_present(one, place)), f"n{place}"))
            if "binary" in one.kinds:
                entries.append(_count_where(_differs(first, one.low), f"p{place}"))
        names = [exp.column("cell", table=CELLS, quoted=True), _column(_UNIT)]
        select = self._joined(keys, CELLS)
        select.set("expressions", [*names, *entries])
        return select.group_by(*(one.copy() for one in names))

    def _spread(self, number: int) -> list[tuple[int, exp.Expr]]:
        """Return the values of what has a shape, by their place, where it has all of them."""
        if self.query.aggregates[number].kind not in ("shape", "coefficient"):
            return []
        place = self.places[number]
        names = [f"x{place}_{side}" for side in range(len(self.contributions[place].arguments))]
        present = [exp.Not(this=exp.Is(this=_column(one), expression=exp.null())) for one in names]
        condition = exp.and_(*present)
        return [
            (side, exp.case().when(condition.copy(), _column(name)))
            for side, name in enumerate(names)
        ]

    # -- parts --------------------------------------------------------------------------------

    def _joined(self, keys: Sequence[int], table: str) -> exp.Select:
        """Return the query of rows "r", joined with a table by keys."""
        select = exp.Select().from_(exp.Subquery(this=self.rows(keys), alias=_alias("r")))
        conditions = [
            exp.NullSafeEQ(
                this=exp.column(f"k{number}", table="r", quoted=True),
                expression=exp.column(f"k{number}", table=table, quoted=True),
            )
            for number in keys
        ]
        on = exp.and_(*conditions) if conditions else exp.true()
        return select.join(exp.table_(table, quoted=True), on=on, join_type="inner")

    def _grouped(
        self, inner: exp.Select, keys: Sequence[int], entries: Sequence[exp.Expr]
    ) -> exp.Select:
        names = [_column(f"k{number}") for number in keys]
        select = exp.Select().from_(exp.Subquery(this=inner, alias=_alias("r")))
        select.set("expressions", [*names, *entries])
        return _ordered(select, names)

    def _per_unit(self, keys: Sequence[int]) -> exp.Select:
        """Return the query of each unit's rows and contributions, by the keys."""
        names = [_column(f"k{number}") for number in keys]
        entries = [_named(_count_rows(), "n")]
        for place, one in enumerate(self.contributions):
            first = _column(f"x{place}_0")
            if one.is_every_row:
                continue
            entries.append(_named(exp.Count(this=_both_present(one, place)), f"n{place}"))
            if "total" in one.kinds:
                entries.append(_named(exp.Sum(this=_double(first)), f"s{place}"))
            if "binary" in one.kinds:
                entries.append(_count_where(_differs(first, one.low), f"p{place}"))
        select = exp.Select().from_(exp.Subquery(this=self.rows(keys), alias=_alias("q")))
        select.set("expressions", [*names, *entries])
        return select.group_by(*[one.copy() for one in names], _column(_UNIT))

    def _by_unit(self) -> list[exp.Expr]:
        rows = exp.cast(exp.Sum(this=_column("n")), exp.DType.BIGINT)
        entries = [_named(rows, ROWS), _named(_count_rows(), UNITS)]
        for place, one in enumerate(self.contributions):
            present = _column("n" if one.is_every_row else f"n{place}")
            if "count" in one.kinds:
                two = exp.Max(this=_double(present), count=exp.Literal.number(2))
                entries.append(_named(two, f"r{place}"))
                entries.append(_named(exp.Sum(this=_double(present)), f"t{place}"))
            if one.is_every_row:
                continue
            entries.append(_count_where(_above(present), f"n{place}"))
            if one.kinds & {"count", "units"}:
                lacks = exp.LT(this=present.copy(), expression=_column("n"))
                entries.append(_count_where(lacks, f"o{place}"))
            if "binary" in one.kinds:
                yes = _column(f"p{place}")
                lacks = exp.LT(this=yes.copy(), expression=present.copy())
                entries.append(_count_where(_above(yes), f"p{place}"))
                entries.append(_count_where(lacks, f"q{place}"))
            if "total" in one.kinds:
                entries += _sizes(_column(f"s{place}"), place)
        return entries

    def _by_row(self) -> list[exp.Expr]:
        entries = [_named(_count_rows(), ROWS), _named(_count_rows(), UNITS)]
        for place, one in enumerate(self.contributions):
            first = _column(f"x{place}_0")
            if one.is_every_row:
                continue
            entries.append(_named(exp.Count(this=_both_present(one, place)), f"n{place}"))
            if one.kinds & {"count", "units"}:
                missing = exp.Is(this=first.copy(), expression=exp.null())
                entries.append(_count_where(missing, f"o{place}"))
            if "binary" in one.kinds:
                lower = exp.EQ(this=first.copy(), expression=exp.Literal.number(one.low))
                entries.append(_count_where(_differs(first, one.low), f"p{place}"))
                entries.append(_count_where(lower, f"q{place}"))
            if "total" in one.kinds:
                entries += _sizes(_double(first), place)
        return entries

    def _units_where(self, condition: exp.Expr, name: str) -> exp.Expr:
        if self.unit is None:
            return _count_where(condition, name)
        unit = exp.case().when(condition, exp.column(_UNIT, table="r", quoted=True))
        return _named(exp.Count(this=exp.Distinct(expressions=[unit])), name)


_BESIDE: Mapping[str, tuple[tuple[str, type[exp.Binary]], ...]] = {
    "position": (("b", exp.LTE), ("c", exp.GTE), ("m", exp.EQ)),
    "mode": (("m", exp.EQ),),
}
"""How units beside a value are counted: not beyond it, from below and from above, or at it."""


def _key(aggregate: CheckedAggregate) -> str:
    parts = [*aggregate.arguments, aggregate.condition]
    texts = ["" if one is None else one.sql("duckdb") for one in parts]
    return " | ".join([*texts, aggregate.low])


def _sizes(value: exp.Expr, place: int) -> list[exp.Expr]:
    """Return what is known of contributions: the largest two, their total, their signs, and the
    smallest and largest one."""
    size, zero = exp.Abs(this=value.copy()), exp.Literal.number(0)
    largest = exp.Max(this=size, count=exp.Literal.number(2))
    is_same = exp.EQ(this=exp.Min(this=value.copy()), expression=exp.Max(this=value.copy()))
    return [
        _count_where(_differs(value), f"z{place}"),
        _count_where(exp.LT(this=value.copy(), expression=zero), f"g{place}"),
        _named(exp.Sum(this=size.copy()), f"s{place}"),
        _named(largest, f"d{place}"),
        _named(is_same, f"e{place}"),
    ]


def _columns(contribution: Contribution) -> list[exp.Expr]:
    """Return what aggregates read of a row: nothing where its condition does not hold."""
    condition = contribution.condition
    arguments = list(contribution.arguments) or [exp.Literal.number(1)]
    if condition is None:
        return [tried(one) for one in arguments]
    first = exp.case().when(condition.copy(), arguments[0].copy())
    return [tried(first), *(tried(one) for one in arguments[1:])]


def tried(node: exp.Expr) -> exp.Expr:
    """Return an expression that is missing in rows on which it fails."""
    return node.copy() if isinstance(node, _SAFE) else exp.Try(this=node.copy())


def _tried_parts(node: exp.Expr) -> exp.Expr:
    """Return the condition of a join; equal columns stay, for joins by them are fast."""
    if isinstance(node, exp.And):
        return exp.and_(_tried_parts(node.left), _tried_parts(node.right))
    if isinstance(node, exp.Paren):
        return exp.paren(_tried_parts(node.this))
    is_plain = isinstance(node, exp.EQ) and all(
        isinstance(one, exp.Column) for one in (node.left, node.right)
    )
    return node.copy() if is_plain else tried(node)


def _both_present(contribution: Contribution, place: int) -> exp.Expr:
    """Return a value that is missing where any argument is."""
    first = _column(f"x{place}_0")
    if len(contribution.arguments) < _PAIR:
        return first
    present = exp.Not(this=exp.Is(this=_column(f"x{place}_1"), expression=exp.null()))
    return exp.case().when(present, first)


_PAIR = 2


def _renamed(function: exp.Expr, place: int) -> exp.Expr:
    copied = function.copy()
    for column in copied.find_all(exp.Column):
        column.set("this", exp.to_identifier(f"x{place}_{column.name[1:]}", quoted=True))
    return copied


def _double(node: exp.Expr) -> exp.Expr:
    return exp.cast(node.copy(), exp.DType.DOUBLE)


def _differs(node: exp.Expr, value: str = "0") -> exp.Expr:
    return exp.NEQ(this=node.copy(), expression=exp.Literal.number(value))


def _above(node: exp.Expr) -> exp.Expr:
    return exp.GT(this=node.copy(), expression=exp.Literal.number(0))


def _count_rows() -> exp.Expr:
    return exp.Count(this=exp.Star())


def _count_where(condition: exp.Expr, name: str) -> exp.Expr:
    count = exp.Filter(this=_count_rows(), expression=exp.Where(this=condition))
    return _named(count, name)


def _number(name: str) -> exp.Expr:
    return _named(_count_rows(), name)


def _column(name: str) -> exp.Expr:
    return exp.column(name, quoted=True)


def _named(node: exp.Expr, name: str) -> exp.Expr:
    return exp.alias_(node, name, quoted=True)


def _alias(name: str) -> exp.TableAlias:
    return exp.TableAlias(this=exp.to_identifier(name, quoted=True))


def _ordered(select: exp.Select, names: Sequence[exp.Expr]) -> exp.Select:
    if not names:
        return select
    grouped = select.group_by(*[one.copy() for one in names])
    return grouped.order_by(*[one.copy() for one in names])
