import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.engines.generalizations.trees import climb, make_tree_nodes


def test_tree_of_leaves_groups_out_that_hold_one_group_below():
    #          0
    #      1       |
    #    2   |     |
    #   6 5  4     3
    nodes = make_tree_nodes(np.array([1, 3, 7]), 4)
    assert nodes.parent.tolist() == [-1, 0, 1, 0, 1, 2, 2]
    assert nodes.leaf.tolist() == [6, 5, 4, 3]
    assert nodes.height.tolist() == [7, 3, 1, 0, 0, 0, 0]
    assert nodes.value.tolist() == [0, 0, 0, 3, 2, 1, 0]


def test_tree_of_one_value_or_none_is_a_root():
    assert make_tree_nodes(np.zeros(0, np.int64), 1).parent.tolist() == [-1]
    assert make_tree_nodes(np.zeros(0, np.int64), 1).leaf.tolist() == [0]
    assert make_tree_nodes(np.zeros(0, np.int64), 0).parent.tolist() == [-1]


def test_climb_meets_at_the_lowest_node_above_both():
    parent = np.array([-1, 0, 1, 1, 0, 4], dtype=np.int32)
    low, high = np.array([2, 2, 3, 5, 4]), np.array([2, 3, 5, 1, 5])
    assert climb(parent, low, high).tolist() == [2, 1, 0, 0, 4]
    assert low.tolist() == [2, 2, 3, 5, 4]


@given(st.lists(st.integers(1, 5), max_size=12), st.data())
def test_values_meet_at_the_height_at_which_the_last_neighbours_join(joins, data):
    nodes = make_tree_nodes(np.array(joins, dtype=np.int64), len(joins) + 1)
    assert (nodes.parent < np.arange(len(nodes.parent))).all()
    low = data.draw(st.integers(0, len(joins)))
    high = data.draw(st.integers(low, len(joins)))
    [node] = climb(nodes.parent, nodes.leaf[[low]], nodes.leaf[[high]])
    assert nodes.height[node] == max(joins[low:high], default=0)
    assert nodes.value[node] <= low
