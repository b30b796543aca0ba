"""What each entry of a log adds to what is known of what was done."""

from datetime import UTC, datetime

import pytest

from policy_engine.data.chain.reading import Mark
from policy_engine.data.chain.rows import Row
from policy_engine.decision.history import Deed, History, MadeFrom
from policy_engine.decision.log.chain import Chain
from policy_engine.decision.log.entries import Entry, LoggedDeed
from policy_engine.decision.log.state import LogState, record_entry
from policy_engine.decision.model import Counted, Decision, OutstandingDuty, Request
from policy_engine.errors import LogError
from policy_engine.policy.model import ANONYMIZE
from policy_engine.terms import ODRL

ANN, BOB, T, U = (f"http://x.org/{name}" for name in ("ann", "bob", "T", "U"))
READ = f"{ODRL}read"
JUNE = datetime(2026, 6, 1, tzinfo=UTC)
NOW = JUNE.isoformat()


def decision(effect="permit", action=READ, **more):
    asked = Request(assignee=ANN, action=action, targets=(T, U))
    parts = {"policy": "p", "rule": "r", "time": JUNE, "policy_digests": ("d", "e")}
    return Decision(effect=effect, request=asked, reason="Because.", **{**parts, **more})


def recorded(*contents):
    """Return the history of a log with some entries."""
    history, last = History(), None
    for content in contents:
        last = Chain().next(last, content)
        record_entry(history, last.to_json())
    return history


def test_a_permit_is_an_execution_of_the_rule_that_it_names():
    found = recorded(decision(), decision(action=ANONYMIZE))
    assert [found.count("p", "r", making=making) for making in (False, True)] == [1, 1]
    assert found.count_by_party("p", "r", ANN, making=False) == 1
    assert found.tallies["p", "r", False].assets == {(T, U): 1}
    assert found.permitted == {ANN: {T: None, U: None}}
    assert found.begun == {("p", ANN): {T: NOW, U: NOW}}
    assert found.in_force == {("d", "e"): NOW}
    assert (found.refused, found.origins, found.unnamed) == ({}, {}, {})


def test_a_permit_is_an_execution_of_what_it_says_by_whom_it_says():
    counted = (
        Counted(policy="p", rule="r", targets=(T,)),
        Counted(policy="q", rule="leave", targets=(U,), party=BOB),
    )
    found = recorded(decision(counted=counted))
    assert found.count_by_party("p", "r", ANN, making=False) == 1
    assert found.count_by_party("q", "leave", BOB, making=False) == 1
    assert found.count_by_party("q", "leave", ANN, making=False) == 0
    assert found.tallies["q", "leave", False].assets == {(U,): 1}
    assert found.begun == {("p", ANN): {T: NOW, U: NOW}, ("q", BOB): {U: NOW, T: NOW}}
    assert found.permitted == {ANN: {T: None, U: None}}


def test_a_permit_that_is_an_execution_of_nothing_adds_nothing():
    assert recorded(decision(counted=())) == History()


def test_a_rule_without_uid_is_exercised_under_the_digests_of_the_policies():
    label = "permission read T 0123456789abcdef"
    found = recorded(decision(rule=label), decision(rule=label, policy_digests=("d",)))
    assert found.unnamed == {"p": {"d"}}


def test_a_permit_tells_what_was_made_from_what():
    made = MadeFrom(T, (BOB,), (U, "urn:u"))
    assert recorded(decision(made_from=(made,))).origins == {ANN: {made: None}}
    assert recorded(decision("deny", made_from=(made,))).origins == {}


def test_a_denial_tells_which_duties_are_outstanding_and_counts_nothing():
    owed = OutstandingDuty(policy="p", rule="r", duty="urn:d", actions=(READ,))
    found = recorded(decision("deny", duties=(owed,)))
    assert found.refused == {("p", "r", "urn:d"): {ANN: NOW}}
    assert (found.tallies, found.permitted, found.in_force) == ({}, {}, {})
    assert recorded(decision(duties=(owed,))).refused == {}


def test_a_decision_without_a_time_is_of_the_moment_when_it_was_logged():
    before = datetime.now(UTC)
    [moment] = recorded(decision(time=None)).in_force.values()
    assert before <= datetime.fromisoformat(moment) <= datetime.now(UTC)


