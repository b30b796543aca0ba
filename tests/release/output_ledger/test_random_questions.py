"""Whatever is asked, what an independent intruder can derive from all that was given is too much
of nobody.
"""

import numpy as np
import pytest
from asking_cells import counts
from recovering import rank, recovered_counts, recovered_sums

from policy_engine.release.output_ledger import OutputLedger, Populations

THRESHOLD = 3


def ask_at_random(path, seed, units, questions, measure):
    """Return the populations that were released of random questions, some asked partly."""
    draws, ledger, released = np.random.default_rng(seed), OutputLedger(path), []
    for number in range(questions):
        share = draws.choice([0.3, 0.5, 0.8])
        asked = draws.random((draws.integers(1, 4), units)) < share
        answer = counts(Populations.of_masks(asked), threshold=THRESHOLD, measure=measure)
        outcome = ledger.check_and_record(answer, partly=number % 2 == 0)
        if outcome.may_leave:
            kept = zip(asked, outcome.cells, strict=True)
            released += [mask for mask, cell in kept if cell.state == "released"]
    return np.array(released, int).reshape(-1, units)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("seed", range(12))
def test_no_sum_of_few_units_follows_from_what_was_released(tmp_path, seed):
    released = ask_at_random(tmp_path / "l.db", seed, 12, 14, "sum:income")
    assert len(released) >= 2
    assert recovered_sums(released, THRESHOLD) == []


@pytest.mark.one_in(6)
@pytest.mark.parametrize("seed", range(12))
def test_no_count_of_few_units_follows_from_what_was_released(tmp_path, seed):
    released = ask_at_random(tmp_path / "l.db", seed, 9, 10, "count")
    assert len(released) >= 1
    assert recovered_counts(released, THRESHOLD) == []


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(6))
def test_no_suppressed_sum_follows_from_what_was_released(tmp_path, seed):
    draws, ledger = np.random.default_rng(seed), OutputLedger(tmp_path / "l.db")
    released, suppressed = [], []
    for _ in range(10):
        asked = draws.random((4, 12)) < 0.6
        hidden = {int(draws.integers(4))}
        answer = counts(Populations.of_masks(asked), 2, hidden, "sum:income")
        outcome = ledger.check_and_record(answer, partly=True)
        for mask, cell in zip(asked.astype(int), outcome.cells, strict=True):
            (released if cell.state == "released" else suppressed).append(mask.tolist())
    earlier = [one for one in suppressed if one not in released]
    assert earlier
    assert len(released) > 1
    assert all(rank([*released, one]) > rank(released) for one in earlier)


def test_the_intruder_recovers_what_the_ledger_is_there_to_prevent():
    everyone, rest = np.ones(6, int), np.array([0, 1, 1, 1, 1, 1])
    assert [mask.tolist() for mask in recovered_sums([everyone, rest], 3)] == [[1, 0, 0, 0, 0, 0]]
    assert recovered_counts([everyone, rest], 3) == [[0]]
