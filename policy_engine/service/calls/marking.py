"""Marks each call, so that it is found in the log, and sends headers that keep pages safe."""

import logging
import secrets
import time
from collections.abc import Awaitable, Callable

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from policy_engine.errors import Problem
from policy_engine.service.calls.refusals import refuse
from policy_engine.service.metrics.call_meter import CallMeter

ACCESS = logging.getLogger("policy_engine.service.access")
FAULTS = logging.getLogger("policy_engine.service.faults")

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
API_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
}


class Marking:
    """Gives each call a mark, logs and counts how it ended, and tells no detail of our own faults.

    The log has no query of an address, no header and no body: they may hold secrets.
    """

    def __init__(self, app: ASGIApp, *, is_secure: bool, meter: CallMeter) -> None:
        self._app, self._is_secure, self._meter = app, is_secure, meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a call."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["request_id"] = mark = secrets.token_hex(8)
        start, statuses = time.monotonic(), [0]
        begun: list[float] = []
        answering = self._with_headers(scope, send, statuses, begun)
        try:
            await self._app(scope, receive, answering)
        except Exception:  # noqa: BLE001 (who calls learns no more than that it is our fault)
            FAULTS.exception("fault in call %s", mark)
            if not statuses[0]:
                problem = Problem(
                    "X001", "This is a bug in the engine.", f"The log has it as {mark}."
                )
                await refuse([problem], 500, mark)(scope, receive, answering)
        finally:
            taken = (time.monotonic() - start) * 1000
            route = getattr(scope.get("route"), "path", "")
            until = begun[0] if begun else time.monotonic()
            self._meter.add(scope["method"], route, statuses[0], until - start)
            who, path = scope.get("state", {}).get("person", "-"), scope["path"]
            words = (
                mark,
                who,
                scope["method"],
                path.encode("unicode_escape").decode(),
                statuses[0],
            )
            ACCESS.info("%s %s %s %s %d %.1f ms", *words, taken)

    def _with_headers(
        self, scope: Scope, send: Send, statuses: list[int], begun: list[float]
    ) -> Callable[[Message], Awaitable[None]]:
        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses[0] = message["status"]
                begun.append(time.monotonic())
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = scope["request_id"]
                own = {**HEADERS, **(API_HEADERS if scope["path"].startswith("/api/") else {})}
                for name, value in own.items():
                    headers.setdefault(name, value)
                if self._is_secure:
                    headers["Strict-Transport-Security"] = "max-age=31536000"
            await send(message)

        return tell
