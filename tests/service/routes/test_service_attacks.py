"""What somebody tried from outside, and what it must not do."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from served import API, CUSTOMER, browser, code, named, service, signed_in
from test_dataset_routes import TABLE, begun, send, uploaded
from test_policy_routes import made, published

from policy_engine.service.serving import prepare_folder
from policy_engine.service.store.people import Person

TEXT = CUSTOMER.read_text("utf-8")
HALF = "\ud800"


def test_no_policy_in_force_keeps_requests_of_others_from_being_decided(services):
    victim = signed_in(services, "owner")
    published(victim, TEXT)
    other = signed_in(services, "owner", name="Bob")
    address, tag = made(other, TEXT.replace("/policy/customer", "/policy/mine"))
    answer = other.post(f"{address}:publish", headers={"If-Match": tag})
    assert code(answer) == (422, "P019")
    assert "policy/customer" not in answer.text
    question = {"assignee": "http://org/user", "target": ["http://example.com/Customer"]}
    assert victim.post(f"{API}/decisions", json=question).status_code == 200


def test_a_dataset_is_given_by_its_own_iri_alone(services):
    owner, steward = signed_in(services, "owner"), signed_in(services, "steward", name="Sue")
    named(owner, steward)
    address, _ = published(owner, TEXT)
    dataset = uploaded(owner, TABLE, iri="http://example.com/Other").json()["id"]
    body = {
        "policy": address.rpartition("/")[2],
        "datasets": {"http://example.com/Customer": dataset},
    }
    assert code(steward.post(f"{API}/plans", json=body)) == (409, "N004")
    assert code(steward.post(f"{API}/runs", json={"kind": "sanitise", **body})) == (409, "N004")


def test_half_a_character_is_refused_before_anything_is_kept(services):
    steward = signed_in(services, "steward")
    body = {"kind": "audit-membership", "settings": {"data": "x", "model": {"a": HALF}}}
    raw = json.dumps(body)
    headers = {"Content-Type": "application/json"}
    assert code(steward.post(f"{API}/runs", content=raw, headers=headers)) == (422, "N007")
    assert steward.get(f"{API}/runs").json()["items"] == []


CURSORS = [
    "WyIwMDAxLTAxLTAxVDAwOjAwOjAwKzIzOjU5IiwgIngiXQ==",
    "Wyc5OTk5LTEyLTMxVDIzOjU5OjU5LTIzOjU5JywgJ3gnXQ==",
    "W1tbW1tb" * 60,
]


def test_cursors_that_no_list_gave_are_no_fault_of_ours(services):
    for cursor in CURSORS:
        answer = signed_in(services, "owner").get(f"{API}/policies", params={"cursor": cursor})
        assert code(answer) == (422, "N007")


def test_numbers_of_entries_that_no_log_has_are_no_fault_of_ours(services):
    auditor = signed_in(services, "auditor")
    for number in (2**53 + 1, 2**63, 2**64, 10**400):
        answer = auditor.get(f"{API}/decisions", params={"cursor": number})
        assert code(answer) == (422, "N007")
        assert code(auditor.get(f"{API}/decisions/{number}")) == (422, "N007")


@pytest.mark.parametrize("moment", ["2020-01-01", "2020-01-01T00:00:00"])
def test_moments_without_a_zone_are_in_utc(services, moment):
    auditor = signed_in(services, "auditor")
    assert auditor.get(f"{API}/decisions", params={"since": moment}).json()["items"] == []


def test_only_parts_of_uploads_are_large(tmp_path):
    with service(tmp_path, largest_body=1000) as services:
        answer = browser(services).post(f"{API}/uploads/x:complete", content=b"{" * 1001)
    assert code(answer) == (413, "N008")


def test_who_is_not_signed_in_has_small_texts_checked(services):
    large = TEXT + " " * 2**16
    answer = browser(services).post(f"{API}/policies:check", content=large)
    assert code(answer) == (413, "N008")
    answer = signed_in(services, "consumer").post(f"{API}/policies:check", content=large)
    assert answer.json()["valid"]


def test_an_upload_that_is_completed_again_is_answered_as_before(services):
    owner = signed_in(services, "owner")
    upload = begun(owner, TABLE)
    send(owner, upload, TABLE)
    with ThreadPoolExecutor(3) as threads:
        answers = list(threads.map(lambda _: owner.post(f"{upload}:complete", json={}), range(3)))
    assert [one.text for one in answers if one.status_code != 200] == []
    assert len({one.text for one in answers}) == 1


def test_a_folder_that_was_there_is_read_by_its_owner_alone(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir(mode=0o755)
    prepare_folder(folder)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_who_comes_back_signs_in_anew(services):
    manager, client = signed_in(services, "administrator"), signed_in(services, "owner", name="Bob")
    key = client.post(f"{API}/keys", json={"name": "x", "roles": ["owner"]}).json()["key"]
    path, tag = f"{API}/people/{client.get(f'{API}/me').json()['id']}", '"1"'
    for is_active in (False, True):
        change = {"json": {"is_active": is_active}, "headers": {"If-Match": tag}}
        tag = manager.patch(path, **change).headers["etag"]
    assert code(client.get(f"{API}/me")) == (401, "N010")
    machine = browser(services)
    machine.headers["Authorization"] = f"Bearer {key}"
    assert code(machine.get(f"{API}/me")) == (401, "N010")


def test_wrong_links_lock_nobody_out(services):
    client = browser(services)
    for _ in range(70):
        client.get("/sign-in", params={"token": "bad"})
    secret = services.identities.new_link(services.identities.first_person())
    answer = client.get("/sign-in", params={"token": secret}, follow_redirects=False)
    assert answer.status_code == 303


def test_the_first_person_is_an_administrator(services):
    signed_in(services, "owner")
    first = services.identities.first_person()
    with services.database.reading() as session:
        assert "administrator" in session.get(Person, first).roles
