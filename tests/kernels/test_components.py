"""Rows that share a number on either side are linked, through any number of others."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.components import components

PAIRS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=40)


def numbers(pairs):
    ones, others = np.array(pairs, np.int64).reshape(-1, 2).T
    return components(ones, others).tolist()


def test_rows_are_linked_by_either_side():
    # The first and the third share the one, the third and the fourth the other.
    assert numbers([(5, 0), (1, 9), (5, 2), (3, 2), (1, 4)]) == [0, 1, 0, 0, 1]
    assert numbers([]) == []


def test_a_chain_of_many_is_one():
    places = np.random.default_rng(1).permutation(20_000)
    assert set(components(places // 2, (places + 1) // 2).tolist()) == {0}


def naive(pairs):
    sets = [{number} for number, _ in enumerate(pairs)]
    for first, one in enumerate(pairs):
        for second, other in enumerate(pairs[:first]):
            if one[0] == other[0] or one[1] == other[1]:
                whole = sets[first] | sets[second]
                for member in whole:
                    sets[member] = whole
    firsts = list(dict.fromkeys(min(one) for one in sets))
    return [firsts.index(min(one)) for one in sets]


@given(PAIRS)
def test_components_are_those_of_joining_sets_one_by_one(pairs):
    assert numbers(pairs) == naive(pairs)
