from collections import Counter

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given

from policy_engine.engines.masking.tails import survey_tail
from policy_engine.methods.maskings.bottom_coding import BottomCoding
from policy_engine.methods.maskings.top_coding import TopCoding

NEAR = [2**53 + step for step in range(-2, 4)]
VALUES = st.lists(st.none() | st.sampled_from([*range(-4, 5), *NEAR]), max_size=10)
BOUNDS = [{"tail": 1}, {"tail": 3}, {"threshold": 1.0}, {"threshold": -2.0}]


@given(VALUES, st.sampled_from(BOUNDS), st.sampled_from([TopCoding, BottomCoding]))
@pytest.mark.parametrize("kind", [pa.int64(), pa.decimal128(38, 0), pa.string()])
def test_a_tail_is_that_of_the_exact_values(kind, values, bound, coding):
    # Integers next to 2**53 have floats in common.
    made = coding(name="pay", **bound)
    known = [value for value in values if value is not None]
    column = pa.chunked_array([pa.array(values, pa.int64()).cast(pa.string()).cast(kind)])
    inferred = pa.int64() if kind == pa.string() else None
    seen = survey_tail(column, inferred, made)
    whole = made.survey(len(known), Counter(known).items())
    assert (seen.rows, made.tail_of(seen)) == (len(known), made.tail_of(whole))


def test_numbers_of_texts_that_are_written_differently_are_one_value():
    texts = pa.chunked_array([["7.50", "7.5", " 7.500", "1", "9"]])
    seen = survey_tail(texts, pa.float64(), TopCoding(name="pay", tail=2))
    assert TopCoding(name="pay", tail=2).tail_of(seen) == (1, 4, 31.5, 31.5, 9)
