"""Duties: recorded as fulfilled or violated in a log, and listed with who owes them until when."""

import json
import re
from datetime import UTC, datetime

import pytest
from building import MOSAICROWN, ODRL
from typer.testing import CliRunner

from policy_engine.api.deciding import fulfil_duty, list_duties
from policy_engine.cli import app
from policy_engine.decision import Decider, World
from policy_engine.decision.deadlines import deadline
from policy_engine.decision.duties import Due
from policy_engine.decision.log import DecisionLog, LoggedDeed, read_log, verify_log
from policy_engine.decision.requests import read_request
from policy_engine.errors import RequestError
from policy_engine.policy import Hierarchy, InForce, read_policy
from policy_engine.terms import ODRL as ODRL_NS

E = "http://example.com/"
READ = {"uid": "ex:p#read", "target": "ex:Visits", "action": "read"}
PAY = {"uid": "ex:p#pay", "action": "compensate"}
JUNE = datetime(2026, 6, 1, 12, tzinfo=UTC)


def policy(**parts):
    text = {
        "@context": [ODRL, MOSAICROWN, {"ex": E}],
        "@type": "Set",
        "uid": "ex:p",
        "profile": "https://www.mosaicrown.eu/ns/mosaicrown/1/",
        "permission": READ,
        **parts,
    }
    return read_policy(json.dumps(text))


def until(day, operator="lteq", operand="dateTime", kind="xsd:date"):
    right = {"@value": day, "@type": kind}
    return {"leftOperand": operand, "operator": operator, "rightOperand": right}


class Market:
    """A log, and the policies that it is used with."""

    def __init__(self, folder, *policies):
        self.policies, self.log = policies, folder / "log.jsonl"

    def ask(self, party, time=JUNE, **world):
        request = read_request(E + party, "read", [f"{E}Visits"])
        log = DecisionLog.open(self.log)
        return log.decide(Decider(self.policies), request, World(time=time, **world))

    def do(self, duty, party, time=JUNE, **how):
        return fulfil_duty(self.policies, duty, E + party, self.log, time=time, **how)

    def dues(self, time=JUNE):
        found = list_duties(self.policies, self.log, time=time)
        return [(one.duty.rpartition("#")[2], one.by[len(E) :], one.state) for one in found]


# -- what a decision sees ---------------------------------------------------------------------


def test_a_duty_is_fulfilled_by_whom_the_log_says_and_for_him_alone(tmp_path):
    market = Market(tmp_path, policy(permission={**READ, "duty": PAY}))
    assert not market.ask("Ann").permitted
    market.do("ex:p#pay", "Ann", evidence="receipt 7")
    assert market.ask("Ann").permitted
    assert not market.ask("Bob").permitted
    assert verify_log(market.log).intact
    assert [one.deed.evidence for one in read_log(market.log) if one.deed] == ["receipt 7"]


def test_a_decision_tells_by_what_its_duties_are_fulfilled(tmp_path):
    market = Market(tmp_path, policy(permission={**READ, "duty": [PAY, {"action": "inform"}]}))
    market.ask("Ann")
    market.do("ex:p#pay", "Ann", evidence="receipt 7")
    other = market.policies[0].permissions[0].duties[1].label()
    told = [*market.ask("Ann", duties={other: "fulfilled"}).derivation]
    assert (
        f"its duty {E}p#pay is fulfilled by {E}Ann at {JUNE.isoformat()}, entry 2 of the log"
        in told
    )
    assert "its duty odrl:inform is fulfilled according to the state of the world" in told
    assert not [line for line in market.ask("Bob").derivation if "is fulfilled" in line]


def test_a_decision_tells_of_what_was_violated_and_made_good(tmp_path):
    fine = {"uid": "ex:p#fine", "action": "compensate"}
    market = Market(tmp_path, policy(permission={**READ, "duty": {**PAY, "consequence": fine}}))
    market.do("ex:p#pay", "Ann", violated=True)
    market.do("ex:p#pay", "Ann")
    market.do("ex:p#fine", "Ann")
    told = [line for line in market.ask("Ann").derivation if "is fulfilled" in line]
    by = f"is fulfilled by {E}Ann at {JUNE.isoformat()}, entry"
    assert told == [
        f"its duty {E}p#pay {by} 2 of the log",
        f"its consequence {E}p#fine {by} 3 of the log",
    ]


