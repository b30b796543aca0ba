import numpy as np
from drawn import ints

from policy_engine.kernels.descent import Cut, Cuts, descend


def cut(dim, low, *goes_left):
    return Cut(dim, low, np.array(goes_left, dtype=np.bool_))


def test_rows_of_a_table_that_is_not_cut_are_in_node_0():
    assert descend(Cuts().descent(), ints([[1], [2]])).tolist() == [0, 0]


def test_rows_go_down_to_the_side_of_their_code():
    cuts = Cuts()
    assert cuts.cut(0, cut(1, 5, 1, 0, 1)) == (1, 2)
    assert descend(cuts.descent(), ints([[0, 5], [0, 6], [0, 7]])).tolist() == [1, 2, 1]


def test_rows_go_down_several_cuts():
    cuts = Cuts()
    left, right = cuts.cut(0, cut(0, 0, 1, 1, 0))
    assert cuts.cut(left, cut(0, 0, 1, 0)) == (3, 4)
    assert cuts.cut(right, cut(1, 7, 0, 1)) == (5, 6)
    assert len(cuts) == 7
    rows = ints([[0, 7], [1, 7], [2, 7], [2, 8]])
    assert descend(cuts.descent(), rows).tolist() == [3, 4, 6, 5]
