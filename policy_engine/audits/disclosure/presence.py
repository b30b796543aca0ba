"""Who of an original is in its release: the persons whose values masking left there.

Rows are sampled, or left out, before others are masked. So swapped and shuffled columns have the
values of those who are in the release, and of nobody else, and show who these are.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn, TwoFiles
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.grouping import classes_of
from policy_engine.methods.maskings.rank_swapping import RankSwapping
from policy_engine.methods.maskings.shuffling import Shuffling

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def persons_there(files: TwoFiles) -> Bools | None:
    """Return which persons may be in the release, (persons,): those whose values of the known
    columns all are.

    None where that rules out nobody, or nobody knows how the release was made.
    """
    if not files.is_published or not files.lost or files.absent:
        return None
    is_there = np.ones(len(files.own), dtype=np.bool_)
    for columns in _kept_together(files.columns):
        is_there &= _have_records(columns)
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


def _have_records(columns: Sequence[KnownColumn]) -> Bools:
    """Return which persons have the values of a record in these columns together, (persons,)."""
    persons = len(columns[0].before)
    codes = [np.concatenate([one.before, one.released_codes()]) for one in columns]
    classes, _ = classes_of([one.astype(np.int32) for one in codes])
    return np.isin(classes[:persons], classes[persons:])
