"""Accuracy-guided classes, from a policy to the release, on the local engine."""

from collections import Counter
from random import Random

import pyarrow as pa
import pytest
from applying import applied, measured, refused, rows_of
from building import DATASET, column
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.engines.guided_classes import ALREADY

GUIDED = {"method": "k-anonymity", "algorithm": "accuracy-guided", "label": f"{DATASET}/buys"}
BY_COLUMN = {**GUIDED, "guide": f"{DATASET}/score"}
PEOPLE = {
    "age": [20, 21, 22, 23, 60, 61, 62, 63],
    "city": ["Oslo", "Rome", "Oslo", "Rome"] * 2,
    "score": [0.1, 0.9, 0.1, 0.9] * 2,
    "buys": ["no", "yes", "no", "yes", "no", "yes", "no", "no"],
}


def guided(table=PEOPLE, **parts):
    return applied(table, **{**BY_COLUMN, "k": 4, "quasi": ["age", "city"], **parts})


def test_classes_are_cut_where_predictions_differ_and_not_where_ages_do():
    release = guided()
    assert rows_of(release) == sorted(
        [(22, "Oslo", "no")] * 4 + [(23, "Rome", "yes")] * 3 + [(23, "Rome", "no")]
    )
    assert measured(release)["k", ""] == 4


def test_the_guide_is_not_released_as_it_is(tmp_path):
    assert guided().table.column_names == ["age", "city", "buys"]
    parts = {**BY_COLUMN, "k": 4, "quasi": ["age", "city"], "insensitive": ["score"]}
    assert refused(PEOPLE, tmp_path, **parts) == ["M003"]


def test_numbers_keep_their_type_where_one_stands_for_a_class():
    schema = guided().table.schema
    assert (schema.field("age").type, schema.field("city").type) == (pa.int64(), pa.string())


def test_cells_are_those_of_other_algorithms():
    release = guided(representative="cell", quasi=["age", column("city", generalization="set")])
    assert {row[:2] for row in rows_of(release)} == {("[20 - 62]", "Oslo"), ("[21 - 63]", "Rome")}


def test_the_nearest_row_has_the_usual_label_of_its_class():
    # Of Rome, 23 is the median; it buys, as most do. If it does not, 21 is the nearest that does.
    release = guided(representative="nearest")
    assert {row[:2] for row in rows_of(release)} == {(22, "Oslo"), (23, "Rome")}
    buys = ["no", "yes", "no", "no", "no", "yes", "no", "yes"]
    other = guided({**PEOPLE, "buys": buys}, representative="nearest")
    assert {row[:2] for row in rows_of(other)} == {(22, "Oslo"), (21, "Rome")}


def test_a_table_that_is_anonymous_already_is_left_as_it_is():
    table = {**PEOPLE, "age": [20] * 4 + [60] * 4}
    release = guided(table, k=2)
    assert rows_of(release) == sorted(
        zip(table["age"], table["city"], table["buys"], strict=True), key=repr
    )
    assert release.release.doubts == (ALREADY,)


def test_the_owner_is_told_where_nothing_guides():
    assert "guided nothing" in doubts({**PEOPLE, "score": [0.5] * 8})
    assert "All rows are one class" in doubts(k=5)
    assert "predicts the same of all rows" in doubts()
    assert not doubts({**PEOPLE, "score": [0.1, 0.9, 0.2, 0.8] * 2})


def doubts(table=PEOPLE, **parts):
    return " ".join(guided(table, **parts).release.doubts)


def test_predictions_are_not_missing_nor_infinite(tmp_path):
    parts = {**BY_COLUMN, "k": 4, "quasi": ["age", "city"]}
    for score in (None, float("nan"), float("inf")):
        table = {**PEOPLE, "score": [score, *PEOPLE["score"][1:]]}
        assert refused(table, tmp_path, **parts) == ["R017"]
    assert refused({**PEOPLE, "buys": [None, *PEOPLE["buys"][1:]]}, tmp_path, **parts) == ["R017"]


def test_labels_of_quantities_are_not_missing(tmp_path):
    table = {**PEOPLE, "buys": [1.5, float("nan"), *range(6)]}
    assert refused(table, tmp_path, **BY_COLUMN, k=4, quasi=["age", "city"]) == ["R017"]


def test_the_label_holds_the_diversity_that_is_asked_of_it():
    release = guided(method="l-diversity", l=2, sensitive=["buys"], k=2)
    assert measured(release)["l", "buys"] == 2


def test_classes_that_hold_apart_but_not_as_one_are_merged():
    # Two digits are cut by score, into {10, 12} and {11, 13}: in the output, all are "1*", in which
    # each person has both values, and so the values of none differ from another's.
    table = {
        "person": [*"aabbccddeeff"[:8], *"efgh"],
        "zip": [*["10", "11", "12", "13"] * 2, *["20"] * 4],
        "score": [*[0.1, 0.9] * 4, *[0.5] * 4],
        "buys": [*["no", "yes", "yes", "no"] * 2, *["no", "yes"] * 2],
    }
    release = applied(
        table,
        **{**BY_COLUMN, "method": "l-diversity"},
        k=4,
        l=2,
        quasi=[column("zip", generalization="prefix")],
        sensitive=["buys"],
        privacyUnit="person",
        representative="cell",
    )
    assert {row[0] for row in rows_of(release)} == {"**"}
    assert measured(release)["l", "buys"] >= 2


drawn = st.lists(
    st.tuples(
        st.integers(0, 9), st.sampled_from("abcd"), st.sampled_from([0.1, 0.4, 0.9]), st.booleans()
    ),
    min_size=6,
    max_size=30,
)


@pytest.mark.nightly
@settings(deadline=None, max_examples=examples(40))
@given(drawn, st.sampled_from(["median-mode", "nearest", "cell"]), st.integers(2, 3))
def test_every_row_of_a_release_has_k_equal_ones_and_its_own_label(rows, representative, k):
    ages, cities, scores, buys = map(list, zip(*rows, strict=True))
    table = {"age": ages, "city": cities, "score": scores, "buys": [*map(str, buys)]}
    release = guided(table, representative=representative, k=k)
    released = rows_of(release)
    assert min(Counter(row[:2] for row in released).values()) >= k
    assert Counter(row[2] for row in released) == Counter(table["buys"])
    order = list(range(len(rows)))
    Random(1).shuffle(order)
    other = {name: [values[row] for row in order] for name, values in table.items()}
    assert rows_of(guided(other, representative=representative, k=k)) == released


@pytest.mark.parametrize(("representative", "age"), [("median-mode", 61), ("nearest", 60)])
def test_a_missing_value_is_one_of_its_own(representative, age):
    # 61 is the median; the nearest who do not buy, as most do not, are 60 and 62.
    table = {**PEOPLE, "age": [None] * 4 + PEOPLE["age"][4:], "score": [0.1] * 4 + [0.9] * 4}
    release = guided(table, representative=representative, quasi=["age"])
    assert Counter(row[0] for row in rows_of(release)) == {None: 4, age: 4}
