import pytest
from served import API, browser, code, signed_in

from policy_engine.service.identity.signing_in import SIGN_IN_LIFE


def added(client, **given):
    answer = client.post(f"{API}/people", json={"name": "Bob", **given})
    assert answer.status_code == 201
    return answer.json()["id"], answer.headers["etag"]


@pytest.mark.both_databases
def test_somebody_is_invited_and_signs_in_with_their_roles(services):
    client = signed_in(services, "administrator")
    person, _ = added(client, roles=["owner", "consumer"], party="http://example.com/bob")
    link = client.post(f"{API}/people/{person}:invite").json()
    other = browser(services)
    assert other.get(link["url"], follow_redirects=False).status_code == 303
    me = other.get(f"{API}/me").json()
    assert (me["name"], me["roles"], me["party"]) == (
        *("Bob", ["owner", "consumer"]),
        "http://example.com/bob",
    )


def test_roles_that_were_taken_away_are_gone_at_once(services):
    client = signed_in(services, "administrator")
    person, tag = added(client, roles=["owner"])
    other = browser(services)
    other.get(client.post(f"{API}/people/{person}:invite").json()["url"], follow_redirects=False)
    assert other.get(f"{API}/policies").status_code == 200
    change = {"json": {"roles": []}, "headers": {"If-Match": tag}}
    assert client.patch(f"{API}/people/{person}", **change).json()["roles"] == []
    assert code(other.get(f"{API}/policies")) == (403, "N002")
    assert code(client.patch(f"{API}/people/{person}", **change)) == (412, "N005")


@pytest.mark.both_databases
def test_who_left_is_neither_signed_in_nor_invited(services):
    client = signed_in(services, "administrator")
    person, tag = added(client)
    link = client.post(f"{API}/people/{person}:invite").json()["url"]
    change = {"json": {"is_active": False}, "headers": {"If-Match": tag}}
    assert client.patch(f"{API}/people/{person}", **change).status_code == 200
    assert code(browser(services).get(link)) == (401, "N010")
    assert code(client.post(f"{API}/people/{person}:invite")) == (409, "N004")


def test_somebody_manages_people_to_the_last(services):
    client = signed_in(services, "administrator")
    me = client.get(f"{API}/me").json()["id"]
    for change in ({"roles": ["owner"]}, {"is_active": False}):
        answer = client.patch(f"{API}/people/{me}", json=change, headers={"If-Match": '"1"'})
        assert code(answer) == (409, "N004")
    assert client.get(f"{API}/people").json()["items"][0]["revision"] == 1


@pytest.mark.parametrize("party", ["bob", "http://a b", "javascript:x"])
def test_a_party_is_an_iri(services, party):
    answer = signed_in(services, "administrator").post(
        f"{API}/people", json={"name": "Bob", "party": party}
    )
    assert code(answer) == (422, "D001")


@pytest.mark.both_databases
def test_a_key_calls_with_some_of_ones_roles(services):
    client = signed_in(services, "owner", "steward")
    made = client.post(f"{API}/keys", json={"name": "pipeline", "roles": ["steward"]}).json()
    machine = browser(services)
    machine.headers["Authorization"] = f"Bearer {made['key']}"
    me = machine.get(f"{API}/me").json()
    assert (me["roles"], me["csrf_token"]) == (["steward"], "")
    assert code(machine.post(f"{API}/policies", json={"name": "x", "text": ""})) == (403, "N002")
    [listed] = client.get(f"{API}/keys").json()
    assert "key" not in listed
    assert client.delete(f"{API}/keys/{made['id']}").status_code == 204
    assert code(machine.get(f"{API}/me")) == (401, "N010")


def test_a_key_gives_no_role_that_its_maker_lacks_and_makes_no_other(services):
    client = signed_in(services, "owner")
    answer = client.post(f"{API}/keys", json={"name": "x", "roles": ["administrator"]})
    assert code(answer) == (403, "N002")
    made = client.post(f"{API}/keys", json={"name": "x", "roles": ["owner"]}).json()
    machine = browser(services)
    machine.headers["Authorization"] = f"Bearer {made['key']}"
    answer = machine.post(f"{API}/keys", json={"name": "y", "roles": ["owner"]})
    assert code(answer) == (403, "N002")


def test_keys_of_others_are_not_there(services):
    made = signed_in(services, "owner").post(f"{API}/keys", json={"name": "x", "roles": []}).json()
    other = signed_in(services, "owner", name="Bob")
    assert code(other.delete(f"{API}/keys/{made['id']}")) == (404, "N003")
    assert other.get(f"{API}/keys").json() == []


@pytest.mark.parametrize("days", [0, 367])
def test_a_key_ends_within_a_year(services, days):
    body = {"name": "x", "roles": [], "days": days}
    assert code(signed_in(services, "owner").post(f"{API}/keys", json=body)) == (422, "N007")


def test_a_browser_forgets_a_sign_in_that_is_over(services):
    client = browser(services)
    secret = services.identities.new_link(services.identities.first_person())
    answer = client.get("/sign-in", params={"token": secret}, follow_redirects=False)
    assert f"Max-Age={int(SIGN_IN_LIFE.total_seconds())}" in answer.headers["set-cookie"]
