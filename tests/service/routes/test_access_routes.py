from datetime import timedelta

import pytest
from served import API, CUSTOMER, code, signed_in
from test_dataset_routes import TABLE, uploaded
from test_policy_routes import published

from policy_engine.service.resources import access
from policy_engine.service.store.base import now

ADA = "http://example.com/people/ada"
VISIT = "http://example.com/Visit"


def later(**by):
    return (now() + timedelta(**by)).isoformat()


def asked(client, **given):
    body = {"targets": [VISIT], "purpose": "statistical", "until": later(days=7), **given}
    return client.post(f"{API}/access-requests", json=body)


def answer(client, view, verb, note=""):
    path = f"{API}/access-requests/{view['id']}:{verb}"
    return client.post(path, json={"note": note}, headers={"If-Match": f'"{view["revision"]}"'})


def may_read(client, purpose="statistical"):
    question = {"target": [VISIT], "purpose": purpose}
    return client.post(f"{API}/decisions", json=question).json()["effect"] == "permit"


@pytest.fixture
def owner(services):
    client = signed_in(services, "owner", name="Owner", party="http://example.com/owner")
    uploaded(client, TABLE, iri=VISIT)
    return client


@pytest.fixture
def consumer(services):
    return signed_in(services, "consumer", party=ADA)


@pytest.mark.one_in(2)
@pytest.mark.both_databases
def test_what_is_granted_is_a_policy_and_what_is_revoked_none_any_more(owner, consumer):
    view = asked(consumer, reason="a study").json()
    assert (view["state"], view["assignee"]) == ("open", ADA)
    assert not may_read(consumer)
    [seen] = owner.get(f"{API}/access-requests").json()["items"]
    granted = answer(owner, seen, "grant", "for a week").json()
    assert granted["state"] == "granted"
    assert may_read(consumer)
    assert not may_read(consumer, "marketing")
    policy = owner.get(f"{API}/policies/{granted['policy']}").json()
    assert policy["published_version"] == 1
    assert answer(owner, granted, "revoke").json()["state"] == "revoked"
    assert not may_read(consumer)


def test_a_grant_ends_at_its_moment(owner, consumer, monkeypatch):
    monkeypatch.setattr(access, "now", lambda: now() - timedelta(days=2))
    view = asked(consumer, until=later(days=-1)).json()
    answer(owner, view, "grant")
    assert not may_read(consumer)


def test_a_request_is_rejected_with_a_note_and_answered_once(owner, consumer):
    view = asked(consumer).json()
    rejected = answer(owner, view, "reject", "not for that").json()
    assert (rejected["state"], rejected["note"]) == ("rejected", "not for that")
    assert code(answer(owner, view, "grant")) == (412, "N005")
    assert code(answer(owner, rejected, "grant")) == (409, "N004")
    assert not may_read(consumer)


@pytest.mark.usefixtures("owner")
def test_requests_are_for_the_owner_alone(services, consumer):
    view = asked(consumer).json()
    other = signed_in(services, "owner", name="Bob")
    assert code(answer(other, view, "grant")) == (404, "N003")
    assert other.get(f"{API}/access-requests").json()["items"] == []


def test_nobody_grants_what_they_asked_for_themselves(services):
    both = signed_in(services, "owner", "consumer", party=ADA)
    uploaded(both, TABLE, iri=VISIT)
    assert code(answer(both, asked(both).json(), "grant")) == (403, "N002")


def test_the_output_of_a_policy_is_its_owners(services, consumer):
    owner = signed_in(services, "owner", name="Owner")
    published(owner, CUSTOMER.read_text("utf-8"))
    view = asked(consumer, targets=["http://example/anonCustomer"]).json()
    assert [one["id"] for one in owner.get(f"{API}/access-requests").json()["items"]] == [
        view["id"]
    ]


UNGRANTABLE = [
    ({"targets": ["http://example.com/Nothing"]}, (404, "N003")),
    ({"targets": []}, (422, "D001")),
    ({"targets": ["Visit"]}, (422, "D001")),
    ({"until": "2001-01-01T00:00:00Z"}, (409, "N004")),
    ({"until": "2999-01-01T00:00:00"}, (422, "N007")),
    ({"until": "9999-12-31T23:59:59-23:59"}, (422, "N007")),
    ({"targets": [VISIT] * 51}, (422, "N007")),
    ({"reason": "x" * 2001}, (422, "N007")),
    ({"purpose": "no purpose"}, (422, "D001")),
]


@pytest.mark.usefixtures("owner")
def test_what_cannot_be_granted_is_not_asked(consumer):
    for given, refusal in UNGRANTABLE:
        assert code(asked(consumer, **given)) == refusal, given


@pytest.mark.usefixtures("owner")
def test_who_has_no_party_asks_for_nothing(services):
    assert code(asked(signed_in(services, "consumer"))) == (409, "N004")


def test_a_name_cannot_say_more_than_a_name_in_the_policy_of_a_grant(services, owner):
    client = signed_in(services, "consumer", party="http://example.com/a'},%22permission")
    answer(owner, asked(client).json(), "grant")
    assert may_read(client)
    assert not may_read(signed_in(services, "consumer", name="Bob", party=ADA))
