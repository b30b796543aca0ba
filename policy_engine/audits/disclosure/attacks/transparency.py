"""Attacks by who knows how a release was made, and with which parameters.

By the ranks that rank swapping can reach (Nin, Herranz and Torra, 2008), and by the likelihood of
every published mechanism, which counts how near a value as well as whether it can be.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.attacks.exchanges import follow_exchanges
from policy_engine.audits.disclosure.attacks.known_groups import known_groups
from policy_engine.audits.disclosure.files import KnownColumn, TwoFiles
from policy_engine.audits.disclosure.result import Windows
from policy_engine.audits.disclosure.scales import (
    distance_columns,
    gaps,
    points,
    scales,
)
from policy_engine.engines.masking.cells import exact_arithmetic
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.linkage.code_sets import fits, has_gaps, set_likelihoods
from policy_engine.kernels.linkage.column_likelihood import ColumnLikelihood
from policy_engine.kernels.linkage.likelihood import (
    greatest_likelihoods,
    links_by_likelihood,
)
from policy_engine.kernels.linkage.mechanisms import (
    added_noise,
    became,
    correlated_noise,
    drawn_scores,
    group_intervals,
    intervals,
    multiplied_noise,
    nearest_means,
    rounded_at_random,
    spread_around_means,
)
from policy_engine.kernels.linkage.nearest import links, nearest_distances
from policy_engine.kernels.linkage.shifts import RankMoves, drawn_by_matrix, moved, rank_swaps
from policy_engine.kernels.linkage.tree import plant
from policy_engine.kernels.linkage.windows import records_within, windows
from policy_engine.kernels.rank_swapping import most_ranks
from policy_engine.kernels.searching import Search, search_here
from policy_engine.kernels.shuffling import expected_scores, normal_scores
from policy_engine.methods.masking import CellMasking, ColumnMasking, Number
from policy_engine.methods.maskings.correlated_noise import CorrelatedNoise
from policy_engine.methods.maskings.microaggregation import Microaggregation
from policy_engine.methods.maskings.multiplicative_noise import MultiplicativeNoise
from policy_engine.methods.maskings.noise import Noise, noise_variance
from policy_engine.methods.maskings.pram import Pram
from policy_engine.methods.maskings.random_rounding import RandomRounding
from policy_engine.methods.maskings.rank_swapping import RankSwapping
from policy_engine.methods.maskings.recoding import Recoding
from policy_engine.methods.maskings.shuffling import Shuffling
from policy_engine.methods.tail_coding import TailCoding

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def intersection_linkage(files: TwoFiles, search: Search = search_here) -> Floats | NotApplicable:
    """Return for each person the probability of a right link, (persons,).

    The nearest record is taken among those that rank swapping can have made of the person's: in
    each swapped column, those within the window of its rank. `search` says where records are
    looked for.
    """
    reason = _why_no_windows(files)
    if reason:
        return NotApplicable(reason=reason)
    known_values, released, low, high = _windowed_numbers(files)
    return links(plant(released), known_values, files.own, low, high, search)


def intersection_taken(files: TwoFiles, persons: Ints) -> Floats:
    """Return the distance of the record linked to each of some persons, (persons,), or inf."""
    known_values, released, low, high = _windowed_numbers(files)
    return nearest_distances(plant(released), known_values, persons, low, high)


MOST_PERSONS_ALONE = 50_000
"""Of more persons, nobody counts how many records the windows leave."""


def windows_left(files: TwoFiles) -> Windows:
    """Return what the windows of rank swapping leave of the records."""
    _, released, low, high = _windowed_numbers(files)
    is_paired = files.own >= 0
    own = released[files.own[is_paired]]
    is_within = ((low[is_paired] <= own) & (own <= high[is_paired])).all(axis=1)
    alone = None
    if len(low) <= MOST_PERSONS_ALONE:
        alone = float((records_within(plant(released), low, high, most=2) == 1).mean())
    return Windows(contains_own=float(is_within.sum()) / len(low), alone=alone)


def _why_no_windows(files: TwoFiles) -> str:
    if not any(isinstance(one.masking, RankSwapping) for one in files.columns):
        return "no known column is declared to be rank-swapped"
    if not all(one.is_point for one in files.columns):
        return "it compares numbers, each of which is one value"
    return ""


def _windowed_numbers(files: TwoFiles) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the known and the released numbers, and between which the own record lies."""
    known_values, released = points(files)
    low, high = np.full(known_values.shape, -np.inf), np.full(known_values.shape, np.inf)
    for place, column in enumerate(files.columns):
        if isinstance(column.masking, RankSwapping):
            before, after = column.known_numbers(), column.released_numbers()[0]
            scale, missing = scales(column)[1], np.isnan(before)
            ends = _window(before, after, column.masking)
            # A missing value stays missing: nothing is known of its rank.
            low[:, place] = np.where(missing, -np.inf, scale.scores(ends[0]))
            high[:, place] = np.where(missing, np.inf, scale.scores(ends[1]))
    apart = [one for one in files.columns if gaps(one) is not None]
    for place, column in enumerate(apart, len(files.columns)):
        if column.keeps_missing:
            low[:, place] = high[:, place] = known_values[:, place]
    return known_values, released, low, high


