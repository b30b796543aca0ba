"""Outputs of rules that anonymise, of rules that do not, and prohibitions of all below an IRI."""

import json
from datetime import UTC, datetime

import pytest
from building import ANALYST, DATASET, OUTPUT, people_policy

from policy_engine import apply_policy
from policy_engine.certificate import load_certificate
from policy_engine.decision import Decider, Request, World
from policy_engine.policy import Action, Asset, Policy, Rule, read_policy
from policy_engine.policy.model import READ
from policy_engine.terms import ODRL, in_full

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
RAW = "http://x.org/rawPeople"


def released(people, text):
    """Return a policy and the certificate of its release."""
    (people / "own.jsonld").write_text(text)
    apply_policy(people / "own.jsonld", {DATASET: people / "people.csv"}, people / "own")
    return read_policy(text), load_certificate(people / "own")


def is_read(policy, certificate, target, **world):
    purpose = in_full("marketing")
    request = Request(assignee=ANALYST, action=READ, targets=(target,), purpose=purpose)
    return Decider([policy], [certificate]).decide(request, World(time=NOON, **world)).permitted


def test_certificate_of_one_output_is_none_of_another(people):
    text = json.loads(people_policy())
    other = {"assignee": ANALYST, "target": DATASET, "action": "aggregate", "output": RAW}
    reads = {"assignee": ANALYST, "target": RAW, "action": "read"}
    text["permission"] += [other, reads]
    policy, certificate = released(people, json.dumps(text))
    assert is_read(policy, certificate, OUTPUT)
    assert not is_read(policy, certificate, RAW)


@pytest.mark.parametrize("barred", ["http://e.org/d", "http://e.org/d/", "http://e.org/d/T/"])
def test_prohibition_of_an_iri_is_one_of_all_that_goes_on_from_it(barred):
    use = (Action(f"{ODRL}use"),)
    given = Rule("permission", (Asset("http://e.org/d/T"),), use, "urn:r:1")
    without = Policy("urn:p:0", f"{ODRL}Set", "prohibit", "abc", permissions=(given,))
    rule = Rule("prohibition", (Asset(barred),), use, "urn:r:2")
    policy = Policy(**{**vars(without), "prohibitions": (rule,)})
    asked = Request(assignee="http://org/a", action=READ, targets=("http://e.org/d/T/a",))
    assert Decider([without]).decide(asked).permitted
    assert not Decider([policy]).decide(asked).permitted
