"""What owners of one service tried on what belongs to others, and what it must not do."""

import json

import pytest
from building import permission, policy
from served import API, code, named, signed_in
from test_dataset_routes import TABLE, created, uploaded
from test_policy_routes import made, published

from policy_engine.service.store.datasets import StoredDataset
from policy_engine.service.store.policies import StoredPolicy

SECRET = "http://example.com/Secret"
MINE = "http://evil.org/Mine"
MALLORY = "http://evil.org/mallory"
ANN = "http://example.com/ann"


@pytest.fixture
def victim(services):
    client = signed_in(services, "owner", name="Olga")
    uploaded(client, TABLE, iri=SECRET)
    return client


@pytest.fixture
def mallory(services, victim):
    assert victim.get(f"{API}/me").status_code == 200
    client = signed_in(services, "owner", "consumer", name="Mallory", party=MALLORY)
    created(client, MINE)
    return client


def opening(target=SECRET, uid="http://evil.org/p", party=MALLORY, **parts):
    rule = {"uid": f"{uid}/1", "assignee": party, "target": target, "action": "read", **parts}
    return policy([permission(purpose=None, **rule)], uid=uid, profile=None)


def publish(client, text):
    address, tag = made(client, text)
    return client.post(f"{address}:publish", headers={"If-Match": tag})


def rows(client):
    answer = client.post(f"{API}/queries", json={"sql": "SELECT name FROM Secret"})
    return answer.json().get("rows", [])


OF_OTHERS = [SECRET, f"{SECRET}/name", [MINE, SECRET], "http://example.com/", "http://evil.org/x"]


@pytest.mark.nightly
def test_a_policy_about_what_is_anothers_or_nobodys_is_not_published(mallory):
    for target in OF_OTHERS:
        answer = publish(mallory, opening(target))
        assert code(answer) == (422, "P024")
        assert answer.json()["problems"][0]["line"] > 0
        assert rows(mallory) == []


@pytest.mark.nightly
def test_no_collection_reaches_what_is_anothers(mallory):
    document = json.loads(opening("http://evil.org/all"))
    document["permission"][0]["target"] = {
        "@type": "AssetCollection",
        "uid": "http://evil.org/all",
    }
    parts = [{"uid": one, "partOf": "http://evil.org/all"} for one in (MINE, SECRET)]
    document["permission"].append({**document["permission"][0], "uid": "urn:x", "target": parts})
    assert code(publish(mallory, json.dumps(document)))[0] == 422
    assert rows(mallory) == []


@pytest.mark.nightly
def test_nobody_names_somebody_else_as_the_assigner(mallory):
    answer = publish(mallory, opening(MINE, assigner="http://example.com/olga"))
    assert code(answer) == (422, "P025")
    assert publish(mallory, opening(MINE, assigner=MALLORY)).status_code == 200


def forced(services, client, text):
    """Put a policy in force that is refused today, as an earlier version of the service did."""
    address, _ = made(client, text)
    with services.database.writing() as session:
        row = session.get(StoredPolicy, address.rpartition("/")[2])
        row.published, row.uid = 1, json.loads(text)["uid"]
        row.versions[0].state = "published"
        row.revision += 1


@pytest.mark.nightly
def test_what_was_published_earlier_about_what_is_anothers_does_not_count(
    services, victim, mallory
):
    published(victim, opening(uid="http://example.com/p", party=ANN))
    ann = signed_in(services, "consumer", name="Ann", party=ANN)
    assert len(rows(ann)) == 2
    forced(services, mallory, opening())
    barring = json.loads(opening(uid="http://evil.org/q", party=ANN))
    barring["prohibition"] = barring.pop("permission")
    forced(services, mallory, json.dumps(barring))
    assert rows(mallory) == []
    assert len(rows(ann)) == 2


ALIKE = [
    f"{SECRET}/name",
    f"{SECRET}/",
    f"{SECRET}#x",
    "http://EXAMPLE.com/secret",
    "https://example.com/%53ecret",
    "http://example.com/a/../Secret",
]


@pytest.mark.nightly
def test_no_dataset_is_called_like_anothers(mallory, victim):
    def answers():
        bodies = ({"name": "x", "iri": iri} for iri in ALIKE)
        return {code(mallory.post(f"{API}/datasets", json=one)) for one in bodies}

    assert answers() == {(409, "N004")}
    [one] = victim.get(f"{API}/datasets").json()["items"]
    assert victim.delete(f"{API}/datasets/{one['id']}").status_code == 204
    assert answers() == {(409, "N004")}
    assert victim.post(f"{API}/datasets", json={"name": "x", "iri": SECRET}).status_code == 201


ODD_NAMES = [
    "http://example.com",
    "http://e/\t",
    "http://e/a b",
    "javascript:x",
    "x/y",
    "http://[x/y",
]


@pytest.mark.nightly
def test_odd_names_are_no_names(services, mallory):
    for iri in ODD_NAMES:
        assert code(mallory.post(f"{API}/datasets", json={"name": "x", "iri": iri})) == (
            422,
            "D001",
        )
        if iri != "http://example.com":
            manager = signed_in(services, "administrator", name="Max")
            body = {"name": "x", "roles": [], "party": iri}
            assert code(manager.post(f"{API}/people", json=body)) == (422, "D001")


@pytest.mark.nightly
@pytest.mark.usefixtures("mallory")
def test_nobody_is_given_the_party_of_another(services):
    manager = signed_in(services, "administrator", name="Max")
    for party in (MALLORY, f"{MALLORY}/", "https://EVIL.org/Mallory"):
        body = {"name": "x", "roles": ["consumer"], "party": party}
        assert code(manager.post(f"{API}/people", json=body)) == (409, "N004")
    view = manager.get(f"{API}/people").json()["items"][0]
    change = {"json": {"party": MALLORY}, "headers": {"If-Match": '"1"'}}
    assert code(manager.patch(f"{API}/people/{view['id']}", **change)) == (409, "N004")


@pytest.mark.nightly
def test_a_steward_names_the_owner_whom_a_dataset_belongs_to(services, victim):
    steward = signed_in(services, "steward", name="Sue")
    named(victim, steward)
    owner, body = victim.get(f"{API}/me").json()["id"], {"name": "x", "iri": MINE}
    assert code(steward.post(f"{API}/datasets", json=body)) == (404, "N003")
    view = steward.post(f"{API}/datasets", json={**body, "owner": owner}).json()
    with services.database.reading() as session:
        assert session.get(StoredDataset, view["id"]).owner_id == owner
