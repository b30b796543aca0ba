import numpy as np
import pytest
from pydantic import ValidationError

from policy_engine.kernels.constraint import Constraint
from policy_engine.kernels.grouping import Groups
from policy_engine.methods.l_diversity import LDiversity
from policy_engine.methods.method import Bound, findings

ROLES = {"quasi-identifier": ("age",), "sensitive": ("disease", "income")}


def groups(class_of, **sensitive):
    codes = {name: np.array(column, dtype=np.int32) for name, column in sensitive.items()}
    numbers = np.array(class_of, dtype=np.int64)
    return Groups(numbers, max(class_of) + 1, codes, np.zeros((len(class_of), 1)))


def test_l_binds_the_values_of_every_sensitive_column():
    method = LDiversity(k=3, l=2, **ROLES)
    assert method.constraint() == Constraint(size=3, distinct=2)
    assert method.bounds() == (Bound("k", "", 3), Bound("l", "disease", 2), Bound("l", "income", 2))


def test_measure_finds_the_least_diverse_class_of_every_column():
    table = groups([0, 0, 0, 1, 1, 1], disease=[0, 1, 2, 0, 0, 1], income=[0, -1, 0, 1, 2, -1])
    found = LDiversity(k=3, l=2, **ROLES).measure(table)
    assert [measured.achieved for measured in found] == [3, 2, 1]
    assert [measured.worst for measured in found] == [0, 1, 0]
    assert [measured.holds for measured in found] == [True, True, False]
    assert [measured.column for measured in found] == ["", "disease", "income"]


def test_l_above_k_is_refused():
    given = {"k": 2, "l": 3, **ROLES}
    [finding] = findings(LDiversity, given)
    assert (finding.code, finding.parameter) == ("M003", "l")
    assert finding.message.startswith("l is 3, above k, which is 2.")
    with pytest.raises(ValidationError, match="l is 3, above k"):
        LDiversity(**given)


def test_l_may_be_as_large_as_k():
    assert findings(LDiversity, {"k": 2, "l": 2, **ROLES}) == []


@pytest.mark.parametrize("l", [1, 0, True, 2.5, "2", None])
def test_l_is_an_integer_of_two_or_more(l):  # noqa: E741
    [finding] = findings(LDiversity, {"k": 4, "l": l, **ROLES})
    assert (finding.code, finding.parameter) == ("M003", "l")
    assert "Allowed is an integer" in finding.message


def test_a_sensitive_column_is_needed():
    given = {"k": 2, "l": 2, "quasi-identifier": ("age",)}
    for lacking in (given, {**given, "sensitive": ()}):
        [finding] = findings(LDiversity, lacking)
        assert (finding.code, finding.parameter) == ("M002", "sensitive")
