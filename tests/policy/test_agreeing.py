"""Offers that are accepted: the agreements that they describe."""

import json

import pytest
from policy_texts import CONTEXT, COUNT, ex, odrl
from typer.testing import CliRunner

from policy_engine import agree
from policy_engine.cli import app
from policy_engine.decision import Decider, Request, World
from policy_engine.errors import PolicyError
from policy_engine.policy import Reading, read_hierarchy, read_policy
from policy_engine.policy.rdf import convert_text

READS = {"uid": "ex:offer#1", "target": "ex:T", "action": "read", "constraint": COUNT}
DUTY = {"uid": "ex:pay", "action": "compensate"}
WORLD = World(duties={ex("pay"): "fulfilled"}, counts={})


def offer(*nodes, **keys):
    policy = {"@type": "Offer", "uid": "ex:offer", "assigner": "ex:Hospital", **keys}
    policy = {"permission": {**READS, "assignee": "ex:Research"}, **policy}
    return json.dumps({"@context": CONTEXT, "@graph": [policy, *nodes]})


def answer(*texts, who="Ann", world=None):
    policies = [read_policy(text) for text in texts]
    known = {rule.uid or rule.label(): 1 for one in policies for rule in one.permissions}
    asked = Request(assignee=ex(who), action=odrl("read"), targets=(ex("T"),))
    return Decider(policies).decide(asked, world or World(counts=known)).effect


ANN = {"uid": "ex:Ann", "belongsTo": "ex:Research"}


def test_an_agreement_grants_what_the_offer_proposes_to_the_party_alone():
    proposed = offer(ANN, {"uid": "ex:Bob", "belongsTo": "ex:Research"})
    made = agree(proposed, ex("Ann"))
    assert answer(proposed) == "deny"
    assert answer(proposed, made) == "permit"
    assert answer(made) == "permit"
    assert answer(proposed, made, who="Bob") == "deny"
    found = read_policy(made)
    assert (found.type, found.uid) == (odrl("Agreement"), read_policy(made).uid)
    [rule] = found.permissions
    assert [one.iri for one in (*rule.assigners, *rule.assignees)] == [ex("Hospital"), ex("Ann")]
    assert rule.constraints == read_policy(proposed).permissions[0].constraints
    assert rule.uid not in ("", ex("offer#1"))
    [node] = [one for one in json.loads(made)["@graph"] if one["uid"] == found.uid]
    assert node["http://www.w3.org/ns/prov#wasDerivedFrom"] == {"@id": ex("offer")}


def test_an_agreement_stands_once_its_offer_is_withdrawn(tmp_path):
    proposed = offer(ANN)
    (tmp_path / "offer.jsonld").write_text(proposed)
    made = agree(tmp_path / "offer.jsonld", ex("Ann"), uid=ex("agreement"))
    (tmp_path / "agreed.jsonld").write_text(made)
    entries = [
        {"uid": ex("offer"), "version": 1, "file": "offer.jsonld", "status": "withdrawn"},
        {"uid": ex("agreement"), "version": 1, "file": "agreed.jsonld"},
    ]
    (tmp_path / "registry.json").write_text(json.dumps({"policies": entries}))
    [found] = Reading().in_force(tmp_path)
    assert found.uid == ex("agreement")
    with pytest.raises(PolicyError, match=r"P021 .* is no Offer, but of type 'Agreement'"):
        agree(made, ex("Ann"))


@pytest.mark.parametrize("party", ["ex:Bob", "ex:Press", "http://e.org/research"])
def test_who_an_offer_is_not_to_cannot_accept_it(party):
    with pytest.raises(
        PolicyError, match=r"P021 The offer .* is not to .* 'http://e.org/Research'"
    ):
        agree(offer(ANN), party)
    bob = json.dumps(
        {"@context": CONTEXT, "@graph": [{"uid": "ex:Bob", "belongsTo": "ex:Research"}]}
    )
    assert agree(offer(ANN), "ex:Bob", hierarchy=read_hierarchy(bob))


def test_whether_a_refined_group_has_the_party_in_it_cannot_be_told():
    trained = {"leftOperand": "ex:trained", "operator": "eq", "rightOperand": True}
    group = {"@type": "PartyCollection", "source": "ex:Research", "refinement": trained}
    with pytest.raises(PolicyError, match="P021"):
        agree(offer(ANN, permission={**READS, "assignee": group}), ex("Ann"))


def test_an_agreement_has_all_that_is_for_the_party_and_all_that_is_prohibited():
    proposed = offer(
        ANN,
        permission=[
            {**READS, "assignee": "ex:Press"},
            {
                "target": "ex:U",
                "action": "read",
                "duty": {**DUTY, "consequence": {"action": "delete"}},
            },
        ],
        prohibition=[
            {"target": "ex:T", "action": "sell"},
            {"assignee": "ex:Press", "target": "ex:T", "action": "use"},
        ],
        obligation={"assignee": "ex:Hospital", "action": "inform"},
    )
    made = read_policy(agree(proposed, "ex:Ann"))
    [given] = made.permissions
    assert [one.iri for one in given.targets] == [ex("U")]
    assert given.duties[0].uid not in ("", ex("pay"))
    parties = [[one.iri for one in rule.assignees] for rule in made.rules]
    assert parties == [[ex("Ann")], [ex("Ann")], [ex("Press")], [ex("Hospital")]]


def test_offers_of_every_syntax_become_agreements():
    proposed = offer(ANN, assignee="ex:Research", permission=READS)
    made = agree(proposed, ex("Ann"))
    assert [p.iri for p in read_policy(made).permissions[0].assignees] == [ex("Ann")]
    turtle = convert_text(proposed, "json-ld", "turtle")
    assert read_policy(turtle, syntax="turtle").digest == read_policy(proposed).digest


def test_the_command_writes_an_agreement_or_says_that_the_offer_is_to_others(tmp_path):
    path, output = tmp_path / "offer.jsonld", tmp_path / "agreed.jsonld"
    path.write_text(offer(ANN))
    run = CliRunner().invoke
    done = run(app, ["agree", str(path), "--as", "ex:Ann", "--output", str(output)])
    assert (done.exit_code, output.read_text()) == (0, agree(path, ex("Ann")))
    refused = run(app, ["agree", str(path), "--as", "ex:Bob"]).exception
    assert (refused.code, refused.exit_code) == ("P021", 1)
