import asyncio
import threading
import time

import pytest
from followed import apart

from policy_engine.errors import ServiceError
from policy_engine.service.calls.turns import CallTurns


def most_at_once(callers):
    """Return how many calls were carried out at once."""
    turns, lock, now, most = CallTurns(at_once=2), threading.Lock(), [0], [0]

    def work():
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.05)
        with lock:
            now[0] -= 1

    async def all_of_them():
        await asyncio.gather(*(turns.carry_out(one, work) for one in callers))

    apart(all_of_them())
    return most[0]


def test_one_call_of_each_caller_and_a_few_of_all_are_carried_out_at_once():
    assert most_at_once(["ada"] * 4) == 1
    assert most_at_once(["ada", "bob", "eve", "ada"]) == 2


def test_who_waits_with_many_calls_is_refused_more():
    with pytest.raises(ServiceError, match="N006"):
        most_at_once(["ada"] * 21)


class TakenTwice:
    """Locks that another process has when they are first asked for."""

    def __init__(self):
        self.events = []

    def take(self, caller):
        self.events.append(caller)
        return len(self.events) > 2

    def give_back(self, caller):
        self.events.append(f"{caller} gave back")


def test_a_call_waits_while_another_process_carries_out_one_of_its_caller():
    locks = TakenTwice()
    turns = CallTurns(locks=locks)
    assert apart(turns.carry_out("ada", lambda: [*locks.events])) == ["ada"] * 3
    assert locks.events[-1] == "ada gave back"


def test_calls_that_were_cancelled_are_not_carried_out_and_do_not_count():
    turns, goes_on, done = CallTurns(), threading.Event(), []

    async def all_of_them():
        first = asyncio.ensure_future(turns.carry_out("ada", goes_on.wait, 30))
        waiting = [asyncio.ensure_future(turns.carry_out("ada", done.append, 1)) for _ in range(19)]
        await asyncio.sleep(0)
        with pytest.raises(ServiceError, match="N006"):
            await turns.carry_out("ada", done.append, 2)
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        last = asyncio.ensure_future(turns.carry_out("ada", done.append, 3))
        await asyncio.sleep(0)
        goes_on.set()
        await asyncio.gather(first, last)

    apart(all_of_them())
    assert done == [3]


def test_callers_take_turns_however_many_calls_one_of_them_has():
    turns, goes_on, order = CallTurns(at_once=1), threading.Event(), []

    async def all_of_them():
        first = asyncio.ensure_future(turns.carry_out("eve", goes_on.wait, 30))
        await asyncio.sleep(0)
        callers = ["ada", "ada", "ada", "bob"]
        waiting = [
            asyncio.ensure_future(turns.carry_out(one, order.append, one)) for one in callers
        ]
        await asyncio.sleep(0)
        goes_on.set()
        await asyncio.gather(first, *waiting)

    apart(all_of_them())
    assert order == ["ada", "bob", "ada", "ada"]


def test_a_thread_that_has_nothing_to_carry_out_ends_and_another_begins(monkeypatch):
    monkeypatch.setattr("policy_engine.service.calls.turns._IDLE", 0.01)
    turns = CallTurns(at_once=1)
    first = apart(turns.carry_out("ada", threading.current_thread))
    first.join(10)
    assert not first.is_alive()
    assert apart(turns.carry_out("ada", threading.current_thread)) is not first


def test_what_is_wrong_with_one_call_is_told_and_the_next_is_carried_out():
    turns = CallTurns()
    with pytest.raises(ZeroDivisionError):
        apart(turns.carry_out("ada", lambda: 1 / 0))
    assert apart(turns.carry_out("ada", lambda: 7)) == 7
