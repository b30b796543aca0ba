"""Offers that are accepted: the agreements that they describe."""

import json

import pytest
from building import DATASET, people_policy
from policy_texts import CONTEXT, COUNT, ex, odrl
from typer.testing import CliRunner

from policy_engine import agree, apply_policy, compare_policies
from policy_engine.cli import app
from policy_engine.decision import Decider, Request, World
from policy_engine.errors import PolicyError
from policy_engine.policy import Reading, read_hierarchy, read_policy
from policy_engine.policy.collecting.ending import ended
from policy_engine.policy.naming import Names
from policy_engine.policy.syntax.rdf import convert_text

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
    [found] = Reading().policies_in_force(tmp_path)
    assert found.uid == ex("agreement")
    with pytest.raises(PolicyError, match=r"P021 .* is not an Offer, but of type 'Agreement'"):
        agree(made, ex("Ann"))


def test_the_offer_in_force_is_taken_from_a_folder_and_from_a_registry(tmp_path):
    (tmp_path / "offer.jsonld").write_text(offer(ANN))
    (tmp_path / "old.jsonld").write_text(offer(ANN, permission=READS))
    entries = [
        {"uid": ex("offer"), "version": 1, "file": "old.jsonld"},
        {"uid": ex("offer"), "version": 2, "file": "offer.jsonld"},
    ]
    registry = tmp_path / "registry.json"
    registry.write_text(json.dumps({"policies": entries}))
    made = agree(tmp_path / "offer.jsonld", ex("Ann"))
    assert agree(tmp_path, ex("Ann")) == agree(str(registry), ex("Ann")) == made
    registry.unlink()
    (tmp_path / "old.jsonld").unlink()
    assert agree(tmp_path, ex("Ann")) == made
    (tmp_path / "other.jsonld").write_text(offer(ANN, uid="ex:other"))
    with pytest.raises(PolicyError, match="P001 One policy is expected"):
        agree(tmp_path, ex("Ann"))


ENDING = {"pe:endsWith": {"@id": "ex:offer"}}


def agreed(*nodes, **keys):
    """Return an offer that Ann accepted, with which the agreement ends, and the agreement."""
    proposed = offer(ANN, *nodes, **{**ENDING, **keys})
    return proposed, agree(proposed, ex("Ann"), uid=ex("agreement"))


def denied(*texts, who="Ann"):
    policies = [read_policy(text) for text in texts]
    known = {rule.uid or rule.label(): 1 for one in policies for rule in one.permissions}
    asked = Request(assignee=ex(who), action=odrl("read"), targets=(ex("T"),))
    found = Decider(policies).decide(asked, World(counts=known))
    assert not found.permitted
    return found.reason


def test_an_agreement_may_end_with_its_offer():
    proposed, made = agreed()
    found = read_policy(made)
    assert (found.ends_with, found.accepted) == ((ex("offer"),), read_policy(proposed).digest)
    assert answer(proposed, made) == "permit"
    ends = f"{ex('agreement')} is void: it ends with {ex('offer')}, which "
    assert f"{ends}is not among the policies in force" in denied(made)
    changed = proposed.replace('"rightOperand": 5', '"rightOperand": 4')
    assert f"{ends}says other things than what was accepted" in denied(changed, made)
    assert answer(json.dumps(json.loads(proposed), indent=7), made) == "permit"


def test_an_agreement_ends_with_what_its_offer_ends_with():
    frame = policy_text("frame")
    proposed, made = agreed(**{"pe:endsWith": [{"@id": ex("offer")}, {"@id": ex("frame")}]})
    assert answer(frame, proposed, made) == "permit"
    assert f"{ex('frame')}, which is not among" in denied(proposed, made)
    other = policy_text("other", **{"pe:endsWith": {"@id": ex("agreement")}})
    void = {one.uid for one in map(read_policy, (proposed, made, other))}
    assert set(ended([read_policy(one) for one in (proposed, made, other)])) == void
    assert ended([read_policy(one) for one in (frame, proposed, made, other)]) == {}


def policy_text(name, **keys):
    rule = {"target": "ex:T", "action": "print", "assigner": "ex:Hospital"}
    policy = {"@type": "Set", "uid": ex(name), "permission": rule, **keys}
    return json.dumps({"@context": CONTEXT, "profile": MC, **policy})


MC = "https://www.mosaicrown.eu/ns/mosaicrown/1/"


@pytest.mark.parametrize(
    ("entry", "effect"),
    [
        ({}, "permit"),
        ({"status": "withdrawn"}, "deny"),
        ({"status": "replaced"}, "deny"),
        ({"until": "2026-01-01"}, "deny"),
        ({"from": "2999-01-01"}, "deny"),
    ],
)
def test_an_agreement_ends_when_its_offer_does_in_the_registry(tmp_path, entry, effect):
    proposed, made = agreed()
    (tmp_path / "offer.jsonld").write_text(proposed)
    (tmp_path / "agreed.jsonld").write_text(made)
    entries = [
        {"uid": ex("offer"), "version": 1, "file": "offer.jsonld", **entry},
        {"uid": ex("agreement"), "version": 1, "file": "agreed.jsonld"},
    ]
    (tmp_path / "registry.json").write_text(json.dumps({"policies": entries}))
    found = Reading().policies_in_force(tmp_path)
    asked = Request(assignee=ex("Ann"), action=odrl("read"), targets=(ex("T"),))
    known = {rule.uid or rule.label(): 1 for one in found for rule in one.permissions}
    assert Decider(found).decide(asked, World(counts=known)).effect == effect


