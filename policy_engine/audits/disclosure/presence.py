"""Who of an original is in its release: the persons whose values masking left there.

Rows are sampled, or left out, before others are masked. So swapped and shuffled columns have the
values of those who are in the release, and of nobody else, and show who these are.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn, TwoFiles
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.grouping import classes_of
from policy_engine.methods.maskings.rank_swapping import RankSwapping
from policy_engine.methods.maskings.shuffling import Shuffling

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


_MOST_ROUNDS = 100
"""Few are needed; those not ruled out by then are taken to be possible."""


class _Values(NamedTuple):
    """The value of each person, by its number, (persons,), and how many `records` have each."""

    of_person: Ints
    records: Ints


def persons_there(files: TwoFiles) -> Bools | None:
    """Return which persons may be in the release, (persons,), by the values of the known columns.

    Of each value there are as many persons as records: if so many are left, all of them are there,
    and if so many are there, all others with the value are not, which tells of other values. None
    where it rules out nobody, or nobody knows how the release was made.
    """
    if not files.is_published or not files.lost or files.absent:
        return None
    is_there = _fitting([_values(one) for one in _kept_together(files.columns)], len(files.own))
    is_sure = not (files.own[~is_there] >= 0).any() and is_there.sum() >= files.released
    return None if is_there.all() or not is_sure else is_there


def links_of_those_there(
    files: TwoFiles, attack: Callable[[TwoFiles], Floats | NotApplicable]
) -> Floats | NotApplicable:
    """Return what an attack returns, (persons,), that is made on those who may be in the release:
    of all others 0."""
    is_there = persons_there(files)
    if is_there is None:
        return attack(files)
    links = attack(files.of_persons(is_there))
    if isinstance(links, NotApplicable):
        return links
    every = np.zeros(len(is_there))
    every[is_there] = links
    return every


def _kept_together(columns: Sequence[KnownColumn]) -> list[list[KnownColumn]]:
    """Return the columns that have the values of those in the release, in one list those whose
    values stay together."""
    exact = [one for one in columns if one.is_exact and not one.is_representative]
    unmasked = [one for one in exact if one.masking is None]
    moved = [[one] for one in exact if isinstance(one.masking, (RankSwapping, Shuffling))]
    return [unmasked, *moved] if unmasked else moved


def _values(columns: Sequence[KnownColumn]) -> _Values:
    """Return the values of persons in these columns together, and how many records have each."""
    persons = len(columns[0].before)
    codes = [np.concatenate([one.before, one.released_codes()]) for one in columns]
    classes, count = classes_of([one.astype(np.int32) for one in codes])
    return _Values(classes[:persons], np.bincount(classes[persons:], minlength=count))


def _fitting(columns: Sequence[_Values], persons: int) -> Bools:
    """Return who may be among as many persons with every value as there are records, (persons,)."""
    is_there, is_open = np.zeros(persons, dtype=np.bool_), np.ones(persons, dtype=np.bool_)
    for _ in range(_MOST_ROUNDS if columns else 0):
        left = np.count_nonzero(is_open)
        for of_person, records in columns:
            missing = records - np.bincount(of_person[is_there], minlength=len(records))
            others = np.bincount(of_person[is_open], minlength=len(records))
            is_there |= is_open & (others == missing)[of_person]
            is_open &= ((others != missing) & (missing > 0))[of_person]
        if np.count_nonzero(is_open) == left:
            break
    return is_there | is_open
