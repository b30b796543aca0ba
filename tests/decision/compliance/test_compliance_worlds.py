"""What the world tells of assets, parties and the time, which nobody's claim replaces."""

import json

import pytest
from compliance_texts import constrained, limit, policy, request, world

from policy_engine.decision.compliance import compliance_report

IN_ITALY = f"odrl:refinement [ {limit('odrl:spatial', 'eq', ':IT')} ]"
OF_NURSES = f"odrl:assignee [ odrl:source :nurse ; {IN_ITALY} ] ; odrl:action odrl:read"
FRANCE, ITALY = ":nurse odrl:spatial :FR .", "[ odrl:uid :nurse ; odrl:spatial :IT ] ."


def active(text, asked=None, told=None):
    """Return which rules of the first policy are active, by kind."""
    report = compliance_report(text, asked or request(), told or world()).policies[0]
    return {rule.kind: rule.active for rule in report.rules}


# -- assets that only the policy names --------------------------------------------------------


def test_prohibition_on_some_of_an_asset_applies_if_the_policy_names_parts_of_it():
    fine = {"leftOperand": "resolution", "operator": "eq", "rightOperand": 18}
    rules = {
        "permission": [{"target": one, "action": "read"} for one in ("ex:d", "ex:d/ward")],
        "prohibition": [{"target": {"source": "ex:d", "refinement": [fine]}, "action": "read"}],
    }
    context = ["http://www.w3.org/ns/odrl.jsonld", {"ex": "http://example.com/"}]
    head = {"@context": context, "@type": "Set", "uid": "ex:p", "conflict": "prohibit"}
    coarse = world(":d odrl:resolution 5 .")
    found = active(json.dumps(head | rules), request(target=":d"), coarse)
    assert found == {"Permission": False, "Prohibition": True}


# -- several descriptions of one thing --------------------------------------------------------


@pytest.mark.parametrize("told", [FRANCE + ITALY, ITALY + FRANCE])
def test_what_two_descriptions_of_a_party_say_is_several_values(told):
    assert active(policy(OF_NURSES), told=world(told)) == {"Permission": False}
    assert active(policy(OF_NURSES, "prohibition"), told=world(told)) == {"Prohibition": True}
    assert active(policy(OF_NURSES), told=world(ITALY)) == {"Permission": True}


@pytest.mark.parametrize("first", ["IT", "FR"])
def test_what_two_descriptions_of_a_reference_say_is_several_values(first):
    second = {"IT": "FR", "FR": "IT"}[first]
    of = "odrl:leftOperand odrl:spatial ; odrl:operator odrl:eq"
    text = constrained(f"{of} ; odrl:rightOperandReference :here")
    told = f":here rdf:value :{first} . [ odrl:uid :here ; rdf:value :{second} ] ."
    home = ":w a sotw:SotW ; odrl:spatial :IT ."
    assert active(text, told=world(f"{home} {told}")) == {"Permission": False}
    assert active(text, told=world(f"{home} :here rdf:value :IT ."))["Permission"]