def test_a_duty_of_a_group_is_fulfilled_by_a_member_and_that_of_several_by_each(tmp_path):
    ward = {"uid": "ex:Ann", "belongsTo": "ex:Ward"}
    duty = {**PAY, "assignee": ["ex:Ward", "ex:Bob"]}
    market = Market(
        tmp_path, policy(permission={**READ, "assignee": [ward, "ex:Cid"], "duty": duty})
    )
    market.do("ex:p#pay", "Ann")
    assert not market.ask("Cid").permitted
    market.do("ex:p#pay", "Bob")
    assert market.ask("Cid").permitted


def test_a_violated_duty_is_made_good_with_its_consequences(tmp_path):
    fine = {"uid": "ex:p#fine", "action": "compensate"}
    market = Market(tmp_path, policy(permission={**READ, "duty": {**PAY, "consequence": fine}}))
    market.do("ex:p#pay", "Ann", violated=True)
    owed = [(one.duty, one.state) for one in market.ask("Ann").duties]
    assert owed == [(f"{E}p#pay", "violated"), (f"{E}p#fine", "outstanding")]
    market.do("ex:p#pay", "Ann")
    assert [one.duty for one in market.ask("Ann").duties] == [f"{E}p#fine"]
    market.do("ex:p#fine", "Ann")
    assert market.ask("Ann").permitted


def test_what_is_done_after_its_end_still_has_its_consequences(tmp_path):
    fine = {"uid": "ex:p#fine", "action": "compensate"}
    duty = {**PAY, "constraint": until("2026-05-01"), "consequence": fine}
    market = Market(tmp_path, policy(permission={**READ, "duty": duty}))
    assert [one.state for one in market.ask("Ann").duties] == ["violated", "outstanding"]
    market.do("ex:p#pay", "Ann")
    assert not market.ask("Ann").permitted
    market.do("ex:p#fine", "Ann")
    assert market.ask("Ann").permitted
    market.do("ex:p#pay", "Bob", datetime(2026, 5, 1, 20, tzinfo=UTC))
    assert market.ask("Bob").permitted


def test_a_world_that_says_otherwise_than_the_log_is_refused(tmp_path):
    market = Market(tmp_path, policy(permission={**READ, "duty": PAY}))
    market.do("ex:p#pay", "Ann")
    assert market.ask("Ann", duties={f"{E}p#pay": "fulfilled"}).permitted
    with pytest.raises(RequestError, match=r"D005 .*is violated, the log ful"):
        market.ask("Ann", duties={f"{E}p#pay": "violated"})


def test_a_log_says_what_was_done_last_whenever_it_was_logged(tmp_path):
    market = Market(tmp_path, policy(permission={**READ, "duty": PAY}))
    market.do("ex:p#pay", "Ann")
    market.do("ex:p#pay", "Ann", datetime(2026, 5, 1, tzinfo=UTC), violated=True)
    assert market.ask("Ann", duties={f"{E}p#pay": "fulfilled"}).permitted


def test_a_duty_that_its_place_names_is_done_under_one_text(tmp_path):
    nameless = {"action": "compensate"}
    market = Market(tmp_path, policy(permission={**READ, "duty": nameless}))
    market.do("duty /permission/duty", "Ann")
    assert market.ask("Ann").permitted
    other = {"action": "inform", "informedParty": "ex:Office"}
    later = Market(tmp_path, policy(permission={**READ, "duty": other}))
    assert not later.ask("Ann").permitted


# -- what is owed -----------------------------------------------------------------------------


def test_obligations_are_owed_until_their_end_and_then_violated(tmp_path):
    tidy = {
        "uid": "ex:p#tidy",
        "assignee": ["ex:Ann", "ex:Bob"],
        "action": "delete",
        "target": "ex:Visits",
        "constraint": until("2026-06-30"),
        "consequence": {"uid": "ex:p#fine", "action": "compensate"},
    }
    market = Market(tmp_path, policy(obligation=tidy))
    market.ask("Ann")
    market.do("ex:p#tidy", "Bob")
    assert market.dues() == [("tidy", "Ann", "outstanding"), ("tidy", "Bob", "fulfilled")]
    assert market.dues(datetime(2026, 7, 2, tzinfo=UTC)) == [
        ("tidy", "Ann", "violated"),
        ("fine", "Ann", "outstanding"),
        ("tidy", "Bob", "fulfilled"),
    ]


