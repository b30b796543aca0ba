import numpy as np

from policy_engine.audits.membership.repeats import codes_of, draw_groups, quota_of


def drawn(codes, quota, **more):
    codes = np.array(codes)
    rows = draw_groups(np.arange(len(codes)), codes, quota, np.random.default_rng(1), **more)
    return rows.tolist()


def test_rows_of_one_mark_have_the_number_of_their_first():
    assert codes_of(np.array([9, 4, 9, 7, 4], dtype=np.uint64)).tolist() == [0, 1, 0, 3, 1]


def test_a_group_that_does_not_fit_is_passed_over():
    assert drawn([0, 0, 0, 1, 0], 2) == [3]
    assert drawn([0, 0, 0, 0], 2) == []


def test_what_is_left_is_filled_from_one_group_in_part():
    assert drawn([0, 0, 0, 0], 2, fill=True) == [0, 1]
    assert drawn([0, 0], 3, fill=True) == [0, 1]


def test_a_share_is_of_the_groups_that_fit_into_it():
    assert quota_of(np.array([1] * 40), 0.25) == 10
    assert quota_of(np.array([1] * 40 + [11]), 0.25) == 12
    assert quota_of(np.array([1] * 40 + [60]), 0.25) == 10
    assert quota_of(np.array([60, 60]), 0.25) == 0
