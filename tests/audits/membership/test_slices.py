import numpy as np
from attack_evidence import observed

from policy_engine.audits.membership.observations import LABEL_ANSWERS
from policy_engine.audits.membership.slices import record_slices


def by_name(target, columns=None):
    parts = record_slices(target, ("a", "b", "c"), columns or {})
    return {part.name: part.rows.tolist() for part in parts}


def test_classes_and_what_is_right():
    found = by_name(observed([1, -1, 1, -1], [0, 1, 1, 0], LABEL_ANSWERS))
    assert found == {
        "a": [0, 3],
        "b": [1, 2],
        "classified correctly": [0, 2],
        "classified wrongly": [1, 3],
    }


def test_thirds_by_the_confidence_of_the_prediction():
    """A record that the model is sure of and wrong about is among the most confident."""
    found = by_name(observed([1, -60, 3, 20, 2, 30]))
    assert found["least confident third"] == [0, 4]
    assert found["middling confident third"] == [2, 3]
    assert found["most confident third"] == [1, 5]


def test_records_as_confident_as_each_other_stay_together():
    found = by_name(observed([1, 1, 1, 1, 1, 2]))
    assert found["least confident third"] == [0, 1, 2, 3, 4]
    assert found["most confident third"] == [5]
    assert "middling confident third" not in found


def test_the_20_largest_values_of_a_column_are_slices():
    column = np.array([f"v{number:02}" for number in range(30) for _ in range(1 + (number == 29))])
    found = by_name(observed(np.ones(31)), {"c": column.astype(object)})
    values = [name for name in found if name.startswith("c = ")]
    assert values == ["c = v29", *(f"c = v{number:02}" for number in range(19))]
    assert found["c = v29"] == [29, 30]
