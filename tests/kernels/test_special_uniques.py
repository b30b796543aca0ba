"""Special uniques: published scores, and those of a search through all sets of columns."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from places import SHARED_DATA

from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.special_uniques import (
    intrusion_probability,
    record_probabilities,
    special_uniques,
)

# Four key variables of eight persons: Templ, Statistical Disclosure Control for Microdata (2017).
BOOK = np.array(
    [
        *([0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0]),
        *([0, 1, 1, 1], [0, 1, 1, 0], [0, 1, 1, 2], [1, 0, 1, 1]),
    ]
)
# Ten persons of the guideline of the International Household Survey Network.
GUIDELINE = np.array(
    [
        *([0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 2, 0], [1, 0, 2, 2]),
        *([0, 1, 2, 0], [0, 0, 3, 1], [0, 1, 4, 2], [0, 0, 0, 1], [0, 0, 0, 1]),
    ]
)


def brute_sets(codes, record):
    """Return the minimal sample uniques of a record."""
    columns, found = range(codes.shape[1]), []
    for size in range(1, codes.shape[1] + 1):
        for chosen in map(set, combinations(columns, size)):
            same = (codes[:, sorted(chosen)] == codes[record, sorted(chosen)]).all(axis=1)
            if same.sum() == 1 and not any(one <= chosen for one in found):
                found.append(chosen)
    return found


@pytest.mark.parametrize(
    ("codes", "expected"),
    [(BOOK, [0, 0, 0, 0, 4, 2, 6, 8]), (GUIDELINE, [0, 0, 6, 0, 12, 0, 6, 10, 0, 0])],
)
def test_scores_are_the_published_ones(codes, expected):
    assert special_uniques(codes).scores.tolist() == expected


def test_columns_contribute_as_published():
    codes = np.array([[2, 0, 0], [1, 3, 6], [1, 0, 0]])  # of the tests of sdcMicro
    assert special_uniques(codes).contributions.tolist() == [0.5, 0.375, 0.375]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["urbrur", "roof", "walls", "water", "sex"], 2),
        (["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"], 180),
    ],
)
def test_score_of_the_first_test_record_is_the_published_one(keys, expected):
    file = SHARED_DATA / "sdcmicro" / "testdata2.csv"
    if not file.exists():
        pytest.skip(f"{file} is not there")
    table = pd.read_csv(file)
    codes = np.column_stack([pd.factorize(table[key])[0] for key in keys])
    assert special_uniques(codes).scores[0] == expected


TABLES = arrays(
    np.int64, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.integers(-1, 2)
)


@given(TABLES)
def test_sets_are_those_of_a_search_through_all(codes):
    found, columns = special_uniques(codes), codes.shape[1]
    for record in range(len(codes)):
        sets = brute_sets(codes, record)
        assert found.sets[record] == len(sets)
        assert found.smallest[record] == min(map(len, sets), default=0)
        assert found.scores[record] == sum(math.factorial(columns - len(one)) for one in sets)


@given(arrays(np.int64, (8, 4), elements=st.integers(0, 2)), st.integers(1, 4))
def test_larger_sets_are_not_looked_at(codes, largest):
    found = special_uniques(codes, largest)
    assert found.smallest.max() <= largest
    for record in range(len(codes)):
        few = [one for one in brute_sets(codes, record) if len(one) <= largest]
        score = sum(math.prod(4 - at for at in range(len(one), largest)) for one in few)
        assert found.scores[record] == score


def test_too_many_sets_are_refused():
    with pytest.raises(ValueError, match="sets of columns are too many"):
        special_uniques(np.zeros((2, 30), dtype=np.int64))


def test_intrusion_probability_is_that_of_uniques_against_pairs():
    assert intrusion_probability(10, 20, 0.1) == pytest.approx(1 / (1 + 18))
    assert isinstance(intrusion_probability(0, 20, 0.1), NotApplicable)


def test_odds_of_the_records_add_up_to_those_of_the_file():
    scores = np.array([0.0, 2, 6, 24])
    found = record_probabilities(scores, 4, 0.05)
    assert found[0] == 0
    assert (np.diff(found[1:]) > 0).all()
    assert (1 / found[1:] - 1).sum() == pytest.approx(3 * (1 / 0.05 - 1))
