"""The stream of what happens, as server-sent events."""

import time
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Request
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from policy_engine.errors import PolicyEngineError
from policy_engine.service.calls.callers import ServicesOf, allowed, reader_of
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import owners_of, reach_of
from policy_engine.service.identity.roles import Verb, Whose
from policy_engine.service.runs.broadcasting import RunNews
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
    _: Reader,
    call: Request,
    last_event_id: Annotated[str, Header()] = "",
) -> EventStream:
    """Tell what becomes of runs: an event `run` has a run as it is then, and a number that grows.

    Who sends the number of the last one as `Last-Event-ID` misses none. Without, it begins with the
    latest.
    """
    is_number = last_event_id.isascii() and last_event_id.isdigit() and len(last_event_id) < _DIGITS
    heard = int(last_event_id) if is_number else None
    return EventStream(_frames(services, call, heard), headers=_HEADERS)


async def _frames(services: Services, call: Request, heard: int | None) -> AsyncIterator[str]:
    """Yield what is to be sent, until the reader may no longer read, or the service ends.

    Whose runs they may read is asked again before anything is sent after somebody's rights have
    changed: what was true when the stream was opened lets nobody hear of what comes later.
    """
    changes, checked, actor = -1, 0.0, None
    yield ": the stream has begun\n\n"
    async for news in services.run_news.listen(heard, BEAT):
        is_old = time.monotonic() - checked > CHECK
        if actor is None or is_old or changes != services.run_news.changes:
            changes, checked = services.run_news.changes, time.monotonic()
            try:
                actor = await run_in_threadpool(reader_of, call, Verb.READ_RUNS)
            except PolicyEngineError:
                return
        yield "".join(one.frame for one in _readable(actor, news)) or ": still there\n\n"


def _readable(actor: Actor, news: Sequence[RunNews]) -> Iterator[RunNews]:
    """Yield the news of runs that somebody may read."""
    is_all = reach_of(actor, Verb.READ_RUNS) is Whose.ALL
    owners = owners_of(actor, Verb.READ_RUNS)
    return (one for one in news if is_all or one.people & owners)
