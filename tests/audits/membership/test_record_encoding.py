import numpy as np
import pyarrow as pa
import pytest
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.audits.membership.encoding import MOST_VALUES, Encoding
from policy_engine.audits.membership.records import source_table
from policy_engine.data import cells
from policy_engine.errors import AuditError


def csv(tmp_path, text):
    path = tmp_path / "data.csv"
    path.write_text(text)
    return source_table(path)


def features(**columns):
    table = pa.table(columns)
    return Encoding.fit(table).apply(table)


def test_bits_stay_bits():
    found = features(a=[0, 1, 1], b=[True, False, True], c=[1.0, 0.0, 0.0])
    assert found.dtype == np.uint8
    assert found.tolist() == [[0, 1, 1], [1, 0, 0], [1, 1, 0]]


def test_texts_of_a_csv_file_are_read_as_the_numbers_that_they_are(tmp_path):
    table = csv(tmp_path, "age,bit,on\n20,0,True\n30,1,False\n40,1,True\n")
    encoding = Encoding.fit(table)
    assert [one.kind for one in encoding.summaries()] == ["number", "bits", "bits"]
    found = encoding.apply(table)
    assert found.dtype == np.float32
    assert found[:, 0] == pytest.approx([-np.sqrt(1.5), 0, np.sqrt(1.5)])
    assert found[:, 1:].tolist() == [[0, 1], [1, 0], [1, 1]]


def test_mean_and_deviation_are_stated():
    [stated] = Encoding.fit(pa.table({"x": [1, 3]})).summaries()
    assert (stated.kind, stated.width) == ("number", 1)
    assert stated.says == "standardised: mean 2, deviation 1"


def test_texts_become_one_feature_a_value_and_missing_one_of_its_own():
    found = features(city=["Rome", None, "Bonn", "Rome"])
    assert found.dtype == np.uint8
    assert found.tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]]


def test_rare_texts_share_a_feature():
    texts = [f"v{number:03}" for number in range(MOST_VALUES)] * 2 + ["rare", "rarer"]
    table = pa.table({"x": texts})
    encoding = Encoding.fit(table)
    assert encoding.summaries()[0].width == MOST_VALUES + 1
    found = encoding.apply(table)
    assert found[-2:, MOST_VALUES].tolist() == [1, 1]
    assert found[:-2, MOST_VALUES].sum() == 0
    assert (found.sum(axis=1) == 1).all()


def test_dates_are_numbers():
    encoding = Encoding.fit(pa.table({"born": ["2000-01-01", "2000-01-03"]}))
    release = pa.table({"born": ["[2000-01-01 - 2000-01-03]", "2000-01-01"]})
    assert encoding.summaries()[0].kind == "number"
    assert encoding.apply(release).ravel().tolist() == [0, -1]


def test_a_constant_column_is_zero():
    assert features(x=[7.5, 7.5], y=[1, 0]).tolist() == [[0, 1], [0, 0]]


def test_missing_and_infinite_numbers_are_told_all_at_once():
    table = pa.table({"a": [1.5, None], "b": [1.0, np.inf], "c": [np.nan, 2.0], "d": ["x", None]})
    with pytest.raises(AuditError) as error:
        Encoding.fit(table)
    assert [one.code for one in error.value.problems] == ["A003"] * 3
    assert [word for word in "abcd" if f"'{word}'" in str(error.value)] == ["a", "b", "c"]


def test_columns_that_a_release_lacks_are_told_all_at_once():
    encoding = Encoding.fit(pa.table({"age": [1, 2], "sex": ["f", "m"]}))
    with pytest.raises(AuditError) as error:
        encoding.apply(pa.table({"aged": [1, 2]}))
    assert len(error.value.problems) == 2
    assert "'age'" in str(error.value.problems[0])


def test_missing_numbers_of_a_later_table_are_refused():
    encoding = Encoding.fit(pa.table({"age": [20, 30]}))
    for ages in ([20, None], ["20", "[20 - 30] or missing"]):
        with pytest.raises(AuditError, match="A003"):
            encoding.apply(pa.table({"age": ages}))


ORIGINAL = {"age": [20, 30, 40], "sex": ["f", "m", "f"], "job": ["a", "b", None], "bit": [0, 1, 1]}


@pytest.mark.parametrize(
    ("column", "cell", "expected"),
    [
        ("age", "30", [0.0]),
        ("age", "[20 - 30]", [-5 / np.sqrt(200 / 3)]),
        ("age", "{20, 40}", [0.0]),
        ("age", "*", [0.0]),
        ("age", "middle-aged", [0.0]),
        ("sex", "f", [1.0, 0.0]),
        ("sex", "{f, m}", [0.5, 0.5]),
        ("sex", "*", [0.5, 0.5]),
        ("sex", "person", [0.5, 0.5]),
        ("job", "a or missing", [0.5, 0.0, 0.5]),
        ("job", "{a, b} or missing", [1 / 3, 1 / 3, 1 / 3]),
        ("job", "", [0.0, 0.0, 1.0]),
        ("job", "{not a cell", [0.5, 0.5, 0.0]),
        ("bit", "{0, 1}", [0.5]),
        ("bit", "[0 - 1]", [0.5]),
    ],
)
def test_cells_of_a_release_become_what_they_stand_for(column, cell, expected):
    encoding = Encoding.fit(pa.table(ORIGINAL).select([column]))
    assert encoding.apply(pa.table({column: [cell]}))[0] == pytest.approx(expected)


