"""Decisions under policies of which some are in force no longer."""

import json
from datetime import UTC, datetime

import pytest
from building import ANALYST, DATASET, OUTPUT, people_policy
from typer.testing import CliRunner

from policy_engine import apply_policy, decide_request, query_data
from policy_engine.certificate.beside import load_certificate
from policy_engine.cli import app
from policy_engine.decision import Decider, Request, World
from policy_engine.policy import Hierarchy, InForce, Reading, load_policy, read_policy
from policy_engine.policy.model import READ
from policy_engine.terms import expand_term

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
MARKETING = expand_term("marketing")
UID = json.loads(people_policy())["uid"]
ASKED = Request(assignee=ANALYST, action=READ, targets=(OUTPUT,), purpose=MARKETING)
READERS = {
    "@context": "http://www.w3.org/ns/odrl.jsonld",
    "@type": "Set",
    "uid": "http://x.org/readers",
    "permission": {"assignee": ANALYST, "target": OUTPUT, "action": "read"},
}


@pytest.fixture
def market(people):
    """Return a folder of two policies, the release made under one beside it."""
    folder = people / "policies"
    folder.mkdir()
    (folder / "own.jsonld").write_text(people_policy())
    (folder / "readers.jsonld").write_text(json.dumps(READERS))
    apply_policy(folder / "own.jsonld", {DATASET: people / "people.csv"}, people / "own")
    return people


def registered(market, **keys):
    entries = [
        {"uid": UID, "version": 1, "file": "own.jsonld", **keys},
        {"uid": READERS["uid"], "version": 1, "file": "readers.jsonld"},
    ]
    (market / "policies" / "registry.json").write_text(json.dumps({"policies": entries}))


def asked(market, *, certified=True, time=NOON):
    certificates = [market / "own"] if certified else []
    return decide_request([market / "policies"], certificates, ASKED, world=World(time=time))


def test_a_folder_answers_as_its_policies_do(market):
    assert asked(market).permitted
    assert not asked(market, certified=False).permitted
    assert asked(market).notes == ()


def test_what_was_made_under_a_withdrawn_policy_is_read_by_nobody(market):
    registered(market)
    assert asked(market).permitted
    registered(market, status="withdrawn")
    for certified in (True, False):
        decision = asked(market, certified=certified)
        assert not decision.permitted
        assert decision.reason.startswith(f"{OUTPUT} was made under {UID}, which is not in force")
        assert decision.notes == (f"{UID} version 1 is skipped: it was withdrawn.",)


def test_a_policy_ends_at_its_time_and_what_was_made_under_it_too(market):
    registered(market, until="2026-06-01T12:00:01Z")
    assert asked(market).permitted
    assert not asked(market, time=datetime(2026, 6, 1, 12, 0, 1, tzinfo=UTC)).permitted


def test_what_was_made_under_a_replaced_policy_is_read_by_nobody(market):
    text = json.loads(people_policy())
    replaced = {**text, "http://purl.org/dc/terms/isReplacedBy": {"@id": "http://x.org/other"}}
    (market / "policies" / "own.jsonld").write_text(json.dumps(replaced))
    for certified in (True, False):
        decision = asked(market, certified=certified)
        assert not decision.permitted
        assert "which is not in force" in decision.reason
        assert "is skipped: 'http://x.org/other' replaced it." in decision.notes[0]


def test_prohibitions_of_a_withdrawn_policy_hold_no_longer(market):
    barred = {**READERS, "uid": "http://x.org/bar", "prohibition": READERS["permission"]}
    del barred["permission"]
    (market / "policies" / "bar.jsonld").write_text(json.dumps(barred))
    assert not asked(market).permitted
    registered(market)
    registry = json.loads((market / "policies" / "registry.json").read_text())
    entry = {"uid": barred["uid"], "version": 1, "file": "bar.jsonld", "status": "withdrawn"}
    registry["policies"].append(entry)
    (market / "policies" / "registry.json").write_text(json.dumps(registry))
    assert asked(market).permitted


def test_a_text_that_is_written_otherwise_keeps_its_release_and_a_changed_bound_voids_it(market):
    text = json.loads(people_policy())
    turned = dict(reversed(text.items()))
    own = market / "policies" / "own.jsonld"
    own.write_text(json.dumps(turned, indent=7))
    assert asked(market).permitted
    own.write_text(json.dumps({**text, "conflict": "perm"}))
    decision = asked(market)
    assert not decision.permitted
    assert "for an earlier version of the policy" in decision.reason