def test_all_that_is_known_of_what_is_owed_is_listed(tmp_path):
    tidy = {
        "uid": "ex:p#tidy",
        "assignee": ["ex:Ann", "ex:Bob"],
        "action": "delete",
        "target": "ex:Visits",
        "constraint": until("2026-06-02"),
    }
    market = Market(tmp_path, policy(obligation=tidy))
    market.ask("Ann")
    late = datetime(2026, 6, 3, tzinfo=UTC)
    market.ask("Bob")
    market.do("ex:p#tidy", "Bob", late, evidence="ticket 7")
    known = {
        "policy": f"{E}p",
        "rule": f"{E}p#tidy",
        "duty": f"{E}p#tidy",
        "kind": "obligation",
        "actions": (f"{ODRL_NS}delete",),
        "targets": (f"{E}Visits",),
        "since": JUNE,
        "until": late,
    }
    done = {"state": "fulfilled", "done": late, "is_late": True, "evidence": "ticket 7"}
    assert list_duties(market.policies, market.log, time=late) == (
        Due(**known, by=f"{E}Ann", state="violated"),
        Due(**known, by=f"{E}Bob", **done),
    )
    before = list_duties(market.policies, market.log, time=JUNE)
    assert before == tuple(
        Due(**known, by=f"{E}{name}", state="outstanding") for name in ("Ann", "Bob")
    )


def test_elapsed_time_counts_from_the_first_use(tmp_path):
    within = until("P30D", operand="elapsedTime", kind="xsd:duration")
    tidy = {"uid": "ex:p#tidy", "assignee": "ex:Ann", "action": "delete", "constraint": within}
    market = Market(tmp_path, policy(obligation=tidy))
    market.ask("Bob", datetime(2026, 1, 1, tzinfo=UTC))
    assert market.dues() == [("tidy", "Ann", "outstanding")]
    market.ask("Ann", JUNE)
    market.ask("Ann", datetime(2026, 6, 20, tzinfo=UTC))
    [due] = list_duties(market.policies, market.log, time=JUNE)
    assert (due.since, due.until) == (JUNE, datetime(2026, 7, 1, 12, tzinfo=UTC))
    assert market.dues(datetime(2026, 7, 1, 13, tzinfo=UTC)) == [("tidy", "Ann", "violated")]


def test_time_that_elapses_counts_for_decisions_too(tmp_path):
    within = until("P30D", operand="elapsedTime", kind="xsd:duration")
    fine = {"uid": "ex:p#fine", "action": "inform"}
    duty = {**PAY, "constraint": within, "consequence": fine}
    market = Market(tmp_path, policy(permission={**READ, "duty": duty}))
    assert [one.state for one in market.ask("Ann", datetime(2026, 1, 1, tzinfo=UTC)).duties] == [
        "outstanding"
    ]
    assert [one.state for one in market.ask("Ann").duties] == ["violated", "outstanding"]
    market.do("ex:p#pay", "Ann")
    later = datetime(2026, 6, 2, tzinfo=UTC)
    assert [one.duty for one in market.ask("Ann", later).duties] == [f"{E}p#fine"]
    assert market.dues(later) == [("pay", "Ann", "fulfilled"), ("fine", "Ann", "outstanding")]


def test_what_was_deleted_years_ago_is_to_be_deleted_again(tmp_path):
    tidy = {"uid": "ex:p#tidy", "assignee": "ex:Ann", "action": "delete", "target": "ex:Visits"}
    market = Market(tmp_path, policy(obligation=tidy))
    market.do("ex:p#tidy", "Ann", datetime(2020, 1, 1, tzinfo=UTC))
    assert [(one.duty, one.state) for one in market.ask("Ann").duties] == [
        (f"{E}p#tidy", "outstanding")
    ]
    assert market.dues() == [("tidy", "Ann", "outstanding")]


def test_who_paid_in_time_and_once_more_is_not_late(tmp_path):
    duty = {**PAY, "constraint": until("2026-06-01"), "consequence": {"action": "inform"}}
    market = Market(tmp_path, policy(permission={**READ, "duty": duty}))
    july = datetime(2026, 7, 1, tzinfo=UTC)
    market.do("ex:p#pay", "Ann")
    market.do("ex:p#pay", "Ann", july)
    assert market.ask("Ann", july).permitted
    market.do("ex:p#pay", "Bob", datetime(2030, 1, 1, tzinfo=UTC))
    assert not market.ask("Bob", JUNE).permitted


