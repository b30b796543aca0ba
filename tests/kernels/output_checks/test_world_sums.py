"""What is known of sums over kinds of rows, by others that are shown."""

import numpy as np
import pytest

from policy_engine.kernels.output_checks.growing_programmes import SolverEffort, UndecidedError
from policy_engine.kernels.output_checks.table_system import Equations
from policy_engine.kernels.output_checks.world_sums import WorldAttack, WorldSums


def equations(*lines):
    starts = np.cumsum([0, *map(len, lines)])
    cells = np.array([cell for line in lines for cell in line], np.int64)
    return Equations(starts, cells, np.ones(len(cells), np.int64))


def attack(lines, values, targets, kinds, *, are_whole=True, work=1e6):
    bounds = np.array(values, np.float64)
    sums = WorldSums(equations(*lines), kinds, bounds, bounds, are_whole)
    return WorldAttack(sums, equations(*targets), SolverEffort(work))


def ends(found):
    return found.low, found.high


def test_a_cell_follows_from_a_total_and_a_zero_until_one_is_hidden():
    told = attack([(0, 1), (1,)], [40, 0], [(0,)], 2)
    found = told.reach(0, 39, 41)
    assert ends(found) == (40, 40)
    assert found.used.tolist() == [True, True]
    told.hide(np.array([1]))
    assert told.reach(0, 39, 40).low == 0


@pytest.mark.parametrize(("are_whole", "most"), [(True, 0), (False, 1)])
def test_whole_numbers_tell_more_than_fractions(are_whole, most):
    """Twice, a kind is half of what another one leaves of 1: none, in whole numbers."""
    once = [(0, 1), (1, 2), (0, 2, 3)]
    lines = [*once, *(tuple(kind + 4 for kind in line) for line in once)]
    told = attack(lines, [1] * 6, [(0, 4)], 8, are_whole=are_whole)
    assert told.reach(0, 0, 1).high == pytest.approx(most)


def test_sums_that_no_world_has_are_undecided():
    with pytest.raises(UndecidedError):
        attack([(0,), (0,)], [1, 2], [(0,)], 1).reach(0, 0, 1)


def test_worlds_that_were_found_are_witnesses_for_other_cells():
    told = attack([(0, 1)], [10], [(0,), (1,)], 2)
    told.reach(0, 4, 6)
    assert told.most[1] - told.least[1] == 10


def test_work_is_bounded_by_what_is_counted():
    once = [(0, 1), (1, 2), (0, 2, 3)]
    with pytest.raises(UndecidedError):
        attack(once, [1] * 3, [(0,), (1,)], 4, work=0.0).reach(0, 0, 1)
    effort = SolverEffort(100.0)
    effort.spend(steps=2, size=10)
    assert (effort.left, effort.steps(7), SolverEffort(0.5).steps(7)) == (70.0, 10, 1)
