"""What people of one service tried beyond their part in it, and what it must not do."""

import pytest
from served import API, code, named, service, signed_in
from test_access_routes import ADA, VISIT, answer, asked, later, may_read
from test_attacks_on_ownership import MALLORY, MINE, SECRET, opening
from test_dataset_routes import TABLE, created, send, uploaded
from test_policy_routes import published

OLGA = "http://example.com/olga"


@pytest.fixture
def owner(services):
    client = signed_in(services, "owner", name="Olga", party=OLGA)
    uploaded(client, TABLE, iri=SECRET)
    return client


@pytest.fixture
def manager(services):
    return signed_in(services, "administrator", name="Max")


def me(client):
    return client.get(f"{API}/me").json()["id"]


def dismissed(manager, client):
    """Return what stays of somebody who is deactivated."""
    path = f"{API}/people/{me(client)}"
    change = {"json": {"is_active": False}, "headers": {"If-Match": '"1"'}}
    return manager.patch(path, **change).json()["leaves"]


def test_with_two_persons_a_grant_waits_for_the_second_who_reads_it_first(tmp_path):
    with service(tmp_path, two_persons=True) as services:
        owner, other = (signed_in(services, "owner", name=one) for one in ("Olga", "Bob"))
        uploaded(owner, TABLE, iri=VISIT)
        consumer = signed_in(services, "consumer", party=ADA)
        granted = answer(owner, asked(consumer).json(), "grant").json()
        assert granted["state"] == "proposed"
        assert not may_read(consumer)
        policy = f"{API}/policies/{granted['policy']}"
        [seen] = other.get(f"{API}/policies").json()["items"]
        assert seen["id"] == granted["policy"]
        assert ADA in other.get(f"{policy}/versions/1").json()["text"]
        tag = {"If-Match": other.get(policy).headers["etag"]}
        swapped = owner.put(f"{policy}/draft", json={"text": "{}"}, headers=tag)
        assert code(swapped) == (409, "N004")
        assert code(owner.post(f"{policy}:approve", headers=tag)) == (403, "N002")
        assert other.post(f"{policy}:approve", headers=tag).status_code == 200
        assert may_read(consumer)
        [request] = consumer.get(f"{API}/access-requests").json()["items"]
        assert request["state"] == "granted"
        assert code(other.get(policy)) == (404, "N003")


def test_who_asked_for_access_is_not_the_second_person_who_grants_it(tmp_path):
    with service(tmp_path, two_persons=True) as services:
        owner = signed_in(services, "owner", name="Olga")
        uploaded(owner, TABLE, iri=VISIT)
        asker = signed_in(services, "owner", "consumer", name="Ada", party=ADA)
        twin = signed_in(services, "owner", name="Ada at home", party=ADA)
        granted = answer(owner, asked(asker).json(), "grant").json()
        policy = f"{API}/policies/{granted['policy']}"
        for one in (asker, twin):
            tag = {"If-Match": one.get(policy).headers["etag"]}
            assert code(one.post(f"{policy}:approve", headers=tag)) == (403, "N002")
        assert not may_read(asker)
        other = signed_in(services, "owner", name="Bob")
        assert other.post(f"{policy}:approve", headers=tag).status_code == 200
        assert may_read(asker)


@pytest.mark.nightly
def test_an_administrator_withdraws_what_somebody_left_in_force(services, owner, manager):
    address, _ = published(owner, opening(SECRET, uid="http://example.com/p", party=ADA))
    consumer = signed_in(services, "consumer", party=ADA)
    read = {"target": [SECRET]}
    assert consumer.post(f"{API}/decisions", json=read).json()["effect"] == "permit"
    left = dismissed(manager, owner)
    assert [one["iri"] for one in left["policies"]] == ["http://example.com/p"]
    assert [one["iri"] for one in left["datasets"]] == [SECRET]
    assert code(manager.post(f"{address}:withdraw", json={"reason": ""})) == (422, "N007")
    view = manager.post(f"{address}:withdraw", json={"reason": "she has left"}).json()
    assert view["published_version"] is None
    assert view["versions"][0]["reason"] == "she has left"
    assert view["versions"][0]["withdrawn_by"] == me(manager)
    assert consumer.post(f"{API}/decisions", json=read).json()["effect"] == "deny"
    assert code(manager.post(f"{address}:withdraw", json={"reason": "again"})) == (409, "N004")


@pytest.mark.nightly
def test_what_somebody_left_is_handed_over_to_another_owner(services, owner, manager):
    address, _ = published(owner, opening(SECRET, uid="http://example.com/p", party=ADA))
    heir, stranger = signed_in(services, "owner", name="Eve"), signed_in(services, "consumer")
    path = f"{API}/people/{me(owner)}:hand-over"
    assert code(manager.post(path, json={"to": me(heir)})) == (409, "N004")
    dismissed(manager, owner)
    assert code(manager.post(path, json={"to": me(stranger)})) == (409, "N004")
    held = manager.post(path, json={"to": me(heir)}).json()
    assert [one["iri"] for one in held["datasets"]] == [SECRET]
    consumer = signed_in(services, "consumer", party=ADA)
    read = {"target": [SECRET]}
    assert consumer.post(f"{API}/decisions", json=read).json()["effect"] == "permit"
    assert heir.post(f"{address}:withdraw", json={"reason": "no more"}).status_code == 200
    assert consumer.post(f"{API}/decisions", json=read).json()["effect"] == "deny"


