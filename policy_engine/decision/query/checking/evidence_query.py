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

from policy_engine.decision.query.checking.checked_query import CheckedQuery
from policy_engine.decision.query.checking.contributions import (
    Contribution,
    contribution_numbers,
    contributions_of,
    tried,
    tried_parts,
)
from policy_engine.decision.query.checking.evidence_columns import (
    ROWS,
    UNIT,
    by_row,
    by_unit,
    of_both,
    per_unit,
)
from policy_engine.decision.query.checking.sql_nodes import (
    column,
    count_where,
    differs,
    double,
    grouped,
    named,
    ordered,
    present,
    rows_of,
)

ANSWER = "answer before checks"
"""The table that the query of units beside percentiles reads."""
BASE = "*"
"""Stands for everybody in a cell, of whom a condition may hold or not."""
CELLS = "cells before checks"
"""The table of keys that the query of memberships reads."""
REPEATED = "repeated units before checks"
"""The table of the hashes "h" of keys and units that several rows have."""
_REPEATED = "m"
VALUED = frozenset({"total", "shape"})
"""The kinds of aggregates whose figures over few values tell how many units have each."""
SINGLE, SEVERAL = "single rows before checks", "several rows before checks"
"""The tables of evidence of units with one row in a cell, and of those with several."""


