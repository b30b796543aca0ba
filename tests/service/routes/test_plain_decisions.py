"""Requests by a key, which are decided without detours: nothing else is to be seen of that."""

import json
from datetime import timedelta

import pytest
from served import API, browser, code, person, signed_in
from test_dataset_routes import uploaded
from test_decision_routes import DATA, READER, TABLE, policy
from test_policy_routes import published

from policy_engine.service.identity.secrets import digest_of, new_key
from policy_engine.service.identity.signing_in import Identities
from policy_engine.service.resources.decisions import Decisions
from policy_engine.service.store.base import now
from policy_engine.service.store.people import ApiKey, Person

ADDRESS = f"{API}/decisions"


@pytest.fixture
def caller(services):
    """Return a client that calls by a key which was used before."""
    owner = signed_in(services, "owner", name="Owner")
    published(owner, policy())
    uploaded(owner, TABLE, "visits.csv", DATA)
    reader, (prefix, key) = person(services, "consumer", party=READER), new_key()
    with services.database.writing() as session:
        row = {"name": "key", "roles": ["consumer"], "expires": now() + timedelta(days=1)}
        session.add(ApiKey(prefix=prefix, person_id=reader, digest=digest_of(key), **row))
    client = browser(services)
    client.headers |= {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    assert ask(client).json()["effect"] == "permit"
    return client


def ask(client, **question):
    return client.post(ADDRESS, json={"target": [DATA], **question})


def test_a_request_by_a_known_key_is_decided_without_detours(services, caller, monkeypatch):
    monkeypatch.setattr(Decisions, "decide", None)
    assert ask(caller).json()["effect"] == "permit"
    assert ask(caller, purpose="http://example.com/other").json()["effect"] == "permit"
    calls = services.meters.calls.calls.totals()
    assert calls["POST", "/decisions", "200"] == 3
    assert services.decisions.tally.totals() == {("permit",): 3}


def test_the_next_call_knows_what_was_taken_away(services, caller):
    with services.database.writing() as session:
        session.query(Person).filter_by(party=READER).one().roles = ["auditor"]
    assert code(ask(caller)) == (403, "N002")
    with services.database.writing() as session:
        session.query(Person).filter_by(party=READER).one().roles = ["consumer"]
    assert ask(caller).status_code == 200
    with services.database.writing() as session:
        session.query(ApiKey).one().ended = now()
    assert code(ask(caller)) == (401, "N010")


def test_a_caller_by_key_has_so_many_calls_a_minute(services, caller, monkeypatch):
    monkeypatch.setattr(services.calls, "calls", 0)
    assert code(ask(caller)) == (429, "N006")


def test_a_policy_that_is_withdrawn_decides_no_more_by_key(services, caller):
    owner = signed_in(services, "administrator")
    [row] = signed_in(services, "auditor").get(f"{API}/policies").json()["items"]
    gone = owner.post(f"{API}/policies/{row['id']}:withdraw", json={"reason": "Old."})
    assert gone.status_code == 200
    assert ask(caller).json()["effect"] == "deny"


ODD = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b'{"target": []}',
    b'{"target": [1]}',
    b'{"target": "http://example.com/Visit"}',
    b'{"target": ["no such name"]}',
    b'{"target": ["http://example.com/Visit"], "assignee": "http://x.org/bob"}',
    b'{"target": ["http://example.com/Visit"], "more": NaN}',
    b'{"target": ["http://example.com/Visit"], "action": null}',
    b'{"target": ["http://example.com/Visit\\u0000"]}',
    b'{"target": ["http://example.com/\\ud800"]}',
    b'{"target": ["http://example.com/Visit"], "purpose": "\xff"}',
    b'\xef\xbb\xbf{"target": ["http://example.com/Visit"]}',
    '{"target": ["http://example.com/Visit"]}'.encode("utf-16"),
    b'{"target": ["http://example.com/Visit"], "more": %s}' % (b"[" * 5_000 + b"]" * 5_000),
    b'{"target": ["http://example.com/Visit"], "more": %s}' % (b"9" * 5_000),
    json.dumps({"target": [DATA] * 101}).encode(),
]


def answered(client, body, kind):
    answer = client.post(ADDRESS, content=body, headers={"Content-Type": kind})
    document = answer.json()
    headers = {name: value for name, value in answer.headers.items() if name != "x-request-id"}
    return answer.status_code, headers, {**document, "request": "", "time": ""}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", ["application/json", "application/JSON; charset=utf-8"])
def test_what_is_odd_is_answered_as_by_the_usual_way(caller, monkeypatch, kind):
    plain = [answered(caller, body, kind) for body in ODD]
    monkeypatch.setattr(Identities, "is_known", lambda *_: False)
    assert plain == [answered(caller, body, kind) for body in ODD]
    assert {one[0] for one in plain} > {200, 422}


def test_another_media_type_or_a_query_is_answered_as_by_the_usual_way(caller):
    body = json.dumps({"target": [DATA]}).encode()
    assert answered(caller, body, "text/plain")[0] == 422
    assert caller.post(f"{ADDRESS}?x=%00", content=body).status_code == 422
    assert caller.post(f"{ADDRESS}?x=1", content=body).status_code == 200
