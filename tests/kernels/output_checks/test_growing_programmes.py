"""Programmes of which columns are taken in as they are needed end where whole ones do."""

import numpy as np
import pytest
from scipy.optimize import linprog

from policy_engine.kernels.output_checks.growing_programmes import (
    GrowingProgramme,
    SolverEffort,
    UndecidedError,
    whole_world,
)
from policy_engine.kernels.output_checks.table_system import Equations


def drawn(seed, kinds=300, sums=12):
    """Return sums of kinds, what they are in a world of a few kinds, and costs."""
    random = np.random.default_rng(seed)
    matrix = random.random((sums, kinds)) < 0.3
    world = np.zeros(kinds)
    world[:20] = random.integers(1, 30, 20)
    starts = np.concatenate([[0], np.cumsum(matrix.sum(axis=1))])
    cells = np.nonzero(matrix)[1]
    system = Equations(starts, cells, np.ones(len(cells), np.int64))
    return matrix, system, world, random.integers(-3, 4, kinds).astype(float)


@pytest.mark.parametrize("seed", range(4))
def test_the_last_world_is_the_best_of_all(seed):
    matrix, system, world, costs = drawn(seed)
    values = matrix @ world
    programme = GrowingProgramme(system, (values, values), 1e3)
    programme.take(np.flatnonzero(world))
    *_, last = programme.worlds(costs, SolverEffort(1e9))
    best = linprog(costs, A_eq=matrix, b_eq=values, bounds=(0, 1e3))
    assert last.is_least
    assert costs @ last.rows == pytest.approx(best.fun)
    assert matrix @ last.rows == pytest.approx(values)
    assert len(programme.columns) < 300


def test_without_a_world_of_its_kinds_all_are_taken_in():
    matrix, system, world, costs = drawn(0)
    values = matrix @ world
    programme = GrowingProgramme(system, (values, values), 1e3)
    programme.take(np.array([250]))
    *_, last = programme.worlds(costs, SolverEffort(1e9))
    assert matrix @ last.rows == pytest.approx(values)
    with pytest.raises(UndecidedError):
        next(programme.worlds(-costs, SolverEffort(0.0)))


def test_a_hidden_sum_does_not_bound():
    system = Equations(np.array([0, 2]), np.array([0, 1]), np.array([1, 1]))
    programme = GrowingProgramme(system, (np.array([5.0]), np.array([5.0])), 50.0)
    programme.take(np.array([0, 1]))
    costs = np.array([-1.0, 0.0])
    assert [one.rows[0] for one in programme.worlds(costs, SolverEffort(1e6))] == [5]
    programme.hide(np.array([0]))
    assert [one.rows[0] for one in programme.worlds(costs, SolverEffort(1e6))] == [50]


def test_whole_worlds_have_whole_numbers():
    """Twice a kind is 3: one and a half."""
    system = Equations(np.array([0, 2]), np.array([0, 1]), np.array([2, 1]))
    bounds, most = (np.array([3.0]), np.array([3.0])), np.array([9.0, 9.0])
    found = whole_world(system, bounds, most, np.array([-1.0, 0.0]), nodes=10)
    assert found.tolist() == [1, 1]
    assert whole_world(system, bounds, np.array([9.0, 0.0]), np.ones(2), nodes=10) is None