def test_a_deed_is_told_with_all_that_its_entry_says():
    said = {"state": "violated", "policy": "p", "duty": "urn:d", "by": BOB, "time": NOW}
    full = LoggedDeed(**said, digest="d", evidence="receipt 7", meaning="m")
    found = recorded(full, LoggedDeed(**said, digest="d"))
    assert found == History(
        deeds={
            ("p", "urn:d"): [
                Deed("violated", BOB, JUNE, "d", "receipt 7", 1, "m"),
                Deed("violated", BOB, JUNE, "d", "", 2),
            ]
        }
    )


# -- how far a log was read -----------------------------------------------------------------------


def entries(number):
    made = [Chain().next(None, decision())]
    while len(made) < number:
        made.append(Chain().next(made[-1], decision()))
    return made


def rows(some):
    return iter([Row(1, one.text(), start=10 * one.number) for one in some])


def test_a_state_goes_on_from_the_entry_that_was_read_last():
    some = entries(4)
    state = LogState(Chain(), "log.jsonl")
    state.read(rows(some[:2]))
    assert state.mark == Mark(2, some[1].hash, 20)
    state.read(rows(some[1:]))
    assert state.mark == Mark(4, some[3].hash, 40)
    assert state.history.count("p", "r", making=False) == 4


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ([], r"no longer contains entry 2\. It was truncated or replaced"),
        ([0], r"no longer contains entry 2"),
        ([2], r"no longer contains entry 2"),
        ([1, 3], r"does not show how often rules were exercised: entry 4 does not follow entry 2"),
        ([1, 1], r"does not show how often rules were exercised: entry 2 does not follow entry 2"),
    ],
    ids=str,
)
def test_a_log_that_does_not_go_on_from_there_is_refused(found, told):
    some = entries(4)
    state = LogState(Chain(), "log.jsonl")
    state.read(rows(some[:2]))
    with pytest.raises(LogError, match=f"G002 .*{told}"):
        state.read(rows([some[number] for number in found]))


def test_another_entry_of_the_same_number_is_not_gone_on_from():
    state = LogState(Chain(), "log.jsonl")
    state.read(rows(entries(2)))
    other = Chain().next(entries(1)[0], decision("deny"))
    with pytest.raises(LogError, match=r"G002 .*no longer contains entry 2"):
        state.read(rows([other]))


def same(text):
    return text


@pytest.mark.parametrize(
    ("change", "parts", "told"),
    [
        (lambda text: text.replace(b"permit", b"denied", 1), {}, "effect' is wrong"),
        (lambda text: text.replace(b'"r"', b'"s"', 1), {}, "entry 1, it was changed"),
        (lambda text: text[:-2], {}, "it is not JSON"),
        (lambda text: text[:-3] + b"\xff" + text[-2:], {}, "it is not JSON"),
        (lambda text: b"[%b]" % text, {}, "it is not a complete entry"),
        (lambda text: b" " + text, {}, "not written as the log writes it"),
        (same, {"fault": "the file ends in the middle"}, "the file ends in the middle"),
        (same, {"columns": (1, "0" * 64)}, "beside it differ from the entry"),
    ],
    ids=["effect", "rule", "cut", "byte", "list", "blank", "torn", "columns"],
)
def test_an_entry_that_is_not_as_it_was_written_is_refused(change, parts, told):
    [one] = entries(1)
    row = Row(1, change(one.text()), **parts)
    with pytest.raises(LogError, match=f"G002 The log does not show .*{told}") as caught:
        LogState(Chain(), "log.jsonl").read(iter([row]))
    assert caught.value.problems[0].hint == "`log verify` lists every problem."


def test_a_row_of_a_table_has_the_number_and_the_hash_of_its_entry():
    [one] = entries(1)
    row = Row(1, one.text(), columns=(2, one.hash))
    with pytest.raises(LogError, match=r"G002 .*beside it differ from the entry"):
        LogState(Chain(), "log.db").read(iter([row]))
    state = LogState(Chain(), "log.db")
    state.read(iter([Row(1, one.text(), columns=(1, one.hash))]))
    assert state.mark.number == 1


def test_an_entry_of_another_chain_is_refused():
    keyed = Chain(b"k" * 32).next(None, decision())
    for chain in (Chain(), Chain(b"o" * 32)):
        with pytest.raises(LogError, match=r"G002 .*in entry 1, "):
            LogState(chain, "log.jsonl").read(rows([keyed]))
    again = Entry.model_validate_json(keyed.text())
    state = LogState(Chain(b"k" * 32), "log.jsonl")
    state.add(again, 0)
    assert state.mark == Mark(1, keyed.hash, 0)
