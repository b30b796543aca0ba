import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest
from served import API, code, service, signed_in

from policy_engine.service.resources import answers
from policy_engine.service.resources.answers import KeyedCall

KEYED = {"Idempotency-Key": "6d5f2c7e"}
POLICY = {"name": "customers", "text": "{}"}


def create(client, body=POLICY, **headers):
    return client.post(f"{API}/policies", json=body, headers={**KEYED, **headers})


def count(client):
    return len(client.get(f"{API}/policies").json()["items"])


def test_a_call_that_is_repeated_is_answered_as_before_and_done_once(services):
    client = signed_in(services, "owner")
    first, again = create(client), create(client)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert first.headers["location"] == again.headers["location"]
    assert first.headers["etag"] == again.headers["etag"]
    assert again.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    assert count(client) == 1


def test_calls_without_a_key_are_done_each_time(services):
    client = signed_in(services, "owner")
    for _ in range(2):
        client.post(f"{API}/policies", json=POLICY)
    assert count(client) == 2


def test_a_key_is_of_one_call(services):
    client = signed_in(services, "owner")
    create(client)
    assert code(create(client, {**POLICY, "name": "others"})) == (422, "N011")
    dataset = {"name": "x", "iri": "http://example.com/x"}
    other = client.post(f"{API}/datasets", json=dataset, headers=KEYED)
    assert code(other) == (422, "N011")
    assert count(client) == 1


def test_keys_of_others_are_others(services):
    ada, bob = signed_in(services, "owner"), signed_in(services, "owner", name="Bob")
    assert create(ada).json()["id"] != create(bob).json()["id"]


def test_what_is_refused_may_be_tried_again_by_the_same_key(services):
    client = signed_in(services, "owner")
    dataset = {"name": "x", "iri": "no IRI"}
    for _ in range(2):
        refused = client.post(f"{API}/datasets", json=dataset, headers=KEYED)
        assert code(refused) == (422, "D001")
    dataset["iri"] = "http://example.com/x"
    assert client.post(f"{API}/datasets", json=dataset, headers=KEYED).status_code == 201


def test_a_key_is_no_sign_in(services):
    client = signed_in(services, "owner")
    create(client)
    client.headers.pop("X-CSRF-Token")
    assert code(create(client)) == (403, "N009")
    client.cookies.clear()
    assert code(create(client)) == (401, "N001")
    assert code(create(signed_in(services, "consumer"))) == (403, "N002")


def test_a_call_that_is_being_answered_is_not_begun_twice(services):
    client = signed_in(services, "owner")
    create(client)
    with services.database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE kept_answers SET status = NULL")
    assert code(create(client)) == (409, "N004")


def test_of_calls_at_once_one_is_done(services):
    client = signed_in(services, "owner")
    with ThreadPoolExecutor(8) as threads:
        results = [*threads.map(lambda _: create(client), range(16))]
    statuses = {one.status_code for one in results}
    assert 201 in statuses
    assert statuses <= {201, 409}
    assert count(client) == 1


def test_a_secret_is_shown_once_and_is_not_in_the_database(services, tmp_path):
    client = signed_in(services, "owner", "administrator")
    body = {"name": "machine", "roles": ["owner"]}
    first, again = (client.post(f"{API}/keys", json=body, headers=KEYED) for _ in range(2))
    key = first.json()["key"]
    assert code(again) == (409, "N004")
    assert len(client.get(f"{API}/keys").json()) == 1
    other = client.post(f"{API}/people", json={"name": "Bob", "roles": []}).json()["id"]
    invite = f"{API}/people/{other}:invite"
    link, again = (client.post(invite, headers=KEYED | {"Idempotency-Key": "b"}) for _ in range(2))
    assert (link.status_code, code(again)) == (200, (409, "N004"))
    services.database.close()
    for path in tmp_path.glob("service.db*"):
        assert key.rpartition("_")[2].encode() not in path.read_bytes()


def test_a_key_is_free_again_after_a_day(services):
    client = signed_in(services, "owner")
    create(client)
    with sqlite3.connect(services.settings.folder / "service.db") as database:
        database.execute("UPDATE kept_answers SET created = '2020-01-01 00:00:00.000000'")
    database.close()
    assert create(client).status_code == 201
    assert count(client) == 2


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_has_at_least_one_character_and_is_not_long(services, key):
    refused = create(signed_in(services, "owner"), **{"Idempotency-Key": key})
    assert code(refused) == (422, "N007")


def test_an_answer_that_is_too_large_is_not_kept_and_not_given_twice(services, monkeypatch):
    monkeypatch.setattr(answers, "_LARGEST", 10)
    client = signed_in(services, "owner")
    assert create(client).status_code == 201
    assert code(create(client)) == (409, "N004")


def test_so_many_keys_are_remembered_and_no_more(services, monkeypatch):
    monkeypatch.setattr(answers, "_MOST_KEYS", 1)
    client = signed_in(services, "owner")
    create(client)
    assert code(create(client, **{"Idempotency-Key": "another"})) == (429, "N006")


def test_an_answer_of_a_service_with_another_key_is_not_told(services, tmp_path):
    client = signed_in(services, "owner")
    create(client)
    (tmp_path / "keys" / "answers.key").unlink()
    assert code(create(client)) == (409, "N004")


def test_an_answer_that_cannot_be_kept_is_still_given_and_not_done_twice(services, monkeypatch):
    def fail(*_):
        raise OSError

    client = signed_in(services, "owner")
    monkeypatch.setattr(answers.KeptAnswers, "keep", fail)
    assert create(client).status_code == 201
    monkeypatch.undo()
    assert code(create(client)) == (409, "N004")


def test_a_call_is_counted_once(tmp_path):
    with service(tmp_path, calls_a_minute=3) as services:
        client = signed_in(services, "owner")
        statuses = [create(client).status_code for _ in range(4)]
    assert statuses == [201, 201, 201, 429]


def test_a_call_is_known_by_who_calls_and_by_its_key():
    call = KeyedCall("ada", "key", "what")
    assert call.digest == KeyedCall("ada", "key", "other").digest
    assert call.digest != KeyedCall("bob", "key", "what").digest


def test_the_document_tells_which_calls_take_a_key(services):
    paths = signed_in(services, "owner").get(f"{API}/openapi.json").json()["paths"]
    takers = {path for path in paths if "Idempotency-Key" in str(paths[path].get("post"))}
    named = ("access-requests", "datasets", "keys", "people", "policies", "queries", "runs")
    assert takers >= {f"{API}/{name}" for name in named}
    assert f"{API}/policies:check" not in takers
