"""How large the body of a call may be."""

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from policy_engine.errors import Problem
from policy_engine.service.calls.refusals import refuse

UPLOADS = "/api/v1/uploads/"
"""Where bodies are large, are written to the disk as they come, and have limits of their own."""


REVIEWS = "/api/v1/reviews"
LARGEST_ARCHIVE = 32 * 2**20
"""Bytes of an archive of outputs, which comes as one body."""


class BodyLimit:
    """Refuses bodies that are too large: by what a call says of its length, else as it comes.

    That of Starlette would answer in plain text.
    """

    def __init__(self, app: ASGIApp, *, largest: int) -> None:
        self._app, self._largest = app, largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a call."""
        if scope["type"] != "http" or _is_part(scope):
            await self._app(scope, receive, send)
            return
        largest = self._largest_of(scope)
        if _length(scope) > largest:
            message = f"The body of a call has at most {largest:,} bytes."
            answer = refuse([Problem("N008", message)], 413, str(scope.get("request_id", "")))
            await answer(scope, receive, send)
        else:
            await self._app(scope, self._counting(receive, largest), send)

    def _largest_of(self, scope: Scope) -> int:
        is_archive = scope["method"] == "POST" and scope["path"] == REVIEWS
        return max(self._largest, LARGEST_ARCHIVE) if is_archive else self._largest

    def _counting(self, receive: Receive, largest: int) -> Receive:
        total = 0

        async def receive_counted() -> Message:
            nonlocal total
            message = await receive()
            total += len(message.get("body", b""))
            if total > largest:
                raise HTTPException(413)
            return message

        return receive_counted


def _is_part(scope: Scope) -> bool:
    """Tell whether a call sends a part of an upload."""
    return bool(scope["method"] == "PATCH" and scope["path"].startswith(UPLOADS))


def _length(scope: Scope) -> int:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(lengths[0]) if lengths and lengths[0].isdigit() else 0
