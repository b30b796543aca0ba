"""The stream of what happens, as server-sent events."""

import time
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Request
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from policy_engine.errors import PolicyEngineError
from policy_engine.service.calls.callers import ServicesOf, allowed, check_still_allowed
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import owners_of, reach_of
from policy_engine.service.identity.roles import Verb, Whose
from policy_engine.service.services import Services

router = APIRouter(tags=["runs"])

Reader = Annotated[Actor, Depends(allowed(Verb.READ_RUNS))]
BEAT = 10.0
"""Seconds after which a stream says that it is alive, where nothing else is to be said."""
CHECK = 5.0
"""Seconds after which it is asked again whether the reader may still read."""
_DIGITS = 19
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class EventStream(StreamingResponse):
    """Server-sent events."""

    media_type = "text/event-stream"


@router.get("/events", response_class=EventStream)
async def stream_events(
    services: ServicesOf,
    actor: Reader,
    call: Request,
    last_event_id: Annotated[str, Header()] = "",
) -> EventStream:
    """Tell what becomes of runs: an event `run` has a run as it is then, and a number that grows.

    Who sends the number of the last one as `Last-Event-ID` misses none. Without, it begins with the
    latest.
    """
    is_number = last_event_id.isascii() and last_event_id.isdigit() and len(last_event_id) < _DIGITS
    heard = int(last_event_id) if is_number else None
    return EventStream(_frames(services, actor, call, heard), headers=_HEADERS)


async def _frames(
    services: Services, actor: Actor, call: Request, heard: int | None
) -> AsyncIterator[str]:
    """Yield what is to be sent, until the reader may no longer read, or the service ends."""
    reach, checked = reach_of(actor, Verb.READ_RUNS), time.monotonic()
    owners = owners_of(actor, Verb.READ_RUNS)
    changes = services.run_news.changes
    yield ": the stream has begun\n\n"
    async for news in services.run_news.listen(heard, BEAT):
        if changes != services.run_news.changes or time.monotonic() - checked > CHECK:
            changes = services.run_news.changes
            try:
                await run_in_threadpool(check_still_allowed, call, Verb.READ_RUNS)
            except PolicyEngineError:
                return
            checked = time.monotonic()
        own = [one for one in news if reach is Whose.ALL or one.people & owners]
        yield "".join(one.frame for one in own) or ": still there\n\n"
