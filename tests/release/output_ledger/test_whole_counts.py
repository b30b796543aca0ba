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


def test_what_directions_near_to_a_count_change_is_not_known(ledger):
    """A table of 3 x 3 with its totals, and a sum of cells: no count of one cell is the same in all
    whole numbers that agree with them."""
    cells = np.indices((3, 3)).reshape(2, 9)
    lines = [*np.equal.outer(np.arange(3), cells[0]), *np.equal.outer(np.arange(3), cells[1])]
    rows = np.array([*lines, [0, 0, 1, 1, 1, 0, 1, 1, 1]])
    assert ledger.check_and_record(parts(rows, [3, 1, 1, 1, 1, 1, 1, 1, 1])).codes == ()


def test_what_no_direction_changes_is_known(ledger):
    """The fifth part is of one unit in all whole numbers that agree, by none of which it follows
    as a sum: fractions of a unit are not."""
    rows = [[1, 1, 1, 1, 0, 1], [0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 1, 0], [0, 1, 1, 0, 0, 1]]
    asked = parts([*rows, [0, 1, 0, 0, 0, 1]], [1, 1, 3, 1, 1, 1])
    assert ledger.check_and_record(asked).codes == ("K045",)
