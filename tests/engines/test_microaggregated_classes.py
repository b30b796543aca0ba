"""Classes by microaggregation, from the policy to the release."""

from collections import Counter
from datetime import date
from itertools import combinations
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from applying import applied, asking, measured, refused
from building import DATASET, column
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine import certify_output
from policy_engine.engines.microaggregating import ClassBounds
from policy_engine.errors import DataError

ASKED = {"method": "k-anonymity", "k": 3, "algorithm": "microaggregation"}
AGES = [20, 21, 22, 40, 41, 42]
KEY = b"k" * 32


def classes(release, names):
    return Counter(zip(*(release.table[name].to_pylist() for name in names), strict=True))


def test_every_class_has_its_mean_as_a_number():
    made = applied({"age": AGES}, quasi=["age"], **ASKED)
    assert made.table["age"].to_pylist() == [21, 21, 21, 41, 41, 41]
    assert pa.types.is_integer(made.table.schema.field("age").type)
    assert measured(made) == {("k", ""): 3}
    assert made.certificate.utility.perturbed == ("age",)


def test_dates_have_a_median_and_texts_the_most_frequent_value():
    table = {
        "born": [date(1950, 1, d) for d in (1, 2, 3)] + [date(1990, 1, d) for d in (1, 2, 3)],
        "job": ["a", "a", "b", "c", "d", "d"],
    }
    made = applied(table, quasi=["born", "job"], **ASKED)
    assert classes(made, ["born", "job"]) == {("1950-01-02", "a"): 3, ("1990-01-02", "d"): 3}


def test_texts_with_an_order_have_a_median():
    quasi = [column("grade", order="lexicographic")]
    made = applied({"grade": list("aabzyy")}, quasi=quasi, **ASKED)
    assert classes(made, ["grade"]) == {("a",): 3, ("y",): 3}


def test_a_generalization_by_one_value_is_kept():
    made = applied({"age": AGES}, quasi=[column("age", generalization="median")], **ASKED)
    assert made.table["age"].to_pylist() == ["21"] * 3 + ["41"] * 3


def test_the_cell_of_a_class_with_missing_values_says_so():
    made = applied({"age": [None] * 4 + [20, 20, 40, 41]}, quasi=["age"], **{**ASKED, "k": 4})
    cells = classes(made, ["age"])
    assert set(cells.values()) == {4}
    assert all(age is None or age.endswith(" or missing") or float(age) for (age,) in cells)


def test_a_column_without_weight_forms_no_classes():
    table = {"age": AGES, "pay": [1, 100, 1, 100, 1, 100]}
    made = applied(table, quasi=[column("age", weight=0), "pay"], **ASKED)
    assert classes(made, ["pay"]) == {(1,): 3, (100,): 3}


MODELS = [
    {"method": "l-diversity", "l": 2},
    {"method": "entropy-l-diversity", "l": 2},
    {"method": "recursive-l-diversity", "c": 2, "l": 2},
    {"method": "t-closeness", "t": 0.2},
    {"method": "alpha-k-anonymity", "alpha": 0.5},
    {"method": "beta-likeness", "beta": 0.5},
    {"method": "enhanced-beta-likeness", "beta": 0.5},
    {"method": "delta-disclosure", "delta": 1.5},
]


def people(rows=60, seed=1):
    random = np.random.default_rng(seed)
    return {
        "age": random.integers(20, 60, rows),
        "job": random.choice(["a", "b", "c"], rows),
        "ill": random.choice(["cold", "flu", "hiv"], rows, p=[0.4, 0.3, 0.3]),
    }


@pytest.mark.one_in(4)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model["method"])
def test_every_class_holds_the_model(model):
    made = applied(people(), quasi=["age", "job"], sensitive=["ill"], **{**ASKED, **model})
    assert all(one.holds for one in made.certificate.measurements)
    assert made.certificate.utility.classes > 1


def test_classes_with_equal_cells_are_one_and_hold_the_model():
    # Only modes are published, of two values: at most two classes differ.
    table = {"job": people()["job"], "ill": people()["ill"]}
    made = applied(
        table,
        quasi=["job"],
        sensitive=["ill"],
        **{**ASKED, "method": "delta-disclosure", "delta": 1},
    )
    assert made.certificate.utility.classes == len(classes(made, ["job"])) <= 3


def close_classes(table, t, **parts):
    asked = {**ASKED, "method": "t-closeness", "t": t, "sensitive": ["ill"], **parts}
    return applied(table, quasi=["age"], **asked)


@pytest.fixture
def merging_alone():
    with patch.object(ClassBounds, "strata", lambda _: ("", 0)):
        yield


EIGHT = {"age": [1, 2, 3, 4, 101, 102, 103, 104], "ill": list("aabbaabb")}


@pytest.mark.nightly
def test_t_close_classes_have_a_row_of_each_stratum():
    made = close_classes(EIGHT, 0.2, k=2)
    # 1 with 3 and 2 with 4: each class has one of each disease, as half of the table has.
    assert classes(made, ["age"]) == {(2,): 2, (3,): 2, (102,): 2, (103,): 2}
    assert measured(made) == {("k", ""): 2, ("t", "ill"): 0}


@pytest.mark.usefixtures("merging_alone")
def test_merging_alone_loses_more():
    # 1 with 2 and 3 with 4, who have one disease each: only the four together are close.
    assert classes(close_classes(EIGHT, 0.2, k=2), ["age"]) == {(2.5,): 4, (102.5,): 4}


