"""What is known of rank-swapped columns: that swaps exchange the values of two rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn, TwoFiles
from policy_engine.kernels.chosen_persons import ChosenPersons
from policy_engine.kernels.linkage.column_likelihood import ColumnLikelihood
from policy_engine.kernels.linkage.exchanges import (
    SwappedValues,
    TakenRecords,
    likeliest_records,
    links_of,
    posterior_of_exchanges,
    records_by_exchanges,
    swapped_values,
)
from policy_engine.kernels.linkage.likelihood import likelihood_files, log_likelihoods
from policy_engine.kernels.rank_swapping import most_ranks
from policy_engine.methods.maskings.rank_swapping import RankSwapping

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_BALANCED = 12_000_000
"""Of more persons times records times swapped columns, links are not weighed all together."""
_FEW_ALONE = 0.1
"""Of so many persons' values at most that others have, too, partners are followed nevertheless."""
_MANY_EXCHANGES = 3.0
"""Of values that so many pairs of persons exchange by chance, partners tell little."""


_NEARLY_ALL = 0.95
"""Where links that are followed find so many, they are not weighed all together as well."""


@dataclass(frozen=True)
class Exchanges:
    """What links mean for the partners of swaps: the records `taken` where links are followed, and
    how likely each record is a person's, as logarithms, where all links are weighed together,
    (persons, records). None where that was not done."""

    taken: TakenRecords | None = None
    posterior: Floats | None = None

    def links(self, own: Ints) -> Floats | None:
        """Return the probabilities of right links, (persons,), in the way that finds more."""
        ways = [self.taken, None if self.posterior is None else likeliest_records(self.posterior)]
        chances = [links_of(one, own) for one in ways if one is not None]
        return max(chances, key=lambda one: float(one.sum()), default=None)


def follow_exchanges(files: TwoFiles, columns: Sequence[ColumnLikelihood]) -> Exchanges:
    """Return what links mean for the partners of swaps; nothing where no column was swapped, or
    nothing else is known of persons.

    In files too large to weigh all links together, where several but few persons have each value,
    nobody can say what partners tell: then everybody's own record is taken.
    """
    swapped = [one for one in files.columns if _has_partners(one)]
    if not swapped or len(files.columns) < _FEWEST_KNOWN:
        return Exchanges()
    is_small = len(files.own) * files.released * len(swapped) <= MOST_BALANCED
    shared, values, taken = _shared(swapped), _values_of(swapped), None
    if shared is _Shared.BY_SOME and not is_small:
        return Exchanges(_own_records(files))
    if shared is _Shared.BY_NOBODY:
        taken = records_by_exchanges(likelihood_files(columns), values, files.own)
    if not is_small or (taken and links_of(taken, files.own).mean() >= _NEARLY_ALL):
        return Exchanges(taken)
    return Exchanges(taken, posterior_of_exchanges(log_likelihoods(columns), values))


def _own_records(files: TwoFiles) -> TakenRecords:
    has_own = files.own >= 0
    everybody = ChosenPersons(np.arange(len(has_own)), len(has_own))
    return TakenRecords(everybody, np.append(0, np.cumsum(has_own)), files.own[has_own])


_FEWEST_KNOWN = 2
"""By one column alone, the partners of a record tell nothing of it."""


def _has_partners(column: KnownColumn) -> bool:
    return isinstance(column.masking, RankSwapping) and column.is_point


def _values_of(swapped: Sequence[KnownColumn]) -> SwappedValues:
    pairs = ((one.known_numbers(), one.released_numbers()[0]) for one in swapped)
    before, after = (np.column_stack(part) for part in zip(*pairs, strict=True))
    return swapped_values(before, after)


class _Shared(Enum):
    """By how many other persons values of swapped columns are shared."""

    BY_NOBODY = "nobody"
    BY_SOME = "some"
    BY_MANY = "many"


def _shared(swapped: Sequence[KnownColumn]) -> _Shared:
    """Return by how many persons values are shared in the columns that tell of partners."""
    shares = [_shared_by(one) for one in swapped]
    if _Shared.BY_SOME in shares:
        return _Shared.BY_SOME
    return _Shared.BY_NOBODY if _Shared.BY_NOBODY in shares else _Shared.BY_MANY


def _shared_by(column: KnownColumn) -> _Shared:
    masking, numbers = column.masking, column.released_numbers()[0]
    assert isinstance(masking, RankSwapping)  # noqa: S101 (by its caller)
    released = numbers[~np.isnan(numbers)]
    counts = np.unique(released, return_counts=True)[1]
    shares = counts / max(len(released), 1)
    if shares[counts > 1].sum() <= _FEW_ALONE:
        return _Shared.BY_NOBODY
    reach = most_ranks(len(released), masking.p, masking.variant)
    if masking.variant == "buckets":  # half of the moves are within the next ones
        reach = min(reach, 2 * max(int(masking.p * len(released)), 1))
    window = min(2 * reach + 1, len(released))
    exchanges = float((shares * counts).sum()) ** 2 / window
    return _Shared.BY_MANY if exchanges >= _MANY_EXCHANGES else _Shared.BY_SOME