def test_duties_of_permissions_are_owed_by_those_who_asked(tmp_path):
    market = Market(tmp_path, policy(permission={**READ, "duty": PAY}))
    DecisionLog.open(market.log)
    assert market.dues() == []
    market.ask("Ann")
    market.ask("Bob")
    market.do("ex:p#pay", "Bob")
    assert market.dues() == [("pay", "Ann", "outstanding"), ("pay", "Bob", "fulfilled")]


def test_a_remedy_is_owed_by_whoever_infringed_a_prohibition(tmp_path):
    remedy = {"uid": "ex:p#gone", "action": "delete", "target": "ex:Visits"}
    ban = {"uid": "ex:p#ban", "target": "ex:Visits", "action": "distribute", "remedy": remedy}
    market = Market(tmp_path, policy(prohibition=ban))
    known = f"D006 No policy has the duty 'ex:p#ban'. Known are '{E}p#gone'."
    with pytest.raises(RequestError, match=re.escape(known)):
        market.do("ex:p#ban", "Cid")
    market.do("ex:p#ban", "Cid", violated=True)
    assert market.dues() == [("gone", "Cid", "outstanding")]


def test_a_duty_that_no_policy_has_is_refused_with_the_nearest(tmp_path):
    market = Market(tmp_path, policy())
    with pytest.raises(
        RequestError, match=r"^D006 No policy has the duty 'ex:p#pay'. The policies have none"
    ):
        market.do("ex:p#pay", "Ann")
    market.policies = (policy(permission={**READ, "duty": PAY}),)
    with pytest.raises(RequestError, match=f"Did you mean '{E}p#pay'"):
        market.do("ex:p#pays", "Ann")


def test_several_policies_with_one_duty_are_told_apart(tmp_path):
    rules = {"permission": {**READ, "duty": PAY}}
    market = Market(tmp_path, policy(**rules), policy(**rules, uid="ex:q"))
    with pytest.raises(RequestError, match=r"D006 Several have the duty .*of=POLICY"):
        market.do("ex:p#pay", "Ann")
    assert market.do("ex:p#pay", "Ann", of="ex:q").deed.policy == f"{E}q"


@pytest.mark.parametrize(
    ("constraint", "end"),
    [
        (until("2026-06-01"), "2026-06-02T00:00:00+00:00"),
        (until("2026-06-01", "lt"), "2026-06-01T00:00:00+00:00"),
        (until("2026-06-01T08:00:00+02:00", kind="xsd:dateTime"), "2026-06-01T08:00:00+02:00"),
        (until("2026-06-01", "gteq"), None),
        (until("P1M", operand="elapsedTime", kind="xsd:duration"), "2026-02-28T00:00:00+00:00"),
        (
            {"and": [until("2026-06-01", "lt"), until("2026-05-01", "lt")]},
            "2026-05-01T00:00:00+00:00",
        ),
        ({"or": [until("2026-06-01", "lt"), until("2026-05-01", "lt")]}, None),
    ],
)
def test_the_end_of_a_duty_is_what_its_constraints_set(constraint, end):
    [tidy] = policy(
        obligation={"assignee": "ex:Ann", "action": "delete", "constraint": constraint}
    ).obligations
    found = deadline(tidy, datetime(2026, 1, 31, tzinfo=UTC))
    assert (found and found.until.isoformat()) == end


# -- the command line -------------------------------------------------------------------------


def test_duties_are_recorded_and_listed_by_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = {
        "@context": [ODRL, MOSAICROWN, {"ex": E}],
        "@type": "Set",
        "uid": "ex:p",
        "permission": READ,
        "obligation": {"uid": "ex:p#tidy", "assignee": "ex:Ann", "action": "delete"},
    }
    (tmp_path / "p.jsonld").write_text(json.dumps(text))
    common = ["--policy", "p.jsonld", "--log", "log.sqlite"]
    runner = CliRunner()
    done = runner.invoke(
        app,
        ["fulfil", *common, "--duty", "ex:p#tidy", "--by", "ex:Ann", "--evidence", "ticket 7"],
    )
    assert done.stdout == f"{E}p#tidy: fulfilled by {E}Ann (entry 1 of log.sqlite)\n"
    table = runner.invoke(app, ["duties", *common])
    assert "0 violated, 0 outstanding, 1 fulfilled" in table.stdout
    [due] = json.loads(runner.invoke(app, ["duties", *common, "--format", "json"]).stdout)
    assert (due["state"], due["evidence"], due["by"]) == ("fulfilled", "ticket 7", f"{E}Ann")
    shown = runner.invoke(app, ["log", "show", "log.sqlite"]).stdout
    assert f"fulfilled  {E}Ann {E}p#tidy of {E}p" in shown
    assert "ticket 7" in shown


