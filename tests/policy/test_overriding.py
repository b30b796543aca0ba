import pytest

from policy_engine.errors import PolicyError
from policy_engine.policy import read_policy
from policy_engine.policy.overriding import override

TEXT = """\
policy: http://ex.com/p
target: http://ex.com/T
assignee: http://ex.com/A
output: http://ex.com/O
method: k-anonymity
k: 5
quasi-identifier: [a]
"""


def values(policy):
    refinements = policy.permissions[0].actions[0].refinements
    return {
        one.left_operand.rsplit("/", 1)[-1].rsplit("#", 1)[-1]: one.right_operands[0].value
        for one in refinements
    }


def test_override_replaces_the_value_of_a_parameter():
    policy = read_policy(TEXT, syntax="yaml")
    other = override(policy, {"k": 10})
    assert values(other) == {**values(policy), "k": 10}
    assert other.digest == read_policy(TEXT.replace("k: 5", "k: 10"), syntax="yaml").digest


def test_override_adds_a_parameter_that_the_policy_leaves_out():
    policy = override(read_policy(TEXT, syntax="yaml"), {"maxSuppression": 0.05})
    assert values(policy)["maxSuppression"] == 0.05


def test_override_of_nothing_is_the_policy():
    policy = read_policy(TEXT, syntax="yaml")
    assert override(policy, {}) == policy


@pytest.mark.parametrize(("name", "code"), [("kk", "P005"), ("sensitive", "P007")])
def test_override_refuses_what_is_not_a_value(name, code):
    with pytest.raises(PolicyError) as error:
        override(read_policy(TEXT, syntax="yaml"), {name: 1})
    assert error.value.code == code


def test_override_refuses_a_policy_that_makes_nothing():
    text = "policy: http://ex.com/p\ntarget: http://ex.com/T\naction: read\n"
    with pytest.raises(PolicyError) as error:
        override(read_policy(text, syntax="yaml"), {"k": 5})
    assert error.value.code == "P007"
