"""How entries are bound to each other, and which head is held."""

import hmac
from hashlib import sha256

import pytest
from pydantic import ValidationError

from policy_engine.data.chain.entries import START
from policy_engine.decision.log.chain import Chain
from policy_engine.decision.log.entries import Entry, LoggedDeed
from policy_engine.decision.model import Decision, Request
from policy_engine.errors import OutputError

KEY = b"k" * 32
ASKED = Request(assignee="urn:ann", action="urn:read", targets=("urn:t",))
PERMIT = Decision(effect="permit", request=ASKED, reason="Because.")
DEED = LoggedDeed(
    state="fulfilled", policy="p", digest="d", duty="urn:d", by="urn:ann", time="2026-06-01"
)


def test_a_hash_is_that_of_the_text_and_with_a_key_that_of_no_pseudonym_and_of_no_state():
    assert Chain().text_hash(b"x") == Chain().digest(b"x") == sha256(b"x").hexdigest()
    keyed = Chain(KEY)
    assert keyed.text_hash(b"x") == hmac.new(KEY, b"\xffx", sha256).hexdigest()
    assert keyed.digest(b"x") == hmac.new(KEY, b"\xfex", sha256).hexdigest()


@pytest.mark.parametrize("key", [None, KEY])
def test_each_entry_has_the_number_after_and_the_hash_of_the_one_before(key):
    chain = Chain(key)
    first = chain.next(None, PERMIT)
    second = chain.next(first, DEED)
    assert (first.number, first.previous, first.deed) == (1, START, None)
    assert (second.number, second.previous, second.decision) == (2, first.hash, None)
    assert {one.chain for one in (first, second)} == {"hmac-sha-256" if key else "sha-256"}
    for one in (first, second):
        assert one.hash == chain.text_hash(one.hashed_text())
        assert [*chain.entry_faults(one)] == []
        assert b'"hash"' not in one.hashed_text()


def test_what_is_wrong_with_an_entry_by_itself_is_told():
    plain, keyed = Chain().next(None, PERMIT), Chain(KEY).next(None, PERMIT)
    other = Chain(b"o" * 32)
    changed = "it was changed{}: its hash does not match its content"
    asked = "its chain is {!r}, but {!r} is expected"
    kinds = "sha-256", "hmac-sha-256"
    later = plain.model_copy(update={"number": 2})
    assert [*Chain().entry_faults(later)] == [changed.format("")]
    assert [*other.entry_faults(keyed)] == [changed.format(", or was made with another key")]
    assert [*Chain().entry_faults(keyed)] == [asked.format(*kinds[::-1])]
    assert [*Chain(KEY).entry_faults(plain)] == [asked.format(*kinds)]


def test_a_name_that_cannot_be_written_is_not_logged():
    torn = ASKED.model_copy(update={"assignee": "urn:\udcff"})
    with pytest.raises(
        OutputError, match="O002 The entry cannot be logged: a name in it cannot be encoded"
    ):
        Chain().next(None, PERMIT.model_copy(update={"request": torn}))


@pytest.mark.parametrize(
    "changes",
    [
        {"deed": DEED},
        {"decision": None},
        {"number": 0},
        {"previous": "0" * 63},
        {"hash": "G" * 64},
        {"chain": "md5"},
        {"format": 2},
        {"more": 1},
    ],
    ids=str,
)
def test_an_entry_is_of_one_form_alone(changes):
    whole = Chain().next(None, PERMIT).to_json()
    assert Entry.model_validate(whole | {"hash": START}).number == 1
    with pytest.raises(ValidationError):
        Entry.model_validate({**whole, **changes})


@pytest.mark.parametrize("time", ["noon", "2026-13-01", ""])
def test_a_deed_has_a_time(time):
    with pytest.raises(ValidationError):
        LoggedDeed.model_validate({**DEED.model_dump(), "time": time})
