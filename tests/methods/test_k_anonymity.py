import numpy as np
import pytest
from pydantic import ValidationError

from policy_engine.kernels.constraint import Constraint
from policy_engine.kernels.grouping import Groups
from policy_engine.methods.k_anonymity import KAnonymity
from policy_engine.methods.method import Bound, Measurement


def k_anonymity(**parameters):
    return KAnonymity(**{"quasi-identifier": ("age",), "k": 3, **parameters})


def groups(*class_of):
    numbers = np.array(class_of, dtype=np.int64)
    return Groups(numbers, max(class_of) + 1, {}, np.zeros((len(class_of), 1)))


def test_k_binds_the_size_of_a_class_and_nothing_else():
    method = k_anonymity(sensitive=("disease",))
    assert method.constraint() == Constraint(size=3, distinct=1)
    assert method.bounds() == (Bound("k", "", 3),)


def test_measure_finds_the_smallest_class():
    [measured] = k_anonymity().measure(groups(0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2))
    assert measured == Measurement(bound="k", asked=3, achieved=3, worst=1)
    assert measured.holds


def test_measure_does_not_hold_where_a_class_is_too_small():
    [measured] = k_anonymity().measure(groups(0, 0, 0, 1, 1))
    assert (measured.achieved, measured.worst, measured.holds) == (2, 1, False)


@pytest.mark.parametrize("k", [1, 0, -3, True, 2.0, "3", None])
def test_k_is_an_integer_of_two_or_more(k):
    with pytest.raises(ValidationError):
        k_anonymity(k=k)


def test_a_quasi_identifier_is_needed():
    with pytest.raises(ValidationError):
        KAnonymity(k=3)
    with pytest.raises(ValidationError):
        k_anonymity(**{"quasi-identifier": ()})
