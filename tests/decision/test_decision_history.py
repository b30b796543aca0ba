"""How often rules were exercised, as a log tells it, and what follows from that."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256

import pytest
from everyday import everyday
from owning import attested
from places import ROOT
from ruling import ANN, NOON, ODRL, READ, STAFF, TABLE, USE, policy, rule, where

from policy_engine import terms
from policy_engine.api.deciding import query_data
from policy_engine.decision import Decider, Request, World
from policy_engine.decision.history import Deed, History, MadeFrom
from policy_engine.decision.log import (
    DecisionLog,
    chain,
    pending,
    read_history,
    read_log,
    snapshots,
    state,
    table,
    verify_log,
)
from policy_engine.errors import LogError, OutputError, RequestError
from policy_engine.policy import Action, Asset, Party, Rule
from policy_engine.policy.model import ANONYMIZE

NAMES = ["log.jsonl", "log.sqlite"]
BOB = "http://org/bob"
BY_PARTY = where("countByParty", "lteq", 2, prefix=terms.PE)
BY_ASSET = where("countByAsset", "lteq", 2, prefix=terms.PE)


def counted(*constraints, **parts):
    return policy(rule("permission", constraints=constraints, **parts))


def asking(party=ANN, *targets, action=READ):
    return Request(assignee=party, action=action, targets=targets or (TABLE,))


def answers(path, policies, *requests, world=None):
    """Return what is answered to some requests, one after the other, with one log."""
    log, decider = DecisionLog.open(path), Decider(policies)
    return [log.decide(decider, one, world or World(time=NOON)).permitted for one in requests]


# -- what is counted --------------------------------------------------------------------------


def test_a_history_knows_since_when_whatever_is_logged_first():
    days = [f"2026-06-0{day}T00:00:00+00:00" for day in (2, 3, 1)]
    history = History()
    for number, day in enumerate(days[:2]):
        history.record_in_force(["a"], day)
        history.record_beginning("p", ANN, [TABLE], day)
        history.record_refusal(("p", "r", "d"), ANN, day)
        assert history.first_permitted("a") == datetime(2026, 6, 2, tzinfo=UTC), number
    assert history.begun == {("p", ANN): {TABLE: days[0]}}
    assert history.refusals("p", "r", "d") == {ANN: days[0]}
    history.record_in_force(["a", "b"], days[2])
    history.record_beginning("p", ANN, [TABLE], days[2])
    history.record_refusal(("p", "r", "d"), ANN, days[2])
    assert [history.first_permitted(one) for one in "ab"] == [datetime(2026, 6, 1, tzinfo=UTC)] * 2
    assert history.first_permitted("c") is None
    assert history.begun == {("p", ANN): {TABLE: days[2]}}
    assert history.refusals("p", "r", "d") == {ANN: days[2]}
    assert History.from_json(json.loads(json.dumps(history.to_json()))) == history


def test_a_history_comes_back_from_its_json_with_all_that_was_done():
    history = History()
    moment = datetime(2026, 6, 1, tzinfo=UTC)
    history.record_execution(("p", "urn:r"), ANN, READ, [TABLE], ["d"])
    history.record_execution(("p", "urn:r"), BOB, ANONYMIZE, [TABLE, "urn:u"], ["d"])
    history.record_permit(ANN, READ, [TABLE], [MadeFrom(TABLE, (BOB,), ("urn:u",))])
    history.record_deed(
        "p", "urn:d", Deed("fulfilled", ANN, moment, "digest", "receipt", 7, "meaning")
    )
    history.record_deed("p", "urn:d", Deed("violated", BOB, moment))
    again = History.from_json(json.loads(json.dumps(history.to_json())))
    assert again == history
    assert again.deeds["p", "urn:d"][0].description == (
        f"fulfilled by {ANN} at 2026-06-01T00:00:00+00:00, entry 7 of the log"
    )
    assert (
        again.deeds["p", "urn:d"][1].description
        == f"violated by {BOB} at 2026-06-01T00:00:00+00:00"
    )


PLACED, NAMED = "permission /permission/0", "permission read T 0123456789abcdef"


def unnamed(kind, name):
    return Rule(kind, name=name)


def test_a_rule_without_uid_is_counted_under_its_place_too_where_it_is_the_one_of_its_kind():
    history = History()
    for label in (PLACED, "prohibition /prohibition/0", "urn:r"):
        history.record_execution(("p", label), ANN, READ, [TABLE], ["d"])
    history.record_execution(("q", "permission /permission/1"), ANN, READ, [TABLE], ["d"])
    one, other = unnamed("permission", NAMED), unnamed("permission", f"{NAMED}-2")
    bar = unnamed("prohibition", "prohibition read T 0123456789abcdef")
    uid = Rule("permission", uid="urn:r")
    assert history.labels(policy(one, bar, uid, uid="p"), one) == (NAMED, PLACED)
    assert history.labels(policy(one, other, uid="p"), one) is None
    assert history.labels(policy(one, other, uid="r"), one) == (NAMED,)
    assert history.labels(policy(one, uid="p"), uid) == ("urn:r",)
    placed = unnamed("permission", PLACED)
    assert history.labels(policy(placed, uid="p"), placed) == (PLACED,)


def test_executions_of_a_rule_without_uid_are_known_under_texts_that_all_of_them_had():
    history = History()
    for digests in (["a", "b"], ["b", "c"]):
        history.record_execution(("p", NAMED), ANN, READ, [TABLE], digests)
    assert [history.is_known("p", NAMED, one) for one in "abc"] == [False, True, False]
    assert history.is_known("p", "urn:r", "a")
    assert history.is_known("q", NAMED, "a")


def test_what_rules_without_uid_make_is_read_as_often_as_each_of_them_lets(tmp_path):
    made = [
        Rule(
            "permission",
            (Asset(TABLE),),
            (Action(f"{ODRL}derive"),),
            name=f"permission derive T {output}",
            output=output,
            assigners=(Party(BOB),),
            constraints=(where("count", "lteq", 1),),
        )
        for output in ("urn:one", "urn:two")
    ]
    decider = Decider([policy(*made)], [attested(policy(one)) for one in made])
    log = DecisionLog.open(tmp_path / "log.jsonl")
    found = [
        log.decide(decider, asking(ANN, output), World(time=NOON))
        for output in ("urn:one", "urn:one", "urn:two")
    ]
    assert [one.permitted for one in found] == [True, False, True]
    assert [one.rule for one in found] == [made[0].name, "", made[1].name]


@pytest.mark.parametrize(
    ("duties", "state", "digest", "is_meant"),
    [
        (1, "fulfilled", "d", True),
        (1, "fulfilled", "other", False),
        (2, "fulfilled", "d", False),
        (2, "violated", "d", True),
        (2, "violated", "other", False),
    ],
)
def test_a_deed_that_names_a_place_is_of_any_duty_that_may_have_stood_there(
    duties, state, digest, is_meant
):
    owed = [unnamed("duty", f"duty pay {number}") for number in range(duties)]
    named = Rule("duty", uid="urn:duty")
    mine = policy(rule("permission", duties=(*owed, named)), uid="p")
    history, deed = History(), Deed(state, ANN, NOON, digest)
    history.record_deed("p", "duty /permission/duty", deed)
    history.record_deed("q", "duty /permission/duty", deed)
    history.record_deed("p", "remedy /prohibition/remedy", deed)
    assert history.duty_deeds(mine, owed[0]) == ([deed] if is_meant else [])
    assert history.duty_deeds(mine, named) == []


def test_a_deed_of_a_duty_without_uid_is_of_the_text_that_it_was_done_under():
    owed = unnamed("duty", "duty pay")
    mine, history = policy(rule("permission", duties=(owed,)), uid="p"), History()
    now, before = (Deed("fulfilled", ANN, NOON, digest) for digest in ("d", "other"))
    for deed in (before, now):
        history.record_deed("p", "duty pay", deed)
        history.record_deed("p", "urn:duty", deed)
    assert history.duty_deeds(mine, owed) == [now]
    assert history.duty_deeds(mine, Rule("duty", uid="urn:duty")) == [before, now]


def test_what_is_made_is_read_by_nobody_and_was_made_from_nothing_that_he_read():
    history = History()
    history.record_permit(ANN, ANONYMIZE, [TABLE], [MadeFrom(TABLE, (BOB,), ("urn:u",))])
    assert (history.assets(ANN), [*history.party_origins(ANN)]) == ((), [])
    history.record_permit(ANN, READ, [TABLE, "urn:t"])
    history.record_permit(ANN, READ, ["urn:t", "urn:u"])
    assert history.assets(ANN) == (TABLE, "urn:t", "urn:u")
    assert history.origins == {}


@pytest.mark.parametrize("name", NAMES)
def test_a_count_is_spent_by_what_was_permitted(tmp_path, name):
    given = [counted(where("count", "lteq", 3))]
    assert answers(tmp_path / name, given, *[asking()] * 5) == [True] * 3 + [False] * 2
    assert answers(tmp_path / name, given, asking()) == [False]  # a process of its own
    assert verify_log(tmp_path / name).entries == 6


@pytest.mark.parametrize("name", NAMES)
def test_a_log_that_was_renamed_is_ended_for_a_living_process_too(tmp_path, name):
    path, decider = tmp_path / name, Decider([counted(where("count", "lteq", 2))])
    log, world = DecisionLog.open(path), World(time=NOON)
    assert [log.decide(decider, asking(), world).permitted for _ in range(3)] == [True, True, False]
    path.rename(tmp_path / f"old-{name}")
    assert [log.decide(decider, asking(), world).permitted for _ in range(3)] == [True, True, False]
    assert verify_log(path).entries == verify_log(tmp_path / f"old-{name}").entries == 3


def test_a_commit_that_fails_is_forgotten_by_a_living_process(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "PATIENCE", 0.01)
    path, decider = tmp_path / "log.sqlite", Decider([counted(where("count", "lteq", 2))])
    log, world = DecisionLog.open(path), World(time=NOON)
    assert log.decide(decider, asking(), world).permitted
    with closing(sqlite3.connect(path)) as reader:  # a backup, say: nobody commits beside it
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM decisions").fetchall()
        with pytest.raises(OutputError, match=r"O002 .* locked"):
            log.decide(decider, asking(), world)
    assert [log.decide(decider, asking(), world).permitted for _ in range(2)] == [True, False]
    assert (verify_log(path).intact, verify_log(path).entries) == (True, 3)


@pytest.mark.parametrize(
    ("bound", "permitted"),
    [(("lt", 3), 2), (("eq", 1), 1), (("lteq", 0), 0), (("gteq", 2), 0), (("neq", 3), 2)],
)
def test_the_execution_that_is_asked_for_is_counted(tmp_path, bound, permitted):
    found = answers(tmp_path / "log.jsonl", [counted(where("count", *bound))], *[asking()] * 4)
    assert sum(found) == permitted


def test_what_is_denied_is_not_counted(tmp_path):
    given = [counted(where("count", "lteq", 1), assignees=(Party(BOB),))]
    found = answers(tmp_path / "log.jsonl", given, asking(), asking(BOB), asking(BOB))
    assert found == [False, True, False]


def test_a_count_is_of_all_assignees_together_and_by_party_of_each(tmp_path):
    requests = [asking(), asking(BOB), asking(), asking(BOB), asking(), asking(BOB)]
    group = policy(
        rule("permission", assignees=(Party(STAFF),), constraints=(where("count", "lteq", 3),)),
        party=((ANN, STAFF), (BOB, STAFF)),
    )
    assert answers(tmp_path / "all.jsonl", [group], *requests) == [True] * 3 + [False] * 3
    assert answers(tmp_path / "each.jsonl", [counted(BY_PARTY)], *requests) == [
        *([True] * 4),
        *([False] * 2),
    ]


def test_a_refinement_of_a_party_counts_what_it_did_itself(tmp_path):
    refined = Party(STAFF, (where("count", "lteq", 1),))
    given = policy(rule("permission", assignees=(refined,)), party=((ANN, STAFF), (BOB, STAFF)))
    found = answers(tmp_path / "log.jsonl", [given], asking(), asking(), asking(BOB))
    assert found == [True, False, True]


def test_by_asset_what_overlaps_is_counted(tmp_path):
    given = [counted(BY_ASSET)]
    zips, ages = f"{TABLE}/Zip", f"{TABLE}/Age"
    requests = [asking(ANN, zips), asking(ANN, zips), asking(ANN, zips), asking(ANN, ages)]
    assert answers(tmp_path / "a.jsonl", given, *requests) == [True, True, False, True]
    whole = [asking(), asking(ANN, zips), asking(ANN, ages), asking(ANN, ages)]
    assert answers(tmp_path / "b.jsonl", given, *whole) == [True, True, True, False]
    both = [asking(ANN, zips), asking(ANN, zips), asking(ANN, ages, zips)]
    assert answers(tmp_path / "c.jsonl", given, *both) == [True, True, False]


def test_a_refinement_of_an_asset_counts_its_own(tmp_path):
    lake, other = "http://e.org/lake", "http://e.org/U"
    refined = Asset(lake, (where("count", "lteq", 1),))
    given = policy(rule("permission", refined), asset=((TABLE, lake), (other, lake)))
    requests = [asking(), asking(), asking(ANN, other)]
    assert answers(tmp_path / "log.jsonl", [given], *requests) == [True, False, True]


def test_a_prohibition_counts_what_it_did_not_keep_from(tmp_path):
    bound = rule("prohibition", action=USE, constraints=(where("count", "gt", 2),))
    given = policy(rule("permission"), bound)
    assert answers(tmp_path / "log.jsonl", [given], *[asking()] * 4) == [True, True, False, False]


def test_rules_are_counted_apart_by_their_policies(tmp_path):
    one, other = (
        policy(rule("permission", target, constraints=(where("count", "lteq", 1),)), uid=uid)
        for uid, target in (("urn:p:1", TABLE), ("urn:p:2", "http://e.org/U"))
    )
    requests = [asking(), asking(ANN, "http://e.org/U"), asking()]
    assert answers(tmp_path / "log.jsonl", [one, other], *requests) == [True, True, False]


def test_making_and_using_are_counted_apart(tmp_path):
    given = [counted(where("count", "lteq", 1), action=USE)]
    requests = [asking(action=ANONYMIZE), asking(), asking(action=ANONYMIZE), asking()]
    assert answers(tmp_path / "log.jsonl", given, *requests) == [True, True, False, False]


def test_a_rule_that_only_its_place_names_is_counted_within_one_text(tmp_path):
    first = counted(where("count", "lteq", 2), uid="")
    path = tmp_path / "log.jsonl"
    assert answers(path, [first], asking(), asking()) == [True, True]
    later = policy(*first.rules)
    assert answers(path, [later], asking()) == [False]
    assert answers(path, [replace(later, digest="other")], asking()) == [False]
    log = DecisionLog.open(path)
    reason = log.decide(Decider([replace(later, digest="other")]), asking()).reason
    assert "count is not known" in reason


def test_assets_that_a_party_was_permitted_are_told(tmp_path):
    path = tmp_path / "log.jsonl"
    zips = f"{TABLE}/Zip"
    given = [counted(where("count", "lteq", 2))]
    answers(path, given, asking(ANN, zips), asking(), asking(ANN, "http://e.org/U"))
    history = DecisionLog.open(path).history()
    assert history.assets(ANN) == (zips, TABLE)
    assert history.assets(BOB) == ()


# -- what the world says beside ---------------------------------------------------------------


def test_a_world_that_counts_otherwise_is_refused(tmp_path):
    given, path = [counted(where("count", "lteq", 3))], tmp_path / "log.jsonl"
    answers(path, given, asking())
    wrong = World(time=NOON, counts={"urn:r:permission": 7})
    with pytest.raises(RequestError, match=r"D005 .*exercised 7 times, the log 1 "):
        answers(path, given, asking(), world=wrong)
    history = read_history(path)
    with pytest.raises(RequestError, match="D005"):
        Decider(given).row_access(asking(), wrong, history=history)
    of_ann = World(of={ANN: {f"{ODRL}count": 1}})
    with pytest.raises(RequestError, match=r"D005 .*odrl:count"):
        answers(path, given, asking(), world=of_ann)
    agreed = World(time=NOON, counts={"urn:r:permission": 1})
    assert answers(path, given, asking(), world=agreed) == [True]
    assert verify_log(path).entries == 2


# -- a log that is not whole ------------------------------------------------------------------


def test_nothing_is_decided_by_a_log_that_was_changed_or_cut(tmp_path):
    path, given = tmp_path / "log.jsonl", [counted(where("count", "lteq", 9))]
    log, decider = DecisionLog.open(path), Decider(given)
    for _ in range(3):
        log.decide(decider, asking())
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[2]]))
    with pytest.raises(LogError, match=r"G002 .*does not follow"):
        answers(path, given, asking())
    path.write_bytes(b"".join(lines[:2]))
    with pytest.raises(LogError, match=r"G002 .*no longer contains entry 3\. It was truncated"):
        log.decide(decider, asking())
    path.write_bytes(b"".join([lines[0].replace(b'"permit"', b'"deny"'), *lines[1:]]))
    with pytest.raises(LogError, match=r"G002 .*it was changed"):
        answers(path, given, asking())


# -- queries ----------------------------------------------------------------------------------


def test_a_query_spends_a_count_and_one_that_is_denied_does_not(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("Zip,Age\n1,2\n3,4\n")
    zips, others = f"{TABLE}/Zip", f"{TABLE}/Age"
    given = [counted(where("count", "lteq", 2), target=zips)]
    log = tmp_path / "log.jsonl"

    def ask(sql):
        return query_data(sql, given, ANN, {TABLE: file}, log=log).permitted

    assert [ask("SELECT Age FROM T"), ask("SELECT Zip FROM T")] == [False, True]
    assert [ask("SELECT Zip FROM T"), ask("SELECT Zip FROM T")] == [True, False]
    assert [one.decision.effect for one in read_log(log)] == ["deny", "permit", "permit", "deny"]
    assert others not in DecisionLog.open(log).history().assets(ANN)


# -- many at once -----------------------------------------------------------------------------

RACE = """
import os, sys
from policy_engine import decide_request, read_request
request = read_request("http://example.com/Ann", "read", ["http://example.com/T"])
ready, start = os.pipe()
children = []
for _ in range(8):
    children.append(os.fork())
    if children[-1] == 0:
        os.close(start)
        os.read(ready, 1)  # ends for all at once
        found = [decide_request([sys.argv[1]], [], request, log=sys.argv[2]) for _ in range(3)]
        os._exit(sum(one.permitted for one in found))