def _window(before: Floats, after: Floats, masking: RankSwapping) -> tuple[Floats, Floats]:
    # Rows are left out before others are swapped: released values have the ranks that were swapped.
    present = after[~np.isnan(after)]
    if not len(present):
        return np.full(len(before), -np.inf), np.full(len(before), np.inf)
    most = most_ranks(len(present), masking.p, masking.variant)
    low, high = windows(before[:, None], present[:, None], most)
    return low[:, 0], high[:, 0]


def likelihood_linkage(files: TwoFiles, search: Search = search_here) -> Floats | NotApplicable:
    """Return for each person the probability of a right link, (persons,).

    The record is taken that the person's values were most likely to become. Columns that nobody
    knows to be masked are as they are; those masked in a way that has no likelihood of its own are
    compared by distance. Where columns were rank-swapped, the records of the partners count, too,
    or else do not, whichever finds more. `search` says where records are looked for; partners are
    followed here.
    """
    if not files.is_published:
        return NotApplicable(reason="no certificate tells how the release was made")
    columns = column_likelihoods(files)
    alone = links_by_likelihood(columns, files.own, search)
    together = follow_exchanges(files, columns).links(files.own)
    return alone if together is None or together.sum() < alone.sum() else together


def likelihood_taken(files: TwoFiles, persons: Ints) -> Floats:
    """Return minus the log-likelihood of the record that is taken for some persons, (persons,)."""
    return -greatest_likelihoods(column_likelihoods(files), persons)


def column_likelihoods(files: TwoFiles) -> list[ColumnLikelihood]:
    """Return what is known of the columns, and how each was masked."""
    return [part for group in _groups(files) for part in _modelled(group, files)]


def _groups(files: TwoFiles) -> list[list[KnownColumn]]:
    """Return the columns, in one list those that were masked together."""
    groups: dict[str, list[KnownColumn]] = {}
    for column in files.columns:
        together = column.masking.group if column.masking else ""
        groups.setdefault(together or f"\t{column.name}", []).append(column)
    return list(groups.values())


def _modelled(group: Sequence[KnownColumn], files: TwoFiles) -> list[ColumnLikelihood]:
    """Return columns that were masked together; a cell is missing where the person's value is."""
    column, masking = group[0], group[0].masking
    if masking is not None:
        fitting = (model for kind, model in LIKELIHOOD_MODELS.items() if isinstance(masking, kind))
        model = next(fitting, _simulated)
        if any(one.is_ranked for one in group) and not isinstance(masking, _BY_ORDER):
            model = _by_distance
        missing = [became(*_missing(one)) for one in group if one.has_missing]
        with_values = [one for one in group if len(_present(one))]
        return [*(model(with_values, files) if with_values else ()), *missing]
    if column.is_representative:
        return _by_distance(group, files)
    if column.is_exact:
        return _replaced(group, files)
    return [part for one in group for part in _cells(one)]


