"""Tables of results made of microdata: their figures, and the evidence of each cell."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from policy_engine.audits.outputs.contributions import (
    Contributions,
    central_moments,
    quantiles,
    uncommon_units,
)
from policy_engine.audits.outputs.line_units import known_units
from policy_engine.audits.outputs.lines import line_rests, line_shares
from policy_engine.audits.outputs.microdata import CodedColumn
from policy_engine.audits.outputs.model import (
    TOTAL,
    CellEvidence,
    Counts,
    Figures,
    Measure,
    ResultTable,
    ShownStatistic,
    Statbarn,
)
from policy_engine.errors import RequestError, did_you_mean, join_names
from policy_engine.kernels.output_checks.near_values import spreads_tell

COUNTS = ("size", "count")
FUNCTIONS: Mapping[str, Statbarn] = MappingProxyType(
    {
        "size": Statbarn.FREQUENCIES,
        "count": Statbarn.FREQUENCIES,
        "sum": Statbarn.LINEAR_AGGREGATIONS,
        "mean": Statbarn.LINEAR_AGGREGATIONS,
        "median": Statbarn.POSITION,
        "quantile": Statbarn.POSITION,
        "std": Statbarn.SHAPE,
        "var": Statbarn.SHAPE,
        "sem": Statbarn.SHAPE,
        "skew": Statbarn.SHAPE,
        "min": Statbarn.ENDPOINTS,
        "max": Statbarn.ENDPOINTS,
    }
)
"""The aggregates that are understood, and the class of statistics that each belongs to."""


@dataclass(frozen=True)
class ShownAggregate:
    """An aggregate of a column, under the name that a table shows it by; `size` has no column.

    `share` is that of a quantile.
    """

    name: str
    function: str
    column: str = ""
    share: float = 0.5

    def __post_init__(self) -> None:
        """Raise RequestError (K025) for an aggregate that is not understood."""
        if self.function not in FUNCTIONS:
            message = f"The aggregate {self.function!r} is not understood. "
            message += f"Allowed is {join_names(FUNCTIONS, 'or')}."
            raise RequestError.of("K025", message, did_you_mean(self.function, FUNCTIONS))

    @property
    def measure(self) -> str:
        """What the ledger of outputs calls it."""
        if self.function in ("sum", "mean"):
            return f"{self.function}:{self.column}"
        return "rows" if self.function == "size" else f"{self.function}:{self.column}:{self.share}"


@dataclass(frozen=True, eq=False)
class TableRows:
    """The rows of the data that a table is made of, all arrays (rows,).

    `keys` say by what they are grouped, `units` whom each is of, and `values` hold the numbers of
    columns. `sets` are the keys, by their numbers, of each part of the table: its cells, and the
    totals over the others. With `fills`, every combination of the keys is a row of the table.
    `numbers` are those of the rows in the whole data, None where each unit has one row. Of keys
    that are `nested`, each value of the first one of a pair lies in one of the second. By those
    that are `settled`, rows were chosen: they are just those of the data that have the only value.
    If they are not all of its rows, it `is_chosen` which ones they are.
    """

    keys: tuple[CodedColumn, ...]
    units: Counts
    values: Mapping[str, Figures]
    sets: tuple[tuple[int, ...], ...]
    fills: bool = False
    numbers: Counts | None = None
    nested: tuple[tuple[int, int], ...] = ()
    settled: frozenset[int] = frozenset()
    is_chosen: bool = False


@dataclass(frozen=True, eq=False)
class CellMembers:
    """What is in the cells of a measure, each row of the data by itself: the row of the table, the
    number of the unit that it is of, its own number in the whole data, and its value, (members,)
    each. There are no values where rows are counted, whatever they are."""

    rows: Counts
    units: Counts
    numbers: Counts
    values: Figures | None = None


@dataclass(frozen=True, eq=False)
class Tabulation:
    """A table, the part that each row is in and how many units it has, both (rows,), and what is in
    the cells of each of its measures. A model, all of which is shown or nothing, says how many rows
    it is of: those that are `counted`. What it is made of are the rows that were `chosen`, by their
    numbers. `row_counts` (rows,) say how many of these each row of the table has.
    Keys of it are `nested`, or `settled`."""

    table: ResultTable
    sets: Counts
    units: Counts
    members: tuple[CellMembers, ...]
    aggregates: tuple[ShownAggregate, ...] = ()
    counted: CellMembers | None = None
    chosen: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    row_counts: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    nested: tuple[tuple[int, int], ...] = ()
    settled: frozenset[int] = frozenset()


def tabulate(rows: TableRows, aggregates: Sequence[ShownAggregate]) -> Tabulation:
    """Return a table of aggregates: as rows the groups of each part, one part after the other.

    Rows that lack a key are in no group, as in pandas, nor are those that do not say whose they
    are: what is not known to be of somebody cannot be counted.
    """
    is_used = np.logical_and.reduce([rows.units >= 0, *(key.codes >= 0 for key in rows.keys)])
    codes = np.column_stack(
        [np.zeros((len(rows.units), 0), np.int64)] + [k.codes for k in rows.keys]
    )
    parts = [_part(codes[is_used], chosen, rows) for chosen in rows.sets]
    starts = np.cumsum([0, *(len(part_codes) for part_codes, _ in parts)])
    all_codes = np.concatenate([part_codes for part_codes, _ in parts])
    groups = np.concatenate(
        [numbers + start for (_, numbers), start in zip(parts, starts[:-1], strict=True)]
    )
    units = np.tile(rows.units[is_used], len(parts))
    own_numbers = rows.units if rows.numbers is None else rows.numbers
    numbers = np.tile(own_numbers[is_used], len(parts))
    whole = Contributions(groups, units, len(all_codes))
    measures, values, members = [], [], []
    for one in aggregates:
        present, is_present = whole, np.ones(len(groups), np.bool_)
        if one.function != "size":
            column = np.tile(rows.values[one.column][is_used], len(parts))
            present = Contributions(groups, units, len(all_codes), column).present
            is_present = ~np.isnan(column)
        statistic, figures = _EVIDENCE[FUNCTIONS[one.function]](
            one, CellRows(present, whole, all_codes, rows.nested, rows.settled, rows.is_chosen)
        )
        others = _row_statistics(one, present, statistic)
        measures.append(Measure(one.name, (statistic, *others), _lone_units(one, present)))
        values.append(figures)
        members.append(
            CellMembers(present.groups, present.units, numbers[is_present], present.values)
        )
    table = ResultTable(
        keys=tuple(key.name for key in rows.keys),
        labels=tuple(key.labels for key in rows.keys),
        codes=all_codes,
        measures=tuple(measures),
        values=np.column_stack([np.zeros((len(all_codes), 0)), *values]),
        joint=np.unique(codes[is_used], axis=0),
    )
    return Tabulation(
        table,
        np.repeat(np.arange(len(parts)), np.diff(starts)),
        whole.units_in,
        tuple(members),
        tuple(aggregates),
        chosen=own_numbers[own_numbers >= 0],
        row_counts=whole.rows_in,
        nested=rows.nested,
        settled=rows.settled,
    )


def _part(codes: Counts, chosen: Sequence[int], rows: TableRows) -> tuple[Counts, Counts]:
    """Return the codes of the groups by some keys, (groups, keys), and the group of each row."""
    kept = np.full_like(codes, TOTAL)
    kept[:, list(chosen)] = codes[:, list(chosen)]
    if not chosen:
        return np.full((1, codes.shape[1]), TOTAL, np.int64), np.zeros(len(codes), np.int64)
    if not rows.fills:
        groups, numbers = np.unique(kept, axis=0, return_inverse=True)
        return groups, numbers.ravel()
    sizes = [len(rows.keys[key].labels) for key in chosen]
    grid = np.full((math.prod(sizes), codes.shape[1]), TOTAL, np.int64)
    grid[:, list(chosen)] = np.indices(sizes).reshape(len(chosen), -1).T
    numbers = np.zeros(len(codes), np.int64)
    for key, size in zip(chosen, sizes, strict=True):
        numbers = numbers * size + codes[:, key]
    return grid, numbers


# -- evidence ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CellRows:
    """The rows of each cell: those that have a value, all, and the codes of the cells, of keys some
    of which are `nested`, or `settled`. Somebody may have chosen them, so that it `is_chosen` how
    many a unit has."""

    present: Contributions
    whole: Contributions
    codes: Counts
    nested: tuple[tuple[int, int], ...] = ()
    settled: frozenset[int] = frozenset()
    is_chosen: bool = False


Evaluated = tuple[ShownStatistic, Figures]


def _frequency(one: ShownAggregate, cells: CellRows) -> Evaluated:
    present = cells.present
    units = present.units_in
    own_units = known_units(cells.codes, present, is_chosen=cells.is_chosen)
    about = cells.codes, units, cells.settled, cells.nested, own_units
    evidence = CellEvidence(
        units=units,
        rows=present.rows_in,
        left_out=cells.whole.units_in - units if one.column else None,
        group_share=line_shares(*about),
        rest_of_line=line_rests(*about),
    )
    return _statistic(one, evidence), present.rows_in.astype(np.float64)


def _linear(one: ShownAggregate, cells: CellRows) -> Evaluated:
    present = cells.present
    assert present.values is not None  # noqa: S101
    totals = np.bincount(present.groups, present.values, minlength=present.group_count).astype(
        np.float64
    )
    rows = present.rows_in
    means = np.where(rows > 0, totals / np.maximum(rows, 1), np.nan)
    figures: Figures = totals if one.function == "sum" else means
    if (pair := _only_two(present.values)) is not None:
        return _yes_or_no(one, present, pair), figures
    units = present.count(present.sums != 0)
    few = _fewer_of_two(present)
    left_out = few if few.any() else None
    evidence = CellEvidence(units=units, rows=rows, left_out=left_out, **_sizes(present))
    return _statistic(one, evidence), figures


def _row_statistics(
    one: ShownAggregate, present: Contributions, statistic: ShownStatistic
) -> Iterator[ShownStatistic]:
    """Yield what a figure of rows tells of how many each unit has, where some have several: their
    number is a total of the units' rows, and so is that of the rows with either of two values."""
    is_counted = statistic.statbarn is not Statbarn.LINEAR_AGGREGATIONS
    if not is_counted or (present.rows_in == present.units_in).all():
        return
    yield _statistic(one, _row_sizes(present, np.ones(len(present.groups))), Statbarn.FREQUENCIES)
    is_binary = statistic.statbarn is Statbarn.FREQUENCIES and one.function not in COUNTS
    if is_binary and present.values is not None:
        for value in _only_two(present.values) or ():
            is_it = (present.values == value).astype(np.float64)
            yield _statistic(one, _row_sizes(present, is_it), Statbarn.FREQUENCIES)


