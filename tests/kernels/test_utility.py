import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels import utility
from policy_engine.kernels.spread import exact, spread
from policy_engine.kernels.utility import CountQuery, EntropyLoss, ValueDomain

A, B, C = 0, 1, 2


def of(cells, *covered, size):
    codes = [np.array(one, dtype=np.int64) for one in covered]
    return spread(np.array(cells, dtype=np.int64), codes, size)


def plain(*codes, size=None):
    return exact(np.array(codes), size or max(codes) + 1)


def wanted(size, *codes):
    return np.isin(np.arange(size), codes)


# Entropy


def test_nothing_is_lost_where_cells_are_values():
    column = plain(A, A, B, C)
    assert utility.non_uniform_entropy(column, column).lost == 0


def test_all_is_lost_where_every_cell_covers_everything():
    found = utility.non_uniform_entropy(plain(A, A, B, C), of([0] * 4, [A, B, C], size=3))
    assert found.lost == found.most == pytest.approx(2 * 1 + 2 * 2)  # A: 1 bit, B and C: 2
    assert found.share == 1


def test_entropy_lost_is_what_the_frequencies_leave_open_in_each_cell():
    # A, A, B in cells {A, B}: A is 2 of 3 rows, B 1 of 3. C stays as it was.
    found = utility.non_uniform_entropy(plain(A, A, B, C), of([0, 0, 0, 1], [A, B], [C], size=3))
    assert found.lost == pytest.approx(2 * math.log2(3 / 2) + math.log2(3))


def test_entropy_needs_no_row_in_the_order_of_the_other():
    before = plain(C, A, B, A)
    after = of([0, 0, 1, 0], [A, B], [C], size=3)
    assert utility.non_uniform_entropy(before, after).lost == pytest.approx(
        2 * math.log2(3 / 2) + math.log2(3)
    )


def test_a_suppressed_row_has_lost_everything():
    found = utility.non_uniform_entropy(plain(A, A, B, B), plain(A, A, B, size=2), suppressed=1)
    assert found.lost == pytest.approx(1)  # one of four rows, half of which are B


def test_a_constant_column_has_nothing_to_lose():
    column = plain(A, A)
    assert utility.non_uniform_entropy(column, column) == EntropyLoss(0, 0)
    assert EntropyLoss(0, 0).share == 0


def test_entropies_add_up():
    assert (EntropyLoss(1, 2) + EntropyLoss(2, 6)).share == 3 / 8


# Distances


@pytest.mark.parametrize(
    ("before", "after", "hellinger", "total_variation"),
    [
        ((0.5, 0.5), (0.5, 0.5), 0, 0),
        ((1, 0), (0, 1), 1, 1),
        ((1, 0), (0.5, 0.5), math.sqrt(1 - math.sqrt(0.5)), 0.5),
        ((0.36, 0.64), (0.5, 0.5), math.sqrt(1 - 1.4 * math.sqrt(0.5)), 0.14),
    ],
)
def test_distances_of_two_distributions(before, after, hellinger, total_variation):
    pair = np.array(before, dtype=float), np.array(after, dtype=float)
    assert utility.hellinger(*pair) == pytest.approx(hellinger, abs=1e-9)
    assert utility.total_variation(*pair) == pytest.approx(total_variation)


MASSES = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


@given(MASSES, MASSES)
def test_hellinger_and_total_variation_bound_each_other(first, second):
    # Le Cam: H^2 <= TV <= sqrt(2) H.
    before, after = (utility.shares(np.array(one, dtype=float)) for one in (first, second))
    hellinger, varied = utility.hellinger(before, after), utility.total_variation(before, after)
    assert hellinger**2 <= varied + 1e-12
    assert varied <= math.sqrt(2) * hellinger + 1e-12


def test_shares_of_nothing_are_none():
    assert utility.shares(np.zeros((2, 2))).tolist() == [[0, 0], [0, 0]]


# Two columns


