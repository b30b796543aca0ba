"""Calls end what they do when who made them leaves."""

import asyncio
from threading import Event

import pytest
from followed import apart
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from policy_engine.policy.syntax.patience import check_awaited
from policy_engine.service.calls.leaving import answer_while_there, read_while_there
from policy_engine.service.calls.turns import CallTurns


class Caller:
    """A call whose caller is there, or has left."""

    def __init__(self, *, has_left):
        self.has_left = has_left

    async def is_disconnected(self):
        return self.has_left


def test_answer_is_given_while_the_caller_is_there():
    answer = answer_while_there(Caller(has_left=False), run_in_threadpool(lambda: 7), pytest.fail)
    assert apart(answer) == 7


def test_work_is_ended_when_the_caller_leaves():
    stop = Event()

    def work():
        return stop.wait(30)

    assert apart(answer_while_there(Caller(has_left=True), run_in_threadpool(work), stop.set))


def test_work_is_ended_with_a_call_that_is_cancelled():
    stop = Event()

    async def cancelled():
        task = asyncio.ensure_future(
            answer_while_there(Caller(has_left=False), run_in_threadpool(stop.wait, 30), stop.set)
        )
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    apart(cancelled())
    assert stop.is_set()


def test_what_is_wrong_is_told():
    def work():
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        apart(answer_while_there(Caller(has_left=False), run_in_threadpool(work), lambda: None))


def test_a_text_is_read_while_the_caller_is_there():
    answer = read_while_there(Caller(has_left=False), CallTurns(), "ada", lambda: 7)
    assert apart(answer) == 7


def test_reading_a_text_ends_soon_after_the_caller_has_left():
    begun, ended = Event(), Event()

    def work():
        begun.set()
        try:
            while True:
                check_awaited()
                ended.wait(0.01)
        finally:
            ended.set()

    with pytest.raises(HTTPException):
        apart(read_while_there(Caller(has_left=True), CallTurns(), "ada", work))
    assert begun.is_set()
    assert ended.wait(10)


def test_a_text_that_waits_for_its_turn_is_not_begun_once_the_caller_has_left():
    turns, goes_on, done = CallTurns(), Event(), []

    async def both():
        before = asyncio.ensure_future(turns.carry_out("ada", goes_on.wait, 30))
        await asyncio.sleep(0)
        with pytest.raises(HTTPException):
            await read_while_there(Caller(has_left=True), turns, "ada", lambda: done.append(1))
        goes_on.set()
        await before
        return await turns.carry_out("ada", lambda: [*done])

    assert apart(both()) == []
