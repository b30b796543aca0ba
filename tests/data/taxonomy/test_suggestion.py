from collections import Counter
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.data.taxonomy import read_taxonomy
from policy_engine.data.taxonomy.suggestion import KINDS, suggest
from policy_engine.errors import DataError


def tree_of(suggestion):
    return read_taxonomy(suggestion.to_csv().encode(), "x.csv")


def evenly(values):
    return dict.fromkeys(map(str, values), 1)


def refusal(values, kind, name="x"):
    with pytest.raises(DataError) as error:
        suggest(values, name, kind)
    [problem] = error.value.problems
    assert problem.code == "T011"
    return problem.message


def test_numbers_are_halved_again_and_again():
    found = suggest(evenly(range(8)), "n")
    assert found.kind == "quantiles"
    assert found.rows == (
        ("0", "[0 - 1]", "[0 - 3]", "*"),
        ("1", "[0 - 1]", "[0 - 3]", "*"),
        ("2", "[2 - 3]", "[0 - 3]", "*"),
        ("3", "[2 - 3]", "[0 - 3]", "*"),
        ("4", "[4 - 5]", "[4 - 7]", "*"),
        ("5", "[4 - 5]", "[4 - 7]", "*"),
        ("6", "[6 - 7]", "[4 - 7]", "*"),
        ("7", "[6 - 7]", "[4 - 7]", "*"),
    )


def test_intervals_hold_the_same_number_of_rows_not_of_values():
    rows = suggest({"1": 10, "2": 4, "30": 3, "400": 3}, "n").rows
    assert [row[1] for row in rows] == ["1", "[2 - 400]", "[2 - 400]", "[2 - 400]"]


def test_ages_get_two_to_four_levels_of_nested_intervals():
    found = tree_of(suggest(evenly(range(20, 84)), "age"))
    assert [len(set(level)) for level in found.levels()] == [64, 16, 8, 4, 2, 1]
    assert found.levels()[1][0] == "[20 - 23]"


def test_numbers_are_ordered_as_numbers_and_equal_ones_stay_together():
    rows = suggest(evenly(["10", "9", "-1", "1e1", "10.0", "100", "2", "+3"]), "n").rows
    assert [row[0] for row in rows] == ["-1", "2", "+3", "9", "10", "10.0", "1e1", "100"]
    assert [row[1] for row in rows] == ["[-1 - 9]"] * 4 + ["[10 - 100]"] * 4


def test_codes_are_masked_from_the_end():
    found = suggest(evenly(["02138", "02139", "02141", "02451"]), "residence")
    assert found.kind == "prefix"
    assert found.rows[0] == ("02138", "0213*", "021**", "*")


@pytest.mark.parametrize(
    ("values", "name", "kind"),
    [
        (["47677", "47602"], "ZIP", "prefix"),
        (["47677", "47602"], "salary", "quantiles"),
        (["07677", "47602"], "salary", "prefix"),
        (["476xx", "837xx"], "place", "prefix"),
        (["E11.9", "I10", "J45"], "diagnosis", "prefix"),
        (["2019-03-01", "2019-04-01"], "day", "calendar"),
        (["2019-03-01", "2019-02-30"], "day", "prefix"),
        (["2019-03-01T10:00:00Z", "2019-03-01 10:00"], "time", "calendar"),
        (["1", "0"], "flag", "quantiles"),
        (["red", "tan"], "colour", "frequency"),
        (["1", "?"], "age", "frequency"),
        (["nan", "inf", "1"], "n", "frequency"),
        (["١٢", "٣٤"], "n", "frequency"),
    ],
)
def test_the_kind_is_told_from_the_values(values, name, kind):
    assert suggest(evenly(values), name).kind == kind


def test_codes_of_several_lengths_are_masked_to_one():
    rows = suggest(evenly(["E11", "E11.9", "E12", "J45"]), "icd").rows
    assert rows[:2] == (("E11", "E11**", "E1***", "*"), ("E11.9", "E11**", "E1***", "*"))


def test_long_codes_keep_four_levels():
    values = ["0" * n + "1" + "0" * (11 - n) for n in range(12)]
    assert len(suggest(evenly(values), "n").rows[0]) <= 6


def test_days_become_months_quarters_years_and_decades():
    days = ["2019-03-01", "2019-03-02", "2019-02-01", "2019-05-01", "2018-05-01", "2005-01-01"]
    rows = {row[0]: row[1:] for row in suggest(evenly(days), "born").rows}
    assert rows["2019-03-02"] == ("2019-03", "2019-Q1", "2019", "2010s", "*")


