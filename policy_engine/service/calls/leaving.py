"""Calls that are ended when who made them leaves."""

import asyncio
from collections.abc import Callable, Coroutine
from threading import Event
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request

from policy_engine.policy.syntax.patience import awaited_while, check_awaited
from policy_engine.service.calls.turns import CallTurns

BEAT = 0.25
"""Seconds after which it is asked again whether the caller is still there."""

_LEFT = 499
"""The status of a call whose caller has left, for the log: nobody is told."""
Answer = TypeVar("Answer")


async def answer_while_there(
    call: Request, answer: Coroutine[Any, Any, Answer], stop: Callable[[], None]
) -> Answer:
    """Return what is being worked out, in a thread as a rule; `stop` ends that when the caller
    leaves, or the call is cancelled. Raises what the work does."""
    work = asyncio.ensure_future(answer)
    try:
        while not (await asyncio.wait({work}, timeout=BEAT))[0]:
            if await call.is_disconnected():
                stop()
                break
        return await work
    except asyncio.CancelledError:
        stop()
        raise


async def read_while_there(
    call: Request, turns: CallTurns, caller: str, work: Callable[[], Answer]
) -> Answer:
    """Return what work returns that reads a text when it is the caller's turn.

    When who made the call leaves, it is not begun, and ends with the rule that it is at. Raises
    HTTPException then, for nobody, and as `CallTurns.carry_out`.
    """
    has_left = Event()

    def carried_out() -> Answer:
        with awaited_while(lambda: not has_left.is_set()):
            check_awaited()
            return work()

    turn = asyncio.ensure_future(turns.carry_out(caller, carried_out))
    try:
        while not (await asyncio.wait({turn}, timeout=BEAT))[0]:
            if await call.is_disconnected():
                raise HTTPException(_LEFT)
        return await turn
    finally:
        has_left.set()
        turn.cancel()
