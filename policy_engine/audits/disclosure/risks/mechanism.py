"""What values are guessed by who knows how the release was made."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.attacks.exchanges import follow_exchanges
from policy_engine.audits.disclosure.attacks.transparency import column_likelihoods
from policy_engine.audits.disclosure.files import TwoFiles
from policy_engine.audits.disclosure.presence import persons_there
from policy_engine.audits.disclosure.risks.guessed_cells import known_points
from policy_engine.kernels.attribute_inference import guess_by_likelihood, guess_from_records
from policy_engine.kernels.chosen_persons import choose_persons, order_persons
from policy_engine.kernels.linkage.likelihood import log_likelihoods

Floats = NDArray[np.float64]

_MOST_PAIRS, _FEWEST_PERSONS = 25_000_000, 500
"""Of more pairs of a person and a record, some persons stand for all, so many at least."""
_AT_ONCE = 1 << 22
"""So many pairs are in memory."""


def mechanism_guesses(
    files: TwoFiles, values: Floats, truth: Floats, tolerance: float
) -> Iterator[tuple[Floats, str]]:
    """Yield how probably values are guessed, (persons,), and in words how.

    `values` (rows,) are those released, `truth` (persons,) what they are to be, and the columns of
    the files what is known. By all records, each counted as likely as the published masking made it
    of what is known, and of swapped columns by what links mean for the partners. Nothing where no
    column was masked, or nobody knows how. Who may be in the release is looked for among those; of
    all others, as if nobody knew that.
    """
    is_there = persons_there(files)
    guesses = _guesses(files, values, truth, tolerance)
    if is_there is None:
        yield from guesses
        return
    of_others = next((informed for informed, _ in guesses), None)
    for of_those_there, how in _guesses(
        files.of_persons(is_there), values, truth[is_there], tolerance
    ):
        informed = np.zeros(len(truth)) if of_others is None else of_others.copy()
        informed[is_there] = of_those_there
        yield informed, how


def _guesses(
    files: TwoFiles, values: Floats, truth: Floats, tolerance: float
) -> Iterator[tuple[Floats, str]]:
    if not files.is_published or not any(column.masking for column in files.columns):
        return
    columns = column_likelihoods(files)
    most = max(_MOST_PAIRS // max(files.released, 1), _FEWEST_PERSONS)
    chosen = choose_persons(order_persons(known_points(files.columns)), most)
    step = max(_AT_ONCE // max(files.released, 1), 1)
    parts = [
        guess_by_likelihood(log_likelihoods(columns, some), values, truth[some], tolerance)
        for some in np.split(chosen.persons, range(step, len(chosen.persons), step))
    ]
    yield chosen.stand_for_all(np.concatenate(parts)), "by how likely each record is"
    exchanges = follow_exchanges(files, columns)
    if exchanges.posterior is not None:
        yield guess_by_likelihood(exchanges.posterior, values, truth, tolerance), _BY_PARTNERS
    if exchanges.taken is not None:
        taken = exchanges.taken
        own = truth[taken.chosen.persons]
        informed = guess_from_records(taken.records, taken.starts, values, own, tolerance)
        yield taken.chosen.stand_for_all(informed), _BY_PARTNERS


_BY_PARTNERS = "by the partners of swaps"
