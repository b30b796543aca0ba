import numpy as np

from policy_engine.kernels.published_buckets import bucket_figures

NOTHING = np.zeros(0, np.int64)


def test_figures_of_figure_3_4_say_how_frequent_a_disease_is_in_its_bucket():
    # MOSAICrOWN D5.2, figure 3.4: four buckets of four rows, three diseases each, one of them twice
    entries = np.repeat([1, 2, 3, 4], 3)
    diseases = np.array([0, 1, 2, 3, 4, 5, 0, 1, 6, 7, 8, 6])
    found = bucket_figures(np.repeat([1, 3, 2, 4], 4), entries, diseases, np.array([2, 1, 1] * 4))
    assert found.numbers.tolist() == [1, 2, 3, 4]
    assert found.distinct.tolist() == [3] * 4
    assert found.largest.tolist() == [2] * 4
    assert found.inverse_shares().tolist() == [2] * 4
    assert found.agree()


def test_a_value_with_several_entries_in_a_bucket_is_one_value():
    found = bucket_figures(np.array([5, 5, 5]), np.array([5, 5, 5]), np.array([3, 1, 3]))
    assert (found.distinct.tolist(), found.largest.tolist()) == ([2], [2])
    assert found.inverse_shares().tolist() == [1]


def test_an_entry_that_is_counted_zero_times_does_not_occur():
    found = bucket_figures(np.array([0]), np.array([0, 0]), np.array([0, 1]), np.array([1, 0]))
    assert found.distinct.tolist() == [1]


def test_tables_disagree_where_a_bucket_is_in_one_alone_or_has_other_numbers_of_rows():
    codes = np.array([0, 1])
    alone = bucket_figures(np.array([0, 0, 7]), np.array([0, 0]), codes)
    assert not alone.agree()
    assert alone.inverse_shares().tolist() == [2, 0]
    assert not bucket_figures(np.array([0, 0]), np.array([0, 9]), codes).agree()
    assert not bucket_figures(np.array([0]), np.array([0, 0]), codes).agree()


def test_tables_without_rows_agree():
    assert bucket_figures(NOTHING, NOTHING, NOTHING).agree()
