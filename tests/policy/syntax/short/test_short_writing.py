"""JSON-LD in the short form, and back."""

import json
from pathlib import Path

import pytest

from policy_engine.errors import PolicyError
from policy_engine.policy import read_policy
from policy_engine.policy.canonical import digest_of
from policy_engine.policy.collecting.files import Reading
from policy_engine.policy.converting import convert_policy

POLICIES = sorted((Path(__file__).parents[4] / "policies").glob("*.jsonld"))
URLS = ["http://www.w3.org/ns/odrl.jsonld", "https://www.mosaicrown.eu/ns/mosaicrown.jsonld"]
RULE = {"target": "http://ex.com/T", "action": "read"}


def short(policy, name=""):
    text = policy if isinstance(policy, str) else json.dumps(policy)
    return convert_policy(text, "json-ld", "yaml", name, Reading())


def policy(context=URLS, **members):
    return {"@context": context, "@type": "Set", "uid": "http://ex.com/p", **members}


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.stem)
def test_policy_of_the_project_is_the_same_in_the_short_form(path):
    written = path.read_text()
    converted = short(written, str(path))
    digests = {digest_of(read_policy(converted, syntax="yaml")), digest_of(read_policy(written))}
    assert len(digests) == 1
    assert "leftOperand: mosaicrown" not in converted


def test_short_form_of_a_single_rule_has_no_list():
    constraint = {"leftOperand": "dateTime", "operator": "lt", "rightOperand": "2030-01-01"}
    rows = {"leftOperand": "http://ex.com/T/sex", "operator": "eq", "rightOperand": "F"}
    rule = {**RULE, "constraint": [constraint, rows]}
    assert short(policy(permission=rule)) == (
        "policy: http://ex.com/p\n"
        "target: http://ex.com/T\n"
        "action: read\n"
        "constraint:\n  dateTime: {lt: 2030-01-01}\n"
        "rows:\n  sex: {eq: F}\n"
    )


def test_columns_that_are_read_together_are_listed():
    rule = {**RULE, "target": ["http://ex.com/T/a", "http://ex.com/T/b"]}
    assert "target: http://ex.com/T\ncolumns: [a, b]\n" in short(policy(permission=rule))


def test_policy_of_odrl_alone_keeps_its_strategy():
    assert "conflict: invalid" in short(policy(URLS[0], permission=RULE))
    assert "conflict" not in short(policy(permission=RULE))


@pytest.mark.parametrize(
    "document",
    [
        {
            "@context": URLS,
            "@graph": [
                {"@type": "Set", "uid": f"http://ex.com/{name}", "permission": RULE}
                for name in "pq"
            ],
        },
        {"@context": URLS, "uid": "http://ex.com/a", "belongsTo": "http://ex.com/b"},
    ],
)
def test_what_is_not_one_policy_does_not_fit(document):
    with pytest.raises(PolicyError) as error:
        short(document)
    assert error.value.code == "F002"
