"""How many units have each value that an aggregate is of, where that could be told by the figure.

A count of different values tells that somebody has each of them. A total and a count over few
values tell how many have which: then each must be that of enough units.
"""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from policy_engine.decision.query.checking.evidence_query import EvidenceQueries

_MANY = 2**62
_FEW_VALUES = ("total", "shape")


def value_counts(
    queries: EvidenceQueries, keys: Sequence[int], least: int
) -> Iterator[tuple[str, exp.Select]]:
    """Yield queries of the units "f<c>", by keys in their order, of the value of contribution c
    that the fewest have, and many where there are too many values for a figure to tell."""
    for place, one in enumerate(queries.contributions):
        is_counted = "units" in one.kinds and not _is_unit(one.arguments[0], queries.unit)
        if len(one.arguments) == 1 and (is_counted or one.kinds & {*_FEW_VALUES}):
            yield f"f{place}", _query(queries, keys, place, 0 if is_counted else least)


def _is_unit(argument: exp.Expr, unit: exp.Expr | None) -> bool:
    column = argument.unnest()
    is_column = isinstance(column, exp.Column) and isinstance(unit, exp.Column)
    return is_column and column.name.lower() == unit.name.lower()  # type: ignore[union-attr]


def _query(queries: EvidenceQueries, keys: Sequence[int], place: int, least: int) -> exp.Select:
    names = [exp.column(f"k{number}", quoted=True) for number in keys]
    value, unit = exp.column(f"x{place}_0", quoted=True), exp.column("u", quoted=True)
    counted = exp.Star() if queries.unit is None else exp.Distinct(expressions=[unit])
    inner = exp.select(
        *(one.copy() for one in names),
        exp.alias_(value.copy(), "v"),
        exp.alias_(exp.Count(this=counted), "n"),
    )
    inner = inner.from_(queries.rows(keys).subquery("r"))
    inner = inner.group_by(*(one.copy() for one in names), value.copy())
    fewest = "COALESCE(MIN(n) FILTER (WHERE v IS NOT NULL), 0)"
    if least:
        fewest = f"CASE WHEN COUNT(v) < {least} THEN {fewest} ELSE {_MANY} END"
    select = exp.select(*(one.copy() for one in names)).select(
        exp.alias_(exp.maybe_parse(fewest, dialect="duckdb"), f"f{place}", quoted=True)
    )
    select = select.from_(inner.subquery("s"))
    if not names:
        return select
    return select.group_by(*(one.copy() for one in names)).order_by(*(one.copy() for one in names))
