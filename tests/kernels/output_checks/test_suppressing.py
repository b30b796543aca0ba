import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.errors import InternalError
from policy_engine.kernels.output_checks import heuristic_suppression, suppressing
from policy_engine.kernels.output_checks.heuristic_suppression import parts_of
from policy_engine.kernels.output_checks.suppressing import suppress
from policy_engine.kernels.output_checks.suppression_audit import attack_pattern
from policy_engine.kernels.output_checks.table_system import (
    flat_dimension,
    lay_out,
    link,
    table_system,
)
from policy_engine.kernels.output_checks.work_time import TimeUpError

LONG = 60.0


def with_totals(cells):
    for axis in range(cells.ndim):
        cells = np.concatenate([cells, cells.sum(axis=axis, keepdims=True)], axis=axis)
    return cells


def two_way(cells, primaries, **options):
    values = with_totals(np.array(cells))
    is_primary = np.zeros(values.shape)
    for place in primaries:
        is_primary[place] = 1
    layout = lay_out([flat_dimension(len(cells)), flat_dimension(len(cells[0]))])
    return table_system(layout, values, is_primary, **options)


def cheapest(system):
    """Return the cost of the cheapest pattern that the audit finds nothing in, by trying all."""
    free = np.flatnonzero(system.may_be_suppressed & ~system.first_pattern)
    costs = []
    for choice in itertools.product([False, True], repeat=len(free)):
        pattern = system.first_pattern.copy()
        pattern[free] = choice
        if not attack_pattern(system, pattern):
            costs.append(system.cost(pattern))
    return min(costs, default=None)


def test_a_lone_primary_needs_a_rectangle():
    cells = [[1, 20, 30], [40, 50, 60], [70, 80, 90]]
    weights = with_totals(np.array(cells)) * 1.0
    result = suppress(two_way(cells, [(0, 0)], weights=weights), LONG)
    assert np.flatnonzero(result.is_suppressed).tolist() == [0, 1, 4, 5]
    assert (result.cost, result.gap, result.method) == (110, 0, "optimal")


def test_cells_that_must_be_published_are():
    cells = [[1, 20, 30], [40, 50, 60], [70, 80, 90]]
    may = np.ones((4, 4))
    may[0, 1] = 0
    weights = with_totals(np.array(cells)) * 1.0
    system = two_way(cells, [(0, 0)], weights=weights, may_be_suppressed=may)
    result = suppress(system, LONG)
    assert np.flatnonzero(result.is_suppressed).tolist() == [0, 2, 4, 6]


def test_a_partner_that_is_too_small_to_hide_a_level_is_not_enough():
    """The cell 30 is to be hidden by 10 on both sides: by 20 and 25, and not by the cheaper 1."""
    values = np.array([30, 1, 20, 25, 76])
    layout = lay_out([flat_dimension(4)])
    may = np.array([1, 1, 1, 1, 0])
    weights = np.array([1, 1, 20, 25, 76.0])
    system = table_system(
        layout,
        values,
        np.array([1, 0, 0, 0, 0]),
        protection=10,
        weights=weights,
        bounds=(0 * values, 2 * values),
        may_be_suppressed=may,
    )
    result = suppress(system, LONG)
    assert np.flatnonzero(result.is_suppressed).tolist() == [0, 2]
    assert result.cost == 20


def test_a_lone_part_of_a_public_total_is_unprotectable_and_said_to_be():
    layout = lay_out([flat_dimension(1)])
    may = np.array([1, 0])
    system = table_system(layout, np.array([5, 5]), np.array([1, 0]), may_be_suppressed=may)
    result = suppress(system, LONG)
    assert not result.is_protected
    assert result.unprotectable.tolist() == [0]