def test_joint_counts_pairs_of_values():
    found = utility.joint(plain(A, A, B), plain(B, B, A), np.arange(2), np.arange(2), (2, 2))
    assert found.tolist() == [[0, 2], [1, 0]]


def test_joint_spreads_the_cells_of_a_row_independently():
    first, second = of([0, 1], [A, B], [A], size=2), of([0, 0], [A, B, C], size=3)
    found = utility.joint(first, second, np.arange(2), np.array([0, 0, 1]), (2, 2))
    assert found == pytest.approx(np.array([[1.0, 0.5], [1 / 3, 1 / 6]]))


def test_even_bins_hold_about_as_many_rows_each():
    assert utility.even_bins(np.array([1.0, 1, 1, 1]), 2).tolist() == [0, 0, 1, 1]
    assert utility.even_bins(np.array([6.0, 1, 1]), 4).tolist() == [0, 1, 1]


def test_logarithmic_bins_are_as_wide_in_powers_of_ten():
    numbers = np.array([1.0, 2, 10, 50, 100, 1000])
    assert utility.logarithmic_bins(numbers, 3, 2).tolist() == [0, 0, 1, 1, 2, 2]
    with_zero = np.array([0.0, 1, 10, 100])
    assert utility.logarithmic_bins(with_zero, 3, 2).tolist() == [0, 1, 2, 2]


@pytest.mark.parametrize("numbers", [(-1.0, 1, 1000), (1.0, 99), (0.0, 5), (1.0, np.inf), ()])
def test_there_are_no_logarithmic_bins_of_what_is_below_zero_or_near_together(numbers):
    assert utility.logarithmic_bins(np.array(numbers), 3, 2) is None


def test_frequent_bins_put_the_rare_values_together():
    masses = np.array([1.0, 5, 2, 1])
    assert utility.frequent_bins(masses, 3).tolist() == [2, 0, 1, 2]
    assert utility.frequent_bins(masses, 9).tolist() == [2, 0, 1, 3]


@pytest.mark.parametrize(("y", "expected"), [((0, 1, 2), 1), ((2, 1, 0), -1), ((0, 2, 0), 0)])
def test_pearson_of_values(y, expected):
    values = np.array([0.0, 0.5, 1.0])
    found = utility.pearson(plain(0, 1, 2), plain(*y, size=3), values, values)
    assert found == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3))
def test_pearson_of_values_is_that_of_numpy(pairs):
    x, y = np.array(pairs).T
    if np.ptp(x) and np.ptp(y):
        values = np.arange(6) * 3.0 - 4
        found = utility.pearson(plain(*x, size=6), plain(*y, size=6), values, values)
        assert found == pytest.approx(np.corrcoef(x, y)[0, 1])


def test_pearson_of_cells_is_that_of_all_values_they_may_stand_for():
    # Rows ([0 - 1], 0) and (2, 1): the values (0, 0), (1, 0), each half, and (2, 1).
    values = np.arange(3.0)
    found = utility.pearson(of([0, 1], [0, 1], [2], size=3), plain(0, 1), values, values[:2])
    by_hand = np.cov([0, 1, 2, 2], [0, 0, 1, 1], ddof=0)
    assert found == pytest.approx(by_hand[0, 1] / math.sqrt(by_hand[0, 0] * by_hand[1, 1]))


def test_pearson_leaves_missing_values_out():
    values = np.array([np.nan, 0.0, 1.0])
    found = utility.pearson(plain(1, 2, 0, 2), plain(1, 2, 2, 0), values, values)
    assert found == pytest.approx(1)


def test_pearson_of_a_constant_column_is_none():
    values = np.array([0.0, 1.0])
    assert math.isnan(utility.pearson(plain(0, 0, size=2), plain(0, 1), values, values))
    nothing = np.array([np.nan, np.nan])
    assert math.isnan(utility.pearson(plain(0, 1), plain(0, 1), nothing, values))


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (((5, 0), (0, 5)), 1),
        (((1, 2), (2, 4)), 0),
        (((3, 1), (1, 3)), 0.5),
        (((5, 0, 0), (0, 5, 0)), 1),
    ],
)
def test_cramers_v_of_a_table(table, expected):
    assert utility.cramers_v(np.array(table, dtype=float)) == pytest.approx(expected)


