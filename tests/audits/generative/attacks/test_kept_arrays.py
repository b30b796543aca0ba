"""Arrays of a file are looked at before anything is gone on from."""

import numpy as np
import pytest

from policy_engine.audits.generative.attacks.kept_arrays import check_kept
from policy_engine.audits.generative.material import RecordSet

AUDITED = RecordSet("audited", np.zeros((4, 2)), np.array([0, 0, 1, 1]))
GOOD = {
    "samples": np.array(10),
    "copied": np.zeros(4, np.bool_),
    "squares": np.array([[1.0], [2.0], [np.inf], [np.inf]]),  # class 1 has no sample yet
    "growth_samples": np.array([5, 10]),
    "growth_scores": np.zeros((2, 4)),
    "radii": np.array([0.5, 1.0]),
    "rings": np.array([[1, 2], [0, 0], [0, 0], [0, 0]]),
    "logarithms": np.zeros((4, 2)),
    "compared": np.array([3, 3, 0, 0]),
}


def test_what_can_be_is_taken():
    check_kept(GOOD, AUDITED, None, 4)
    check_kept({**GOOD, "any_class_squares": np.ones((4, 1))}, AUDITED, None, 4)
    check_kept({**GOOD, "reference_squares": np.ones((4, 1))}, AUDITED, AUDITED, 4)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("samples", np.array(0)),
        ("squares", np.array([[1.0], [np.inf], [np.inf], [np.inf]])),  # half a class
        ("squares", np.full((4, 1), np.inf)),
        ("growth_samples", np.array([10, 5])),
        ("growth_samples", np.array([5, 11])),
        ("radii", np.array([1.0, 0.5])),
        ("radii", np.array([0.0, 0.5])),
        ("rings", np.array([[2, 2], [0, 0], [0, 0], [0, 0]])),  # more than are compared
        ("compared", np.array([3, 11, 0, 0])),
        ("any_class_squares", np.array([[1.0], [1.0], [1.0], [np.inf]])),
        ("reference_squares", np.ones((4, 1))),  # without references
    ],
)
def test_what_cannot_be_is_named(name, value):
    with pytest.raises(ValueError, match=f"{name}|rings"):
        check_kept({**GOOD, name: value}, AUDITED, None, 4)
