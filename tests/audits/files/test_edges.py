import sys
from collections import Counter

import numpy as np
import pytest
from everyday import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

from policy_engine.audits.files.edges import revealing_edges
from policy_engine.audits.membership.coarsening import levels_of

AGES = Counter({float(age): 5 for age in range(20, 60)})
NUMBERS = st.one_of(
    st.integers(-50, 50).map(float),
    st.floats(-1e6, 1e6).map(lambda one: round(one, 2)),
    st.floats(allow_nan=False, allow_infinity=False),
)


@pytest.mark.parametrize(
    ("edges", "values", "telling"),
    [
        ((29.5, 39.5), AGES, ()),
        ((), AGES, ()),
        ((29.5, 39.5), AGES | {39.5: 1}, ()),  # it is there whether anybody is 39 and a half
        ((29.5, 40.0), AGES, (40.0,)),
        ((29.5, 39.99999995), AGES | {40.0: 4}, (39.99999995,)),
        ((29.95, 39.95), AGES | {33.5: 1}, (29.95, 39.95)),  # one person halves the unit
        ((29.95, 39.95), AGES | {33.5: 10}, ()),
        ((29.5, 30.5), AGES, (29.5, 30.5)),  # five between them
        ((0.5,), {0.0: 30}, (0.5,)),
        ((0.5,), {0.0: 3, 1.0: 3}, (0.5,)),
        ((sys.float_info.max,), {0.0: 10, sys.float_info.max: 10}, ()),
        ((10.99995,), {(100_000 + n) / 10_000: 1 for n in range(20_000)}, ()),
    ],
)
def test_an_edge_tells_where_a_few_records_moved_it(edges, values, telling):
    assert revealing_edges(edges, values, 10) == set(telling)


@given(st.lists(NUMBERS, min_size=1, max_size=80), st.integers(2, 12))
@example([0.0, 0.0, sys.float_info.max, sys.float_info.max], 2)
@settings(max_examples=examples(80), deadline=None)
def test_the_edges_of_levels_tell_nothing(values, fewest):
    values = [one + 0.0 for one in values]
    told = levels_of(np.array(values), fewest).edges
    assert revealing_edges(told, Counter(values), fewest) == frozenset()
