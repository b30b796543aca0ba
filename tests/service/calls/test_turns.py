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