def _replaced(group: Sequence[KnownColumn], _: TwoFiles) -> list[ColumnLikelihood]:
    """Return columns whose values become the cells that stand for them."""
    return [became(*_codes(one)) for one in group]


def _by_distance(group: Sequence[KnownColumn], _: TwoFiles) -> list[ColumnLikelihood]:
    return [part for one in group for part in distance_columns(one)]


def _missing(column: KnownColumn) -> tuple[Floats, Floats]:
    """Return 1 for persons, and for records, whose value is missing, and else 0."""
    first = 0 if column.has_missing else -2
    before, after = column.before == first, column.released_codes() == first
    return before.astype(np.float64), after.astype(np.float64)


def _codes(column: KnownColumn) -> tuple[Floats, Floats]:
    return column.before.astype(np.float64), column.released_codes().astype(np.float64)


def _cells(column: KnownColumn) -> list[ColumnLikelihood]:
    """Return generalised cells: a value is in its cell, and small ones are likelier."""
    spread = column.after
    if has_gaps(spread) and fits(column.before, spread):
        return [set_likelihoods(column.before, spread)]
    low = spread.low[spread.starts[:-1]][spread.cell_of]
    high = np.maximum.reduceat(spread.high, spread.starts[:-1])[spread.cell_of] - 1
    known_codes = column.before.astype(np.float64)
    return intervals(known_codes, low.astype(np.float64), high.astype(np.float64), "known")


def _numbers(column: KnownColumn) -> tuple[Floats, Floats]:
    """Return the numbers known and released; those that are missing are the mean of all, and told
    apart by another column."""
    known_values, (released, _) = column.known_numbers(), column.released_numbers()
    middle = float(np.nanmean(released)) if not np.isnan(released).all() else 0.0
    return tuple(np.where(np.isnan(one), middle, one) for one in (known_values, released))  # type: ignore[return-value]


def _present(column: KnownColumn) -> Floats:
    """Return the released numbers that are not missing."""
    released, _ = column.released_numbers()
    return released[~np.isnan(released)]


def _simulated(group: Sequence[KnownColumn], files: TwoFiles) -> list[ColumnLikelihood]:
    """Return columns by how ranks move when they are masked again, or else by distance."""
    likelihoods = []
    for column in group:
        simulation = files.again.get(column.name)
        if simulation is None or not column.is_exact or simulation.moves is None:
            likelihoods += distance_columns(column)
        else:
            likelihoods.append(_moved(column, simulation.moves, is_middle=True))
    return likelihoods


def _moved(column: KnownColumn, moves: RankMoves, *, is_middle: bool) -> ColumnLikelihood:
    """Return a column whose ranks moved among those of its values that are not missing."""
    known_values, (released, _) = column.known_numbers(), column.released_numbers()
    persons, records = ~np.isnan(known_values), ~np.isnan(released)
    if not persons.any() or not records.any():
        return became(*_missing(column))
    likelihood = moved(known_values[persons], released[records], moves, is_middle=is_middle)
    return likelihood if persons.all() and records.all() else likelihood.among(persons, records)


def _swapped(group: Sequence[KnownColumn], _: TwoFiles) -> list[ColumnLikelihood]:
    [column] = group
    masking = column.masking
    assert isinstance(masking, RankSwapping)  # noqa: S101 (by the table of models)
    if not column.is_number:
        return distance_columns(column)
    moves = rank_swaps(len(_present(column)), masking.p, masking.variant)
    return [_moved(column, moves, is_middle=False)]


def _noisy(group: Sequence[KnownColumn], _: TwoFiles) -> list[ColumnLikelihood]:
    [column] = group
    masking = column.masking
    assert isinstance(masking, Noise)  # noqa: S101 (likewise)
    known_values, released = _numbers(column)
    share = noise_variance(masking.sd_share, masking.variance_share)
    # The variance of the original is not published; that of the release is larger by the noise.
    deviation = float(_present(column).std() * np.sqrt(share / (1 + share))) or 1.0
    return [added_noise(known_values, released, deviation, masking.distribution)]


