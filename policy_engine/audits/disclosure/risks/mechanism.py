"""What values are guessed by who knows how the release was made."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.attacks.exchanges import follow_exchanges
from policy_engine.audits.disclosure.attacks.transparency import column_likelihoods
from policy_engine.audits.disclosure.files import KnownColumn, TwoFiles
from policy_engine.audits.disclosure.presence import persons_there
from policy_engine.audits.disclosure.risks.deconvolved import Deconvolved, deconvolved
from policy_engine.audits.disclosure.risks.guessed_cells import (
    known_points,
    linear_columns,
    linear_points,
    released_cells,
)
from policy_engine.kernels.attribute_inference import (
    balance,
    expected_points,
    guess_by_likelihood,
    guess_by_line,
    guess_by_weight,
    guess_from_records,
    guess_on_line,
)
from policy_engine.kernels.chosen_persons import choose_persons, order_persons
from policy_engine.kernels.linkage.column_likelihood import ColumnLikelihood
from policy_engine.kernels.linkage.likelihood import log_likelihoods

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Guess: TypeAlias = tuple[Sequence[KnownColumn], Floats, str]
"""The columns known, how probably each person's value is guessed, (persons,), and in words how."""

_MOST_PAIRS, _FEWEST_PERSONS = 25_000_000, 500
"""Of more pairs of a person and a record, some persons stand for all, so many at least."""
_MOST_TOGETHER = 1 << 24
"""Of so many pairs, all persons are given their records together."""
_MOST_EXPECTED = 1 << 23
"""From so many pairs it is told which person to expect of a record."""
_AT_ONCE = 1 << 22
"""So many pairs are in memory."""

LIKELY = "by how likely each record is"
INVERTED = "by inverting the masking"
EXPECTED = "by a linear model of the person to expect of each record"


@dataclass(frozen=True)
class Sought:
    """A sensitive column whose values are guessed, right if they differ by the tolerance at most.

    `values` (rows,) are those of the release, `bins` (rows,) coarser ones, and `truth` (persons,)
    what they are to be. In a column of numbers, `is_number` (rows,) tells those that are not
    missing.
    """

    values: Floats
    bins: Ints
    truth: Floats
    tolerance: float
    is_number: NDArray[np.bool_] | None


def mechanism_guesses(
    files: TwoFiles, sets: Sequence[tuple[KnownColumn, ...]], sought: Sought
) -> Iterator[Guess]:
    """Yield how probably values are guessed by what is known, the columns of the files.

    By the distribution of values that the published masking tells of few columns, the `sets`; by
    all records, each counted as likely as it was made of what is known; by linear models of whom to
    expect of a record; and of swapped columns by what links mean for the partners. Nothing where no
    column was masked, or nobody knows how. Who may be in the release is looked for among
    those; of all others, as if nobody knew that.
    """
    is_there = persons_there(files)
    guesses = _guesses(files, sets, sought)
    if is_there is None:
        yield from guesses
        return
    elsewhere = {_way(columns, how): informed for columns, informed, how in guesses}
    of_others = elsewhere.get(_way(files.columns, LIKELY))
    fewer = replace(sought, truth=sought.truth[is_there])
    for columns, informed, how in _guesses(files.of_persons(is_there), sets, fewer):
        of_all = elsewhere.get(_way(columns, how), of_others)
        every = np.zeros(len(is_there)) if of_all is None else of_all.copy()
        every[is_there] = informed
        yield columns, every, how


def _way(columns: Sequence[KnownColumn], how: str) -> tuple[tuple[str, ...], str]:
    return tuple(one.name for one in columns), how


def _guesses(
    files: TwoFiles, sets: Sequence[tuple[KnownColumn, ...]], sought: Sought
) -> Iterator[Guess]:
    if not files.is_published or not any(column.masking for column in files.columns):
        return
    best: Deconvolved | None = None
    for one in deconvolved(files, sets, sought.bins):
        yield one.columns, _by_cells(one, sought), INVERTED
        best = one if best is None or one.gain > best.gain else best
    columns = column_likelihoods(files)
    if len(files.own) * files.released <= _MOST_TOGETHER:
        yield from _together(files, columns, sought, best)
    else:
        yield from _by_some(files, columns, sought)
    yield from _by_partners(files, columns, sought)