def test_labels_of_a_taxonomy_are_spread_over_its_leaves():
    encoding = Encoding.fit(pa.table({"job": ["a", "b", "c"], "age": ["20", "30", "70"]}))
    leaves = {"job": {"early": ("a", "b")}}
    release = pa.table({"job": ["early", "{early, c}"], "age": ["20", "30"]})
    assert encoding.apply(release, leaves)[:, :3] == pytest.approx(
        np.array([[1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]])
    )


def test_ranges_in_two_columns_are_put_together():
    encoding = Encoding.fit(pa.table({"age": [20, 30, 40]}))
    release = pa.table({"age_low": ["20", "40"], "age_high": ["40", "40"]})
    assert encoding.apply(release).ravel() == pytest.approx([0, np.sqrt(1.5)])


def test_an_identifier_is_warned_of():
    table = pa.table({"name": [f"n{number}" for number in range(10)], "x": [0, 1] * 5})
    [warning] = Encoding.fit(table).warnings
    assert "'name'" in warning


@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=2, max_size=4, unique=True))
@settings(max_examples=examples(20), deadline=None)
def test_a_set_has_equal_shares_that_sum_to_one(values):
    encoding = Encoding.fit(pa.table({"x": ["a", "b", "c", "d"]}))
    [shares] = encoding.apply(pa.table({"x": [cells.write_set(values)]}))
    assert shares.sum() == pytest.approx(1)
    assert sorted(set(shares.tolist()) - {0}) == pytest.approx([1 / len(values)])


def test_an_infinite_number_in_a_csv_file_is_no_text(tmp_path):
    table = csv(tmp_path, "age,name\n20.5,inf\n-inf,anna\n40,bob\n")
    with pytest.raises(AuditError, match="A003 The column 'age'"):
        Encoding.fit(table)
    assert Encoding.fit(table.drop_columns(["age"])).summaries()[0].kind == "one-hot"


def test_rare_values_share_a_feature_and_so_do_unknown_ones():
    table = pa.table({"city": ["Rome"] * 3 + ["Oslo"] * 2 + ["Bern", "Pisa"]})
    encoding = Encoding.fit(table, 2)
    assert encoding.summaries()[0].width == 3
    shown = pa.table({"city": ["Rome", "Bern", "Kiev", "*"]})
    rows = encoding.apply(shown).tolist()
    assert rows[:3] == [[0, 1, 0], [0, 0, 1], [0, 0, 1]]
    assert rows[3] == pytest.approx([1 / 3] * 3)


def test_the_others_are_as_many_as_each_value_and_a_few_missing_are_among_them():
    cities = ["Rome"] * 12 + ["Oslo"] * 11 + ["Bern"] * 4 + [None] * 2
    encoding = Encoding.fit(pa.table({"city": cities}), 10)
    [rule] = encoding.rules  # Oslo is told no longer: 4 and 2 alone were too few
    assert rule.parameters() == {"values": ("Rome",), "has_others": True, "has_missing": False}
    shown = pa.table({"city": ["Rome", "Oslo", "Bern", None, "Kiev", "Bern or missing"]})
    assert encoding.apply(shown).tolist() == [[1, 0], *[[0, 1]] * 5]


def test_missing_cells_are_told_where_they_are_enough():
    encoding = Encoding.fit(pa.table({"city": ["Rome"] * 12 + [None] * 10}), 10)
    assert encoding.rules[0].parameters()["has_missing"]
    assert encoding.apply(pa.table({"city": ["Rome", None]})).tolist() == [[1, 0], [0, 1]]


def test_numbers_that_few_rows_have_become_levels_and_bits_stay_where_both_are_enough():
    ages, rare, bits = [20] * 10 + [21] * 4 + [22] * 6, [0] * 17 + [1] * 3, [0, 1] * 10
    table = pa.table({"age": ages, "rare": rare, "bit": bits})
    encoding = Encoding.fit(table, 10)
    age, rare_, bit = encoding.rules
    assert age.parameters()["edges"] == (20.5,)
    assert rare_.parameters() == {"edges": (), "levels": (0.0,)}
    assert (bit.parameters(), bit.summary().kind) == ({}, "bits")
    found = encoding.apply(pa.table({"age": [3, 20, 21, 99], "rare": [1] * 4, "bit": [1] * 4}))
    assert found[:, 0].tolist() == [found[0, 0]] * 2 + [found[3, 0]] * 2
    assert found[:, 1:].tolist() == [[0, 1]] * 4


def test_a_range_is_the_mean_of_the_levels_of_its_ends():
    encoding = Encoding.fit(pa.table({"age": [20] * 10 + [40] * 10}), 10)
    low, high, both, anything = encoding.apply(pa.table({"age": ["9", "30", "[1 - 40]", "*"]}))
    assert both == pytest.approx((low + high) / 2)
    assert anything == 0
