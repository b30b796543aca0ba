from contextlib import contextmanager
from threading import Event

import pytest

from policy_engine.decision import Decider, Request
from policy_engine.decision.log import DecisionLog, last_entries
from policy_engine.decision.telling import unchanged
from policy_engine.errors import OutputError, ServiceError
from policy_engine.policy import InForce
from policy_engine.service.metrics.call_meter import EventTally
from policy_engine.service.resources import decision_turns
from policy_engine.service.resources.decision_turns import DecisionTurns

PATIENCE = 10


def asked(name="http://x.org/data"):
    action = "http://www.w3.org/ns/odrl/2/read"
    request = Request(assignee="http://x.org/ada", action=action, targets=(name,), purpose="")
    return Decider(InForce(())), request, unchanged


@pytest.fixture
def log(tmp_path):
    with_connection = DecisionLog.open(tmp_path / "decisions.sqlite", stays_open=True)
    yield with_connection
    with_connection.close()


@pytest.fixture
def turns(log):
    started = DecisionTurns(lambda: log, lambda: 1, EventTally())
    yield started
    started.close()


@contextmanager
def held(turns):
    """Let the first request wait for its turn, and so all that come meanwhile."""
    has_begun, may_go_on = Event(), Event()

    def wait(_version):
        has_begun.set()
        assert may_go_on.wait(PATIENCE)
        return asked("http://x.org/first")

    first = turns.ask(wait)
    assert has_begun.wait(PATIENCE)
    yield first
    may_go_on.set()


def counted(monkeypatch):
    """Return a list that gets an item with each transaction of a log."""
    transactions, begin = [], DecisionLog.transaction

    def transaction(log):
        transactions.append(1)
        return begin(log)

    monkeypatch.setattr(DecisionLog, "transaction", transaction)
    return transactions


def test_all_that_wait_are_decided_in_one_transaction_each_in_its_turn(turns, log, monkeypatch):
    transactions = counted(monkeypatch)
    with held(turns):
        answers = [turns.ask(lambda _, n=n: asked(f"http://x.org/{n}")) for n in range(5)]
    targets = [one.result(PATIENCE).request.targets[0] for one in answers]
    assert targets == [f"http://x.org/{n}" for n in range(5)]
    assert len(transactions) == 1
    entries = last_entries(log.path, 9)
    assert [one.decided.request.targets[0] for one in entries] == ["http://x.org/first", *targets]
    assert turns.tally.totals() == {("deny",): 6}


def test_nobody_is_answered_before_their_entry_is_on_the_disk(turns, log, monkeypatch):
    answers, at_commit, begin = [], [], DecisionLog.transaction

    @contextmanager
    def transaction(log):
        with begin(log) as within:
            yield within
            at_commit.extend(one.done() for one in answers)
            assert not last_entries(log.path, 1)

    monkeypatch.setattr(DecisionLog, "transaction", transaction)
    with held(turns) as first:
        answers += [first, turns.ask(lambda _: asked())]
    assert [one.result(PATIENCE).effect for one in answers] == ["deny", "deny"]
    assert at_commit == [False, False]
    assert len(last_entries(log.path, 9)) == 2


def test_others_are_not_waited_for_long_after_a_transaction_that_took_long(turns):
    turns._last_seconds, turns._last_count = 100.0, 9
    assert turns.ask(lambda _: asked()).result(5).effect == "deny"


def test_who_may_not_ask_keeps_nobody_from_being_answered(turns, log):
    def refuse(_version):
        raise ServiceError.of("N002", "You may not.")

    def fail(_version):
        raise KeyError("a fault of ours")

    with held(turns):
        refused, failed, answered = map(turns.ask, (refuse, fail, lambda _: asked()))
    assert answered.result(PATIENCE).effect == "deny"
    assert isinstance(refused.exception(PATIENCE), ServiceError)
    assert isinstance(failed.exception(PATIENCE), KeyError)
    assert len(last_entries(log.path, 9)) == 2


def test_what_cannot_be_decided_is_told_to_who_asked_alone(turns, log):
    with held(turns):
        failed = turns.ask(lambda _: (asked()[0], "not a request", unchanged))
        answered = turns.ask(lambda _: asked())
    assert answered.result(PATIENCE).effect == "deny"
    assert "U002" in str(failed.exception(PATIENCE))
    assert len(last_entries(log.path, 9)) == 2


def test_a_request_that_is_cancelled_before_its_turn_is_not_decided(turns, log):
    with held(turns) as first:
        cancelled = turns.ask(lambda _: asked())
        assert cancelled.cancel()
    first.result(PATIENCE)
    turns.close()
    assert len(last_entries(log.path, 9)) == 1


def test_a_request_that_waits_is_asked_at_a_version_that_is_read_after_it_came(log):
    """Whose rights were taken away before they called has them no more, however busy it is."""
    versions, number, turns = [], [1], None
    turns = DecisionTurns(lambda: log, lambda: number[0], EventTally())

    def note(version):
        versions.append(version)
        return asked()

    with held(turns):
        number[0] = 2
        answer = turns.ask(note)
    answer.result(PATIENCE)
    turns.close()
    assert versions == [2]


def test_who_comes_while_others_are_decided_is_decided_with_them_if_nothing_changed(
    turns, monkeypatch
):
    transactions, later, decide = counted(monkeypatch), [], Decider.decide

    def decide_and_ask(*given):
        if not later:
            later.append(turns.ask(lambda _: asked()))
        return decide(*given)

    monkeypatch.setattr(Decider, "decide", decide_and_ask)
    turns.ask(lambda _: asked()).result(PATIENCE)
    assert later[0].result(PATIENCE).effect == "deny"
    assert len(transactions) == 1


def test_a_log_that_cannot_be_written_answers_all_that_wait_and_none_after(turns, monkeypatch):
    def fail(_log):
        raise OutputError.of("O002", "The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(DecisionLog, "transaction", fail)
        with held(turns) as first:
            second = turns.ask(lambda _: asked())
        assert {one.exception(PATIENCE).code for one in (first, second)} == {"O002"}
    assert turns.ask(lambda _: asked()).result(PATIENCE).effect == "deny"


def test_a_folder_that_cannot_be_written_answers_nobody(turns, monkeypatch):
    class Locked:
        def __init__(self, _path):
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(decision_turns, "TurnLock", Locked)
    error = turns.ask(lambda _: asked()).exception(PATIENCE)
    assert (error.code, "Permission denied" in str(error)) == ("O002", True)


def test_who_waits_at_the_end_is_still_answered(turns):
    with held(turns):
        answers = [turns.ask(lambda _: asked()) for _ in range(3)]
    turns.close()
    assert [one.result(0).effect for one in answers] == ["deny"] * 3