def _by_cells(one: Deconvolved, sought: Sought) -> Floats:
    values = sought.values[one.records]
    return guess_by_weight(one.weights, one.cell_of, values, sought.truth, sought.tolerance)


def _together(
    files: TwoFiles,
    columns: Sequence[ColumnLikelihood],
    sought: Sought,
    best: Deconvolved | None,
) -> Iterator[Guess]:
    """Yield what is guessed by all records of all persons at once."""
    logs = log_likelihoods(columns)
    among = np.zeros(len(files.own))
    among[files.columns[0].present] = 1
    yield files.columns, _by_likelihood(logs, sought), LIKELY
    yield (
        files.columns,
        _by_likelihood(balance(logs, among), sought),
        f"{LIKELY}, each one person's",
    )
    if best is not None and len(best.records) == files.released:
        with_values = logs + np.log(best.shares)[best.cell_of][:, sought.bins]
        how = f"{LIKELY}, each one person's, with its value"
        yield files.columns, _by_likelihood(balance(with_values, among), sought), how
    persons, records = np.flatnonzero(among), np.arange(files.released)
    yield from _by_lines(files, sought, logs[persons], persons, records)


def _by_likelihood(logs: Floats, sought: Sought) -> Floats:
    step = max(_AT_ONCE // max(logs.shape[1], 1), 1)
    parts = np.split(np.arange(len(logs)), range(step, len(logs), step))
    return np.concatenate([_right(logs[some], some, sought) for some in parts])


def _right(logs: Floats, persons: Ints, sought: Sought) -> Floats:
    return guess_by_likelihood(logs, sought.values, sought.truth[persons], sought.tolerance)


def _by_some(
    files: TwoFiles, columns: Sequence[ColumnLikelihood], sought: Sought
) -> Iterator[Guess]:
    """Yield what is guessed of some persons who stand for all, and by models of some records."""
    released = files.released
    order = order_persons(known_points(files.columns))
    chosen = choose_persons(order, max(_MOST_PAIRS // released, _FEWEST_PERSONS))
    step = max(_AT_ONCE // released, 1)
    parts = [
        _right(log_likelihoods(columns, some), some, sought)
        for some in np.split(chosen.persons, range(step, len(chosen.persons), step))
    ]
    yield files.columns, chosen.stand_for_all(np.concatenate(parts)), LIKELY
    present = order[order < files.columns[0].present.stop]
    persons = choose_persons(present, _FEWEST_PERSONS).persons
    by_value = np.lexsort((sought.values, *released_cells(files.columns).middle().T))
    records = choose_persons(by_value, _MOST_EXPECTED // len(persons)).persons
    logs = log_likelihoods([one.of_records(records) for one in columns], persons)
    yield from _by_lines(files, sought, logs, persons, records)


def _by_lines(
    files: TwoFiles, sought: Sought, logs: Floats, persons: Ints, records: Ints
) -> Iterator[Guess]:
    """Yield what linear models tell that are fitted to the persons to expect of records."""
    columns = linear_columns(files.columns)
    points, _ = linear_points(columns)
    values, tolerance = sought.values[records], sought.tolerance
    both = points, expected_points(logs, points[persons]), values, sought.truth
    by_value = guess_by_line(*both, tolerance, are_means=True)
    if by_value is not None:
        yield columns, by_value, EXPECTED
    if sought.is_number is not None:
        number = guess_on_line(*both, tolerance, sought.is_number[records], are_means=True)
        if number is not None:
            yield columns, number, f"{EXPECTED}, of the number"


def _by_partners(
    files: TwoFiles, columns: Sequence[ColumnLikelihood], sought: Sought
) -> Iterator[Guess]:
    exchanges = follow_exchanges(files, columns)
    if exchanges.posterior is not None:
        yield files.columns, _by_likelihood(exchanges.posterior, sought), _BY_PARTNERS
    if exchanges.taken is not None:
        taken = exchanges.taken
        own = sought.truth[taken.chosen.persons]
        informed = guess_from_records(
            taken.records, taken.starts, sought.values, own, sought.tolerance
        )
        yield files.columns, taken.chosen.stand_for_all(informed), _BY_PARTNERS


_BY_PARTNERS = "by the partners of swaps"
