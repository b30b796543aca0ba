import json

import pytest
from served import API, CUSTOMER, browser, claimed, code, service, signed_in

from policy_engine.policy import read_policy

TEXT = CUSTOMER.read_text("utf-8")
READ = {"assignee": "http://org/user", "target": ["http://example/anonCustomer"]}


def made(client, text=TEXT, name="customers"):
    """Return the address of a new policy and the ETag of its draft."""
    answer = client.post(f"{API}/policies", json={"name": name, "text": text})
    assert answer.status_code == 201
    return answer.headers["location"], answer.headers["etag"]


def published(client, text=TEXT, name="customers"):
    claimed(client, text)
    address, tag = made(client, text, name)
    answer = client.post(f"{address}:publish", headers={"If-Match": tag})
    assert answer.json()["state"] == "published"
    return address, answer.headers["etag"]


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (TEXT, "application/ld+json"),
        (TEXT, "application/json"),
        (TEXT, "text/plain"),
        (json.dumps({"text": TEXT}), "application/json"),
    ],
)
def test_a_text_is_checked_as_it_is_or_in_json(services, body, media_type):
    headers = {"Content-Type": media_type}
    answer = browser(services).post(f"{API}/policies:check", content=body, headers=headers)
    assert answer.json() == {"valid": True, "problems": [], "hints": []}


def test_problems_are_those_of_the_validator_with_their_places(services):
    text = TEXT.replace('"permission"', '"permision"')
    [problem] = browser(services).post(f"{API}/policies:check", content=text).json()["problems"]
    assert (problem["code"], problem["line"], problem["pointer"]) == ("L002", 9, "/permision")


ODD = [b"", b"\xff", b"{", b"[" * 60_000, b"null", b'{"text": "\\ud800"}']


def test_whatever_is_sent_is_answered_by_problems(services):
    for body in ODD:
        headers = {"Content-Type": "application/json"}
        answer = browser(services).post(f"{API}/policies:check", content=body, headers=headers)
        assert answer.status_code == 200
        assert not answer.json()["valid"]


def test_a_text_is_read_out_and_says_who_can_do_what(services):
    client = signed_in(services, "owner")
    answer = client.post(f"{API}/policies:explain", json={"text": TEXT}).json()
    assert answer["sentences"][-1] == "Whatever no rule permits is denied."
    assert answer["matrix"]["assignees"] == ["http://org/user", "anybody else"]
    assert code(client.post(f"{API}/policies:explain", json={"text": "{}"})) == (422, "P001")


def test_a_text_is_written_in_another_syntax_and_back(services):
    client = signed_in(services, "owner")
    texts = [TEXT]
    for syntax in ("turtle", "rdf-xml", "n-triples", "json-ld"):
        wanted = {"text": texts[-1], "to": syntax}
        answer = client.post(f"{API}/policies:convert", json=wanted).json()
        assert answer["syntax"] == syntax
        texts.append(answer["text"])
    assert texts[1].startswith("@prefix")
    assert {read_policy(one).digest for one in (TEXT, texts[-1])} == {read_policy(TEXT).digest}


@pytest.mark.parametrize(
    ("wanted", "answer"),
    [
        ({"text": "<http://e.x/p> a", "to": "json-ld"}, "F001"),
        ({"text": TEXT.replace('"target"', '"tarGet"'), "to": "turtle"}, "L002"),
        ({"text": TEXT, "to": "toml"}, "N007"),
    ],
)
def test_what_cannot_be_converted_is_refused_with_its_code(services, wanted, answer):
    client = signed_in(services, "auditor")
    assert code(client.post(f"{API}/policies:convert", json=wanted)) == (422, answer)


def test_a_request_is_decided_by_a_text_alone(services):
    client = signed_in(services, "steward")
    answer = client.post(f"{API}/policies:evaluate", json={"text": TEXT, "request": READ}).json()
    assert answer["effect"] == "deny"
    unknown = {**READ, "action": "raed"}
    answer = client.post(f"{API}/policies:evaluate", json={"text": TEXT, "request": unknown})
    assert code(answer) == (422, "D001")


@pytest.mark.one_in(2)
@pytest.mark.both_databases
def test_a_draft_becomes_a_version_and_the_next_draft_another(services):
    client = signed_in(services, "owner")
    address, tag = published(client)
    changed = TEXT.replace('"10"', '"20"')
    answer = client.put(f"{address}/draft", json={"text": changed}, headers={"If-Match": tag})
    assert (answer.json()["number"], answer.json()["state"]) == (2, "draft")
    answer = client.post(f"{address}:publish", headers={"If-Match": answer.headers["etag"]})
    view = client.get(address).json()
    assert view["published_version"] == 2
    assert [one["state"] for one in view["versions"]] == ["replaced", "published"]
    assert client.get(f"{address}/versions/1").json()["text"] == TEXT
    [change] = client.get(f"{address}:diff", params={"from": 1, "to": 2}).json()["changes"]
    assert (change["before"], change["after"], change["tendency"]) == ("10", "20", "narrows")


