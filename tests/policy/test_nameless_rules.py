"""Rules without uid are known by what they mean, in whatever order and syntax a text is written."""

import json

import pytest
from building import MOSAICROWN, ODRL
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine import load_policy
from policy_engine.api.deciding import fulfil_duty
from policy_engine.decision import Decider, World, read_world
from policy_engine.decision.history import Deed, History
from policy_engine.decision.log import DecisionLog
from policy_engine.decision.requests import read_request
from policy_engine.policy.labels import is_made_up
from policy_engine.policy.syntax.rdf.converting import convert_text

E = "http://example.com/"
ONCE = {"leftOperand": "count", "operator": "lteq", "rightOperand": 1}
VISITS = {"target": "ex:Visits", "action": "read", "constraint": ONCE}
CLAIMS = {"target": "ex:Claims", "action": "read", "constraint": ONCE}
TELL = {"action": "inform", "informedParty": "ex:Office"}
PAY = {"action": "compensate", "compensatedParty": "ex:Hospital"}
ABLE = [
    {"leftOperand": "industry", "operator": "isAnyOf", "rightOperand": ["ex:Health", "ex:Care"]},
    {"leftOperand": "event", "operator": "lt", "rightOperand": "ex:End"},
]
NEW = [
    {"leftOperand": "version", "operator": "gteq", "rightOperand": 2},
    {"leftOperand": "media", "operator": "eq", "rightOperand": "ex:Table"},
]
HERE = [
    {"leftOperand": "spatial", "operator": "eq", "rightOperand": "ex:EU"},
    {"leftOperand": "product", "operator": "eq", "rightOperand": "ex:Enclave"},
]
RULES = [
    VISITS,
    CLAIMS,
    VISITS,
    {"target": "ex:Visits", "action": "print", "duty": [TELL, PAY]},
    {"target": "ex:Claims", "action": "print", "duty": [PAY, {**TELL, "consequence": PAY}]},
    {
        "assignee": [
            "ex:Ann",
            {"@type": "PartyCollection", "source": "ex:Lab", "refinement": ABLE},
        ],
        "target": ["ex:Visits", {"@type": "AssetCollection", "source": "ex:A", "refinement": NEW}],
        "action": [{"rdf:value": {"@id": "odrl:read"}, "refinement": HERE}, "print"],
        "purpose": ["ex:Study", "ex:Care"],
        "constraint": [ONCE, {"or": [*NEW, {"and": [*ABLE, *HERE]}]}, {"xone": [*HERE, *NEW]}],
        "duty": [
            {"action": ["inform", "compensate"], "target": ["ex:Visits", "ex:A"]},
            {"action": ["nextPolicy", "ensureExclusivity"]},
        ],
    },
]


def turned(node, random):
    """Return a text in which every list is in another order, but those where order tells."""
    if isinstance(node, dict):
        return {
            key: value if key == "andSequence" else turned(value, random)
            for key, value in node.items()
        }
    if isinstance(node, list):
        return random.sample([turned(one, random) for one in node], len(node))
    return node


def text(*permissions, **parts):
    whole = {
        "@context": [ODRL, MOSAICROWN, {"ex": E}],
        "@type": "Set",
        "uid": "ex:p",
        "profile": "https://www.mosaicrown.eu/ns/mosaicrown/1/",
        "permission": list(permissions),
        **parts,
    }
    return {key: value for key, value in whole.items() if value != []}


def reads(policy, log, asset="Visits"):
    """Tell whether Ann may read an asset by a policy and a log, which takes it up."""
    request = read_request(f"{E}Ann", "read", [f"{E}{asset}"])
    return DecisionLog.open(log).decide(Decider([load_policy(policy)]), request, World()).permitted


def named(policy):
    """Return the labels of all rules of a policy, with what each says."""
    rules = [rule for one in policy.rules for rule in (one, *one.all_nested_rules())]
    return sorted(
        (rule.label(), sorted(part.iri for part in (*rule.actions, *rule.targets)))
        for rule in rules
    )


@settings(max_examples=examples(25))
@given(st.permutations(RULES), st.randoms(use_true_random=False))
def test_an_order_changes_no_name(rules, random):
    found, written = load_policy(text(*turned(rules, random))), load_policy(text(*RULES))
    assert (found.digest, named(found)) == (written.digest, named(written))
    labels = [label for label, _ in named(found)]
    assert len({*labels}) == len(labels) == 13
    assert all(map(is_made_up, labels))


