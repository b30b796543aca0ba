"""Predictions in a column become targets."""

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.guiding.columns import ColumnFitting
from policy_engine.errors import DataError


def targets(predictions, labels):
    table = pa.table({"p": predictions, "y": labels})
    return ColumnFitting("p", "y").fit(table).targets(table)


def test_probabilities_are_one_target():
    made = targets([0.0, 0.5, 1.0], ["a", "b", "a"])
    assert made[:, 0].tolist() == [-12247, 0, 12247]  # in standard deviations, of .408


def test_predicted_classes_have_a_target_each_but_the_first_of_two():
    assert targets(["a", "b", "a"], ["a", "b", "b"])[:, 0].tolist() == [0, 10_000, 0]
    three = targets(["a", "c", "b"], ["a", "b", "c"])
    assert np.array_equal(three, 10_000 * np.eye(3, dtype=int)[[0, 2, 1]])


def test_numbers_of_more_than_two_classes_are_predicted_classes():
    assert targets([0, 2, 1], [0, 1, 2]).shape == (3, 3)
    assert targets([0, 2, 5], [0, 1, 2]).shape == (3, 1)


def test_other_numbers_are_counted_in_standard_deviations():
    assert targets([1.0, 3.0], ["a", "b"])[:, 0].tolist() == [-10_000, 10_000]
    assert targets([1.0, 3.0], [0.25, 17.5])[:, 0].tolist() == [-10_000, 10_000]


@pytest.mark.parametrize("scale", [1e200, 1e308, 1e-200, 5e-310])
def test_how_predictions_are_scaled_does_not_matter(scale):
    assert targets([0.25 * scale, 0.75 * scale], ["a", "b"])[:, 0].tolist() == [-10_000, 10_000]


def test_predictions_of_one_value_are_targets_that_tell_nothing():
    assert set(targets([7.0] * 3, ["a", "b", "b"])[:, 0].tolist()) == {0}


@pytest.mark.parametrize(
    ("predictions", "labels", "message"),
    [
        ([0.1, None, 0.2], ["a", "b", "b"], "1 of 3 rows have nothing in 'p', the guide"),
        ([0.1, 0.3, 0.2], ["a", "", None], "2 of 3 rows have nothing in 'y', the label"),
        ([0.1, float("inf"), 0.2], ["a", "b", "b"], "1 numbers in 'p' are infinite"),
        ([0.1, 0.3, 0.2], [0.5, float("nan"), 0.2], "1 of 3 rows have nothing in 'y'"),
    ],
)
def test_predictions_and_labels_are_refused_by_their_number_alone(predictions, labels, message):
    with pytest.raises(DataError, match=message) as caught:
        targets(predictions, labels)
    assert [one.code for one in caught.value.problems] == ["R017"]


def test_too_many_classes_are_refused():
    names = [f"c{number}" for number in range(51)]
    with pytest.raises(DataError, match="51 classes"):
        targets([0.5] * 51, names)
    with pytest.raises(DataError, match="predicts 51 classes"):
        targets(names, ["a", "b", "a"] * 17)


def test_distinct_rows_and_how_often_they_occur_tell_as_much_as_all_rows():
    table = pa.table({"p": [1.0, 3.0, 9.0], "y": [0.25, 17.5, 0.5]})
    times = np.array([3, 1, 2])
    whole = table.take(pa.array(np.repeat(np.arange(3), times)))
    fitting = ColumnFitting("p", "y")
    assert fitting.fit(table, times) == fitting.fit(whole) != fitting.fit(table)
    missing = pa.table({"p": [0.1, None], "y": ["a", "b"]})
    with pytest.raises(DataError, match="3 of 5 rows"):
        fitting.fit(missing, np.array([2, 3]))