@dataclass(frozen=True)
class EvidenceQueries:
    """Builds the SQL for the grouping sets of a query, over its tables as they may be read.

    `unit` is the unit of a row, None where each row is another; it `is_single` if no unit has
    several rows with the same keys. Where a table `has_nobody`, it has rows that name none, which
    are of no unit. Aggregates of the same values share a contribution: `places` has its number for
    each aggregate.
    """

    query: CheckedQuery
    unit: exp.Expr | None
    is_single: bool = False
    has_nobody: bool = False

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The number of the contribution of each aggregate."""
        return contribution_numbers(self.query.aggregates)

    @cached_property
    def contributions(self) -> tuple[Contribution, ...]:
        """What the aggregates read of a row, each once."""
        return contributions_of(self.query.aggregates)

    @property
    def counts_rows(self) -> bool:
        """Whether units in a cell are its rows."""
        return self.unit is None or self.is_single

    def counted(self, unit: exp.Expr) -> exp.Expr:
        """Return what is counted in a cell so that each unit counts once."""
        if self.unit is None:
            return exp.Star()
        return unit if self.is_single else exp.Distinct(expressions=[unit])

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
                join.set("on", tried_parts(join.args["on"]))
        entries = [named(tried(self.query.keys[number]), f"k{number}") for number in keys]
        if self.unit is not None:
            entries.append(named(self.unit.copy(), UNIT))
        for place, contribution in enumerate(self.contributions):
            columns = enumerate(contribution.row_values())
            entries += [named(one, f"x{place}_{number}") for number, one in columns]
        select.set("expressions", entries)
        return select

    def answer(self, keys: Sequence[int], *, is_divided: bool = False) -> exp.Select:
        """Return the query of aggregates "a<j>" by keys, in the order of the keys.

        Extremes, which are never released, are not computed. "l<j>" are the different values of the
        explanatory variable of a regression, "h<j>_0" and "h<j>_1" the most common ones of what has
        a shape, and "v<c>" are bits of which no more are set than contribution c has values. Where
        rows are units, their evidence is there, too; with `is_divided`, that of the rows of units
        with one row in their cell.
        """
        entries = [count_where(None, ROWS)]
        for number, aggregate in enumerate(self.query.aggregates):
            place = self.places[number]
            if aggregate.kind != "extreme":
                function = _renamed(aggregate.function, place)
                if aggregate.kind in ("shape", "coefficient"):
                    function = _within_range(function)
                entries.append(named(function, f"a{number}"))
            if aggregate.kind == "coefficient" and aggregate.parameters:
                levels = exp.Count(this=exp.Distinct(expressions=[column(f"x{place}_1")]))
                entries.append(named(levels, f"l{number}"))
            for side, value in self._spread(number):
                entries.append(named(exp.Mode(this=value), f"h{number}_{side}"))
        entries += self._value_bits()
        if is_divided:
            is_counted = exp.Not(this=column(_REPEATED))
            entries += by_row(self.contributions, "y", is_counted, self._owned)
            return grouped(self._divided(keys), keys, entries)
        if self.counts_rows:
            entries += by_row(self.contributions, owned=self._owned)
        return grouped(self.rows(keys), keys, entries)

    def evidence(self, keys: Sequence[int], *, is_divided: bool = False) -> exp.Select:
        """Return the query of the evidence of each contribution, by keys in their order.

        With `is_divided`, it is that of the units with several rows in a cell.
        """
        rows = self.rows(keys)
        if is_divided:
            rows = rows_of(rows, [exp.Star()]).where(self._is_repeated(keys), copy=False)
        names = [*(f"k{number}" for number in keys), UNIT]
        columns = names if self.has_nobody else names[:-1]
        units = rows_of(rows, [*map(column, columns), *per_unit(self.contributions)], "q")
        units = units.group_by(*map(column, names), copy=False)
        return grouped(units, keys, by_unit(self.contributions, self._owned))

    def nameless(self) -> exp.Select:
        """Return the query of whether there are rows "n" that name no unit."""
        return rows_of(self.rows(()), [count_where(exp.Not(this=present(column(UNIT))), "n")])

    @property
    def counted_places(self) -> list[int]:
        """The numbers of the contributions that are counted by row or by unit."""
        places = enumerate(self.contributions)
        return [place for place, one in places if one.kinds & {"count", "units"}]

    def different_units(self, keys: Sequence[int]) -> exp.Select:
        """Return the query of the different units "u<c>" of each contribution that is counted."""
        entries = []
        for place in self.counted_places:
            one, unit = self.contributions[place], column(UNIT)
            if not one.is_every_row:
                unit = exp.case().when(present(one.value_where_present(place)), unit)
            entries.append(named(exp.Count(this=exp.Distinct(expressions=[unit])), f"u{place}"))
        return grouped(self.rows(keys), keys, entries)

    def hashes(self, keys: Sequence[int]) -> exp.Select:
        """Return the query of a hash "h" of the keys and the unit of each row."""
        return rows_of(self.rows(keys), [named(_hash(keys), "h")])

    def of_both(self, keys: Sequence[int]) -> str:
        """Return the query of the evidence of the tables `SINGLE` and `SEVERAL` together."""
        names = [one.alias for one in by_unit(self.contributions) if one.alias != ROWS]
        by_keys = ", ".join(f'"k{number}"' for number in keys)
        entries = ", ".join([*([by_keys] if keys else ()), *of_both(names)])
        tables = " UNION ALL BY NAME ".join(f'FROM "{one}"' for one in (SINGLE, SEVERAL))
        order = f" GROUP BY {by_keys} ORDER BY {by_keys}" if keys else ""
        return f"SELECT {entries} FROM ({tables}) AS r{order}"  # noqa: S608 (names of its own)

    def beyond(self, keys: Sequence[int]) -> exp.Select | None:
        """Return the query of units beside percentiles, and with modes; None if there are none.

        It reads the answer as the table `ANSWER`. "w<j>_0" and "w<j>_1" are the units of which a
        value is not the most common one.
        """
        entries = []
        for number, aggregate in enumerate(self.query.aggregates):
            value = column(f"x{self.places[number]}_0")
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
        select = self.joined(keys, ANSWER)
        names = [exp.column(f"k{number}", table="r", quoted=True) for number in keys]
        select.set("expressions", [*names, *entries])
        return ordered(select, names)

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
        their rows count for each contribution.

        Without a join, each row is there once, and is not grouped: that takes most of the time.
        """
        is_grouped, entries = self.query.source.find(exp.Join, exp.SetOperation) is not None, []
        for place, one in enumerate(self.contributions):
            if one.is_every_row:
                continue
            conditions = {f"n{place}": present(one.value_where_present(place))}
            if "binary" in one.kinds:
                first = exp.column(f"x{place}_0", table="r", quoted=True)
                conditions[f"p{place}"] = differs(first, one.low)
            for name, condition in conditions.items():
                entry = count_where(condition, name) if is_grouped else _where(condition, name)
                entries.append(entry)
        names = [exp.column("cell", table=CELLS, quoted=True), column(UNIT)]
        select = self.joined(keys, CELLS)
        select.set("expressions", [*names, *entries])
        return select.group_by(*(one.copy() for one in names)) if is_grouped else select

    def _spread(self, number: int) -> list[tuple[int, exp.Expr]]:
        """Return the values of what has a shape, by their place, where it has all of them."""
        if self.query.aggregates[number].kind not in ("shape", "coefficient"):
            return []
        place = self.places[number]
        names = [f"x{place}_{side}" for side in range(len(self.contributions[place].arguments))]
        condition = exp.and_(*(present(column(one)) for one in names))
        return [
            (side, exp.case().when(condition.copy(), column(name)))
            for side, name in enumerate(names)
        ]

    def _value_bits(self) -> list[exp.Expr]:
        """Return bits "v<c>" of the hashes of a contribution's values: one for each, or fewer."""
        entries = []
        for place, one in enumerate(self.contributions):
            if len(one.arguments) == 1 and one.kinds & VALUED:
                value = column(f"x{place}_0")
                place_of_bit = exp.Mod(this=_hash_of([value]), expression=exp.Literal.number(64))
                bit = exp.BitwiseLeftShift(
                    this=exp.cast(exp.Literal.number(1), exp.DType.UBIGINT),
                    expression=exp.cast(place_of_bit, exp.DType.UBIGINT),
                )
                bits = exp.BitwiseOrAgg(this=exp.case().when(present(value), bit))
                entries.append(named(bits, f"v{place}"))
        return entries

    # -- parts --------------------------------------------------------------------------------

    @property
    def _owned(self) -> exp.Expr | None:
        """Whether a row names its unit; None where all do."""
        return present(column(UNIT)) if self.has_nobody else None

    def _is_repeated(self, keys: Sequence[int]) -> exp.Expr:
        """Return whether a row's unit has several rows with the same keys, or seems to."""
        query = exp.select("h").from_(exp.table_(REPEATED, quoted=True))
        return exp.In(this=_hash(keys), query=exp.Subquery(this=query))

    def _divided(self, keys: Sequence[int]) -> exp.Select:
        """Return the query of rows with the columns "y<c>_0" and "y<c>_1" of those that are alone
        with their keys and unit, missing in others."""
        marked = rows_of(self.rows(keys), [exp.Star(), named(self._is_repeated(keys), _REPEATED)])
        values: list[exp.Expr] = [exp.Star()]
        is_single = exp.Not(this=column(_REPEATED))
        for place, contribution in enumerate(self.contributions):
            for number in range(len(contribution.row_values())):
                value = exp.case().when(is_single.copy(), column(f"x{place}_{number}"))
                values.append(named(value, f"y{place}_{number}"))
        return rows_of(marked, values, "q")

    def joined(self, keys: Sequence[int], table: str) -> exp.Select:
        """Return the query of rows "r", joined with a table by keys."""
        select = rows_of(self.rows(keys), ())
        conditions = [
            exp.NullSafeEQ(
                this=exp.column(f"k{number}", table="r", quoted=True),
                expression=exp.column(f"k{number}", table=table, quoted=True),
            )
            for number in keys
        ]
        on = exp.and_(*conditions) if conditions else exp.true()
        return select.join(exp.table_(table, quoted=True), on=on, join_type="inner", copy=False)

    def _units_where(self, condition: exp.Expr, name: str) -> exp.Expr:
        if self.unit is None:
            return count_where(condition, name)
        unit = exp.case().when(condition, exp.column(UNIT, table="r", quoted=True))
        return named(exp.Count(this=self.counted(unit)), name)


