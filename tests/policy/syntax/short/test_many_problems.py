"""Texts with very much wrong: what is said of them is bounded, and so is the time that it takes."""

import time

import pytest

from policy_engine.authoring.validating import check_text
from policy_engine.errors import PolicyError, did_you_mean, nearest
from policy_engine.policy import PolicyText, Reading
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, MAX_PROBLEMS
from policy_engine.policy.syntax.short import read_short
from policy_engine.policy.syntax.yaml_text import read_yaml

HEAD = "policy: http://e.org/p\ntarget: http://e.org/D\nassignee: http://e.org/A\n"
MAKES = "{output: http://e.org/O, method: k-anonymity, k: 2, quasi-identifier: a}"
MANY = 3_000


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    "text",
    [
        HEAD + "".join(f"k{n}: 1\n" for n in range(MANY)),
        HEAD + "k: 1\n" * MANY,
        HEAD + "".join(f"zz{n}:k: 1\n" for n in range(10 * MANY)),
        HEAD + f"action: [{', '.join(f'act{n}' for n in range(MANY))}]\n",
        HEAD + "permission:\n" + "".join(f"- {{k{n}: 1}}\n" for n in range(MANY)),
        HEAD + "permission:\n" + f"- {MAKES}\n" * 500,
    ],
    ids=["unknown", "twice", "prefixed", "actions", "rules", "outputs"],
)
def test_so_many_problems_are_told_and_no_more_in_seconds(text):
    start = time.process_time()
    checked = check_text(PolicyText(text.encode(), "policy"), Reading())
    assert len(checked.problems) == MAX_PROBLEMS
    assert time.process_time() - start < 5  # it took minutes


def test_the_problems_that_are_told_are_the_first():
    text = HEAD + "".join(f"k{n}: 1\n" for n in range(MANY))
    with pytest.raises(PolicyError) as caught:
        read_short(text)
    lines = [one.place.line for one in caught.value.problems]
    assert lines == [*range(4, 4 + MAX_PROBLEMS)]


def test_nothing_is_suggested_for_what_is_very_long_or_could_be_very_much():
    assert did_you_mean("reed", ["read"]) == "Did you mean 'read'?"
    assert did_you_mean("x" * 300, ["x" * 299]) == nearest("x" * 300, ["x" * 299]) == ""
    assert did_you_mean("n1x", [f"n{n}" for n in range(5_000)]) == ""


@pytest.mark.parametrize("number", ["1e400", "-1e999999", "1" + "0" * 320 + ".5"])
def test_a_number_that_no_float_holds_is_refused_at_its_place(number):
    with pytest.raises(PolicyError) as caught:
        read_yaml(f"k: 1\nl: [2, {number}]\n", "", DEFAULT_LIMITS)
    [problem] = caught.value.problems
    assert (problem.code, problem.place.line, problem.place.column) == ("J001", 2, 8)