def test_a_primary_that_must_be_published_is_unprotectable():
    layout = lay_out([flat_dimension(2)])
    may = np.array([0, 1, 1])
    system = table_system(layout, np.array([5, 5, 10]), np.array([1, 1, 0]), may_be_suppressed=may)
    result = suppress(system, LONG)
    assert result.unprotectable.tolist() == [0]
    assert result.is_suppressed.tolist() == [False, True, True]


def test_two_lone_contributors_of_a_line_need_a_third_cell():
    """Each of them knows its own cell, and so the other's by the total."""
    values = np.array([3, 4, 50, 60, 117])
    may, is_primary = np.array([1, 1, 1, 1, 0]), np.array([1, 1, 0, 0, 0])
    layout = lay_out([flat_dimension(4)])
    options = {"may_be_suppressed": may, "weights": values * 1.0}
    alone = suppress(table_system(layout, values, is_primary, **options), LONG)
    assert np.flatnonzero(alone.is_suppressed).tolist() == [0, 1]
    lone = np.array([7, 8, -1, -1, -1])
    system = table_system(layout, values, is_primary, contributors=lone, **options)
    assert {one.contributor for one in attack_pattern(system, alone.is_suppressed)} == {7, 8}
    result = suppress(system, LONG)
    assert np.flatnonzero(result.is_suppressed).tolist() == [0, 1, 2]


def test_one_contributor_of_two_cells_knows_both():
    values = np.array([3, 4, 5, 60, 72])
    layout, lone = lay_out([flat_dimension(4)]), np.array([7, 7, 8, -1, -1])
    may, is_primary = np.array([1, 1, 1, 1, 0]), np.array([1, 1, 1, 0, 0])
    system = table_system(layout, values, is_primary, contributors=lone, may_be_suppressed=may)
    assert suppress(system, LONG).is_suppressed.tolist() == [True, True, True, True, False]


def test_empty_cells_of_a_line_are_not_protected_from_the_only_one_in_it():
    """Who is alone in the first row knows that its other cells are empty; nobody else is told."""
    cells = [[1, 0, 0], [20, 21, 22], [30, 31, 32]]
    values = with_totals(np.array(cells))
    lone = np.full((4, 4), -1)
    lone[0, [0, 3]] = 7
    places = [(0, 0), (0, 1), (0, 2), (0, 3)]
    system = two_way(cells, places, contributors=lone, weights=np.log1p(values))
    result = suppress(system, LONG)
    assert result.is_protected
    assert np.flatnonzero(result.is_suppressed).tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    assert not attack_pattern(system, result.is_suppressed)
    without = result.is_suppressed.copy()
    without[5] = False
    assert {one.contributor for one in attack_pattern(system, without)} >= {-1}


@pytest.mark.parametrize("seed", range(4))
def test_many_who_are_alone_learn_what_each_of_them_learns(seed):
    """Two of them may know the same empty cell."""
    random = np.random.default_rng(seed)
    values = with_totals(random.poisson(0.7, (3, 3, 3)))
    numbers = with_totals(np.where(values[:3, :3, :3] == 1, np.arange(27).reshape(3, 3, 3), 0))
    layout = lay_out([flat_dimension(3)] * 3)
    lone = np.where(values == 1, numbers, -1).ravel()
    about = layout, values, values < 3
    system = table_system(*about, contributors=lone)
    pattern = (values.ravel() < 3) | (random.random(64) < 0.3)
    together = {(one.cell, one.contributor) for one in attack_pattern(system, pattern)}
    alone = set()
    for one in np.unique(lone):
        own = table_system(*about, contributors=np.where(lone == one, lone, -1))
        alone |= {(cell.cell, cell.contributor) for cell in attack_pattern(own, pattern)}
    assert together == alone


