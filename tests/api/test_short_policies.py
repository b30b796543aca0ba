import pytest

from policy_engine import apply_policy, override_policy, plan_policy, short_policy
from policy_engine.errors import PolicyError

WORDS = {
    "policy": "http://ex.com/p",
    "target": "http://ex.com/T",
    "assignee": "http://ex.com/A",
    "output": "http://ex.com/O",
    "method": "k-anonymity",
    "k": 2,
}


def test_short_policy_is_a_policy_for_every_function():
    pandas = pytest.importorskip("pandas")
    policy = short_policy(WORDS, quasi_identifier=["age"])
    data = pandas.DataFrame({"age": [20, 21, 60, 61]})
    release = apply_policy(policy, {"http://ex.com/T": data})
    assert sorted(set(release.table.column("age").to_pylist())) == ["[20 - 21]", "[60 - 61]"]


def test_short_policy_names_every_wrong_word():
    with pytest.raises(PolicyError) as error:
        short_policy(WORDS, quasi_identifer=["age"], assigne="x")
    assert [one.code for one in error.value.problems] == ["P005", "P005"]


def nested(depth):
    """Return lists in lists."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


def cyclic():
    """Return a mapping that contains itself."""
    value = {}
    value["and"] = value
    return value


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ({"columns": nested(5000)}, "nested too deeply"),
        ({"constraint": cyclic()}, "nested too deeply"),
        ({"k": 10**5000}, "has too many digits"),
    ],
)
def test_words_that_cannot_be_written_are_refused(word, message):
    with pytest.raises(PolicyError, match=message) as caught:
        short_policy({**WORDS, **word})
    assert caught.value.code == "J003"


def test_text_of_the_short_form_is_a_policy_too():
    text = "\n".join(f"{key}: {value}" for key, value in WORDS.items()) + "\nquasi-identifier: age"
    assert plan_policy(text).publish.asset == "http://ex.com/O"


def test_override_policy_is_planned_with_other_values():
    policy = override_policy(short_policy(WORDS, quasi_identifier="age"), {"k": 7})
    assert plan_policy(policy).anonymize.models[0].k == 7
