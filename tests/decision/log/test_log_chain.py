"""How entries are bound to each other, and which head is held."""

import hmac
from hashlib import sha256

import pytest
from pydantic import ValidationError

from policy_engine.decision.log.chain import Chain, read_key
from policy_engine.decision.log.entries import START, Entry, LoggedDeed
from policy_engine.decision.log.verification import Head
from policy_engine.decision.model import Decision, Request
from policy_engine.errors import DataError, OutputError, RequestError

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


@pytest.mark.parametrize(("text", "key"), [(KEY, KEY), (b" %b \n" % KEY, KEY)])
def test_a_key_is_what_a_file_holds_without_the_blanks_around_it(tmp_path, text, key):
    path = tmp_path / "key"
    path.write_bytes(text)
    assert read_key(path) == read_key(str(path)) == key
    assert read_key(KEY) == KEY
    assert read_key(None) is None


def test_a_key_of_random_bytes_is_taken_whole_whatever_its_last_byte(tmp_path):
    key = b"\xff" * 31 + b"\n"
    (tmp_path / "key").write_bytes(key)
    assert read_key(tmp_path / "key") == read_key(key) == key


@pytest.mark.parametrize("size", [1, 31])
def test_a_key_that_is_too_short_is_refused_with_its_size(size):
    told = f"C013 The key has {size} bytes. A key has at least 32"
    with pytest.raises(DataError, match=told):
        read_key(b"k" * size)


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


@pytest.mark.parametrize(
    ("text", "head", "again"),
    [
        (f"12:{'Ab' * 32}", Head(12, "ab" * 32), f"12:{'ab' * 32}"),
        (f" {'a' * 64}\n", Head(-1, "a" * 64), "a" * 64),
        ("7", Head(7, ""), "7"),
        ("0", Head(0, ""), "0"),
    ],
)
def test_a_head_is_written_as_it_is_read(text, head, again):
    assert Head.of(text) == head
    assert str(head) == again
    assert Head.of(again) == head


@pytest.mark.parametrize(
    ("head", "held"),
    [
        (Head(2, "b" * 64), True),
        (Head(2, ""), True),
        (Head(-1, "b" * 64), True),
        (Head(3, "b" * 64), False),
        (Head(2, "c" * 64), False),
        (Head(1, ""), False),
        (Head(-1, "c" * 64), False),
    ],
)
def test_a_head_is_held_by_the_entry_that_has_all_of_it(head, held):
    assert head.is_at(2, "b" * 64) == held


def test_what_is_no_head_is_told_how_one_is_written():
    with pytest.raises(RequestError) as caught:
        Head.of("12:ab")
    [problem] = caught.value.problems
    assert problem.message == "A head is NUMBER:HASH, or one of the two. '12:ab' was given."
    assert problem.hint == "`log verify` prints it."
