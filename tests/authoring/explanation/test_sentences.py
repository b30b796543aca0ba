import pytest
from building import permission, policy

from policy_engine.authoring.explanation import policy_sentences
from policy_engine.policy import load_policies, load_policy

READ = {"assignee": "http://x.org/ada", "target": "http://x.org/Visit", "action": "read"}
ON_TERMS = {"leftOperand": "count", "operator": "lteq", "rightOperand": 3}


def sentences(text):
    return policy_sentences(load_policy(text))


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ({}, "ada may read Visit."),
        ({"assignee": None}, "Anybody may read Visit."),
        ({"purpose": "marketing"}, "ada may read Visit, for the purpose marketing."),
        ({"constraint": [ON_TERMS]}, "ada may read Visit, only if count ≤ 3."),
        (
            {"target": ["http://x.org/Visit", "http://x.org/Town"], "action": ["read", "print"]},
            "ada may read Visit and Town or print Visit and Town.",
        ),
    ],
)
def test_a_permission_is_a_sentence(rule, sentence):
    text = policy([permission(**{"purpose": None} | READ | rule)])
    assert sentences(text)[0] == sentence


def test_a_prohibition_says_what_must_not_be_done():
    rule = {"assignee": "http://x.org/bob", "target": "http://x.org/Visit", "action": "distribute"}
    assert sentences(policy([], [rule]))[0] == "bob must not distribute Visit."


def test_duties_come_before_what_they_are_for():
    rule = permission(**READ, purpose=None, duty=[{"action": "inform"}])
    assert sentences(policy([rule]))[1] == "Before that, ada must inform."


def test_nothing_else_is_permitted_and_an_offer_grants_nothing():
    text = policy([permission(**READ, assigner="http://x.org/owner")])
    assert sentences(text)[-1] == "Whatever no rule permits is denied."
    offer = sentences(text.replace('"Set"', '"Offer"'))
    assert offer[-1] == "It is an offer: until somebody accepts it, it grants nothing."


def test_a_transformation_says_what_becomes_of_columns_and_who_reads_the_result():
    first, second, _ = policy_sentences(load_policy("policies/customer.jsonld"))
    assert first == (
        "user may anonymize Customer with l-diversity, k = 10, l = 3, dropping CustomerID, "
        "FirstName and LastName, generalising ZIP, BirthDate and TransactionTime, keeping the "
        "sensitive Amount and StoreCategory, for the purpose marketing."
    )
    assert second == (
        "What comes of it, anonCustomer, user may read for the purpose marketing once it is "
        "certified, but not the data that it is made of."
    )


def test_an_attack_says_what_it_must_show():
    texts = policy_sentences(load_policy("policies/generator-release.jsonld"))
    assert texts[0].startswith("researcher may train on Adult with ")
    assert texts[3] == (
        "Before that, researcher must have it attacked by membership inference (fpr = 0.01, "
        "holdoutShare = 0.5), which must show auc ≤ 0.55, tprAtFpr ≤ 0.03 and excessCopies ≤ 0.1."
    )


def test_long_lists_of_columns_are_cut():
    texts = policy_sentences(load_policies("policies/guided-adult.jsonld")[0])
    assert "race, sex and 4 others" in texts[0]
