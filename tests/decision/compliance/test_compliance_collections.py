"""Collections with refinements, which hold wherever a rule names them."""

import pytest
from compliance_texts import PREFIXES, constrained, limit, policy, request, world

from policy_engine.decision.compliance import compliance_report
from policy_engine.errors import PolicyEngineError, RequestError
from policy_engine.policy.hierarchy import Hierarchy

IN_ITALY = f"odrl:refinement [ {limit('odrl:spatial', 'eq', ':IT')} ]"
COLLECTION = f":coll odrl:source :staff ; {IN_ITALY} ."
STAFF = ":nurse odrl:partOf :staff ."
ABROAD = f"{STAFF} :nurse odrl:spatial :FR ."
OF_BIG = "odrl:assignee :big ; odrl:target :ward ; odrl:action odrl:read"
OF_COLL = OF_BIG.replace(":big", ":coll")
HELD = f":policy odrl:permission [ {OF_COLL} ] ."
ASKED = f":q a odrl:Request ; odrl:permission [ {OF_COLL} ] ."
NAMELESS = f"[ odrl:source :staff ; odrl:partOf :big ; {IN_ITALY} ]"


def refusal(text, told):
    with pytest.raises(PolicyEngineError) as caught:
        compliance_report(text, request(), told)
    [problem] = caught.value.problems
    assert "has refinements" in problem.message
    return problem.code


@pytest.mark.parametrize("held", [HELD, ASKED])
@pytest.mark.parametrize(
    ("said", "told"), [(":coll odrl:partOf :big .", ""), ("", ":coll odrl:partOf :big .")]
)
def test_refined_collection_that_is_a_part_of_another_is_refused(held, said, told):
    for kind in ("permission", "prohibition"):
        text = policy(OF_BIG, kind, f"{COLLECTION} {held} {said}")
        assert refusal(text, world(f"{ABROAD} {told}")) == "P015"


def test_nameless_refined_collection_that_is_a_part_of_another_is_refused():
    more = f":policy odrl:permission [ {OF_BIG.replace(':big', NAMELESS)} ] ."
    assert refusal(policy(OF_BIG, more=more), world(ABROAD)) == "P015"


def test_refined_collection_of_assets_that_is_a_part_of_another_is_refused():
    rule = "odrl:assignee :nurse ; odrl:target %s ; odrl:action odrl:read"
    collection = f":coll odrl:source :ward ; odrl:partOf :big ; {IN_ITALY} ."
    more = f"{collection} :policy odrl:permission [ {rule % ':coll'} ] ."
    assert refusal(policy(rule % ":big", more=more), world(":ward odrl:spatial :FR .")) == "P015"


@pytest.mark.parametrize("collection", [COLLECTION, f"{NAMELESS} ."])
def test_refined_collection_that_only_the_world_describes_is_refused(collection):
    with pytest.raises(RequestError, match=r"D003 The world says .* lost: 'odrl:refinement'"):
        compliance_report(policy(OF_COLL), request(), world(f"{ABROAD} {collection}"))


def test_refined_collection_that_a_value_is_compared_with_is_refused():
    more = f"{COLLECTION} {HELD}"
    text = constrained(limit("odrl:recipient", "isPartOf", ":coll"), more=more)
    assert refusal(text, world(ABROAD)) == "P015"
    of = "odrl:leftOperand odrl:recipient ; odrl:operator odrl:isPartOf"
    text = constrained(f"{of} ; odrl:rightOperandReference :here", more=more)
    assert refusal(text, world(f"{ABROAD} :here rdf:value :coll .")) == "P015"


@pytest.mark.parametrize(("place", "is_active"), [("IT", True), ("FR", False)])
def test_refined_collection_holds_where_a_rule_names_it(place, is_active):
    text = policy(OF_COLL, more=COLLECTION)
    told = f":nurse odrl:spatial :{place} . {STAFF}"
    of_world = world(told).removeprefix(PREFIXES)
    combined = f"{text} {of_world}"
    for policies, known in ((text, world(told)), (combined, combined)):
        [report] = compliance_report(policies, request(), known).policies
        assert [rule.active for rule in report.rules] == [is_active]


def chain_steps(links, monkeypatch):
    """Return how many edges a report follows whose members are a chain, refined at its end."""
    steps, above = [], Hierarchy.above

    def counted(self, part, iri):
        steps.append(iri)
        return above(self, part, iri)

    monkeypatch.setattr(Hierarchy, "above", counted)
    chain = " ".join(f":m{at} odrl:partOf :m{at + 1} ; odrl:spatial :IT ." for at in range(links))
    text = policy(OF_COLL.replace(":coll", f"[ odrl:source :m{links} ; {IN_ITALY} ]"))
    for party in (":m0", f":m{links}"):
        [report] = compliance_report(text, request(party=party), world(chain)).policies
        assert [one.active for one in report.rules] == [True]
    monkeypatch.undo()
    return len(steps)


def test_members_in_a_chain_take_steps_by_its_links(monkeypatch):
    assert chain_steps(200, monkeypatch) <= 2.1 * chain_steps(100, monkeypatch)
