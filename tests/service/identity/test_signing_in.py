from datetime import timedelta

import pytest
from served import API, browser, code, person, signed_in

from policy_engine.errors import ServiceError
from policy_engine.service.identity import signing_in
from policy_engine.service.identity.secrets import digest_of, new_key
from policy_engine.service.store.base import now
from policy_engine.service.store.people import ApiKey, Person


def later(monkeypatch, by):
    moment = now() + by
    monkeypatch.setattr(signing_in, "now", lambda: moment)


def key_of(services, roles, **given):
    prefix, key = new_key()
    with services.database.writing() as session:
        row = {"expires": now() + timedelta(days=1), "person_id": person(services, "owner")}
        row |= {"name": "pipeline", "prefix": prefix, "digest": digest_of(key), "roles": roles}
        session.add(ApiKey(**row | given))
    return key


@pytest.mark.both_databases
def test_a_link_signs_in_once(services):
    secret = services.identities.new_link(services.identities.first_person())
    services.identities.follow_link(secret)
    with pytest.raises(ServiceError, match="N010"):
        services.identities.follow_link(secret)


def test_a_link_is_valid_for_a_quarter_of_an_hour(services, monkeypatch):
    secret = services.identities.new_link(services.identities.first_person())
    later(monkeypatch, timedelta(minutes=15, seconds=1))
    with pytest.raises(ServiceError, match="N010"):
        services.identities.follow_link(secret)


def test_a_link_that_was_never_given_signs_nobody_in(services):
    answer = browser(services).get("/sign-in", params={"token": "guess"})
    assert code(answer) == (401, "N010")
    assert "set-cookie" not in answer.headers


def test_a_browser_is_told_by_the_pages_that_a_link_is_over(services):
    client = browser(services)
    headers = {"Accept": "text/html,application/xhtml+xml"}
    answer = client.get("/sign-in?token=guess", headers=headers, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/?link=over")
    assert "set-cookie" not in answer.headers


def test_the_first_person_may_do_everything(services):
    client = browser(services)
    secret = services.identities.new_link(services.identities.first_person())
    client.get("/sign-in", params={"token": secret})
    assert len(client.get(f"{API}/me").json()["roles"]) == 5


@pytest.mark.both_databases
def test_a_sign_in_ends_after_its_life_or_two_idle_hours(services, monkeypatch):
    client = signed_in(services, "owner")
    for by in (timedelta(hours=2, minutes=1), timedelta(hours=12, minutes=1)):
        later(monkeypatch, by)
        assert code(client.get(f"{API}/me")) == (401, "N010")


def test_a_sign_in_ends_by_signing_out(services):
    client = signed_in(services, "owner")
    kept = dict(client.cookies)
    assert client.post(f"{API}/me:sign-out").status_code == 204
    client.cookies.update(kept)
    assert code(client.get(f"{API}/me")) == (401, "N010")


def test_somebody_who_left_is_signed_out(services):
    client = signed_in(services, "owner")
    with services.database.writing() as session:
        for row in session.query(Person):
            row.is_active = False
    assert code(client.get(f"{API}/me")) == (401, "N010")


@pytest.mark.both_databases
def test_a_key_has_those_of_its_roles_that_its_person_has(services):
    key = key_of(services, ["owner", "administrator"])
    assert [role.value for role in services.identities.by_key(key).roles] == ["owner"]


@pytest.mark.parametrize("given", [{"expires": now()}, {"ended": now()}, {"digest": "0" * 64}])
def test_a_key_that_ended_is_not_valid(services, given):
    with pytest.raises(ServiceError, match="N010"):
        services.identities.by_key(key_of(services, ["owner"], **given))


@pytest.mark.both_databases
def test_a_key_that_was_used_is_looked_up_anew_once_something_changed(services):
    key = key_of(services, ["owner", "consumer"])
    by_key = services.identities.by_key
    actor = by_key(key)
    assert by_key(key) is actor
    with services.database.writing() as session:
        session.get(Person, actor.id).roles = ["consumer", "owner"]
    assert {role.value for role in by_key(key).roles} == {"owner", "consumer"}
    with services.database.writing() as session:
        session.query(ApiKey).one().ended = now()
    with pytest.raises(ServiceError, match="N010"):
        by_key(key)


def test_a_key_that_was_used_ends_when_it_does(services, monkeypatch):
    key = key_of(services, ["owner"])
    services.identities.by_key(key)
    later(monkeypatch, timedelta(days=1, seconds=1))
    with pytest.raises(ServiceError, match="N010"):
        services.identities.by_key(key)


def test_few_keys_are_remembered(services, monkeypatch):
    monkeypatch.setattr(signing_in, "_MOST_KEYS", 2)
    for _ in range(3):
        services.identities.by_key(key_of(services, ["owner"]))
    assert len(services.identities._known_keys) <= 2
