import sqlite3
from threading import Thread

import pytest
from served import API, code, signed_in
from test_dataset_routes import uploaded
from test_decision_routes import DATA, READER, TABLE, ask, policy
from test_policy_routes import published

from policy_engine.data.chain import paging
from policy_engine.decision.log import verify_log
from policy_engine.decision.model import Decision, Request
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Role
from policy_engine.service.resources import decision_details

UID = "http://example.com/policy/visits"


@pytest.fixture
def owner(services):
    return signed_in(services, "owner", name="Olga")


@pytest.fixture
def reader(services, owner):
    """A reader who was permitted something by the first version of a policy, and then denied it."""
    address, tag = published(owner, policy())
    uploaded(owner, TABLE, "visits.csv", DATA)
    reader = signed_in(services, "consumer", party=READER)
    ask(reader)
    text = policy().replace('"read"', '"print"')
    tag = owner.put(f"{address}/draft", json={"text": text}, headers={"If-Match": tag}).headers
    assert owner.post(f"{address}:publish", headers={"If-Match": tag["etag"]}).status_code == 200
    ask(reader)
    return reader


@pytest.mark.nightly
@pytest.mark.both_databases
@pytest.mark.usefixtures("reader")
def test_a_decision_is_told_with_its_rules_and_the_version_that_decided(services):
    detail = signed_in(services, "auditor").get(f"{API}/decisions/1").json()
    assert (detail["effect"], detail["version"]["number"]) == ("permit", 1)
    rules = [(one["rule"], one["kind"], one["applies"]) for one in detail["considered"]]
    assert rules == [(f"{UID}/read", "permission", True)]
    assert detail["missed"] == []
    denied = signed_in(services, "auditor").get(f"{API}/decisions/2").json()
    assert (denied["effect"], denied["considered"], denied["version"]) == ("deny", [], None)
    assert [one["rule"] for one in denied["missed"]] == [f"{UID}/read"]


def test_who_asked_is_told_of_the_rule_that_decided_and_of_no_other(reader):
    detail = reader.get(f"{API}/decisions/1").json()
    assert [one["rule"] for one in detail["considered"]] == [f"{UID}/read"]
    assert detail["version"] is None
    assert reader.get(f"{API}/decisions/2").json()["missed"] == []


@pytest.mark.nightly
def test_decisions_of_others_are_not_there(services, reader, owner):
    stranger = signed_in(services, "consumer", party="http://example.com/people/bob")
    other_owner = signed_in(services, "owner", name="Oleg")
    nameless = signed_in(services, "consumer", name="Nameless")
    for one in (stranger, other_owner, nameless):
        assert code(one.get(f"{API}/decisions/1")) == (404, "N003")
    for number in (3, 10**12):
        assert code(reader.get(f"{API}/decisions/{number}")) == (404, "N003")
    assert code(reader.get(f"{API}/decisions/0")) == (422, "N007")
    assert owner.get(f"{API}/decisions/2").json()["missed"] != []


@pytest.mark.nightly
def test_the_log_is_exported_as_lines_whose_chain_is_that_of_the_log(services, reader, tmp_path):
    auditor = signed_in(services, "auditor")
    answer = auditor.get(f"{API}/decisions:export")
    assert answer.headers["content-type"] == "application/x-ndjson"
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(answer.content)
    result = verify_log(copy, services.decisions.key)
    assert (result.intact, result.entries) == (True, 2)
    assert str(result.head) == auditor.post(f"{API}/decisions:verify").json()["head"]
    assert code(reader.get(f"{API}/decisions:export")) == (403, "N002")


def test_a_log_that_is_not_there_yet_is_exported_empty(services):
    assert signed_in(services, "auditor").get(f"{API}/decisions:export").content == b""


ASKED = Request(assignee=READER, action="read", targets=(DATA,))
AUDITOR = Actor(id="auditor", name="Audit", roles=(Role.AUDITOR,))


@pytest.fixture
def exported(services, monkeypatch):
    """The blocks of an export of five decisions more, one each, of pages of two."""
    log = services.decisions.log()
    for _ in range(5):
        log.append(Decision(effect="deny", request=ASKED, reason="Because."))
    monkeypatch.setattr(paging, "MOST_ROWS", 2)
    monkeypatch.setattr(decision_details, "_BLOCK", 1)
    return services.details.lines(AUDITOR)


def elsewhere(work):
    """Return what another thread makes of it."""
    results = []
    thread = Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join()
    return results[0]


def is_locked(path):
    """Return whether somebody keeps others from committing to a database."""
    connection = sqlite3.connect(path, 0, isolation_level=None)
    try:
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        return True
    finally:
        connection.close()
    return False


def test_decisions_go_on_while_an_export_is_read_half_and_is_dropped(
    services, reader, exported, tmp_path
):
    dropped = services.details.lines(AUDITOR)
    assert elsewhere(lambda: next(dropped)).endswith(b"\n")
    lines = []
    for _ in range(3):
        lines.append(elsewhere(lambda: next(exported)))
        assert not is_locked(services.decisions.path)
        assert ask(reader).status_code == 200
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(b"".join([*lines, *exported]))
    results = [verify_log(one, services.decisions.key) for one in (copy, services.decisions.path)]
    assert [(one.intact, one.entries) for one in results] == [(True, 7), (True, 10)]


OTHER = "http://example.com/Clinic"


@pytest.fixture
def mixed(services, owner, reader):
    """Somebody who owns data, and who asked for all columns of their own and of another's data."""
    other = signed_in(services, "owner", "consumer", name="Oleg", party="http://example.com/oleg")
    uploaded(other, b"town,hiv_status\nAms,no\n", "clinic.csv", OTHER)
    assert owner.get(f"{API}/datasets").json()["items"]
    for client in (other, reader):
        client.post(
            f"{API}/queries",
            json={"sql": "SELECT * FROM Visit JOIN Clinic ON Visit.town = Clinic.town"},
        )
    return other


def targets(client, **wanted):
    items = client.get(f"{API}/decisions", params=wanted).json()["items"]
    return {target for one in items for target in one["targets"]}


def test_an_owner_learns_no_names_of_what_is_anothers(mixed, owner, reader):
    own, others = f"{OTHER}/hiv_status", f"{DATA}/age"
    assert own in targets(mixed)
    assert others not in targets(mixed)
    assert others in targets(owner)
    assert not {one for one in targets(owner) if one.startswith(OTHER)}
    assert targets(mixed, target=others) == targets(owner, target=own) == set()
    assert targets(reader, target=own) == set()
    assert targets(mixed, policy=UID) == set()


@pytest.mark.nightly
@pytest.mark.usefixtures("mixed")
def test_an_owner_is_not_told_which_policy_of_another_decided(services, owner):
    auditor = signed_in(services, "auditor")
    both = [
        one
        for one in auditor.get(f"{API}/decisions").json()["items"]
        if {DATA, OTHER} <= {target.rpartition("/")[0] for target in one["targets"]}
    ]
    assert both
    for one in both:
        detail = owner.get(f"{API}/decisions/{one['number']}").json()
        assert {target.rpartition("/")[0] for target in detail["targets"]} == {DATA}
        assert detail["policy"] in ("", UID)
        assert {rule["policy"] for rule in detail["considered"]} <= {UID}
