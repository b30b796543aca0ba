import pytest
from building import DATASET, OUTPUT, anonymize, permission, policy

from policy_engine.policy import read_policy

GUIDED = {
    "method": "k-anonymity",
    "k": 2,
    "algorithm": "accuracy-guided",
    "quasi": ["age", "city"],
    "label": f"{DATASET}/disease",
}


def warnings(**parameters):
    given = {name: one for name, one in {**GUIDED, **parameters}.items() if one is not None}
    text = policy([permission(action=anonymize(**given), output=OUTPUT)])
    return text, [one for one in read_policy(text).hints if one.code == "W013"]


@pytest.mark.parametrize("roles", [{}, {"sensitive": ["disease"]}, {"insensitive": ["phone"]}])
def test_a_sensitive_label_that_no_model_is_about_is_told(roles):
    text, [warning] = warnings(**roles)
    assert warning.message.startswith("The label 'disease' is sensitive, and classes are cut")
    assert "/disease" in text.splitlines()[warning.place.line - 1]


@pytest.mark.parametrize(
    "parts",
    [
        {"insensitive": ["disease"]},
        {"method": "l-diversity", "l": 2},
        {"method": ["k-anonymity", "l-diversity"], "l": 2},
        {"method": {"@id": "pe:l-diversity"}, "l": 2},
        {"algorithm": "mondrian", "label": None, "sensitive": ["disease"]},
    ],
    ids=str,
)
def test_a_label_that_is_bounded_or_that_all_may_know_is_fine(parts):
    assert warnings(**parts)[1] == []


def test_a_method_that_goes_with_no_other_is_not_told_to_take_one():
    [alone] = warnings(method="probabilistic-k-anonymity")[1]
    assert "l-diversity" not in alone.hint
