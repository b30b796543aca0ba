"""What is known of rank-swapped columns: that swaps exchange the values of two rows."""

from collections.abc import Sequence
from dataclasses import dataclass

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
from policy_engine.methods.maskings.rank_swapping import RankSwapping

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_BALANCED = 12_000_000
"""Of more persons times records times swapped columns, links are not weighed all together."""
_FEW_SHARED = 0.1
"""Where so many persons at most share their values with others, following partners is enough."""
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

    In files too large to weigh all links together, values that several persons have tell what
    nobody can say here: if the files are to fail closed, everybody's own record is taken.
    """
    swapped = [one for one in files.columns if _has_partners(one)]
    if not swapped or len(files.columns) < _FEWEST_KNOWN:
        return Exchanges()
    is_small = len(files.own) * files.released * len(swapped) <= MOST_BALANCED
    if not is_small and files.fails_closed and any(map(_is_shared, swapped)):
        return Exchanges(_own_records(files))
    values = _values_of(swapped)
    taken = records_by_exchanges(likelihood_files(columns), values, files.own)
    if not is_small or links_of(taken, files.own).mean() >= _NEARLY_ALL:
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


def _is_shared(column: KnownColumn) -> bool:
    """Tell whether more than a few persons share their values with others."""
    released = column.released_numbers()[0]
    counts = np.unique(released[~np.isnan(released)], return_counts=True)[1]
    return bool(counts[counts > 1].sum() > _FEW_SHARED * len(released))