os.close(start)
print(sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))
"""
POLICY = {
    "@context": "http://www.w3.org/ns/odrl.jsonld",
    "@type": "Set",
    "uid": "http://example.com/p",
    "permission": {
        "uid": "http://example.com/r",
        "target": "http://example.com/T",
        "action": "read",
        "constraint": {"leftOperand": "count", "operator": "lteq", "rightOperand": 3},
    },
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", everyday(NAMES, "log.sqlite"))
def test_eight_processes_cannot_spend_one_count_twice(tmp_path, name):
    text, log = tmp_path / "p.jsonld", tmp_path / name
    text.write_text(json.dumps(POLICY))
    command = [sys.executable, "-c", RACE, str(text), str(log)]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "3\n"
    assert (verify_log(log).intact, verify_log(log).entries) == (True, 24)


# -- what is kept beside a log ----------------------------------------------------------------

KEY = b"k" * 32


@pytest.fixture
def few(monkeypatch):
    """Have a state kept after three entries."""
    monkeypatch.setattr(snapshots, "LEAST", 3)


def kept(path):
    return path.with_name(f"{path.name}.state")


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "keyed"])
def test_a_state_is_kept_beside_its_log_and_counts_on_from_there(tmp_path, name, key):
    path, decider = tmp_path / name, Decider([counted(where("count", "lteq", 5), BY_PARTY)])
    for party in (ANN, BOB, ANN, BOB, STAFF):
        DecisionLog.open(path, key).decide(decider, asking(party))
    history = snapshots.load(path, DecisionLog.open(path, key).chain).history
    assert history.count("urn:p:0", "urn:r:permission", making=False) == 3
    assert kept(path).stat().st_mode & 0o077 == 0
    assert history.assets(BOB) == (TABLE,)
    asked = [DecisionLog.open(path, key).decide(decider, asking(p)) for p in (STAFF, STAFF)]
    assert [one.permitted for one in asked] == [False, False]
    assert history == snapshots.History.from_json(json.loads(json.dumps(history.to_json())))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "keyed"])
def test_a_state_that_was_changed_is_left_aside(tmp_path, key):
    path, decider = tmp_path / "log.jsonl", Decider([counted(where("count", "lteq", 4))])
    for _ in range(4):
        DecisionLog.open(path, key).decide(decider, asking())
    digest, body = kept(path).read_bytes().split(b"\n")
    fewer = body.replace(b',3,{"http', b',0,{"http')
    assert fewer != body
    forged = sha256(fewer).hexdigest().encode() if key else digest
    kept(path).write_bytes(forged + b"\n" + fewer)
    assert not DecisionLog.open(path, key).decide(decider, asking()).permitted


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"{}", b'{"format":5}', b'{"format":6,"mark":[]}'],
    ids=["nothing", "torn", "list", "null", "empty", "older", "part"],
)
def test_a_state_of_another_shape_is_left_aside(tmp_path, body):
    path, given = tmp_path / "log.jsonl", [counted(where("count", "lteq", 2))]
    answers(path, given, asking())
    kept(path).write_bytes(sha256(body).hexdigest().encode() + b"\n" + body)
    kept(path).chmod(0o600)
    assert answers(path, given, asking(), asking()) == [True, False]


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_state_that_others_may_write_is_left_aside(tmp_path, mode):
    path, given = tmp_path / "log.jsonl", [counted(where("count", "lteq", 9))]
    answers(path, given, *[asking()] * 4)
    assert snapshots.load(path, chain.Chain()).mark.number == 3
    kept(path).chmod(mode)
    assert snapshots.load(path, chain.Chain()).mark.number == 0


@pytest.mark.parametrize(
    ("number", "saved", "is_kept"),
    [(2, 0, False), (3, 0, True), (5, 3, False), (6, 3, True), (89, 80, False), (90, 80, True)],
)
def test_a_state_is_kept_anew_where_enough_was_added(monkeypatch, tmp_path, number, saved, is_kept):
    monkeypatch.setattr(snapshots, "LEAST", 3)
    path, found = tmp_path / "log.jsonl", History()
    found.record_permit(ANN, READ, [TABLE])
    mark = state.Mark(number, "0" * 64, 7)
    snapshots.save(state.LogState(chain.Chain(KEY), str(path), found, mark, saved))
    assert kept(path).exists() == is_kept
    if is_kept:
        path.touch()
        again = snapshots.load(path, chain.Chain(KEY))
        assert (again.mark, again.saved, again.history) == (mark, number, found)
        assert snapshots.load(path, chain.Chain()).mark.number == 0


@pytest.mark.usefixtures("few")
def test_a_log_that_ends_before_what_was_kept_is_refused(tmp_path):
    path, given = tmp_path / "log.jsonl", [counted(where("count", "lteq", 9))]
    answers(path, given, *[asking()] * 5)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0])
    with pytest.raises(
        LogError, match=r"G002 .*was truncated or replaced\. .*remove log.jsonl.state"
    ):
        answers(path, given, asking())


def test_what_is_read_of_a_log_is_read_once(tmp_path, monkeypatch):
    path, given = tmp_path / "log.jsonl", [counted(where("count", "lteq", 99))]
    log, decider, read = DecisionLog.open(path), Decider(given), []
    log.decide(decider, asking())
    monkeypatch.setattr(state, "record_entry", lambda _history, entry: read.append(entry["number"]))
    for _ in range(3):
        log.decide(decider, asking())
    DecisionLog.open(path).append(log.decide(decider, asking()))
    log.decide(decider, asking())
    assert read == [2, 3, 4, 5, 6, 7]


# -- kills ------------------------------------------------------------------------------------

KILLED = """
import os, random, signal, sys
from policy_engine.decision.log import DecisionLog, snapshots
from policy_engine import decide_request, decider, read_request
request = read_request("http://example.com/Ann", "read", ["http://example.com/T"])
made, snapshots.LEAST = decider([sys.argv[1]]), 5
log, answered, draw = DecisionLog.open(sys.argv[2]), 0, random.Random(7)
for _ in range(40):
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        log = DecisionLog.open(sys.argv[2])
        while True:
            log.decide(made, request)
            os.write(tell, b"x")
    os.close(tell)
    os.read(told, 1)
    answered += 1
    for _ in range(draw.randrange(20_000)):
        pass
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    answered += len(os.read(told, 10_000))
    os.close(told)
