import pytest

from policy_engine import PolicyEngineError, apply_policy
from policy_engine.testing import assert_release_holds, assert_valid


def test_a_release_that_holds_is_measured(released):
    certificate = assert_release_holds(released / "release", released / "policy.jsonld")
    assert {one.bound for one in certificate.measurements} >= {"k"}


def test_a_release_that_was_changed_fails_with_the_reason(released):
    [output] = (released / "release").glob("*.csv")
    lines = output.read_text().splitlines()
    output.write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(AssertionError, match=r"(?s)does not hold .*V001.*V004"):
        assert_release_holds(output, released / "policy.jsonld")


def test_rows_that_do_not_satisfy_the_policy_fail(released):
    [output] = (released / "release").glob("*.csv")
    alone = released / "alone.csv"
    alone.write_text("\n".join(output.read_text().splitlines()[:2]) + "\n")
    with pytest.raises(AssertionError, match="V001"):
        assert_release_holds(alone, released / "policy.jsonld")


def test_what_cannot_be_told_is_no_assertion(released):
    with pytest.raises(PolicyEngineError, match="C002"):
        assert_release_holds(released / "nothing.csv", released / "policy.jsonld")


def test_a_release_of_python_is_taken_where_it_was_written(people):
    policy, data = people / "policy.jsonld", {"": people / "people.csv"}
    assert assert_release_holds(apply_policy(policy, data, people / "out"), policy)
    with pytest.raises(AssertionError, match="only in memory"):
        assert_release_holds(apply_policy(policy, data), policy)


def test_a_policy_that_cannot_be_planned_fails(people):
    text = (people / "policy.jsonld").read_text()
    assert assert_valid(text).uid
    with pytest.raises(AssertionError, match="M001"):
        assert_valid(text.replace("l-diversity", "l-diversify"))
