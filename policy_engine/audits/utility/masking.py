"""What masking cost: figures of the masked columns of two tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from policy_engine.audits.utility.categories import Transitions, category_counts
from policy_engine.audits.utility.matching import MatchedColumn
from policy_engine.audits.utility.model import (
    NOT_MASKED,
    MaskedColumnLoss,
    MaskedTogether,
    MaskingLoss,
    ProbabilisticLoss,
    Quantile,
)
from policy_engine.kernels import information_loss
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.spread import Floats, Ints
from policy_engine.methods.masking import ColumnMasking
from policy_engine.methods.perturbation import Perturbation

_NONE: Mapping[str, str] = MappingProxyType({})
_NO_NUMBERS = NotApplicable(reason="the values are not numbers")
_LABELS = NotApplicable(reason="some of the values became labels")
_NOTHING = NotApplicable(reason="no column of numbers is masked")
_CONSTANT = NotApplicable(reason="the original values are all the same")
_TOO_FEW = NotApplicable(reason="there are fewer than two masked columns of numbers that vary")
_NO_ROWS = NotApplicable(reason="fewer than two rows have a value")
_NONE_KEPT = NotApplicable(
    reason="rows cannot be matched, since no column is released with its own values"
)
_AMBIGUOUS = NotApplicable(
    reason="rows cannot be matched, since the columns that are released with their own values do "
    "not tell all rows apart"
)


@dataclass(frozen=True)
class Masked:
    """The columns that were masked, and the transitions of those that were drawn, by name.

    Without a certificate the transitions are not known, and None.
    """

    columns: tuple[ColumnMasking, ...] = ()
    transitions: Mapping[str, Transitions | None] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(one.name for one in self.columns)


class _Change(NamedTuple):
    """A column whose values became others: by which masking or representative, in words, and
    whether that keeps the order of the values, or draws categories."""

    name: str
    how: str
    keeps_order: bool = False
    is_drawn: bool = False


class _Numbers(NamedTuple):
    """A masked column of numbers on an axis from 0 to 1, nan where a value is missing: all rows
    before and after, and the values before of the rows after, if they are known.

    No figure depends on where an axis starts, nor on its unit.
    """

    name: str
    before: Floats
    after: Floats
    own: Floats | NotApplicable


def masking_loss(
    columns: Sequence[MatchedColumn],
    masked: Masked,
    original: pa.Table,
    released: pa.Table,
    representatives: Mapping[str, str] = _NONE,
    *,
    is_sample: bool = False,
    rows: Ints | None = None,
) -> MaskingLoss | NotApplicable:
    """Return what masking cost, or that no column is masked.

    `representatives` are what stands for the values of a class, such as their mean, by column:
    those are values too, and cost what masked ones do. `rows` tell which row of the original each
    released one was made from, (released rows,); without them rows are matched by the columns that
    are released with their own values, if these tell all rows of the original apart. Else a masking
    that keeps the order of the values still shows which became which, unless rows were suppressed.
    """
    columns_by_name = {one.name: one for one in columns}
    changes = (*_masked_changes(masked), *_represented(representatives))
    if not changes:
        return NOT_MASKED
    compared = [one for one in changes if one.name in columns_by_name]
    known_rows = _match_rows(columns) if rows is None else rows
    suppressed = original.num_rows - released.num_rows
    numbers = {
        one.name: _numbers(columns_by_name[one.name], one, known_rows, suppressed)
        for one in compared
        if _is_numeric(columns_by_name[one.name], one)
    }
    together, pairs = _together(list(numbers.values()))
    parts = {name: _probabilistic(one) for name, one in numbers.items()}
    return MaskingLoss(
        columns=tuple(
            _column(one, columns_by_name[one.name], numbers.get(one.name), parts.get(one.name))
            for one in compared
        ),
        il1s=_mean_distance(list(numbers.values())),
        probabilistic=_whole(list(parts.values()), pairs),
        together=together,
        frequencies=tuple(
            category_counts(
                name, drawn, released.column(name), original.column(name), is_sample=is_sample
            )
            for name, drawn in masked.transitions.items()
        ),
    )


def _masked_changes(masked: Masked) -> Iterator[_Change]:
    for one in masked.columns:
        is_drawn = isinstance(one, Perturbation) and one.takes == "categories"
        yield _Change(one.name, one.how, one.keeps_order, is_drawn)


def _represented(representatives: Mapping[str, str]) -> Iterator[_Change]:
    for name, value in representatives.items():
        yield _Change(name, f"{value} of the class")


def _is_numeric(column: MatchedColumn, change: _Change) -> bool:
    return column.is_ordered and not column.has_labels and not change.is_drawn


def _match_rows(columns: Sequence[MatchedColumn]) -> Ints | NotApplicable:
    """Return the row of the original that each released row was made from, (released rows,)."""
    kept = [one for one in columns if one.kind == "kept"]
    if not kept:
        return _NONE_KEPT
    rows = kept[0].before.rows
    keys: Ints = np.zeros(rows + kept[0].after.rows, dtype=np.int64)
    for one in kept:
        codes = np.concatenate([one.before.cell_of, one.after.cell_of])
        keys = np.unique(keys * one.size + codes, return_inverse=True)[1].astype(np.int64)
    distinct, first, counts = np.unique(keys[:rows], return_index=True, return_counts=True)
    places = np.searchsorted(distinct, keys[rows:]).clip(max=len(distinct) - 1)
    if counts.max() > 1 or (distinct[places] != keys[rows:]).any():
        return _AMBIGUOUS
    return np.asarray(first[places], dtype=np.int64)


def _numbers(
    column: MatchedColumn, change: _Change, rows: Ints | NotApplicable, suppressed: int
) -> _Numbers:
    axis = column.numbers()
    before, after = axis[column.before.cell_of], axis[column.after.cell_of]
    own: Floats | NotApplicable
    if not isinstance(rows, NotApplicable):
        own = before[rows]
    elif change.keeps_order and not suppressed and _present(before) == _present(after):
        own = np.full(len(after), np.nan)
        own[np.argsort(after)] = np.sort(before)  # missing ones are last
    else:
        own = rows
    return _Numbers(column.name, before, after, own)


def _present(values: Floats) -> int:
    return int((~np.isnan(values)).sum())


def _column(
    change: _Change,
    column: MatchedColumn,
    numbers: _Numbers | None,
    parts: ProbabilisticLoss | NotApplicable | None,
) -> MaskedColumnLoss:
    reason = _LABELS if column.has_labels else _NO_NUMBERS
    il1s = reason if numbers is None else _mean_distance([numbers])
    return MaskedColumnLoss(
        name=change.name,
        masking=change.how,
        shared_values=_shared_values(column),
        il1s=il1s,
        probabilistic=parts or reason,
        quantiles=tuple(_quantiles(column)) if numbers is not None else (),
    )


def _quantiles(column: MatchedColumn) -> Iterator[Quantile]:
    """Yield the quantiles of a column of numbers, none of one of dates."""
    first = int(column.has_missing)
    try:
        values = column.labels[first:].astype(np.float64)
    except ValueError:
        return
    sides = [side.masses[first:].cumsum() for side in (column.before, column.after)]
    if not all(len(side) and side[-1] for side in sides):
        return
    for share in (0.0, 0.01, *information_loss.QUANTILES.tolist(), 0.99, 1.0):
        # The least value is the first that some row has.
        rows = max(share, np.finfo(float).tiny)
        before, after = (values[np.searchsorted(one, rows * one[-1])] for one in sides)
        yield Quantile(share=share, before=float(before), after=float(after))


def _shared_values(column: MatchedColumn) -> float:
    first = int(column.has_missing)
    before = np.bincount(column.before.cell_of, minlength=column.size)[first:]
    after = np.bincount(column.after.cell_of, minlength=column.size)[first:]
    shared = np.minimum(before, after[: len(before)]).sum()  # behind these are labels
    return float(shared / after.sum()) if after.sum() else 1.0


def _mean_distance(columns: Sequence[_Numbers]) -> float | NotApplicable:
    """Return IL1s over all cells of some columns that have a value, and had one."""
    if not columns:
        return _NOTHING
    total, cells = 0.0, 0
    for one in columns:
        if isinstance(one.own, NotApplicable):
            return one.own
        both = ~np.isnan(one.own) & ~np.isnan(one.after)
        spread = information_loss.standard_deviations(_some(one.before)[:, None])
        pair = one.own[both][:, None], one.after[both][:, None]
        [distance] = information_loss.distances(*pair, spread).tolist()
        if not np.isnan(distance):
            total, cells = total + distance * int(both.sum()), cells + int(both.sum())
    return total / cells if cells else _CONSTANT


def _some(values: Floats) -> Floats:
    return values[~np.isnan(values)]


def _probabilistic(one: _Numbers) -> ProbabilisticLoss | NotApplicable:
    before, after = _some(one.before), _some(one.after)
    if min(len(before), len(after)) < _LEAST:
        return _NO_ROWS
    losses = information_loss.column_losses(before, after)
    return _loss(losses.mean, losses.variance, losses.quantiles, None)


_LEAST = 2


def _loss(
    mean: float, variance: float, quantiles: float, pairs: tuple[float, float] | None
) -> ProbabilisticLoss:
    """Return the parts with their mean; `pairs` are those of covariances and of correlations."""
    parts = [mean, variance, quantiles, *(pairs or ())]
    return ProbabilisticLoss(
        mean=mean,
        variance=variance,
        covariance=pairs[0] if pairs else None,
        correlation=pairs[1] if pairs else None,
        quantiles=quantiles,
        total=sum(parts) / len(parts),
    )


def _whole(
    parts: Sequence[ProbabilisticLoss | NotApplicable], pairs: tuple[float, float] | None
) -> ProbabilisticLoss | NotApplicable:
    """Return the parts over all columns, and over all pairs of them."""
    losses = [one for one in parts if isinstance(one, ProbabilisticLoss)]
    if not losses:
        return parts[0] if parts else _NOTHING
    shared = zip(*((one.mean, one.variance, one.quantiles) for one in losses), strict=True)
    mean, variance, quantiles = (float(np.mean(part)) for part in shared)
    return _loss(mean, variance, quantiles, pairs)


def _together(
    numbers: Sequence[_Numbers],
) -> tuple[MaskedTogether | NotApplicable, tuple[float, float] | None]:
    """Return the columns together, and the mean losses of covariances and correlations."""
    before = _complete([one.before for one in numbers])
    after = _complete([one.after for one in numbers])
    if min(len(before), len(after)) < _LEAST:
        return (_NO_ROWS if numbers else _NOTHING), None
    varying = np.flatnonzero((np.ptp(before, axis=0) > 0) & (np.ptp(after, axis=0) > 0))
    if len(varying) < _LEAST:
        return _TOO_FEW, None
    before, after = before[:, varying], after[:, varying]
    losses = information_loss.pair_losses(before, after)
    correlations = [information_loss.correlations(side) for side in (before, after)]
    ranked = [information_loss.rank_correlations(side) for side in (before, after)]
    together = MaskedTogether(
        columns=tuple(numbers[place].name for place in varying.tolist()),
        rows_before=len(before),
        rows_after=len(after),
        correlation_change=_mean_change(correlations),
        rank_correlation_change=_mean_change(ranked),
        eigenvalues_before=tuple(information_loss.eigenvalues(correlations[0]).tolist()),
        eigenvalues_after=tuple(information_loss.eigenvalues(correlations[1]).tolist()),
    )
    return together, (float(losses[0].mean()), float(losses[1].mean()))


def _complete(columns: Sequence[Floats]) -> Floats:
    """Return the rows that have a value in all columns, (rows, columns)."""
    table = np.stack(columns, axis=1) if columns else np.zeros((0, 0))
    return table[~np.isnan(table).any(axis=1)]


def _mean_change(correlations: Sequence[Floats]) -> float:
    upper = np.triu_indices(len(correlations[0]), 1)
    return float(np.abs(correlations[0] - correlations[1])[upper].mean())
