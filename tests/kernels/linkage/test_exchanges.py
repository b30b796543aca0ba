"""Links by rank swapping in pairs find what windows leave, and rule out nothing that is true."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.chosen_persons import ChosenPersons
from policy_engine.kernels.linkage.column_likelihood import ColumnLikelihood
from policy_engine.kernels.linkage.exchanges import (
    TakenRecords,
    likeliest_records,
    links_of,
    posterior_of_exchanges,
    records_by_exchanges,
    swapped_values,
)
from policy_engine.kernels.linkage.likelihood import (
    likelihood_files,
    links_by_likelihood,
    log_likelihoods,
)
from policy_engine.kernels.linkage.shifts import moved, rank_swaps
from policy_engine.kernels.rank_swapping import rank_swap


def swap(known, share, variant, seed=0):
    """Return the columns swapped, each row still that of its person."""
    words = np.random.default_rng(seed).integers(0, 2**63, known.shape).astype(np.uint64)
    swapped = [
        column[rank_swap(column, random, share, variant)]
        for column, random in zip(known.T, words.T, strict=True)
    ]
    return np.column_stack(swapped)


def moved_columns(known, released, share, variant):
    moves = rank_swaps(len(known), share, variant)
    return [moved(*both, moves, is_middle=False) for both in zip(known.T, released.T, strict=True)]


def near(known, released, reach):
    """Return columns whose values became others within reaches, all equally likely."""
    reaches = np.broadcast_to(reach, known.shape[1])
    return [
        ColumnLikelihood("even", *both, both[0] - one, both[0] + one)
        for *both, one in zip(known.T, released.T, reaches, strict=True)
    ]


def weighed(columns, known, released):
    logs = posterior_of_exchanges(log_likelihoods(columns), swapped_values(known, released))
    return links_of(likeliest_records(logs), np.arange(len(known)))


def followed(columns, known, released):
    own, swapped = np.arange(len(known)), swapped_values(known, released)
    return links_of(records_by_exchanges(likelihood_files(columns), swapped, own), own)


WAYS = pytest.mark.parametrize("find", [followed, weighed])


@pytest.mark.one_in(5)
@WAYS
@pytest.mark.parametrize(
    ("columns", "share", "variant"),
    [
        (3, 0.15, "plain"),
        (2, 0.4, "plain"),
        (2, 0.2, "distribution"),
        (3, 0.1, "buckets"),
        (7, 0.49, "plain"),
    ],
)
def test_partners_tell_records_that_values_leave_among_many(columns, share, variant, find):
    known = np.random.default_rng(1).normal(size=(150, columns))
    released = swap(known, share, variant)
    models = moved_columns(known, released, share, variant)
    assert links_by_likelihood(models, np.arange(150)).mean() < 0.4
    assert find(models, known, released).mean() > 0.95


@WAYS
def test_one_swapped_column_beside_another_tells_partners_too(find):
    # The first two swapped, and the last two. If the first had the record (4, 0), the last would
    # have the one that shows 1, which is of another class.
    known = np.array([[1.0, 0], [2, 5], [3, 0], [4, 6]])
    released = np.array([[2.0, 0], [1, 5], [4, 0], [3, 6]])
    classes = near(known, released, 0)[1:]
    assert links_by_likelihood(classes, np.arange(4)).tolist() == [0.5, 1, 0.5, 1]
    assert find(classes, known[:, :1], released[:, :1]).tolist() == [1, 1, 1, 1]


def test_two_rows_that_swapped_in_one_column_and_not_in_the_other_are_told_apart():
    # Who has 1 and 5 shows 2 and 5: the record that shows 1 is that of who has 2, and has a 6.
    known = np.array([[1.0, 5.0], [2.0, 6.0]])
    released = np.array([[2.0, 5.0], [1.0, 6.0]])
    columns = near(known, released, 9)[:1] + near(known, released, 0)[1:]
    swapped, own = swapped_values(known, released), np.arange(2)
    taken = records_by_exchanges(likelihood_files(columns), swapped, own)
    assert (taken.records.tolist(), taken.starts.tolist()) == ([0, 1], [0, 1, 2])


@given(st.integers(0, 1000), st.integers(2, 12), st.integers(2, 30))
def test_what_a_right_link_means_is_never_impossible(seed, rows, distinct):
    known = np.random.default_rng(seed).integers(0, distinct, (rows, 3)).astype(float)
    released = swap(known, 0.5, "plain", seed)
    # Another column tells whose record each is.
    number = np.arange(rows) * 1000.0
    told = [ColumnLikelihood("normal", number, number)]
    assert (followed(told, known, released) == 1).all()
    assert (weighed(told, known, released) > 0.99).all()


def test_values_that_several_persons_have_are_exchanged_as_often_as_the_reverse():
    known = np.random.default_rng(1).integers(0, 30, (200, 4)).astype(float)
    released = swap(known, 0.15, "plain")
    models = moved_columns(known, released, 0.15, "plain")
    alone = links_by_likelihood(models, np.arange(200)).mean()
    assert weighed(models, known, released).mean() > alone + 0.1


@WAYS
def test_of_a_column_without_values_nothing_is_told(find):
    known, released = np.full((3, 2), np.nan), np.full((3, 2), np.nan)
    columns = [ColumnLikelihood("even", np.zeros(3), np.zeros(3))]
    assert find(columns, known, released).tolist() == [1 / 3] * 3


@WAYS
def test_a_shared_value_rules_nobody_out_where_a_record_is_missing(find):
    # The first two have a 1, which swaps show on the records of the last two; one is not there.
    known = np.array([[1.0, 1], [1, 2], [2, 3], [3, 4]])
    released = np.array([[2.0, 1], [3, 2], [1, 4]])
    columns = near(known, released, np.array([9.0, 0]))
    swapped, own = swapped_values(known[:, :1], released[:, :1]), np.array([0, 1, -1, 2])
    if find is followed:
        taken = records_by_exchanges(likelihood_files(columns), swapped, own)
    else:
        taken = likeliest_records(posterior_of_exchanges(log_likelihoods(columns), swapped))
    assert links_of(taken, own).tolist() == [1.0, 1.0, 0.0, 1.0]


def test_persons_who_were_not_looked_for_have_the_share_of_the_others():
    # Of the first and the third, half of what is taken is right; the last has no record.
    chosen = ChosenPersons(np.array([0, 2]), 4)
    taken = TakenRecords(chosen, np.array([0, 1, 2]), np.array([0, 1]))
    chances = links_of(taken, np.array([0, 1, 2, -1]))
    error = 0.5 / np.sqrt(2)
    assert chances.tolist() == [1.0, min(0.5 + 2 * error, 1.0), 0.0, 0.0]


def test_equally_likely_records_are_all_taken_however_many_there_are():
    known = released = np.ones((5, 2))
    assert followed(near(known, released, 1), known, released).tolist() == [1 / 5] * 5
