"""Status lists as Bitstring Status List 1.0 has them: signed, and read strictly."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from signing import key_of

from policy_engine.errors import SignatureError
from policy_engine.trust.proofs import add_proof
from policy_engine.trust.status_bits import LEAST_BITS
from policy_engine.trust.status_lists import StatusList, entry_index, load_status_list

NAME = "https://example.com/status/1"
THEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def signed_again(text, change):
    """Return a list with another subject, signed by its own key."""
    document = json.loads(text)
    document["credentialSubject"].update(change)
    return json.dumps(add_proof(document, key_of(1), THEN))


@pytest.fixture
def text():
    allotted, _ = StatusList(NAME).allot(3)
    return allotted.with_withdrawal(1, THEN).signed_text(key_of(1), THEN)


def test_a_list_says_what_was_withdrawn_and_since_when(text):
    read = load_status_list(text)
    assert [read.withdrawn(index) for index in range(3)] == [None, THEN, None]
    assert (read.name, read.allotted, read.key) == (NAME, 3, key_of(1).public)


def test_a_certificate_gets_an_entry_of_its_own(text):
    changed, [entry] = load_status_list(text).allot(1)
    assert entry == {
        "id": f"{NAME}#3",
        "type": "BitstringStatusListEntry",
        "statusPurpose": "revocation",
        "statusListIndex": "3",
        "statusListCredential": NAME,
    }
    assert (entry_index(entry), changed.allotted) == (3, 4)


def test_a_withdrawal_is_not_dated_anew(text):
    again = load_status_list(text).with_withdrawal(1, THEN + timedelta(days=1))
    assert again.withdrawn(1) == THEN


def test_a_full_list_has_no_place_left():
    full, _ = StatusList(NAME).allot(LEAST_BITS)
    with pytest.raises(SignatureError, match="Y014"):
        full.allot(1)


def test_a_list_of_others_says_no_times_and_counts_since_it_was_signed(text):
    document = json.loads(text)
    del document["credentialSubject"]["pe:withdrawn"]
    read = load_status_list(json.dumps(add_proof(document, key_of(1), THEN)))
    assert read.withdrawn(1) == read.signed


def test_a_changed_list_is_refused(text):
    other = text.replace(
        StatusList(NAME).bits.with_bit(1).encoded(), StatusList(NAME).bits.encoded()
    )
    assert other != text
    with pytest.raises(SignatureError, match="Y006"):
        load_status_list(other)


def test_a_list_that_has_ended_is_refused():
    text = StatusList(NAME).signed_text(key_of(1), THEN, THEN + timedelta(days=1))
    with pytest.raises(SignatureError, match="Y007"):
        load_status_list(text)


@pytest.mark.parametrize(
    "change",
    [
        {"statusPurpose": "suspension"},
        {"type": "StatusList2021"},
        {"encodedList": "uAAAA"},
        {"encodedList": 7},
        {"statusSize": 2},
        {"pe:allotted": -1},
        {"pe:allotted": True},
        {"pe:withdrawn": {"1": "yesterday"}},
        {"pe:withdrawn": {"one": "2026-01-02T03:04:05Z"}},
        {"pe:withdrawn": []},
    ],
)
def test_what_is_not_such_a_list_is_refused(text, change):
    with pytest.raises(SignatureError, match="Y005"):
        load_status_list(signed_again(text, change))


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"statusPurpose": "revocation", "statusListIndex": "-1"},
        {"statusPurpose": "revocation", "statusListIndex": "01"},
        {"statusPurpose": "revocation", "statusListIndex": "1e3"},
        {"statusPurpose": "message", "statusListIndex": "1"},
    ],
)
def test_an_entry_of_another_kind_is_none(entry):
    with pytest.raises(ValueError, match="not one of a list"):
        entry_index(entry)
