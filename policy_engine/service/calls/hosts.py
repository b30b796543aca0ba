"""By which names the service is called."""

from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from policy_engine.errors import Problem
from policy_engine.service.calls.refusals import refuse


class KnownHosts:
    """Refuses calls by another name than the service has: a page elsewhere cannot give it one.

    That of Starlette would answer in plain text, and cut IPv6 addresses at their first colon.
    """

    def __init__(self, app: ASGIApp, *, names: Collection[str]) -> None:
        self._app, self._names = app, frozenset(names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a call."""
        host = Headers(scope=scope).get("host", "") if scope["type"] == "http" else ""
        if scope["type"] != "http" or host_name(host) in self._names:
            await self._app(scope, receive, send)
            return
        problem = Problem("N007", "The service is not called by this name.", _HINT)
        await refuse([problem], 400, str(scope.get("request_id", "")))(scope, receive, send)


def host_name(host: str) -> str:
    """Return a name or an address without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower() if host.count(":") < _LEAST_COLONS else host.lower()


_LEAST_COLONS = 2
_HINT = "Behind a proxy, start it with its address: public_url=URL."