def test_cramers_v_of_a_constant_column_is_none():
    assert math.isnan(utility.cramers_v(np.array([[3.0, 2.0], [0.0, 0.0]])))


# Questions

ORDERED = ValueDomain(100, is_ordered=True, has_missing=False, is_generalised=True)
TEXTS = ValueDomain(10, is_ordered=False, has_missing=True, is_generalised=False)


def test_questions_are_on_two_or_three_columns_one_of_them_generalised():
    asked = list(utility.range_queries([ORDERED, TEXTS, TEXTS, TEXTS], 50, 0.05, seed=1))
    assert {len(query.columns) for query in asked} == {2, 3}
    assert all(0 in query.columns for query in asked)
    assert all(len(set(query.columns)) == len(query.columns) for query in asked)


def test_questions_want_the_share_of_values_that_their_selectivity_tells():
    asked = list(utility.range_queries([ORDERED, ORDERED], 20, 0.04))
    assert {int(want.sum()) for query in asked for want in query.values} == {20}


def test_questions_want_values_in_a_row_where_they_have_an_order():
    for query in utility.range_queries([ORDERED, TEXTS], 20, 0.05):
        [places] = query.values[query.columns.index(0)].nonzero()
        assert places[-1] - places[0] == len(places) - 1


def test_no_question_wants_missing_values():
    asked = list(utility.range_queries([ORDERED, TEXTS], 20, 0.9))
    assert not any(query.values[query.columns.index(1)][0] for query in asked)


def test_questions_are_the_same_from_the_same_seed():
    first, second = (list(utility.range_queries([ORDERED, TEXTS], 3, 0.1, seed=7)) for _ in "ab")
    assert [one.columns for one in first] == [one.columns for one in second]
    assert all(
        (a == b).all()
        for one, two in zip(first, second, strict=True)
        for a, b in zip(one.values, two.values, strict=True)
    )


def test_no_question_is_asked_where_nothing_is_generalised():
    assert list(utility.range_queries([TEXTS, TEXTS], 5, 0.1)) == []


def test_one_column_alone_is_asked_alone():
    assert {query.columns for query in utility.range_queries([ORDERED], 5, 0.1)} == {(0,)}


def test_counts_are_expected_ones():
    table = [of([0, 0, 1], [A, B], [C], size=3), plain(A, B, B)]
    query = CountQuery((0, 1), (wanted(3, A, C), wanted(2, B)))
    assert utility.counts(table, [query]).tolist() == [0.5 + 1]


def test_errors_are_relative_to_the_true_count():
    before = [plain(A, A, B, B), plain(A, A, A, B)]
    after = [of([0] * 4, [A, B], size=2), before[1]]
    # True: 2 rows have A and A; each of the 3 with A is half expected to.
    [error] = utility.query_errors(
        before, after, [CountQuery((0, 1), (wanted(2, A), wanted(2, A)))]
    )
    assert error == pytest.approx(0.5 / 2)


def test_errors_on_few_rows_are_relative_to_the_sanity_bound():
    before, after = [plain(A, A, A, B)], [of([0] * 4, [A, B], size=2)]
    query = [CountQuery((0,), (wanted(2, B),))]
    assert utility.query_errors(before, after, query, sanity=0.5).tolist() == [0.5]


def test_a_release_as_it_was_errs_nowhere():
    table = [plain(*range(10)), plain(*[0, 1] * 5)]
    domains = [ValueDomain(10, True, False, True), ValueDomain(2, False, False, False)]  # noqa: FBT003
    asked = list(utility.range_queries(domains, 30, 0.1))
    assert not utility.query_errors(table, table, asked).any()
    assert len(utility.query_errors(table, table, [])) == 0