def test_timestamps_become_days_first_and_what_tells_nothing_is_left_out():
    found = suggest(evenly(["2019-03-01T08:00", "2019-03-01T09:00", "2019-04-02T09:00"]), "at")
    assert found.rows[0] == ("2019-03-01T08:00", "2019-03-01", "*")


def test_rare_texts_are_grouped():
    counts = {"a": 60, "b": 20, "c": 15, "d": 2, "e": 2, "f": 1}
    found = suggest(counts, "x")
    assert [row[1:] for row in found.rows] == [
        ("a", "a", "*"),
        ("b", "b", "*"),
        ("c", "(less frequent)", "*"),
        *[("(rare)", "(less frequent)", "*")] * 3,
    ]
    assert "a person should edit" in found.reason


def test_a_value_named_like_a_group_stays_apart():
    counts = {"a": 60, "(rare)": 38, "d": 1, "e": 1}
    assert [row[1] for row in suggest(counts, "x").rows] == ["a", "(rare)", "((rare))", "((rare))"]


def test_the_missing_value_is_left_out():
    assert [row[0] for row in suggest({"": 5, "1": 1, "2": 1}, "x").rows] == ["1", "2"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_lone_value_is_below_the_root(kind):
    assert suggest({"2019-03-01": 1}, "x", kind if kind != "quantiles" else None).rows == (
        ("2019-03-01", "*"),
    )


def test_a_kind_can_be_forced():
    assert suggest(evenly(["47677", "47602"]), "salary", "prefix").kind == "prefix"
    assert suggest(evenly(range(9)), "n", "frequency").kind == "frequency"


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("quantiles", "for numbers. Of its 5 values, 1 are not."),
        ("calendar", "for dates and timestamps (ISO 8601). Of its 5 values, 5 are not."),
        ("prefix", "for codes of letters, digits and . - /. Of its 5 values, 1 are not."),
    ],
)
def test_a_kind_that_does_not_fit_is_refused(kind, message):
    values = evenly(["10", "11", "12", "13", "b c"])
    assert (
        refusal(values, kind)
        == f"The column 'x' cannot be generalised by {kind}, which is {message}"
    )


def test_a_prefix_needs_two_letters():
    assert refusal(evenly("abc"), "prefix").endswith("its values have one letter.")


def test_an_unknown_kind_is_refused():
    assert "Given: 'quantile'." in refusal(evenly("abc"), "quantile")


@pytest.mark.parametrize("values", [{}, {"": 3}])
def test_nothing_cannot_be_generalised(values):
    assert refusal(values, None) == "The column 'x' has no values to generalise."


NUMBERS = st.integers().map(str) | st.floats(allow_nan=False, allow_infinity=False).map(str)
DATES = st.datetimes().map(lambda day: day.isoformat()) | st.dates().map(
    lambda day: day.isoformat()
)
CODES = st.from_regex(r"[0-9A-F]{1,5}", fullmatch=True)
TEXTS = st.text(min_size=1, max_size=4).filter(lambda text: text.isprintable() or "\n" in text)
COLUMNS = st.one_of(
    st.dictionaries(texts, st.integers(1, 50), min_size=1, max_size=40)
    for texts in (NUMBERS, DATES, CODES, TEXTS, NUMBERS | TEXTS)
)


@given(COLUMNS, st.sampled_from([None, *KINDS]))
def test_a_suggestion_is_read_back_to_a_tree_over_every_value(values, kind):
    try:
        found = suggest(values, "zip", kind)
    except DataError as error:
        assert kind is not None, error  # noqa: PT017
        return
    tree = tree_of(found)
    assert sorted(tree.leaf_labels) == sorted(values)
    assert sorted(zip(*tree.levels(), strict=True)) == sorted(found.rows)
    widths = [len(set(level)) for level in tree.levels()]
    assert widths == sorted(set(widths), reverse=True) or len(values) == 1


@given(st.lists(st.integers(0, 100), min_size=4, max_size=60))
def test_intervals_end_in_values_that_occur_and_hold_what_they_say(numbers):
    for value, *groups in suggest(Counter(map(str, numbers)), "n").rows:
        for group in groups[:-1]:
            low, high = group.strip("[]").split(" - ") if group[0] == "[" else (group, group)
            assert int(low) <= int(value) <= int(high)
            assert {int(low), int(high)} <= set(numbers)


@pytest.mark.nightly
def test_many_values_are_proposed_in_seconds():
    start = datetime(2000, 1, 1)  # noqa: DTZ001
    days = {(start + timedelta(minutes=n)).isoformat(): 1 for n in range(50_000)}
    assert len(suggest(days, "at").rows) == 50_000
    assert len(suggest(evenly(range(50_000)), "n").rows) == 50_000