def _row_sizes(present: Contributions, sizes: Figures) -> CellEvidence:
    own = replace(present, values=sizes)
    first, second = own.largest_two
    return CellEvidence(
        units=present.units_in,
        rows=present.rows_in,
        largest=first,
        second=second,
        total=own.total(own.sums),
        negatives=np.zeros(present.group_count, np.int64),
    )


def _lone_units(one: ShownAggregate, present: Contributions) -> Counts:
    """Return who alone contributes to each cell, as its evidence counts who contributes."""
    if FUNCTIONS[one.function] is not Statbarn.LINEAR_AGGREGATIONS or present.values is None:
        return present.lone_units()
    if (pair := _only_two(present.values)) is not None:
        return present.lone_units(present.pairs_where(present.values == pair[1]))
    return present.lone_units(present.sums != 0)


def _only_two(values: Figures) -> tuple[float, float] | None:
    """Return the two values that there are, None for more; 0 and 1 of either alone, or of none."""
    if np.isin(values, (0.0, 1.0)).all():
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    is_pair = low < high and bool(((values == low) | (values == high)).all())
    return (low, high) if is_pair else None


def _fewer_of_two(present: Contributions) -> Counts:
    """Return how many units of each group have the rarer of its two values, (groups,): a mean of
    two values is a count of those with one of them. 0 in a group of more values, or of one."""
    assert present.values is not None  # noqa: S101
    low, high = (present.extreme(least=one)[present.groups] for one in (True, False))
    is_low, is_high = present.values == low, present.values == high
    others = np.bincount(present.groups, ~(is_low | is_high), minlength=present.group_count)
    fewer = np.minimum(present.units_where(is_low), present.units_where(is_high))
    return np.where((others == 0) & ~present.is_constant, fewer, 0)