print(answered)
"""


@pytest.mark.nightly
@pytest.mark.parametrize("name", everyday(NAMES, "log.jsonl"))
def test_a_kill_at_any_moment_leaves_a_log_that_has_all_that_was_answered(tmp_path, name):
    text, log = tmp_path / "p.jsonld", tmp_path / name
    text.write_text(json.dumps(POLICY).replace(": 3", ": 99999"))
    command = [sys.executable, "-c", KILLED, str(text), str(log)]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    history = DecisionLog.open(log).history()
    count = history.count("http://example.com/p", "http://example.com/r", making=False)
    assert int(done.stdout) <= count <= int(done.stdout) + 40
    assert verify_log(log).intact


@pytest.mark.parametrize("written", [1, 300])
def test_an_entry_whose_writer_was_killed_in_its_midst_is_no_entry(tmp_path, monkeypatch, written):
    path, given, real = tmp_path / "log.jsonl", [counted(where("count", "lteq", 2))], os.write
    answers(path, given, asking())
    monkeypatch.setattr(pending, "_PAGE", 16)

    def killed(number, data):
        real(number, data[:written])
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", killed)
    with pytest.raises(KeyboardInterrupt):
        answers(path, given, asking())
    monkeypatch.setattr(os, "write", real)
    assert (verify_log(path).intact, verify_log(path).entries) == (True, 1)
    assert answers(path, given, asking(), asking()) == [True, False]
    assert verify_log(path).intact
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