# -- policies that have ended ------------------------------------------------------------------

DELETE = {"uid": "ex:p#delete", "assignee": "ex:Ann", "action": "delete", "target": "ex:Visits"}


def test_what_came_to_be_owed_stays_owed_when_its_policy_is_withdrawn(tmp_path):
    price = {"uid": "ex:p#pay", "action": "compensate", "assignee": "ex:Ann"}
    paid = {"uid": "ex:p#use", "target": "ex:Visits", "action": "use", "duty": price}
    held = policy(
        permission=[READ, paid],
        obligation=[DELETE, {**DELETE, "uid": "ex:p#other", "assignee": "ex:Bob"}],
    )
    market = Market(tmp_path, held)
    market.ask("Ann")
    market.policies = InForce((), ended=[held])
    assert market.dues() == [("delete", "Ann", "outstanding")]
    market.do("ex:p#delete", "Ann")
    assert market.dues() == [("delete", "Ann", "fulfilled")]


def test_what_was_violated_stays_owed_when_its_policy_is_withdrawn(tmp_path):
    gone = {"uid": "ex:p#gone", "action": "delete"}
    ban = {"uid": "ex:p#ban", "target": "ex:Visits", "action": "distribute", "remedy": gone}
    fine = {"uid": "ex:p#fine", "action": "inform", "assignee": "ex:Office"}
    price = {**PAY, "consequence": fine, "constraint": until("2026-06-30")}
    held = policy(permission={**READ, "duty": price}, prohibition=ban)
    market = Market(tmp_path, held)
    for party in ("Ann", "Bob", "Eve"):
        market.ask(party)
    for party, day in (("Ann", 2), ("Bob", 3)):
        market.do("ex:p#pay", party, datetime(2026, 6, day, tzinfo=UTC), violated=True)
        market.do("ex:p#ban", "Cid", datetime(2026, 6, day, tzinfo=UTC), violated=True)
    market.policies = InForce((), ended=[held])
    assert market.dues(JULY) == [
        ("pay", "Ann", "violated"),
        ("fine", "Office", "outstanding"),
        ("pay", "Bob", "violated"),
        ("fine", "Office", "outstanding"),
        ("gone", "Cid", "outstanding"),
        ("gone", "Cid", "outstanding"),
    ]


def test_what_another_version_says_anew_is_owed_once_and_what_it_leaves_out_stays_owed(tmp_path):
    first = policy(obligation=[DELETE, {**DELETE, "uid": "ex:p#tell", "action": "inform"}])
    second = policy(obligation=DELETE)
    market = Market(tmp_path, first)
    market.ask("Ann")
    market.policies = InForce([second], ended=[first])
    assert market.dues() == [("delete", "Ann", "outstanding"), ("tell", "Ann", "outstanding")]


def test_what_was_permitted_by_a_later_version_alone_is_not_owed_by_an_earlier(tmp_path):
    first, second = policy(obligation=DELETE), policy()
    market = Market(tmp_path, second)
    market.ask("Ann")
    market.policies = InForce([second], ended=[first])
    assert market.dues() == []


JULY = datetime(2026, 7, 15, tzinfo=UTC)


def of(issuer, **changes):
    """A policy of that uid by somebody, with a duty of that uid until the end of June."""
    duty = {**DELETE, "constraint": until("2026-06-30"), **changes}
    return policy(assigner=issuer, obligation=duty)


def test_a_strangers_duty_of_that_uid_wipes_out_nothing_that_is_owed(tmp_path):
    held = of("ex:Hospital")
    market = Market(tmp_path, held)
    market.ask("Ann")
    own = ("delete", "Ann", "violated")
    later = {"constraint": until("2099-01-01")}
    for stranger in (of("ex:Mallory", **later), of("ex:Mallory", action="inform", **later)):
        market.policies = InForce([stranger], ended=[held])
        assert market.dues(JULY) == [("delete", "Ann", "outstanding"), own]
    market.policies = InForce((), ended=[held, of("ex:Mallory", action="inform")])
    assert own in market.dues(JULY)


