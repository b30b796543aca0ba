"""What counts tell because they are whole numbers, and not negative."""

import numpy as np
import pytest
from asking_cells import counts

from policy_engine.release.output_ledger import OutputLedger, Populations


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "outputs.db")


def parts(rows, sizes):
    """Return the counts of populations that have parts of some sizes: (populations, parts)."""
    masks = np.repeat(np.array(rows, bool), sizes, axis=1)
    return counts(Populations.of_masks(masks), 2)


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]])
def test_small_counts_within_large_ones_are_not_known(ledger, order):
    """Whichever way the columns are ordered: of 1 and 50, and 1 and 40, none can be told."""
    rows = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]])
    asked = parts(rows[:, order], np.array([1, 50, 1, 40])[order])
    assert ledger.check_and_record(asked).codes == ()


def test_what_can_change_by_the_room_in_large_counts_is_not_known(ledger):
    """With pivots in single units, a direction would lead nowhere."""
    rows = [[1, 1, 1, 1, 0, 0], [1, 1, 0, 1, 1, 1], [0, 0, 1, 0, 1, 0], [1, 0, 0, 1, 0, 1]]
    outcome = ledger.check_and_record(parts(rows, [1, 1, 30, 30, 1, 1]))
    assert outcome.codes == ()