def _sizes(present: Contributions) -> dict[str, Any]:
    """Return the evidence of the sizes of contributions, and whether all values are one."""
    first, second = present.largest_two
    return {
        "largest": first,
        "second": second,
        "total": present.total(np.abs(present.sums)),
        "negatives": present.count(present.sums < 0),
        "is_constant": present.is_constant,
    }


def _yes_or_no(
    one: ShownAggregate, present: Contributions, pair: tuple[float, float]
) -> ShownStatistic:
    """Return the evidence of a total or a mean of two values, whichever codes they are: it is a
    count of persons."""
    assert present.values is not None  # noqa: S101
    no, yes = (present.units_where(present.values == value) for value in pair)
    share = np.where(present.units_in > 0, yes / np.maximum(present.units_in, 1), np.nan)
    evidence = CellEvidence(
        units=yes,
        rows=present.rows_in,
        left_out=no,
        group_share=share,
        rest_of_line=no.astype(np.float64),
        is_constant=present.is_constant,
    )
    return _statistic(one, evidence, Statbarn.FREQUENCIES)


def _position(one: ShownAggregate, cells: CellRows) -> Evaluated:
    present = cells.present
    assert present.values is not None  # noqa: S101
    figures = quantiles(present, one.share)
    own = figures[present.groups]
    units = present.units_in
    evidence = CellEvidence(
        units=units,
        rows=present.rows_in,
        below=units - present.units_where(present.values >= own),
        above=units - present.units_where(present.values <= own),
        is_constant=present.is_constant,
    )
    tail = min(one.share, 1 - one.share)
    return replace(_statistic(one, evidence), tail=tail), figures


