"""Outputs of rules that anonymise, of rules that do not, and prohibitions of all below an IRI."""

import json
from datetime import UTC, datetime

import pytest
from building import ANALYST, DATASET, OUTPUT, people_policy
from certifying import certified

from policy_engine import apply_policy
from policy_engine.certificate.beside import load_certificate
from policy_engine.decision import Decider, Request, World
from policy_engine.plan.lineage import Consented
from policy_engine.policy import Action, Asset, Policy, Rule, read_policy
from policy_engine.policy.model import READ
from policy_engine.terms import ODRL, expand_term

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
MARKETING = expand_term("marketing")
RAW = "http://x.org/rawPeople"


def released(people, text):
    """Return a policy and the certificate of its release."""
    (people / "own.jsonld").write_text(text)
    apply_policy(people / "own.jsonld", {DATASET: people / "people.csv"}, people / "own")
    return read_policy(text), load_certificate(people / "own")


def is_read(policy, certificate, target, **world):
    request = Request(assignee=ANALYST, action=READ, targets=(target,), purpose=MARKETING)
    return Decider([policy], [certificate]).decide(request, World(time=NOON, **world)).permitted


@pytest.mark.parametrize(("day", "permitted"), [(1, True), (2, False)])
def test_who_reads_what_was_made_is_bound_by_what_bounds_its_making(
    certified_until, day, permitted
):
    policy, certificate = certified_until
    asked = Request(assignee=ANALYST, action=READ, targets=(OUTPUT,), purpose=MARKETING)
    world = World(time=datetime(2026, 6, day, tzinfo=UTC))
    found = Decider([policy], [certificate]).decide(asked, world)
    assert found.permitted == permitted
    assert found.rule == ("http://x.org/policy/1" if permitted else "")


@pytest.fixture(scope="module")
def certified_until():
    """Return a policy that ends on the second of June, and a certificate of what it makes."""
    text = json.loads(people_policy())
    end = {"@value": "2026-06-02T00:00:00Z", "@type": "xsd:dateTime"}
    until = {"leftOperand": "dateTime", "operator": "lt", "rightOperand": end}
    text["permission"][0]["constraint"] = until
    policy = read_policy(json.dumps(text))
    return policy, certified(policy)


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


def changed(step, **values):
    """Return a change of one step of a plan."""

    def change(plan):
        steps = [one.model_copy(update=values) if one.step == step else one for one in plan.steps]
        return plan.model_copy(update={"steps": tuple(steps)})

    return change


OTHERS = {
    "asset": changed("read", asset="http://x.org/other"),
    "identifiers": changed("drop", identifiers=()),
    **{
        name: lambda plan, name=name, value=value: plan.model_copy(update={name: value})
        for name, value in {
            "policy": "http://x.org/other",
            "rule": "http://x.org/other#rule",
            "assignees": ("http://x.org/other",),
            "purposes": (),
        }.items()
    },
}


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_a_certificate_of_another_plan_proves_nothing(people, change):
    policy, certificate = released(people, people_policy())
    assert is_read(policy, certificate, OUTPUT)
    other = certificate.model_copy(update={"plan": change(certificate.plan)})
    request = Request(assignee=ANALYST, action=READ, targets=(OUTPUT,), purpose=MARKETING)
    found = Decider([policy], [other]).decide(request, World(time=NOON))
    assert not found.permitted
    assert "for a different plan" in found.reason


CONSENT = Consented(asset=DATASET, policy="urn:p", rule="urn:r", bounds=())
OF_DATA = {
    "engine": lambda plan: plan.model_copy(update={"engine": "spark"}),
    "order": changed("read", columns=("disease", "city", "age")),
    "consent": lambda plan: plan.model_copy(update={"by_consent": (CONSENT,)}),
    "columns": changed("publish", columns=("disease", "city", "age"), cells="bounds"),
}


@pytest.mark.parametrize("change", OF_DATA.values(), ids=OF_DATA)
def test_what_a_plan_takes_from_data_or_engine_is_nothing_to_a_decision(people, change):
    policy, certificate = released(people, people_policy())
    other = certificate.model_copy(update={"plan": change(certificate.plan)})
    assert is_read(policy, other, OUTPUT)
