"""Calls that are ended when who made them leaves."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

BEAT = 0.25
"""Seconds after which it is asked again whether the caller is still there."""

Answer = TypeVar("Answer")


async def answer_while_there(
    call: Request, answer: Callable[[], Answer], stop: Callable[[], None]
) -> Answer:
    """Return what a function returns, which runs in a thread; `stop` ends it when the caller
    leaves, or the call is cancelled. Raises what the function does."""
    work = asyncio.ensure_future(run_in_threadpool(answer))
    try:
        while not (await asyncio.wait({work}, timeout=BEAT))[0]:
            if await call.is_disconnected():
                stop()
                break
        return await work
    except asyncio.CancelledError:
        stop()
        raise
