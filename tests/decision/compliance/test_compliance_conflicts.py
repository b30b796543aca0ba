"""The conflict strategy of a policy in its reports (ODRL Information Model 2.2, section 2.10)."""

import json

import pytest
from compliance_texts import PARTS, policy, request, world

from policy_engine.decision.compliance import compliance_report

NOT = ":policy odrl:prohibition :not . :not odrl:target :ward ; odrl:action odrl:use ."
VOID = "a permission and a prohibition of the policy conflict: it is void"


def with_strategy(strategy, more=NOT, of_rule=PARTS):
    said = f":policy odrl:conflict odrl:{strategy} . " if strategy else ""
    return policy(of_rule, more=said + more)


def rules(text, request_text=None, world_text=None, **owners):
    [report] = compliance_report(
        text, request_text or request(), world_text or world(), **owners
    ).policies
    return report.rules


def active(*given, **owners):
    return [(one.kind, one.active) for one in rules(*given, **owners)]


PERMITTED = [("Permission", True), ("Prohibition", False)]
PROHIBITED = [("Permission", False), ("Prohibition", True)]


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [("perm", PERMITTED), ("prohibit", PROHIBITED), ("invalid", PROHIBITED), ("", PROHIBITED)],
)
def test_strategy_says_which_of_two_rules_is_active(strategy, expected):
    assert active(with_strategy(strategy)) == expected


@pytest.mark.parametrize(
    ("strategy", "reason"),
    [
        ("perm", "http://example.com/rule permits the request"),
        ("prohibit", "http://example.com/not prohibits the request"),
        ("invalid", VOID),
    ],
)
def test_report_says_by_which_strategy_a_rule_does_not_hold(strategy, reason):
    report = compliance_report(with_strategy(strategy), request(), world())
    why = f"The conflict strategy {strategy!r} overrides it: {reason}."
    assert f'rdfs:comment "{why}"' in report.to_turtle()
    assert f'"comment": "{why}"' in json.dumps(report.to_json())
    lost = [one for one in rules(with_strategy(strategy)) if one.reason]
    assert [all(part.state == "satisfied" for part in one.premises) for one in lost] == [True]


@pytest.mark.parametrize("strategy", ["perm", "prohibit", "invalid"])
def test_rules_that_do_not_meet_are_left_alone(strategy):
    apart = NOT.replace(":ward", ":pharmacy")
    assert active(with_strategy(strategy, apart)) == PERMITTED


@pytest.mark.parametrize(("strategy", "is_active"), [("invalid", False), ("prohibit", True)])
def test_void_policy_permits_nothing_at_all(strategy, is_active):
    sells = f"{NOT} :policy odrl:permission :sale . :sale odrl:action odrl:sell ."
    elsewhere = request("odrl:sell", target=":pharmacy")
    found = {one.rule: one.active for one in rules(with_strategy(strategy, sells), elsewhere)}
    assert found["http://example.com/sale"] is is_active


def test_world_may_make_a_policy_void():
    text = with_strategy("invalid", NOT.replace(":ward", ":hospital"))
    assert active(text) == PERMITTED
    within = world(":ward odrl:partOf :hospital .")
    assert active(text, request(), within) == PROHIBITED


def test_prohibition_that_may_apply_is_lifted_by_perm_alone():
    limit = "odrl:leftOperand odrl:spatial ; odrl:operator odrl:eq ; odrl:rightOperand :home"
    more = f"{NOT} :not odrl:constraint [ {limit} ] ."
    assert active(with_strategy("perm", more)) == PERMITTED
    assert active(with_strategy("prohibit", more)) == PROHIBITED


def test_policy_in_the_mosaicrown_profile_denies_where_it_says_nothing():
    profile = ":policy odrl:profile <https://www.mosaicrown.eu/ns/mosaicrown/1/> ."
    [permission, _] = rules(with_strategy("", f"{NOT} {profile}"))
    assert "'prohibit'" in permission.reason


def test_nobody_lifts_what_another_owner_prohibits():
    ward = {"owner": "http://example.com/a", "regulators": ["http://example.com/b"]}
    for issuer, expected in ((":a", PERMITTED), (":b", PROHIBITED)):
        theirs = f"{NOT} :rule odrl:assigner :a . :not odrl:assigner {issuer} ."
        text = with_strategy("perm", theirs)
        assert active(text) == PERMITTED
        assert active(text, owners={"http://example.com/ward": ward}) == expected


def test_void_policy_lets_nobody_speak_for_its_owner():
    owners = {"http://example.com/ward": "http://example.com/other"}
    leave = ":lets a odrl:Set ; odrl:permission :leave . :leave odrl:assigner :other ;"
    leave += " odrl:target :ward ; odrl:assignee :hospital ; odrl:action odrl:grantUse ."
    clash = ":lets odrl:prohibition :never . :never odrl:assigner :stranger ; odrl:target :ward ;"
    clash += " odrl:action odrl:grantUse ."
    for more, expected in ((leave, True), (f"{leave} {clash}", False)):
        text = policy(f"{PARTS} ; odrl:assigner :hospital", more=more)
        [first, *_] = compliance_report(text, request(), world(), owners=owners).policies
        assert [one.active for one in first.rules] == [expected]