def test_queries_see_what_is_in_force_too(market):
    registered(market, status="withdrawn")
    data = {OUTPUT: next((market / "own").glob("*.csv"))}
    found = query_data(
        f'SELECT * FROM "{OUTPUT}"',
        [market / "policies"],
        ANALYST,
        data,
        MARKETING,
        certificates=[market / "own"],
        world=World(time=NOON),
    )
    assert not found.permitted


def test_a_decider_takes_policies_with_what_is_told_of_the_others(market):
    found = Reading().policies_in_force(market / "policies", time=NOON)
    told = InForce(found[1:], ["note"], found[:1])
    assert Decider(told).decide(ASKED).notes == ("note",)
    assert not Decider(told).decide(ASKED).permitted
    assert not Decider(found[1:], [load_certificate(market / "own")]).decide(ASKED).permitted
    assert Decider(found[1:]).decide(ASKED).permitted
    assert load_policy(market / "policies" / "own.jsonld") == found[0]


def test_the_command_decides_by_a_folder_at_the_time_that_is_given(market):
    registered(market, until="2026-06-01T12:00:01Z")
    args = ["decide", "--policy", str(market / "policies"), "--assignee", ANALYST, "--target"]
    args += [OUTPUT, "--purpose", "marketing", "--certificate", str(market / "own")]
    found = CliRunner().invoke(app, [*args, "--time", "2026-06-01T12:00:00Z"])
    assert (found.exit_code, found.stderr) == (0, "")
    found = CliRunner().invoke(app, [*args, "--time", "2026-06-02"])
    assert found.exit_code == 1
    told = f"note: {UID} version 1 is skipped: it held until 2026-06-01T12:00:01+00:00.\n"
    assert found.stderr == told
    world = market / "world.json"
    world.write_text('{"time": "2026-06-02T00:00:00Z"}')
    found = CliRunner().invoke(app, [*args, "--world", str(world), "--format", "json"])
    assert json.loads(found.stdout)["notes"] == [told.removeprefix("note: ").strip()]


def test_a_policy_that_cannot_be_read_is_named(market):
    (market / "policies" / "more.jsonld").write_text("{}")
    args = ["decide", "--policy", str(market / "policies"), "--assignee", ANALYST, "--target"]
    found = CliRunner().invoke(app, [*args, OUTPUT])
    assert found.exception.exit_code == 2
    assert "more.jsonld:1:1: P00" in str(found.exception)


def validated(folder, *args):
    return CliRunner().invoke(app, ["validate", str(folder), *args])


def test_a_folder_is_validated_as_a_whole(market):
    registered(market, status="withdrawn")
    folder = market / "policies"
    found = validated(folder)
    assert (found.exit_code, found.stdout.splitlines()) == (
        0,
        [f"{folder / 'readers.jsonld'}: valid", f"{folder}: valid (1 in force)"],
    )
    assert found.stderr == f"note: {UID} version 1 is skipped: it was withdrawn.\n"
    (folder / "registry.json").unlink()
    (folder / "a.jsonld").write_text("{")
    (folder / "b.jsonld").write_text(json.dumps({**READERS, "permission": {"action": "read"}}))
    found = validated(folder)
    assert found.exit_code == 1
    assert [line.partition(" ")[0].rpartition("/")[2] for line in found.stdout.splitlines()] == [
        *("a.jsonld:1:2:", "b.jsonld:1:111:"),
    ]


@pytest.mark.parametrize("assigner", ["", "http://x.org/stranger"])
def test_what_a_void_policy_makes_is_read_by_nobody_where_all_are_one_owners(assigner):
    rule = {"assignee": ANALYST, "target": DATASET, "action": "anonymize", "output": OUTPUT}
    clash = {"target": "http://x.org/All", "action": "anonymize"}
    made = {**READERS, "uid": "http://x.org/void", "conflict": "invalid", "permission": rule}
    made |= {"prohibition": clash} | ({"assigner": assigner} if assigner else {})
    texts = [json.dumps(one) for one in (made, READERS)]
    parts = Hierarchy(asset=((DATASET, "http://x.org/All"),))
    policies = [*map(read_policy, texts)]
    decided = Decider(policies, hierarchy=parts).decide(ASKED, World(time=NOON))
    assert "is not in force" in decided.reason
    if not assigner:  # as it is where the world alone says what voids it
        assert decided == Decider(policies).decide(ASKED, World(time=NOON, memberships=parts))