@pytest.mark.nightly
def test_a_steward_works_for_those_alone_who_have_named_them(services, owner):
    steward = signed_in(services, "steward", name="Sue")
    [dataset] = owner.get(f"{API}/datasets").json()["items"]
    path, file = f"{API}/datasets/{dataset['id']}", {"name": "a.csv", "size": 8}
    address, _ = published(owner, opening(SECRET, uid="http://example.com/p", party=ADA))
    for answered in (
        steward.get(path),
        steward.delete(path),
        steward.post(f"{path}/uploads", json=file),
        steward.get(address),
    ):
        assert code(answered) == (404, "N003")
    assert steward.get(f"{API}/owners").json() == []
    named(owner, steward)
    assert [one["is_yours"] for one in owner.get(f"{API}/stewards").json()] == [True]
    assert [one["name"] for one in steward.get(f"{API}/owners").json()] == ["Olga"]
    assert steward.post(f"{path}/uploads", json=file).status_code == 201
    assert steward.get(address).status_code == 200
    assert owner.delete(f"{API}/stewards/{me(steward)}").status_code == 204
    assert code(steward.delete(path)) == (404, "N003")


@pytest.mark.nightly
def test_a_steward_who_was_dismissed_sends_nothing_more_and_begins_anew(services, owner):
    steward = signed_in(services, "steward", name="Sue")
    named(owner, steward)
    [dataset] = owner.get(f"{API}/datasets").json()["items"]
    file = {"name": "a.csv", "size": len(TABLE)}
    path = f"{API}/datasets/{dataset['id']}/uploads"
    started, stale = (steward.post(path, json=file).headers["location"] for _ in range(2))
    assert send(steward, started, TABLE[:4]).status_code == 200
    owner.delete(f"{API}/stewards/{me(steward)}")
    for _ in range(2):
        for answered in (
            steward.get(started),
            send(steward, started, TABLE[4:], 4),
            steward.post(f"{started}:complete", json={}),
        ):
            assert code(answered) == (404, "N003")
        named(owner, steward)
    assert steward.delete(stale).status_code == 204
    again = steward.post(path, json=file).headers["location"]
    assert send(steward, again, TABLE).status_code == 200
    assert steward.post(f"{again}:complete", json={}).status_code == 200


def test_stewards_work_for_all_where_that_is_set(tmp_path):
    with service(tmp_path, stewards_for_all=True) as services:
        dataset = created(signed_in(services, "owner"), SECRET)
        assert signed_in(services, "steward").delete(dataset).status_code == 204


def test_who_is_no_steward_is_not_named_one(services, owner):
    other = signed_in(services, "owner", name="Bob")
    assert code(owner.put(f"{API}/stewards/{me(other)}")) == (404, "N003")


def test_owners_ask_and_read_about_what_is_theirs_alone(services, owner):
    other = signed_in(services, "owner", name="Bob")
    created(other, MINE)
    question = {"assignee": ADA, "target": [SECRET]}
    assert owner.post(f"{API}/decisions", json=question).status_code == 200
    assert code(other.post(f"{API}/decisions", json=question)) == (403, "N002")
    assert len(owner.get(f"{API}/decisions").json()["items"]) == 1
    assert other.get(f"{API}/decisions").json()["items"] == []
    assert other.get(f"{API}/runs").json()["items"] == []


def test_auditors_read_people_and_requests_for_access(services, owner):
    auditor = signed_in(services, "auditor", name="Ursula")
    consumer = signed_in(services, "consumer", party=ADA)
    asked(consumer, targets=[SECRET])
    assert len(auditor.get(f"{API}/access-requests").json()["items"]) == 1
    assert "Olga" in {one["name"] for one in auditor.get(f"{API}/people").json()["items"]}
    assert len(auditor.get(f"{API}/people/{me(owner)}/holdings").json()["datasets"]) == 1


@pytest.mark.nightly
def test_nothing_is_granted_to_who_has_left(services, owner, manager):
    consumer = signed_in(services, "consumer", party=MALLORY)
    view = asked(consumer, targets=[SECRET], until=later(days=2)).json()
    dismissed(manager, consumer)
    assert code(answer(owner, view, "grant")) == (409, "N004")


@pytest.mark.nightly
def test_a_run_is_told_of_to_the_owners_whom_it_is_about(services, owner):
    steward = signed_in(services, "steward", name="Sue")
    other = signed_in(services, "owner", name="Bob")
    named(owner, steward)
    [dataset] = owner.get(f"{API}/datasets").json()["items"]
    wanted = {"kind": "audit-membership", "settings": {"data": dataset["id"]}}
    run = steward.post(f"{API}/runs", json=wanted).headers["location"]
    assert owner.get(run).status_code == 200
    assert owner.get(f"{run}/log").text
    assert code(other.get(run)) == (404, "N003")
    owner.delete(f"{API}/stewards/{me(steward)}")
    assert code(steward.post(f"{run}:cancel")) == (404, "N003")
    assert steward.get(f"{API}/runs").json()["items"] == []
