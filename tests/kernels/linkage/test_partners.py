import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.chosen_persons import ChosenPersons
from policy_engine.kernels.linkage.nearest import links
from policy_engine.kernels.linkage.partners import (
    TakenRecords,
    links_of,
    records_by_buckets,
    records_by_partners,
    swapped_values,
)
from policy_engine.kernels.linkage.tree import plant
from policy_engine.kernels.linkage.windows import windows
from policy_engine.kernels.rank_swapping import most_ranks, rank_swap


def swap(known, share, variant, seed=0):
    """Return the columns swapped, each row still that of its person."""
    words = np.random.default_rng(seed).integers(0, 2**63, known.shape).astype(np.uint64)
    swapped = [
        column[rank_swap(column, random, share, variant)]
        for column, random in zip(known.T, words.T, strict=True)
    ]
    return np.column_stack(swapped)


def found(known, released, share, variant):
    """Return the links by windows alone, and those by partners, too."""
    most = most_ranks(len(known), share, variant)
    box, own = windows(known, released, most), np.arange(len(known))
    alone = links(plant(released), known, own, *box)
    values = swapped_values(known, released)
    return alone, links_of(
        records_by_partners(plant(released), known, *box, values, is_whole=True), own
    )


@pytest.mark.parametrize("variant", ["plain", "distribution"])
def test_partners_tell_records_that_windows_leave_among_many(variant):
    known = np.random.default_rng(1).normal(size=(200, 3))
    alone, together = found(known, swap(known, 0.15, variant), 0.15, variant)
    assert alone.mean() < 0.2
    assert together.mean() > 0.95


def test_moves_by_buckets_are_told_by_those_of_partners():
    known = np.random.default_rng(1).normal(size=(200, 4))
    released, own = swap(known, 0.1, "buckets"), np.arange(200)
    assert links_of(records_by_buckets(known, released, [(20, 199)] * 4), own).mean() > 0.95
    assert links_of(records_by_buckets(known, released, [(20, 199)]), own).mean() < 0.2


def test_two_rows_that_swapped_in_one_column_and_not_in_the_other_are_told_apart():
    # Who has 1 and 5 shows 2 and 5: the record that shows 1 is that of who has 2, and has a 6.
    known = np.array([[1.0, 5.0], [2.0, 6.0]])
    released = np.array([[2.0, 5.0], [1.0, 6.0]])
    box = np.full((2, 2), -np.inf), np.full((2, 2), np.inf)
    box[0][:, 1] = box[1][:, 1] = [5.0, 6.0]
    values = swapped_values(known, released)
    taken = records_by_partners(plant(released), known, *box, values, is_whole=True)
    assert (taken.records.tolist(), taken.starts.tolist()) == ([0, 1], [0, 1, 2])


@given(st.integers(0, 1000), st.integers(2, 12), st.integers(2, 6))
def test_the_own_record_is_never_ruled_out(seed, rows, distinct):
    known = np.random.default_rng(seed).integers(0, distinct, (rows, 3)).astype(float)
    released = swap(known, 0.5, "plain", seed)
    box = windows(known, released, most_ranks(rows, 0.5, "plain"))
    values = swapped_values(known, released)
    # Where the own record is the nearest, it is taken, unless it was ruled out.
    taken = records_by_partners(plant(released), released, *box, values, is_whole=True)
    assert (links_of(taken, np.arange(rows)) > 0).all()


def test_of_a_column_without_values_nothing_is_told():
    known, released = np.full((3, 2), np.nan), np.full((3, 2), np.nan)
    taken = records_by_buckets(known, released, [(1, 2), (1, 2)])
    assert links_of(taken, np.arange(3)).tolist() == [1 / 3] * 3


def test_a_shared_value_rules_nobody_out_where_a_record_is_missing():
    # The first two have a 1, which swaps show on the records of the last two; one is not there.
    known = np.array([[1.0, 1], [1, 2], [2, 3], [3, 4]])
    released = np.array([[2.0, 1], [3, 2], [1, 4]])
    own, reach = np.array([0, 1, -1, 2]), np.array([9.0, 0])
    box = known - reach, known + reach
    values = swapped_values(known, released)
    taken = records_by_partners(plant(released), known, *box, values, is_whole=False)
    assert links_of(taken, own).tolist() == [1.0, 1.0, 0.0, 1.0]


def test_persons_who_were_not_looked_for_have_the_share_of_the_others():
    # Of the first and the third, half of what is taken is right; the last has no record.
    chosen = ChosenPersons(np.array([0, 2]), 4)
    taken = TakenRecords(chosen, np.array([0, 1, 2]), np.array([0, 1]))
    chances = links_of(taken, np.array([0, 1, 2, -1]))
    error = 0.5 / np.sqrt(2)
    assert chances.tolist() == [1.0, min(0.5 + 2 * error, 1.0), 0.0, 0.0]


def test_equally_near_records_are_all_taken_however_many_there_are():
    known = released = np.ones((5, 2))
    values = swapped_values(known, released)
    taken = records_by_partners(plant(released), known, known, known, values, is_whole=True)
    assert links_of(taken, np.arange(5)).tolist() == [1 / 5] * 5
