import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.utility.matching import match, match_values
from policy_engine.errors import CertificateError, DataError
from policy_engine.plan.anonymization import Anonymization

K = {"k-anonymity": {"k": 2}}


def matched(original, release, **roles):
    asked = Anonymization(columns={"quasi-identifier": [], **roles}, methods=K)
    return {one.name: one for one in match(pa.table(original), pa.table(release), asked, {})}


def test_cells_cover_the_codes_of_the_original():
    age = matched({"age": [30, 10, 20]}, {"age": ["[10 - 20]", "[10 - 20]", "30"]}, **quasi("age"))[
        "age"
    ]
    assert age.labels.tolist() == ["10", "20", "30"]
    assert age.after.masses.tolist() == [1, 1, 1]
    assert (age.kind, age.is_changed, age.is_ordered) == ("generalised", True, True)


def quasi(name, **settings):
    return {"quasi-identifier": [{"name": name, **settings}]}


def test_cells_that_may_be_missing_cover_the_missing_value_too():
    age = matched({"age": [30, None, 20]}, {"age": ["[20 - 30] or missing"] * 3}, **quasi("age"))[
        "age"
    ]
    assert age.has_missing
    assert age.after.masses.tolist() == [1, 1, 1]
    assert np.isnan(age.numbers()).tolist() == [True, False, False]


def test_missing_cells_cover_the_missing_value_alone():
    age = matched({"age": [30, None]}, {"age": ["30", None]}, **quasi("age"))["age"]
    assert age.after.masses.tolist() == [1, 1]


def test_ranges_in_two_columns_are_put_together():
    release = {"age_low": [10, 10, 30], "age_high": [20, 20, 30]}
    age = matched({"age": [30, 10, 20]}, release, **quasi("age"))["age"]
    assert age.after.masses.tolist() == [1, 1, 1]


def test_representatives_are_values_beside_those_of_the_original():
    age = matched(
        {"age": [10, 20, 40]}, {"age": [15.0, 15.0, 40.0]}, **quasi("age", generalization="mean")
    )["age"]
    assert age.labels.tolist() == ["10", "15", "20", "40"]
    assert age.before.masses.tolist() == [1, 0, 1, 1]
    assert age.after.masses.tolist() == [0, 2, 0, 1]
    assert age.kind == "representative"


def test_columns_kept_are_the_same_whatever_their_type():
    pay = matched(
        {"age": [1, 1], "pay": [1.5, 20]},
        {"age": ["1", "1"], "pay": ["20.0", "1.50"]},
        insensitive=["pay"],
        **quasi("age"),
    )["pay"]
    assert pay.before.masses.tolist() == pay.after.masses.tolist() == [1, 1]
    assert not pay.is_changed


def test_columns_that_are_nested_in_one_table_alone_are_refused():
    with pytest.raises(DataError, match="C009 The values of 'x' are string in the original, and "):
        match_values("x", "", "kept", pa.table({"x": ["a"]}), pa.table({"x": [[[1]]]}))


def test_infinite_values_that_are_kept_have_a_rank():
    pay = {"age": [1, 1], "pay": [1.0, float("inf")]}
    found = matched(pay, {**pay, "age": ["1", "1"]}, insensitive=["pay"], **quasi("age"))
    assert found["pay"].after.masses.tolist() == [1, 1]


def test_pseudonyms_are_compared_by_how_often_each_occurs():
    name = matched(
        {"age": [1, 1, 1], "name": ["Ann", "Bob", "Bob"]},
        {"age": ["1", "1", "1"], "name": ["f00", "baa", "f00"]},
        pseudonymize=["name"],
        **quasi("age"),
    )["name"]
    assert name.before.masses.tolist() == name.after.masses.tolist() == [2, 1]
    assert name.kind == "pseudonym"


def masked(original, release):
    asked = Anonymization(columns={"quasi-identifier": []}, methods={"masking": {}})
    tables = pa.table({"pay": original}), pa.table({"pay": release})
    return list(match(*tables, asked, {}, ("pay",)))


def test_a_label_stands_for_the_values_on_its_side():
    [pay] = masked([1, 2, 5, 8, None], ["<2", "2.0", None, ">4", ">4"])
    assert pay.labels.tolist() == ["", "1", "2", "5", "8"]
    assert pay.after.masses.tolist() == [1, 1, 1, 1, 1]
    assert pay.is_ordered


def test_a_label_beyond_all_values_is_of_another_table():
    with pytest.raises(CertificateError, match="V002 A cell of 'pay' matches no value"):
        masked([1, 2], ["1", ">2"])


def test_texts_that_look_like_labels_are_categories_among_texts():
    [pay] = masked(["<5", ">5", "none"], ["<5", "<5", "none"])
    assert (pay.is_ordered, pay.after.masses.tolist()) == (False, [2, 0, 1])


def test_arrays_are_left_out():
    assert masked([[1, 2], [3, 4]], [[1, 1], [3, 3]]) == []
