from collections import Counter
from decimal import Decimal
from functools import reduce

import hypothesis.strategies as st
import pytest
from hypothesis import given
from pydantic import ValidationError

from policy_engine.methods.masking import masking_class
from policy_engine.methods.maskings.bottom_coding import BottomCoding
from policy_engine.methods.maskings.top_coding import TopCoding

VALUES = st.lists(st.integers(-5, 5) | st.decimals(-5, 5, places=1), max_size=12)


def seen(coding, values):
    return coding.survey(len(values), Counter(values).items())


def code_of(values, kind=TopCoding, **settings):
    coding = kind(name="pay", **settings)
    tail = coding.tail_of(seen(coding, values))
    return tail and coding.code(tail, lambda mean: Decimal(mean.numerator) / mean.denominator)


def published(values, **settings):
    code = code_of(values, **settings)
    return [code.mask(value) for value in values]


def test_the_largest_values_become_the_largest_that_as_many_rows_exceed():
    assert published([1, 2, 7, 9], tail=2) == [1, 2, 2, 2]
    assert published([1, 2, 7, 9], kind=BottomCoding, tail=2) == [7, 7, 7, 9]


def test_equal_values_are_on_one_side():
    assert published([1, 5, 9, 9, 9], tail=2) == [1, 5, 5, 5, 5]
    assert published([5, 5, 5, 9], tail=1) == [5, 5, 5, 5]
    assert code_of([5, 5, 5, 9], tail=2) is None


@pytest.mark.parametrize("values", [[], [4], [4, 4, 4], [1, 2, 3]])
def test_too_few_values_beyond_any_are_no_tail(values):
    assert code_of(values, tail=3) is None


def test_a_label_names_the_threshold_in_one_spelling():
    assert published([1, Decimal("2.50"), 7], tail=1, replacement="label")[2] == ">2.5"
    assert published([1, 7], kind=BottomCoding, threshold=2.0, replacement="label")[0] == "<2"


def test_the_mean_of_the_tail_keeps_the_mean_of_the_column():
    values = [1, 2, Decimal("7.5"), 9]
    assert published(values, threshold=2.0, replacement="mean")[2:] == [Decimal("8.25")] * 2
    assert sum(published(values, tail=2, replacement="mean")) == sum(values)


def test_a_number_between_threshold_and_mean_may_not_be_published():
    code = code_of([1, 2, 6, 10], tail=2, replacement="mean")
    assert [code.keeps(value) for value in (2, 6, 8, 10)] == [True, False, True, False]


@pytest.mark.parametrize("notation", ["top-coding", "bottom-coding"])
@pytest.mark.parametrize("settings", [{}, {"threshold": 1.0, "tail": 2}, {"tail": 0}])
def test_one_threshold_is_given(notation, settings):
    with pytest.raises(ValidationError):
        masking_class(notation)(name="pay", **settings)


@given(VALUES, st.integers(1, 6), st.sampled_from([TopCoding, BottomCoding]))
def test_as_many_rows_as_asked_are_coded_and_no_narrower_tail_has_them(values, tail, kind):
    code = code_of(values, kind=kind, tail=tail)
    sign = 1 if kind is TopCoding else -1
    counts = {t: sum(sign * v > sign * t for v in values) for t in values}
    allowed = [t for t, rows in counts.items() if rows >= tail]
    if not allowed:
        assert code is None
    else:
        assert sign * code.threshold == max(sign * t for t in allowed)
        assert all(code.keeps(value) for value in map(code.mask, values))


@given(VALUES, VALUES, st.integers(1, 6), st.booleans())
def test_parts_tell_of_the_tail_what_the_whole_column_does(one, other, tail, is_public):
    threshold = {"threshold": 1.5} if is_public else {"tail": tail}
    for kind in (TopCoding, BottomCoding):
        coding = kind(name="pay", **threshold)
        parts = reduce(coding.merge, [seen(coding, part) for part in (one, other, [])])
        assert coding.tail_of(parts) == coding.tail_of(seen(coding, [*one, *other]))
        assert parts.rows == len(one) + len(other)
