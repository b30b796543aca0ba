from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patients import PATIENTS

from policy_engine.kernels.bucketization import (
    NotEligible,
    anatomy,
    anatomy_of_rows,
    distinct_l,
    undiverse_classes,
)
from policy_engine.kernels.published_buckets import bucket_figures

DISEASES = sorted({disease for _, _, disease in PATIENTS})
CODES = np.array([DISEASES.index(disease) for _, _, disease in PATIENTS], np.int32)
PEOPLE = [f"{year} {sex}" for year, sex, _ in PATIENTS]


def random_words(rows, seed=0):
    return np.random.default_rng(seed).permutation(rows).astype(np.uint64) << np.uint64(40)


def sets(buckets):
    """Return the buckets as sets of rows, in no order."""
    return {frozenset(np.flatnonzero(buckets == one).tolist()) for one in set(buckets.tolist())}


def test_distinct_l_makes_figure_3_4_of_figure_2_1():
    class_of = np.unique(PEOPLE, return_inverse=True)[1]
    found = distinct_l(class_of, CODES, 3)
    contents = {
        PEOPLE[min(rows)]: Counter(PATIENTS[row][2] for row in rows)
        for rows in sets(found.bucket_of)
    }
    assert contents == {
        "1955 M": {"helicobacter": 2, "dermatitis": 1, "retinitis": 1},
        "1960 F": {"stroke": 2, "epilepsy": 1, "labyrinthitis": 1},
        "1955 F": {"helicobacter": 2, "dermatitis": 1, "gastritis": 1},
        "1960 M": {"dyspepsia": 2, "achlorhydria": 1, "gastritis": 1},
    }
    assert found.merged == 0


@pytest.mark.parametrize(("least", "sizes"), [(3, [3, 3, 3, 3, 4]), (4, [4, 4, 4, 4])])
def test_anatomy_puts_each_disease_of_figure_2_1_into_a_bucket_once(least, sizes):
    buckets = anatomy(CODES, random_words(16), least)
    assert sorted(np.bincount(buckets)) == sizes
    assert bucket_figures(buckets, buckets, CODES).largest.max() == 1


def test_anatomy_of_figure_2_1_is_eligible_up_to_four():
    # Four of sixteen have helicobacter.
    assert anatomy(CODES, random_words(16), 5) == NotEligible(4)


def test_anatomy_of_nobody_is_not_eligible():
    assert anatomy(np.zeros(0, np.int32), random_words(0), 1) == NotEligible(0)


@st.composite
def sensitive(draw):
    codes = np.array(draw(st.lists(st.integers(0, 5), min_size=1, max_size=40)), np.int32)
    words = draw(st.permutations(range(len(codes))))
    shift = draw(st.sampled_from([0, 58]))
    return codes, np.array(words, np.uint64) << np.uint64(shift)


@given(sensitive(), st.integers(1, 6))
def test_anatomy_holds_its_definition_or_tells_the_largest_l(table, least):
    codes, words = table
    buckets = anatomy(codes, words, least)
    if isinstance(buckets, NotEligible):
        assert buckets.most < least
        assert buckets.most == len(codes) // np.bincount(codes).max()
        return
    sizes = np.bincount(buckets)
    assert len(sizes) == len(codes) // least
    assert sizes.min() >= least
    assert sizes.max() <= sizes.min() + 1
    assert len(set(zip(buckets.tolist(), codes.tolist(), strict=True))) == len(codes)


@given(sensitive(), st.integers(1, 4), st.integers(1, 12))
def test_buckets_of_more_rows_have_a_value_once_in_least_rows(table, least, more):
    codes, words = table
    rows = min(max(least, more), len(codes))
    buckets = anatomy_of_rows(codes, words, least, rows)
    if isinstance(buckets, NotEligible):
        assert buckets == anatomy(codes, words, least)
        return
    found = bucket_figures(buckets, buckets, codes)
    assert found.numbers.tolist() == list(range(len(found.numbers)))
    assert found.rows.min() >= rows
    assert found.inverse_shares().min() >= least


@given(sensitive(), st.integers(1, 4))
def test_a_missing_value_is_once_in_a_bucket_of_so_many_values(table, least):
    codes, words = table
    missing = int((codes == codes.max()).sum())
    buckets = anatomy(codes, words, least, missing=missing)
    if isinstance(buckets, NotEligible):
        assert buckets.most == (len(codes) - missing) // np.bincount(codes).max() < least
        return
    present = codes != codes.max()
    assert np.bincount(buckets[present]).min() >= least
    assert bucket_figures(buckets, buckets, codes).largest.max() == 1