_BESIDE: Mapping[str, tuple[tuple[str, type[exp.Binary]], ...]] = {
    "position": (("b", exp.LTE), ("c", exp.GTE), ("m", exp.EQ)),
    "mode": (("m", exp.EQ),),
}
"""How units beside a value are counted: not beyond it, from below and from above, or at it."""


def _where(condition: exp.Expr, name: str) -> exp.Expr:
    """Return the entry of whether a condition holds of a row, 1 or 0."""
    ends = exp.Literal.number(1), exp.Literal.number(0)
    return named(exp.case().when(condition.copy(), ends[0]).else_(ends[1]), name)


def _hash(keys: Sequence[int]) -> exp.Expr:
    """Return a hash of keys and a unit: equal ones have one hash."""
    return _hash_of([*(column(f"k{number}") for number in keys), column(UNIT)])


def _hash_of(values: Sequence[exp.Expr]) -> exp.Expr:
    return exp.Anonymous(this="HASH", expressions=[one.copy() for one in values])


def _renamed(function: exp.Expr, place: int) -> exp.Expr:
    copied = function.copy()
    for argument in copied.find_all(exp.Column):
        argument.set("this", exp.to_identifier(f"x{place}_{argument.name[1:]}", quoted=True))
    return copied


_RANGE = "1e60"
"""Powers of larger numbers overflow: an aggregate of them fails, or is infinite or NaN."""


def _within_range(function: exp.Expr) -> exp.Expr:
    """Return an aggregate that is missing where one of its values is out of range."""
    columns = list(dict.fromkeys(function.find_all(exp.Column)))
    fits = {
        one: exp.LT(this=exp.Abs(this=double(one)), expression=exp.Literal.number(_RANGE))
        for one in columns
    }
    for one in list(function.find_all(exp.Column)):
        one.replace(exp.case().when(fits[one].copy(), one.copy()))
    all_fit = [exp.LogicalAnd(this=one) for one in fits.values()]
    return exp.case().when(exp.and_(*all_fit), function)