def test_a_newer_version_of_the_issuer_says_until_when_and_not_what(tmp_path):
    held = of("ex:Hospital")
    market = Market(tmp_path, held)
    market.ask("Ann")
    longer = until("2099-01-01")
    limits = ({"constraint": longer}, {"constraint": {"and": [longer, longer]}})
    for changes in (*limits, {"assignee": ["ex:Ann", "ex:Bob"], "constraint": longer}):
        market.policies = InForce([of("ex:Hospital", **changes)], ended=[held])
        assert {state for _, _, state in market.dues(JULY)} == {"outstanding"}
    other = of("ex:Hospital", target="ex:Mine", constraint=longer)
    market.policies = InForce([other], ended=[held])
    assert ("delete", "Ann", "violated") in market.dues(JULY)


@pytest.mark.parametrize("changes", [{"action": "inform"}, {}])
def test_what_was_done_under_a_strangers_duty_of_that_uid_fulfils_no_other(tmp_path, changes):
    held, stranger = of("ex:Hospital"), of("ex:Mallory", **changes)
    market = Market(tmp_path, held)
    market.ask("Ann")
    market.policies = InForce([stranger], ended=[held])
    market.do("ex:p#delete", "Ann")
    for policies in (InForce((), ended=[held]), (held,)):
        market.policies = policies
        assert market.dues(JULY) == [("delete", "Ann", "violated")]
    market.policies = (of("ex:Hospital", constraint=until("2099-01-01")),)
    market.do("ex:p#delete", "Ann")
    market.policies = (held,)
    assert market.dues(JULY) == [("delete", "Ann", "fulfilled")]


def test_a_price_paid_to_a_stranger_buys_nothing_of_another(tmp_path):
    held, stranger = (
        policy(assigner=who, permission={**READ, "duty": PAY}) for who in ("ex:Owner", "ex:Mallory")
    )
    market = Market(tmp_path, stranger)
    market.do("ex:p#pay", "Ann")
    assert market.ask("Ann").permitted
    market.policies = (held,)
    assert not market.ask("Ann").permitted


def test_a_deed_of_an_entry_that_does_not_say_what_the_duty_was_counts_by_its_uid(tmp_path):
    held = of("ex:Hospital")
    market = Market(tmp_path, held)
    market.ask("Ann")
    said = {"state": "fulfilled", "policy": f"{E}p", "digest": held.digest, "by": f"{E}Ann"}
    deed = LoggedDeed(**said, duty=f"{E}p#delete", time=JUNE.isoformat())
    DecisionLog.open(market.log).append(deed)
    assert "meaning" not in market.log.read_text()
    assert market.dues(JULY) == [("delete", "Ann", "fulfilled")]


# -- whose a duty is ----------------------------------------------------------------------------


def test_a_duty_of_others_or_of_an_offer_is_recorded_for_nobody(tmp_path):
    ward = {"uid": "ex:Ann", "belongsTo": "ex:Ward"}
    rule = {
        **READ,
        "assignee": [ward, "ex:Ward"],
        "duty": {**PAY, "consequence": {"uid": "ex:p#fine", "action": "inform"}},
    }
    market = Market(tmp_path, policy(permission=rule, obligation=DELETE))
    for duty in ("pay", "fine", "delete"):
        with pytest.raises(RequestError, match=f"D008 .*p#{duty} is not a duty of .*Bob") as told:
            market.do(f"ex:p#{duty}", "Bob")
        assert "hierarchy=" in told.value.problems[0].hint
    more = Hierarchy(party=((f"{E}Bob", f"{E}Ward"),))
    market.do("ex:p#pay", "Bob", hierarchy=more)
    market.do("ex:p#fine", "Ann")
    offered = {"@type": "Offer", "assigner": "ex:Owner", "permission": {**READ, "duty": PAY}}
    market.policies = (policy(**offered),)
    with pytest.raises(RequestError, match=r"D008 .*p is an Offer"):
        market.do("ex:p#pay", "Ann")
    assert [one.deed.by for one in read_log(market.log)] == [f"{E}Bob", f"{E}Ann"]