def test_totals_of_a_linked_table_do_not_give_a_cell_away():
    """Region by sector and region by size share the totals of regions; the cell of 6 is hidden in
    the first by a rectangle, and the totals need not be touched."""
    sectors = np.array([[6, 78], [50, 40], [70, 80]])
    sizes = np.array([[44, 40], [50, 40], [80, 70]])
    one, other = with_totals(sectors), with_totals(sizes)
    numbers = np.arange(one.size).reshape(one.shape)
    more = np.full(other.shape, -1)
    more[:, -1] = numbers[:, -1]
    more[more < 0] = numbers.size + np.arange((more < 0).sum())
    layout = lay_out([flat_dimension(3), flat_dimension(2)])
    joined = link([layout, layout], [numbers.ravel(), more.ravel()])
    values = np.zeros(joined.cells)
    values[numbers], values[more] = one, other
    is_primary = np.arange(joined.cells) == 0
    result = suppress(table_system(joined, values, is_primary, weights=values), LONG)
    assert result.cost == 78 + 50 + 40
    assert not attack_pattern(table_system(joined, values, is_primary), result.is_suppressed)


def test_hidden_cells_cost_nothing_and_protect():
    """A cube of which only the two-way totals are published: its own cells hide one another."""
    cube = with_totals(np.arange(1, 9).reshape(2, 2, 2))
    is_hidden = np.zeros(cube.shape)
    is_hidden[:2, :2, :2] = 1
    system = table_system(lay_out([flat_dimension(2)] * 3), cube, 0 * cube, is_hidden=is_hidden)
    assert suppress(system, LONG).cost == 0
    assert system.first_pattern.sum() == 8


@pytest.mark.nightly
@settings(max_examples=4, deadline=None)
@given(
    st.lists(st.integers(0, 9), min_size=4, max_size=4),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.lists(st.integers(1, 9), min_size=9, max_size=9),
    st.booleans(),
)
def test_no_pattern_is_cheaper_than_the_optimal_one(cells, primaries, weights, is_by_lone):
    values = with_totals(np.array(cells).reshape(2, 2))
    is_primary = np.zeros((3, 3), dtype=bool)
    is_primary[:2, :2] = np.array(primaries).reshape(2, 2) & (values[:2, :2] > 0)
    may = np.ones((3, 3))
    may[2, 2] = 0
    lone = np.where(is_primary & is_by_lone, np.arange(9).reshape(3, 3), -1)
    system = table_system(
        lay_out([flat_dimension(2)] * 2),
        values,
        is_primary,
        weights=np.array(weights),
        may_be_suppressed=may,
        contributors=lone,
    )
    result, cost = suppress(system, LONG), cheapest(system)
    assert result.is_protected == (cost is not None)
    if cost is not None:
        assert result.cost == pytest.approx(cost)
        assert result.bound == pytest.approx(cost, rel=1e-3)


@pytest.mark.nightly
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32))
def test_a_cube_is_protected(seed):
    random = np.random.default_rng(seed)
    cells = random.poisson(6, (3, 3, 3))
    values = with_totals(cells)
    is_primary = np.zeros(values.shape, dtype=bool)
    is_primary[:3, :3, :3] = (cells > 0) & (cells < 4)
    system = table_system(lay_out([flat_dimension(3)] * 3), values, is_primary)
    result = suppress(system, 2.0)
    assert result.is_protected
    assert result.bound <= result.cost
    assert not attack_pattern(system, result.is_suppressed)


def hierarchical(seed):
    random = np.random.default_rng(seed)
    parents = np.array([6, 6, 6, 7, 7, 7, 8, 8, -1])
    base = random.poisson(12, (6, 4))
    groups = np.stack([base[:3].sum(axis=0), base[3:].sum(axis=0)])
    rows = np.vstack([base, groups, groups.sum(axis=0)])
    values = np.concatenate([rows, rows.sum(axis=1, keepdims=True)], axis=1)
    is_primary = np.zeros(values.shape)
    is_primary[:6, :4] = (base > 0) & (base < 8)
    return table_system(lay_out([parents, flat_dimension(4)]), values, is_primary)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(4))