def _correlated(group: Sequence[KnownColumn], _: TwoFiles) -> list[ColumnLikelihood]:
    masking = group[0].masking
    assert isinstance(masking, CorrelatedNoise)  # noqa: S101 (likewise)
    known_values, released = (
        np.column_stack(part) for part in zip(*map(_numbers, group), strict=True)
    )
    share = noise_variance(masking.sd_share, masking.variance_share)
    keeps = masking.variant == "kim"
    present = released[~np.isnan(group[0].released_numbers()[0])]
    covariance = np.atleast_2d(np.cov(present, rowvar=False)) / (1 if keeps else 1 + share)
    return correlated_noise(
        known_values,
        released,
        released.mean(axis=0),
        covariance,
        share,
        np.zeros(len(group)),
        keeps_covariance=keeps,
    )


def _multiplied(group: Sequence[KnownColumn], _: TwoFiles) -> list[ColumnLikelihood]:
    [column] = group
    assert isinstance(column.masking, MultiplicativeNoise)  # noqa: S101 (likewise)
    known_values, released = (one + float(column.origin) for one in _numbers(column))
    return [multiplied_noise(known_values, released, column.masking.log_sd)]


def _shuffled(group: Sequence[KnownColumn], files: TwoFiles) -> list[ColumnLikelihood]:
    """Return shuffled columns by what the columns given, if all are known, tell of the draws; else
    by how ranks move when the original is shuffled again."""
    masking, by_name = group[0].masking, {one.name: one for one in files.columns}
    assert isinstance(masking, Shuffling)  # noqa: S101 (by the table of models)
    conditions = [by_name[name] for name in masking.given if name in by_name]
    if len(conditions) < len(masking.given) or any(
        one.has_missing for one in (*conditions, *group)
    ):
        return _simulated(group, files)
    given_values, values = (
        np.column_stack([one.values[one.before] for one in some]) for some in (conditions, group)
    )
    means, factor = expected_scores(values, given_values)
    released = [normal_scores(one.values[one.released_codes()]) for one in group]
    return drawn_scores(means, factor, np.column_stack(released))


def _drawn(group: Sequence[KnownColumn], files: TwoFiles) -> list[ColumnLikelihood]:
    """Return a column drawn by the matrix that the certificate has."""
    [column] = group
    drawn = files.drawn.get(column.name)
    if drawn is None:
        return distance_columns(column)
    place = {label: at for at, label in enumerate(drawn.categories)}
    places = np.array([place.get(str(label), -1) for label in column.labels], dtype=np.int64)
    known_places, released = places[column.before], places[column.released_codes()]
    persons, records = (one == 0 for one in _missing(column))
    if (known_places[persons] < 0).any() or (released[records] < 0).any() or not records.any():
        return distance_columns(column)
    likelihood = drawn_by_matrix(known_places[persons], released[records], np.array(drawn.matrix))
    return [likelihood if persons.all() and records.all() else likelihood.among(persons, records)]


def _randomly_rounded(group: Sequence[KnownColumn], _: TwoFiles) -> list[ColumnLikelihood]:
    [column] = group
    assert isinstance(column.masking, RandomRounding)  # noqa: S101 (likewise)
    return [rounded_at_random(*_numbers(column), float(column.masking.base))]


def _averaged(group: Sequence[KnownColumn], files: TwoFiles) -> list[ColumnLikelihood]:
    """Return columns of group means: one by itself by the groups, which do not overlap, and several
    by the groups that are made of them again, or else by how far values are from the means,
    measured by how far they are from the nearest one."""
    masking = group[0].masking
    assert isinstance(masking, Microaggregation)  # noqa: S101 (likewise)
    groups = [] if masking.together else _groups_in_order(group[0])
    if groups:
        return groups
    known_values, released = (
        np.column_stack(part) for part in zip(*map(_numbers, group), strict=True)
    )
    own = _without_missing([one.known_numbers()[one.present] for one in group])
    means = _without_missing([one.released_numbers()[0] for one in group])
    deviations = own.std(axis=0)
    scales = np.where(deviations > 0, deviations, 1.0)
    spread = spread_around_means(own / scales, means / scales) if len(means) else 1.0
    by_distance = nearest_means(known_values, released, scales * spread)
    return [*by_distance, *(known_groups(group, files) if masking.together else ())]