def test_what_was_spent_stays_spent_however_the_text_is_written(tmp_path):
    log = tmp_path / "log.jsonl"
    assert reads(text(VISITS, CLAIMS), log)
    without_context = {**text(CLAIMS, VISITS)}
    graph = {"@context": without_context.pop("@context"), "@graph": [without_context]}
    turtle = tmp_path / "p.ttl"
    turtle.write_text(convert_text(json.dumps(text(VISITS, CLAIMS)), "json-ld", "turtle"))
    for again in (text(CLAIMS, VISITS), json.dumps([text(VISITS, CLAIMS)]), graph, turtle):
        assert not reads(again, log)
    assert reads(text(CLAIMS, VISITS), log, "Claims")


BOTH = {"target": ["ex:Visits", "ex:Claims"], "action": ["read", "print"]}


def backwards(rule):
    return {key: value[::-1] if isinstance(value, list) else value for key, value in rule.items()}


def test_a_count_and_a_duty_outlast_the_order_of_targets_and_actions(tmp_path):
    log, paid = tmp_path / "log.jsonl", tmp_path / "paid.jsonl"
    once = {**BOTH, "constraint": ONCE}
    assert reads(text(once), log)
    assert not reads(text(backwards(once)), log)
    duty = {**BOTH, "action": ["inform", "compensate"]}
    owing, owed = text({**VISITS, "duty": duty}), text({**VISITS, "duty": backwards(duty)})
    [name] = [one.label() for one in load_policy(owing).duties]
    fulfil_duty([owing], name, f"{E}Ann", paid)
    assert reads(owed, paid)


def test_a_bound_that_prohibits_outlasts_the_order_of_actions(tmp_path):
    log = tmp_path / "log.jsonl"
    free = {"uid": "ex:r", "target": "ex:Visits", "action": "read"}
    more = {**BOTH, "constraint": {**ONCE, "operator": "gt"}}
    assert reads(text(free, prohibition=more), log)
    assert not reads(text(free, prohibition=backwards(more)), log)


def test_a_duty_done_for_one_rule_pays_for_no_other(tmp_path):
    log = tmp_path / "log.jsonl"
    visits = {"target": "ex:Visits", "action": "read", "duty": TELL}
    secret = {"target": "ex:Secret", "action": "read", "duty": PAY}
    fulfil_duty([text(visits, secret)], "duty /permission/0/duty", f"{E}Ann", log)
    for policy in (text(visits, secret), text(secret, visits)):
        assert reads(policy, log)
        assert not reads(policy, log, "Secret")


def test_a_bound_that_changed_is_counted_by_no_name(tmp_path):
    log = tmp_path / "log.jsonl"
    assert reads(text(VISITS), log)
    assert not reads(text({**VISITS, "constraint": {**ONCE, "rightOperand": 2}}), log)


def test_what_is_inherited_is_known_by_what_its_parent_says():
    def heir(*rules):
        parent = load_policy(text(*rules, uid="ex:parent"))
        return load_policy(text(inheritFrom="ex:parent"), parents=[parent])

    assert named(heir(VISITS, CLAIMS)) == named(heir(CLAIMS, VISITS))
    assert all(is_made_up(label) for label, _ in named(heir(VISITS, CLAIMS)))


def test_a_world_names_a_rule_by_where_it_stands_in_the_text_at_hand():
    policy = load_policy(text(VISITS, CLAIMS))
    for given_by in ({"permission /permission/1": 1}, {"ex:p": {"permission /permission/1": 1}}):
        counts = read_world({"counts": given_by}, policies=[policy]).counts
        assert [*counts.get(f"{E}p", counts)] == [policy.permissions[1].label()]


@pytest.mark.parametrize(("rules", "known"), [((VISITS,), True), ((VISITS, CLAIMS), False)])
def test_entries_that_say_where_a_rule_stood_count_where_one_can_be_meant(rules, known):
    policy, history = load_policy(text(*rules)), History()
    old = policy.uid, "permission /permission"
    history.record_execution(old, f"{E}Bob", "read", [f"{E}Visits"], [policy.digest])
    found = history.labels(policy, policy.permissions[0])
    assert found == ((policy.permissions[0].label(), old[1]) if known else None)


@pytest.mark.parametrize(
    ("duties", "states"), [((TELL,), ["fulfilled", "violated"]), ((TELL, PAY), ["violated"])]
)
def test_deeds_that_say_where_a_duty_stood_are_believed_where_one_can_be_meant(duties, states):
    policy = load_policy(text({"target": "ex:Visits", "action": "read", "duty": [*duties]}))
    history, time = History(), read_world({"time": "2026-01-01"}).time
    for state in ("fulfilled", "violated"):
        deed = Deed(state, f"{E}Ann", time, policy.digest)
        history.record_deed(policy.uid, "duty /permission/duty", deed)
    duty = policy.permissions[0].duties[0]
    assert [one.state for one in history.duty_deeds(policy, duty)] == states
