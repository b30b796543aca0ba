"""The secret column: its values, its bins, and what cannot be attacked."""

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.attribute.secret import check_secret_counts, read_secret
from policy_engine.errors import AuditError


def table(values, **others):
    return pa.table({"s": values, "y": ["a"] * len(values), **others})


def test_texts_have_a_value_each_and_a_record_that_stands_for_it():
    secret = read_secret(table(["no", "yes", "no", "maybe"]), "s", "y")
    assert secret.values == ("maybe", "no", "yes")
    assert secret.codes.tolist() == [1, 2, 1, 0]
    assert secret.stand_ins.tolist() == [3, 0, 1]


def test_few_numbers_have_a_value_each():
    secret = read_secret(table([10, 9, 10, 9]), "s", "y")
    assert secret.values == ("9", "10")
    assert secret.codes.tolist() == [1, 0, 1, 0]


def test_many_numbers_are_divided_into_bins_of_as_many_records():
    secret = read_secret(table([*range(12)]), "s", "y", bins=3)
    assert secret.values == ("0 to 3", "4 to 7", "8 to 11")
    assert np.bincount(secret.codes).tolist() == [4, 4, 4]
    assert secret.stand_ins.tolist() == [1, 5, 9]  # the medians
    assert secret.says.startswith("12 numbers in 3 bins")


def test_a_frequent_number_has_a_bin_of_its_own():
    secret = read_secret(table([0] * 20 + [*range(1, 13)]), "s", "y", bins=4)
    assert secret.values[0] == "0"
    assert (secret.codes[:20] == 0).all()


@pytest.mark.parametrize(
    ("values", "name", "message"),
    [
        (["a", "b"], "y", "is the label"),
        (["a", "b"], "", "not said which column"),
        (["a", "b"], "t", "no column 't'"),
        (["a", None], "s", "1 records have no value"),
        (["a", ""], "s", "1 records have no value"),
        ([1.5, None], "s", "1 records have no value"),
        (["a", "a"], "s", "All records have one value"),
        ([str(one) + "x" for one in range(51)], "s", "51 values. At most 50"),
    ],
)
def test_what_cannot_be_secret_is_refused(values, name, message):
    with pytest.raises(AuditError, match=message) as refusal:
        read_secret(table(values), name, "y")
    assert refusal.value.code == "A035"


@pytest.mark.parametrize("bins", [1, 21])
def test_so_many_bins_are_refused(bins):
    with pytest.raises(AuditError, match="2 to 20 bins"):
        read_secret(table(["a", "b"]), "s", "y", bins)


def test_numbers_that_are_nearly_all_one_have_two_bins_all_the_same():
    secret = read_secret(table([0] * 1000 + [*range(1, 11)]), "s", "y", 2)
    assert secret.values == ("0", "1 to 10")


def test_a_value_of_few_records_on_either_side_is_refused_without_being_told():
    secret = read_secret(table(["common"] * 30 + ["Xanadu"] * 19), "s", "y")
    first, second = np.arange(0, 49, 2), np.arange(1, 49, 2)
    with pytest.raises(AuditError, match="1 of 2 values of 's' have fewer than 10") as refusal:
        check_secret_counts(secret, first, second)
    assert "Xanadu" not in str(refusal.value)
    assert refusal.value.problems[0].values == ("Xanadu",)
    check_secret_counts(secret, np.arange(49))