def _groups_in_order(column: KnownColumn) -> list[ColumnLikelihood]:
    """Return a column by its groups, each of neighbours; none if rows were left out since then."""
    known_values, (released, _) = column.known_numbers(), column.released_numbers()
    persons, records = ~np.isnan(known_values), ~np.isnan(released)
    original = known_values[column.present][persons[column.present]]
    if len(original) != np.count_nonzero(records):
        return []
    ends = group_intervals(known_values[persons], released[records], original)
    is_whole = bool(persons.all() and records.all())
    return ends if is_whole else [one.among(persons, records) for one in ends]


def _without_missing(columns: Sequence[Floats]) -> Floats:
    rows = np.column_stack(columns)
    return rows[~np.isnan(rows).any(axis=1)]


def _computed(group: Sequence[KnownColumn], files: TwoFiles) -> list[ColumnLikelihood]:
    """Return a column that was masked value by value, as the intruder masks what is known."""
    [column] = group
    if not column.is_exact:
        return _cells(column)
    if isinstance(column.masking, TailCoding):
        return _coded(column, files)
    return _recomputed(column)


def _recomputed(column: KnownColumn) -> list[ColumnLikelihood]:
    """Return a column by what masking makes of its values, exactly as they are written."""
    masking = column.masking
    assert isinstance(masking, CellMasking)  # noqa: S101 (likewise)
    first = int(column.has_missing)
    try:
        numbers = [Decimal(str(one)) for one in column.labels[first:]]
    except InvalidOperation:
        return distance_columns(column)
    place: dict[Number | str, int] = {one: first + at for at, one in enumerate(numbers)}
    with exact_arithmetic():
        made = [place.get(masking.mask(one), -1) for one in numbers]
    codes = np.array([0] * first + made, dtype=np.float64)
    return [became(codes[column.before], column.released_codes().astype(np.float64))]


def _coded(column: KnownColumn, files: TwoFiles) -> list[ColumnLikelihood]:
    """Return a column with coded tails, as the same coding makes them of the original."""
    simulation = files.again.get(column.name)
    if simulation is None or simulation.made is None:
        return distance_columns(column)
    known_values, released = _numbers(column)
    return [became(_nearest_masked(known_values, column.present, simulation.made), released)]


def _nearest_masked(known_values: Floats, present: slice, made: Floats) -> Floats:
    """Return what known values become, (persons,), if the `present` ones, (rows,), are `made`.

    A value that none of these has is kept if the next greater one is, or else becomes the same.
    """
    order = np.argsort(known_values[present])
    ordered, after = known_values[present][order], made[order]
    place = np.searchsorted(ordered, known_values).clip(0, len(ordered) - 1)
    is_kept = (after == ordered) | np.isnan(after)
    return np.where(is_kept[place], known_values, after[place])


LIKELIHOOD_MODELS: dict[
    type[ColumnMasking], Callable[[Sequence[KnownColumn], TwoFiles], list[ColumnLikelihood]]
] = {
    RankSwapping: _swapped,
    Noise: _noisy,
    CorrelatedNoise: _correlated,
    MultiplicativeNoise: _multiplied,
    Shuffling: _shuffled,
    Pram: _drawn,
    RandomRounding: _randomly_rounded,
    Microaggregation: _averaged,
    CellMasking: _computed,
    Recoding: _replaced,
}
"""How each masking makes values likely; those that are not here have no likelihood of their own,
and are compared by masking the original again, or by distance."""
_BY_ORDER = (RankSwapping, Shuffling, Pram, CellMasking, Recoding)
"""The maskings whose models do not ask how far numbers are apart."""
