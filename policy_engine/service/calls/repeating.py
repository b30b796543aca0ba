"""Calls that may be repeated without being done twice, by their Idempotency-Key."""

import hashlib
import logging
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, Header, Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from policy_engine.errors import ServiceError
from policy_engine.service.calls.callers import Allowed, caller_of
from policy_engine.service.identity.authorising import authorise
from policy_engine.service.resources.answers import KeptAnswers, KeyedCall
from policy_engine.service.services import services_of

FAULTS = logging.getLogger("policy_engine.service.faults")
_LONGEST = 255
_KEPT = ("location", "etag", "content-type")
_WHAT = (
    "A text of your own for this call, such as a UUID. A call with the same key and the same body "
    "is answered as before, for 24 hours, and nothing is done again."
)
_WHAT_OF_DATA = (
    "A text of your own for this call, such as a UUID. For 24 hours, a call with the same key and "
    "the same body is not done again. It is refused (N004): what was answered is not kept, for it "
    "has a secret, or data that you may no longer be allowed to read."
)
_Handler = Callable[[Request], Coroutine[Any, Any, Response]]


def idempotency_key(
    _: Annotated[str, Header(alias="Idempotency-Key", max_length=_LONGEST, description=_WHAT)] = "",
) -> None:
    """Mark a route whose calls may be repeated by their key; its class sees to the rest."""


def key_of_data(
    _: Annotated[
        str, Header(alias="Idempotency-Key", max_length=_LONGEST, description=_WHAT_OF_DATA)
    ] = "",
) -> None:
    """Mark a route whose answers have data or a secret: of a call it is remembered only that it was
    done."""


ONCE = Depends(idempotency_key)
DONE_ONCE = Depends(key_of_data)


class RepeatableRoute(APIRoute):
    """A route that answers a repeated call as before, if it depends on `ONCE`; if on `DONE_ONCE`,
    it says that it was answered."""

    def get_route_handler(self) -> _Handler:
        """Return what answers calls."""
        answer = super().get_route_handler()
        marks = {one.dependency for one in self.dependencies} & {idempotency_key, key_of_data}
        if not marks:
            return answer
        is_kept = idempotency_key in marks
        guards = [one.call for one in self.dependant.dependencies]
        [guard] = [one for one in guards if isinstance(one, Allowed)]

        async def answer_once(call: Request) -> Response:
            if "idempotency-key" not in call.headers:
                return await answer(call)
            return await _once(call, guard, answer, is_kept=is_kept)

        return answer_once


async def _once(call: Request, guard: Allowed, answer: _Handler, *, is_kept: bool) -> Response:
    """Return the answer to a call with a key: as it was given before, or as it is given now.

    What is refused is not kept, since nothing was done.
    """
    await run_in_threadpool(caller_of, call)  # of who is not signed in, no body is read
    keyed = await run_in_threadpool(_keyed, call, guard, await call.body())
    answers = services_of(call).answers
    earlier = await run_in_threadpool(answers.claim, keyed)
    if earlier is not None:
        headers = {**earlier.headers, "Idempotency-Replayed": "true"}
        return Response(earlier.content, earlier.status, headers)
    try:
        response = await answer(call)
    except BaseException:
        await run_in_threadpool(answers.forget, keyed)
        raise
    content = bytes(response.body) if is_kept else None
    await run_in_threadpool(_keep, answers, keyed, response, content)
    return response


def _keyed(call: Request, guard: Allowed, body: bytes) -> KeyedCall:
    """Return a call as it is known again. Raises as `caller_of`, and ServiceError (N007)."""
    actor = caller_of(call)
    authorise(actor, guard.verb)
    key = call.headers["idempotency-key"]
    if not 0 < len(key) <= _LONGEST:
        raise ServiceError.of("N007", f"An Idempotency-Key has 1 to {_LONGEST} characters.")
    address = f"{call.method} {call.url.path}?{call.url.query}\n".encode()
    return KeyedCall(actor.id, key, hashlib.sha256(address + body).hexdigest())


def _keep(
    answers: KeptAnswers, keyed: KeyedCall, response: Response, content: bytes | None
) -> None:
    """Keep an answer. Where that fails, the call stays claimed: it is not done a second time."""
    headers = {name: response.headers[name] for name in _KEPT if name in response.headers}
    try:
        answers.keep(keyed, response.status_code, headers, content)
    except Exception:  # noqa: BLE001 (who calls has their answer all the same)
        FAULTS.exception("an answer could not be kept")
