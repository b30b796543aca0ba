"""Record linkage by the likelihood of several releases of one original together.

Noise that is drawn again for every release averages out: who joins the releases row by row takes
the rows that a person's values were most likely to become in all of them.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.attacks.transparency import column_likelihoods
from policy_engine.audits.disclosure.files import TwoFiles
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.linkage.column_likelihood import ColumnLikelihood
from policy_engine.kernels.linkage.likelihood import links_by_likelihood

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_PERSONS = 100_000
"""With the columns of several releases, a search of more records takes long."""


def joint_likelihood_linkage(releases: Sequence[TwoFiles]) -> Floats | NotApplicable:
    """Return for each person of one original the probability of a right link, (persons,).

    The intruder knows which rows of the releases are of one person, and how each was made. Draws of
    different releases are independent, so that log-likelihoods add. A person missing from any
    release is not found.
    """
    if not all(one.is_published for one in releases):
        return NotApplicable(reason="no certificate tells how each release was made")
    persons = len(releases[0].own)
    if persons > MOST_PERSONS:
        return NotApplicable(reason=f"it takes long for more than {MOST_PERSONS:,} persons")
    present = np.flatnonzero(np.all([one.own >= 0 for one in releases], axis=0))
    if not len(present):
        return NotApplicable(reason="nobody is in all releases")
    own = np.full(persons, -1)
    own[present] = np.arange(len(present))
    columns = [
        _rows_column(column, one.own[present])
        for one in releases
        for column in column_likelihoods(one)
    ]
    return links_by_likelihood(columns, own)


def _rows_column(column: ColumnLikelihood, rows: Ints) -> ColumnLikelihood:
    """Return what is known of a column of some released rows, in their order."""
    moves = column.transitions
    if moves is not None:
        moves = replace(moves, first=moves.first[rows], last=moves.last[rows])
    bonus = None if column.bonus is None else column.bonus[rows]
    return replace(column, released=column.released[rows], transitions=moves, bonus=bonus)