@settings(max_examples=examples(30))
@given(
    st.lists(st.tuples(st.integers(0, 60), st.sampled_from("abcd")), min_size=4, max_size=60),
    st.sampled_from([0.1, 0.25, 0.5]),
    st.sampled_from(["variational", "ordered"]),
)
def test_every_class_is_t_close_whatever_the_table(rows, t, distance):
    ages, ills = zip(*rows, strict=True)
    ill = column("ill", distance=distance)
    numbers = {"age": ages, "ill": [ord(one) for one in ills]}
    made = close_classes(numbers, t, k=2, sensitive=[ill])
    assert measured(made)["t", "ill"] <= t
    assert measured(made)["k", ""] >= 2


def test_k_counts_persons_where_the_policy_says_so():
    table = {"age": [20, 20, 20, 20, 40, 41, 42, 43], "who": [1, 1, 1, 2, 3, 4, 5, 6]}
    made = applied(table, quasi=["age"], privacyUnit="who", **ASKED)
    assert measured(made)["k", ""] >= 3


def test_the_order_of_the_input_leaves_no_trace():
    table, order = people(), np.random.default_rng(2).permutation(60)
    mixed = {name: values[order] for name, values in table.items()}
    asked = {"quasi": ["age", "job"], "sensitive": ["ill"], "key": KEY, **ASKED}
    assert applied(table, **asked).table.equals(applied(mixed, **asked).table)


TIED = {"age": [30, 30, 30, 30, 30, 36], "id": range(6)}


def beside_the_oldest(key):
    made = applied(TIED, quasi=["age"], insensitive=["id"], key=key, **ASKED)
    rows = zip(*(made.table[name].to_pylist() for name in TIED), strict=True)
    return frozenset(number for age, number in rows if age == 32) - {5}


@pytest.mark.nightly
def test_which_of_tied_rows_are_in_a_class_is_a_secret():
    # By a rule that is known, the row that does not come first among the tied ones is the oldest.
    found = {beside_the_oldest(bytes([one]) * 32) for one in range(33, 93)}
    assert found == {frozenset(two) for two in combinations(range(5), 2)}
    assert beside_the_oldest(KEY) == beside_the_oldest(KEY)


def test_the_cells_do_not_depend_on_the_secret():
    asked = {"quasi": ["age", "job"], **ASKED}
    found = [classes(applied(people(), **asked), ["age", "job"]) for _ in range(3)]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(("largest", "doubts"), [(42, 0), (1000, 1)])
def test_a_mean_that_one_value_dominates_is_doubted(largest, doubts):
    made = applied({"age": [*AGES[:-1], largest]}, quasi=["age"], **ASKED)
    assert len(made.release.doubts) == doubts
    assert not doubts or "1 of 2 classes" in made.release.doubts[0]


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_file_is_certified_again(name, tmp_path):
    made = applied(people(), tmp_path / "out" / name, quasi=["age", "job"], **ASKED)
    again = certify_output(made.path, asking(quasi=["age", "job"], **ASKED))
    assert again.measurements == made.certificate.measurements


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ({"score": "span"}, "M003"),
        ({"polish": True}, "M003"),
        ({"loss": "height"}, "M003"),
        ({"maxSuppression": 0.1}, "M003"),
        ({"missing": "wildcard"}, "M003"),
        ({"quasi": [column("age", generalization="range")]}, "M003"),
        ({"quasi": [column("age", generalization="mode", order="frequency")]}, "M003"),
        ({"k": 7}, "R002"),
    ],
    ids=str,
)
def test_what_does_not_go_with_it_is_refused(parts, code, tmp_path):
    assert refused({"age": AGES}, tmp_path, **{"quasi": ["age"], **ASKED, **parts}) == [code]


VALUES = st.one_of(
    st.lists(st.none() | st.integers(-9, 9), min_size=3, max_size=25),
    st.lists(st.none() | st.floats(-1e6, 1e6, width=32), min_size=3, max_size=25),
    st.lists(st.none() | st.sampled_from("abc"), min_size=3, max_size=25),
    st.lists(st.none() | st.dates(), min_size=3, max_size=25),
)


@settings(max_examples=examples(40))
@given(VALUES)
def test_whatever_the_column_every_cell_is_that_of_k_rows(values):
    table = pa.table({"x": pa.array(values), "id": range(len(values))})
    made = applied(table, quasi=["x"], insensitive=["id"], **ASKED)
    assert min(classes(made, ["x"]).values()) >= 3
    assert sorted(made.table["id"].to_pylist()) == list(range(len(values)))


def test_a_release_that_counts_persons_is_made_again_with_its_key(tmp_path):
    ages = [20, *[30] * 60, 40]
    table = {"age": ages, "id": range(62), "who": range(62)}
    asked = {**ASKED, "quasi": ["age"], "insensitive": ["id"], "privacyUnit": "who"}
    made = applied(table, tmp_path / "out" / "out.csv", key=KEY, **asked)
    given = {DATASET: pa.table(table)}
    again = certify_output(made.path, asking(**asked), given, key=KEY)
    assert again.measurements == made.certificate.measurements
    with pytest.raises(DataError, match="V006 Which of the rows with equal quasi-identifiers"):
        certify_output(made.path, asking(**asked), given)