def test_distinct_l_merges_classes_of_few_rows_and_counts_rows_without_a_value():
    class_of = np.array([0, 0, 1, 1, 2, 2, 2])
    codes = np.array([0, 1, 0, 1, 0, 1, -1], np.int32)
    assert distinct_l(class_of, codes, 2, 3).bucket_of.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert distinct_l(class_of, codes, 2, 4).bucket_of.tolist() == [0] * 7


@given(sensitive(), st.integers(1, 3), st.randoms(), st.booleans())
def test_the_order_of_rows_leaves_no_trace_in_anatomy(table, least, random, is_ordered):
    codes, words = table
    order = np.array([random.randrange(9) for _ in codes]) if is_ordered else None
    move = np.array(random.sample(range(len(codes)), len(codes)))
    first = anatomy(codes, words, least, order)
    second = anatomy(codes[move], words[move], least, None if order is None else order[move])
    assert first == second if isinstance(first, NotEligible) else (first[move] == second).all()


def test_words_decide_the_ties_that_a_short_key_leaves():
    codes = np.array([0, 0, 1, 1], np.int32)
    order = np.array([2**62] * 4)
    words = np.array([5, 4, 7, 6], np.uint64)
    assert sets(anatomy(codes, words, 2, order)) == {frozenset({1, 3}), frozenset({0, 2})}
    assert sets(anatomy(codes, words, 2)) == {frozenset({1, 3}), frozenset({0, 2})}


def test_rows_that_are_near_in_a_given_order_share_a_bucket():
    codes = np.array([0, 0, 0, 1, 1, 1], np.int32)
    order = np.array([9, 1, 5, 2, 8, 4])
    for seed in range(5):
        found = sets(anatomy(codes, random_words(6, seed), 2, order))
        assert found == {frozenset({1, 3}), frozenset({2, 5}), frozenset({0, 4})}


def test_bucket_numbers_do_not_follow_the_order_of_a_value():
    codes = np.repeat(np.arange(4, dtype=np.int32), 1000)
    order = np.tile(np.arange(1000), 4)
    words = np.random.default_rng(3).integers(0, 2**64, 4000, np.uint64)
    by_words, by_order = anatomy(codes, words, 4)[:1000], anatomy(codes, words, 4, order)[:1000]
    assert abs(np.corrcoef(by_words, np.argsort(np.argsort(words[:1000])))[0, 1]) < 0.1
    assert abs(np.corrcoef(by_order, np.arange(1000))[0, 1]) < 0.1


def test_distinct_l_merges_a_class_with_the_next_and_the_last_with_the_one_before():
    class_of = np.array([0, 0, 1, 2, 2, 3])
    codes = np.array([0, 0, 1, 0, 1, 1], np.int32)
    found = distinct_l(class_of, codes, 2)
    assert found.bucket_of.tolist() == [0, 0, 0, 1, 1, 1]
    assert found.merged == 4
    assert undiverse_classes(class_of, codes, 2).tolist() == [0, 1, 3]


def test_distinct_l_tells_how_many_values_there_are_where_they_are_too_few():
    assert distinct_l(np.array([0, 1, 2]), np.array([0, 7, 7], np.int32), 3) == NotEligible(2)
    nobody = np.zeros(0, np.int64)
    assert distinct_l(nobody, nobody.astype(np.int32), 2) == NotEligible(0)
    assert undiverse_classes(nobody, nobody.astype(np.int32), 2).tolist() == []


pairs = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), min_size=1, max_size=30)


@given(pairs, st.integers(1, 4), st.randoms())
def test_distinct_l_keeps_classes_whole_diverse_and_free_of_the_rows_order(rows, least, random):
    moved = random.sample(rows, len(rows))
    first, second = (
        distinct_l(np.array([c for c, _ in some]), np.array([v for _, v in some], np.int32), least)
        for some in (rows, moved)
    )
    if isinstance(first, NotEligible):
        assert first == second == NotEligible(len({value for _, value in rows}))
        return
    bucket_of = dict(zip([c for c, _ in rows], first.bucket_of.tolist(), strict=True))
    assert [bucket_of[c] for c, _ in rows] == first.bucket_of.tolist()
    assert [bucket_of[c] for c, _ in moved] == second.bucket_of.tolist()
    values = [{v for c, v in rows if bucket_of[c] == one} for one in range(max(bucket_of.values()))]
    assert all(len(some) >= least for some in values)
    shared = Counter(bucket_of.values())
    assert first.merged == second.merged == sum(n for n in shared.values() if n > 1)
