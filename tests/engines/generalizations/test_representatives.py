from collections import Counter
from fractions import Fraction
from statistics import median_low

import pytest
from generalizing import asked, cells, encoded, hold_laws, made, parted, rungs
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.engines.generalizations import covered_codes, losses
from policy_engine.errors import DataError
from policy_engine.kernels.axis import Interval, Members


@pytest.mark.parametrize(
    ("values", "mean"),
    [
        ([20, 35], "27.5"),
        ([20, 20, 21], "20.33"),
        ([20, 21, 21], "20.67"),
        ([0.1, 0.2], "0.15"),
        ([0.1, 0.2, 0.3], "0.2"),
        ([0, 0, 0, 0, 0, 0, 0, 1], "0.12"),
        ([-1, -2, -2], "-1.67"),
        (["1.50", "1.5"], "1.5"),
        ([2**62, 2**62 - 1], "4611686018427387903.5"),
        ([1e300, 1e300], "1e+300"),
        ([5, None], "5 or missing"),
        ([None], None),
    ],
)
def test_means_have_two_places_more_than_the_numbers(values, mean):
    assert cells(values, [range(len(values))], "mean") == [mean]


@pytest.mark.parametrize(
    ("values", "median"),
    [
        ([3, 1, 2], "2"),
        ([4, 1, 2, 3], "2"),
        ([4, None, None, 1, 2, 3], "2 or missing"),
        (["2020-01-02", "2020-01-01"], "2020-01-01"),
        ([None, None], None),
    ],
)
def test_medians_are_the_lower_middle_value(values, median):
    assert cells(values, [range(len(values))], "median") == [median]


@pytest.mark.parametrize(
    ("values", "mode"),
    [
        (["b", "a", "b"], "b"),
        (["b", "a", "c"], "a"),
        ([10, 9], "9"),
        (["b", None, None, None], "b or missing"),
        ([None], None),
    ],
)
def test_modes_are_the_most_frequent_value_or_the_least_of_them(values, mode):
    assert cells(values, [range(len(values))], "mode") == [mode]


def test_every_class_has_a_representative_of_its_own():
    values, parts = [1, 2, 2, 9, None, 4], [[0, 1, 2], [4], [3, 5]]
    assert cells(values, parts, "mean") == ["1.67", None, "6.5"]
    assert cells(values, parts, "median") == ["2", None, "4"]
    assert cells(values, parts, "mode") == ["2", None, "4"]


def test_classes_are_formed_as_ranges_or_sets():
    assert isinstance(made([1, 2], "mean").shape(), Interval)
    assert isinstance(made([1, 2], "mode").shape(), Interval)
    assert isinstance(made(["a", "b"], "mode").shape(), Members)


def test_the_ladder_represents_the_groups_of_ranges_or_sets():
    assert rungs([1, 2, 5, 6], "mean") == [
        ["1", "2", "5", "6"],
        ["1.5", "1.5", "5.5", "5.5"],
        ["3.5"] * 4,
    ]
    assert rungs(["b", "a", "b", None], "mode") == [["b", "a", "b", None], ["b or missing"] * 4]


@pytest.mark.parametrize(
    ("values", "generalization", "message"),
    [
        (["2020-01-01"], "mean", "not numbers, and have no mean"),
        (["a"], "mean", "not numbers, and have no mean"),
        (["a"], "median", "texts, which have no median"),
    ],
)
def test_representatives_are_refused_where_values_have_none(values, generalization, message):
    with pytest.raises(DataError, match=f"R006 The column 'x' holds .*{message}"):
        made(values, generalization)


@pytest.mark.parametrize("generalization", ["mean", "median", "mode"])
def test_representatives_hide_nothing_that_could_be_priced(generalization):
    assert losses("x", ["1", "2 or missing"], asked(generalization), None) is None


def test_a_representative_may_stand_for_any_value():
    column = encoded([1, 2, None])
    assert covered_codes("1.5", asked("mean"), column).tolist() == [1, 2]
    assert covered_codes("1.5 or missing", asked("mean"), column).tolist() == [0, 1, 2]


@settings(deadline=None)
@given(parted(st.integers(-99, 99)), st.sampled_from(["mean", "median", "mode"]))
def test_representatives_are_those_counted_by_hand(drawn, generalization):
    rows, parts = drawn
    hold_laws(rows, parts, generalization)
    for part, cell in zip(parts, cells(rows, parts, generalization), strict=True):
        values = [rows[row] for row in part if rows[row] is not None]
        if values:
            body = cell.removesuffix(" or missing")
            assert body == by_hand(values, generalization)


def by_hand(values, generalization):
    if generalization == "median":
        return str(median_low(values))
    if generalization == "mode":
        return str(min(values, key=lambda value: (-Counter(values)[value], value)))
    hundredths = round(Fraction(100 * sum(values), len(values)))
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".").replace("-0", "0", hundredths == 0)


@settings(deadline=None)
@given(parted(st.text(max_size=1)))
def test_modes_of_texts_obey_the_laws(drawn):
    hold_laws(*drawn, "mode")
