import numpy as np
import pytest
from drawn import axes_of, interval, members, price, tree
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.kernels.axis import ACTIVE, GREATEST, LEAST, UNIT, pack_axes
from policy_engine.kernels.extent import EVERY, count_members, extent, sweep


def swept(axes, step=1):
    """What the first rows, or the last, cost together, by how many they are."""
    rows = np.stack([axis.codes for axis in axes], axis=1)
    total, listed = len(rows), np.zeros((len(axes), 4), dtype=np.int64)
    listed[:, ACTIVE] = np.arange(len(axes))
    prices, order = np.zeros(total, dtype=np.int64), np.arange(total)
    table = pack_axes(axes)
    step, dims = np.int64(step), len(axes)
    sweep(table, extent(table), rows, order, total, step, listed, dims, EVERY, prices)
    return prices.tolist()


def test_a_range_costs_its_width():
    assert swept([interval([1, 2, 0], [0, 0.25, 1])]) == [0, 3 * UNIT // 4, UNIT]


def test_a_set_costs_its_share_of_the_values_and_one_value_nothing():
    assert swept([members([0, 0, 3, 1])]) == [0, 0, UNIT // 2, 3 * UNIT // 4]


def test_a_node_costs_its_loss():
    # 0 and 1 under node 1, 2 alone; everything under the root
    taxonomy = [-1, 0, 1, 1, 0], [2, 3, 4], [1.0, 0.5, 0.0, 0.0, 0.0]
    assert swept([tree([0, 1, 2], *taxonomy)]) == [0, UNIT // 2, UNIT]


@pytest.mark.parametrize(("wildcard", "cost"), [(False, UNIT), (True, 0)])
def test_a_missing_value_among_others_costs_everything_unless_it_matches_any(wildcard, cost):
    column = interval([1, 0, 1], [0, 0], has_missing=True, is_wildcard=wildcard)
    assert swept([column]) == [0, cost, cost]


@pytest.mark.parametrize(("wildcard", "cost"), [(False, UNIT), (True, 0)])
def test_a_node_costs_nothing_where_a_value_that_matches_any_comes_before_its_one(wildcard, cost):
    taxonomy = [-1, 0, 0], [0, 1, 2], [1.0, 0.0, 0.0]
    column = tree([0, 1, 2], *taxonomy, has_missing=True, is_wildcard=wildcard)
    assert swept([column]) == [0, cost, UNIT]


def test_a_set_counts_a_missing_value_unless_it_matches_any():
    assert swept([members([0, 1, 3], has_missing=True)]) == [0, UNIT // 2, 3 * UNIT // 4]
    column = members([0, 1, 3], has_missing=True, is_wildcard=True)
    assert swept([column]) == [0, 0, UNIT // 2]


def test_missing_values_by_themselves_cost_nothing():
    assert swept([interval([0, 0], [0, 0, 1], has_missing=True)]) == [0, 0]
    assert swept([tree([0, 0], [-1, 0, 0], [0, 1, 2], [1, 0, 0], has_missing=True)]) == [0, 0]


def test_the_last_rows_are_priced_from_the_end():
    assert swept([interval([0, 2, 1])], step=-1) == [0, UNIT // 2, UNIT]


def test_a_weight_multiplies_what_a_column_costs():
    assert swept([interval([0, 1], weight=3.0), members([0, 1], weight=0.0)]) == [0, 3 * UNIT]


@pytest.mark.nightly
@settings(deadline=None, max_examples=examples(80))
@given(st.lists(axes_of(12, widest=100), min_size=1, max_size=4), st.sampled_from([1, -1]))
def test_prices_are_those_of_the_rows_taken_together(axes, step):
    rows = list(range(12))[::step]
    assert swept(axes, step) == [price(axes, rows[: last + 1]) for last in range(12)]


@settings(deadline=None, max_examples=examples(50))
@given(st.lists(axes_of(40, widest=100), min_size=1, max_size=4), st.sampled_from([1, -1]))
def test_prices_in_front_of_another_value_are_those_of_the_rows_whatever_the_node_covers(
    axes, step
):
    rows = np.stack([axis.codes for axis in axes], axis=1)
    order, table = np.argsort(rows[:, 0], kind="stable"), pack_axes(axes)
    found, node = extent(table), np.zeros((len(axes), 4), dtype=np.int64)
    node[:, LEAST], node[:, GREATEST] = rows.min(axis=0), rows.max(axis=0)
    node[:, ACTIVE], prices = np.arange(len(axes)), np.zeros(40, dtype=np.int64)
    count_members(table, found, rows, 0, 40, node, len(axes))
    sweep(table, found, rows, order, 40, np.int64(step), node, len(axes), np.int64(0), prices)
    taken = order[::step]
    first = rows[taken, 0]
    for last in range(40):
        if last == 39 or first[last] != first[last + 1]:
            assert prices[last] == price(axes, taken[: last + 1].tolist())


def test_sets_of_64_values_and_of_one_more_are_priced_alike():
    for values in (64, 65):
        share = UNIT // values
        found = swept([members([*range(values), 0, values - 1])])
        assert found == [0, *(share * n for n in range(2, values + 1)), *[share * values] * 2]