def _shape(one: ShownAggregate, cells: CellRows) -> Evaluated:
    present = cells.present
    rows, squares = present.rows_in, central_moments(present, 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        variances = np.where(rows > 1, squares / (rows - 1), np.nan)
        figures = {
            "var": variances,
            "std": np.sqrt(variances),
            "sem": np.sqrt(variances / rows),
            "skew": _skewness(present, squares) if one.function == "skew" else variances,
        }[one.function]
    sizes = _sizes(present)
    sizes["is_constant"] |= spreads_tell(squares, rows, sizes["largest"])
    evidence = CellEvidence(
        units=present.units_in,
        rows=rows,
        # A spread of two values is a count of those with one of them.
        left_out=uncommon_units(present),
        degrees_of_freedom=np.maximum(present.units_in - 1, 0).astype(np.float64),
        **sizes,
    )
    return _statistic(one, evidence), figures


def _skewness(present: Contributions, squares: Figures) -> Figures:
    """Return the skewness of each group, adjusted for its size as pandas does."""
    rows = present.rows_in.astype(np.float64)
    spread = (squares / rows) ** 1.5
    plain = central_moments(present, 3) / rows / spread
    return np.where(rows > 2, plain * np.sqrt(rows * (rows - 1)) / (rows - 2), np.nan)


def _endpoint(one: ShownAggregate, cells: CellRows) -> Evaluated:
    present = cells.present
    evidence = CellEvidence(units=present.units_in, rows=present.rows_in)
    return _statistic(one, evidence), present.extreme(least=one.function == "min")


def _statistic(
    one: ShownAggregate, evidence: CellEvidence, statbarn: Statbarn | None = None
) -> ShownStatistic:
    columns = (one.column,) if one.column else ()
    return ShownStatistic(statbarn or FUNCTIONS[one.function], evidence, columns)


_EVIDENCE: Mapping[Statbarn, Callable[[ShownAggregate, CellRows], Evaluated]] = MappingProxyType(
    {
        Statbarn.FREQUENCIES: _frequency,
        Statbarn.LINEAR_AGGREGATIONS: _linear,
        Statbarn.POSITION: _position,
        Statbarn.SHAPE: _shape,
        Statbarn.ENDPOINTS: _endpoint,
    }
)
