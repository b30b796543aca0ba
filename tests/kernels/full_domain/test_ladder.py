import numpy as np

from policy_engine.kernels.full_domain import Ladder, leaf_shares


def test_shares_count_the_leaves_below():
    [own, tens, all_] = leaf_shares((np.arange(4), np.array([0, 0, 0, 1]), np.zeros(4, dtype=int)))
    assert own.tolist() == [0, 0, 0, 0]
    assert tens.tolist() == [2 / 3, 0]
    assert all_.tolist() == [1]


def test_nested_is_a_ladder_whose_classes_only_merge():
    levels = (np.arange(3), np.array([0, 0, 1]), np.array([0, 1, 1]))
    assert not Ladder(np.arange(3), levels, leaf_shares(levels)).is_nested()
    levels = (np.arange(3), np.array([0, 0, 1]), np.array([0, 0, 0]))
    assert Ladder(np.arange(3), levels, leaf_shares(levels)).is_nested()