def test_prohibitions_of_an_agreement_that_ended_hold():
    barred = {"target": "ex:T", "action": "print", "uid": "ex:no"}
    _, made = agreed(prohibition=barred, conflict="prohibit")
    asked = Request(assignee=ex("Ann"), action=odrl("print"), targets=(ex("T"),))
    policies = [read_policy(one) for one in (made, policy_text("other"))]
    decision = Decider(policies).decide(asked)
    assert (decision.permitted, decision.policy) == (False, ex("agreement"))


def test_nothing_is_made_by_an_agreement_that_ended(tmp_path):
    text = people_policy(uid=ex("agreement"), **{"pe:endsWith": {"@id": ex("offer")}})
    with pytest.raises(PolicyError, match=r"P012 The policy .* is void: it ends with"):
        apply_policy(json.loads(text), {DATASET: tmp_path / "none.csv"})


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        ({"pe:endsWith": "ex:offer"}, "P007"),
        ({"pe:endsWith": {"@id": "offer"}}, "L006"),
        ({**ENDING, "pe:acceptedDigest": "abc"}, "P007"),
        ({**ENDING, "pe:acceptedDigest": ["0" * 64, "1" * 64]}, "P007"),
        ({"pe:endWith": {"@id": "ex:offer"}}, "P005"),
    ],
)
def test_what_a_policy_ends_with_is_read_strictly(keys, code):
    with pytest.raises(PolicyError, match=code):
        read_policy(offer(ANN, **keys))


def test_what_a_policy_ends_with_is_of_the_profile():
    text = json.loads(policy_text("one", **ENDING))
    del text["profile"]
    text["@context"] = [CONTEXT[0], CONTEXT[2], {"pe": "https://w3id.org/policy-engine/ns#"}]
    with pytest.raises(PolicyError, match="P009"):
        read_policy(json.dumps(text))


def test_a_change_of_what_a_policy_ends_with_may_do_both():
    one, other = (read_policy(offer(ANN, **keys)) for keys in ({}, ENDING))
    assert one.digest != other.digest
    [change] = compare_policies(one, other).changes
    assert (change.what, change.tendency) == ("policy that it ends with added", "either")


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


def test_of_an_agreement_to_make_something_is_said_that_it_stands_alone(tmp_path):
    made = {**READS, "action": "derive", "output": "ex:Safe", "assignee": "ex:Ann"}
    (tmp_path / "offer.jsonld").write_text(offer(permission=made))
    run = CliRunner().invoke
    done = run(app, ["agree", str(tmp_path / "offer.jsonld"), "--as", "ex:Ann"])
    assert done.exit_code == 0
    assert done.stderr.startswith(f"note: {ex('Safe')} is made by one policy alone")
    (tmp_path / "offer.jsonld").write_text(offer(ANN))
    assert run(app, ["agree", str(tmp_path / "offer.jsonld"), "--as", "ex:Ann"]).stderr == ""


def test_an_agreement_keeps_the_prefixes_of_its_offer():
    declared = [*CONTEXT, {"own": "http://own.org/"}] if isinstance(CONTEXT, list) else CONTEXT
    proposed = offer(ANN).replace(json.dumps(CONTEXT), json.dumps(declared))
    found = read_policy(agree(proposed, ex("Ann")))
    names = Names([found])
    assert (names.full("ex:Ann"), names.full("own:x")) == (ex("Ann"), "http://own.org/x")


def test_a_prefix_that_would_change_what_an_agreement_means_is_not_kept():
    policy = json.loads(offer(permission=READS))["@graph"][0]
    policy |= {"@context": [*CONTEXT, {"tag": "http://own.org/"}]}
    part = {"@context": CONTEXT, "uid": "tag:e.org,2020:T", "partOf": "tag:e.org,2020:All"}
    made = json.loads(agree(json.dumps([policy, part]), ex("Ann")))
    assert "tag" not in made["@context"][-1]
    assert made["@graph"][1]["partOf"] == "tag:e.org,2020:All"


def test_agree_says_how_its_duties_are_fulfilled_and_a_denial_too(tmp_path):
    file, made = tmp_path / "offer.jsonld", tmp_path / "agreed.jsonld"
    file.write_text(offer(ANN, permission={**READS, "duty": DUTY}))
    told = CliRunner().invoke(app, ["agree", str(file), "--as", "ex:Ann", "--output", str(made)])
    [rule] = read_policy(made.read_text()).permissions
    [duty] = rule.duties
    done = f"note: its duty odrl:compensate is to be fulfilled: fulfil --duty '{duty.uid}'"
    assert done in told.stderr
    asked = Request(assignee=ex("Ann"), action=odrl("read"), targets=(ex("T"),))
    found = Decider([read_policy(made.read_text())]).decide(asked, World(counts={rule.uid: 1}))
    assert f"its duty odrl:compensate is outstanding ({duty.uid})" in found.reason