def test_a_hierarchy_is_protected_at_once_and_by_its_tables(seed, monkeypatch):
    system = hierarchical(seed)
    optimal = suppress(system, LONG)
    monkeypatch.setattr(suppressing, "MOST_CELLS_AT_ONCE", 10)
    by_tables = suppress(system, LONG)
    assert by_tables.method == "sub-tables"
    assert by_tables.is_protected
    assert by_tables.bound <= optimal.cost <= by_tables.cost


@pytest.mark.parametrize("sizes", [(5, 4), (3, 4, 2)])
def test_every_equation_of_a_table_is_in_one_of_its_slices(sizes):
    layout = lay_out([flat_dimension(size) for size in sizes])
    parts, terms = parts_of(layout, 9), layout.equations
    assert max(map(len, parts)) < layout.cells
    lines = np.split(terms.cells, terms.starts[1:-1])
    assert len(lines) == terms.count
    assert all(any(np.isin(line, part).all() for part in parts) for line in lines)


@pytest.mark.parametrize("sizes", [(5, 6), (3, 4, 3)])
def test_a_table_without_hierarchies_is_protected_by_its_slices(sizes, monkeypatch):
    values = with_totals(np.random.default_rng(0).poisson(12, sizes))
    is_primary = (values > 0) & (values < 8)
    layout = lay_out([flat_dimension(size) for size in sizes])
    system = table_system(layout, values, is_primary, weights=np.log1p(values))
    optimal = suppress(system, LONG)
    monkeypatch.setattr(suppressing, "MOST_CELLS_AT_ONCE", 10)
    monkeypatch.setattr(heuristic_suppression, "MOST_CELLS_OF_PART", 10)
    by_slices = suppress(system, LONG, LONG)
    assert by_slices.method == "sub-tables"
    assert by_slices.is_protected
    assert not attack_pattern(system, by_slices.is_suppressed)
    assert by_slices.bound <= optimal.cost <= by_slices.cost


@pytest.mark.parametrize("most_cells", [10, 12_000])
def test_a_pattern_that_is_not_found_and_attacked_in_time_is_none(most_cells, monkeypatch):
    monkeypatch.setattr(suppressing, "MOST_CELLS_AT_ONCE", most_cells)
    with pytest.raises(TimeUpError):
        suppress(hierarchical(1), 0.0, 0.0)


def test_an_audit_that_does_not_end_in_time_shows_nothing(monkeypatch):
    attack = suppressing.attack_pattern

    def slow(system, pattern, limit):
        monkeypatch.setattr(type(limit), "left", -1.0)
        return attack(system, pattern, limit)

    monkeypatch.setattr(suppressing, "attack_pattern", slow)
    with pytest.raises(TimeUpError):
        suppress(hierarchical(1), LONG, LONG)


def test_without_time_there_is_a_protected_pattern_all_the_same():
    start = time.monotonic()
    result = suppress(hierarchical(1), 0.0)
    assert result.is_protected
    assert result.bound <= result.cost
    assert time.monotonic() - start < LONG
    assert (~result.is_suppressed).any()


def test_a_pattern_that_the_audit_breaks_is_never_returned(monkeypatch):
    monkeypatch.setattr(suppressing, "search_optimum", id)
    monkeypatch.setattr(suppressing.SuppressionSearch, "cost", 0.0)
    init = suppressing.SuppressionSearch.__post_init__

    def with_nothing_suppressed(search):
        init(search)
        search.best = search.system.first_pattern

    monkeypatch.setattr(suppressing.SuppressionSearch, "__post_init__", with_nothing_suppressed)
    with pytest.raises(InternalError, match="X001"):
        suppress(two_way([[1, 20], [30, 40]], [(0, 0)]), LONG)


def test_equal_tables_have_equal_patterns():
    one, other = suppress(hierarchical(2), LONG), suppress(hierarchical(2), LONG)
    assert (one.is_suppressed == other.is_suppressed).all()
