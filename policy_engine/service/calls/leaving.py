"""Calls that are ended when who made them leaves."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

BEAT = 0.25
"""Seconds after which it is asked again whether the caller is still there."""

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