@pytest.mark.both_databases
def test_a_change_of_an_older_draft_is_refused(services):
    client = signed_in(services, "owner")
    address, tag = made(client)
    for status in (200, 412):
        answer = client.put(f"{address}/draft", json={"text": ""}, headers={"If-Match": tag})
        assert answer.status_code == status
    assert code(client.put(f"{address}/draft", json={"text": ""})) == (422, "N007")


def test_a_text_with_problems_is_not_published(services):
    client = signed_in(services, "owner")
    address, tag = made(client, TEXT.replace('"permission"', '"permision"'))
    answer = client.post(f"{address}:publish", headers={"If-Match": tag})
    assert code(answer) == (422, "L002")
    assert client.get(address).json()["published_version"] is None


def test_what_was_published_is_not_published_again(services):
    client = signed_in(services, "owner")
    address, tag = published(client)
    assert code(client.post(f"{address}:publish", headers={"If-Match": tag})) == (409, "N004")


@pytest.mark.one_in(2)
@pytest.mark.both_databases
def test_two_policies_in_force_have_two_uids(services):
    client = signed_in(services, "owner")
    published(client)
    address, tag = made(client)
    assert code(client.post(f"{address}:publish", headers={"If-Match": tag})) == (409, "N004")


def test_with_two_persons_another_owner_approves(tmp_path):
    with service(tmp_path, two_persons=True) as services:
        author, other = signed_in(services, "owner"), signed_in(services, "owner", name="Bob")
        claimed(author, TEXT)
        address, tag = made(author)
        answer = author.post(f"{address}:publish", headers={"If-Match": tag})
        assert answer.json()["state"] == "proposed"
        tag = {"If-Match": answer.headers["etag"]}
        assert code(author.post(f"{address}:approve", headers=tag)) == (403, "N002")
        assert other.post(f"{address}:approve", headers=tag).json()["state"] == "published"
        assert code(other.post(f"{address}:approve", headers=tag)) == (404, "N003")
        assert code(author.post(f"{address}:approve", headers=tag)) == (409, "N004")


def test_whether_another_has_a_draft_is_not_told_to_who_would_approve_it(tmp_path):
    with service(tmp_path, two_persons=True) as services:
        address, tag = made(signed_in(services, "owner"))
        other, tag = signed_in(services, "owner", name="Bob"), {"If-Match": tag}
        for path in (address, f"{API}/policies/none"):
            assert code(other.post(f"{path}:approve", headers=tag)) == (404, "N003")


def test_with_two_persons_a_version_that_waits_can_be_written_anew(tmp_path):
    with service(tmp_path, two_persons=True) as services:
        author, other = signed_in(services, "owner"), signed_in(services, "owner", name="Bob")
        claimed(author, TEXT)
        address, tag = made(author)
        first = author.post(f"{address}:publish", headers={"If-Match": tag}).headers["etag"]
        words = {"text": TEXT + "\n"}
        draft = author.put(f"{address}/draft", json=words, headers={"If-Match": first})
        assert (draft.json()["number"], draft.json()["state"]) == (1, "draft")
        old = {"If-Match": first}
        assert code(other.post(f"{address}:approve", headers=old))[0] in (404, 409)
        tag = {"If-Match": draft.headers["etag"]}
        again = author.post(f"{address}:publish", headers=tag)
        assert again.json()["state"] == "proposed"
        assert code(other.post(f"{address}:approve", headers=old)) == (412, "N005")
        tag = {"If-Match": again.headers["etag"]}
        assert other.post(f"{address}:approve", headers=tag).json()["state"] == "published"


def test_policies_of_others_are_not_there(services):
    address, tag = made(signed_in(services, "owner"))
    other = signed_in(services, "owner", name="Bob")
    assert other.get(f"{API}/policies").json()["items"] == []
    for path in (address, f"{address}/versions/1", f"{address}:diff?from=1&to=1"):
        assert code(other.get(path)) == (404, "N003")
    answer = other.put(f"{address}/draft", json={"text": ""}, headers={"If-Match": tag})
    assert code(answer) == (404, "N003")
    assert signed_in(services, "auditor").get(address).status_code == 200
