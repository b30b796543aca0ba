"""Texts that a database of one kind keeps and one of another does not are refused by both."""

import base64
import json

import pytest
from served import API, code, signed_in

HALF, NUL = '"\\ud800"', '"\\u0000"'


@pytest.fixture
def owner(services):
    return signed_in(services, "owner")


def posted(client, body):
    return client.post(
        f"{API}/policies", content=body, headers={"Content-Type": "application/json"}
    )


@pytest.mark.one_in(2)
@pytest.mark.both_databases
def test_no_text_has_a_character_that_not_every_database_keeps(owner):
    assert code(owner.get(f"{API}/policies/a%00b")) == (404, "N003")
    assert code(owner.get(f"{API}/policies", params={"cursor": "\0"})) == (422, "N007")
    cursor = base64.urlsafe_b64encode(json.dumps(["2026-01-01T00:00:00+00:00", "\0"]).encode())
    assert code(owner.get(f"{API}/policies?cursor={cursor.decode()}")) == (422, "N007")
    for text in (HALF, NUL):
        assert code(posted(owner, f'{{"name": {text}, "text": "{{}}"}}')) == (422, "N007")
        assert code(posted(owner, f'{{"name": "p", "text": "{{}}", {text}: 1}}')) == (422, "N007")
    assert owner.get(f"{API}/policies").json()["items"] == []


@pytest.mark.parametrize(
    "body",
    [
        '{"name": "\\u0000", "text": "{}"}'.encode("utf-16"),
        b'{"name": "\xed\xa0\x80", "text": "{}"}',
        b'{"name": "p", "text": "{}", "more": [{"a": ["\\\\\\u0000"]}]}',
    ],
)
def test_such_a_character_is_found_in_any_encoding_and_at_any_depth(owner, body):
    answer = posted(owner, body)
    assert code(answer) == (422, "N007")
    assert "of the call has" in answer.json()["detail"]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["\\\\u0000", "\\ud83d\\ude00", "\U0001f600", "\ud55c", "%00"])
def test_whole_characters_and_words_about_others_are_kept(owner, name):
    body = f'{{"name": "{name}", "text": "{{}}"}}'
    kept = posted(owner, body.encode())
    assert (kept.status_code, kept.json()["name"]) == (201, json.loads(body)["name"])
