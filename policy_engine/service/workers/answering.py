"""Answers the calls that come to a socket, in this process."""

import gc
import logging
import socket
from collections.abc import Callable
from types import FrameType
from typing import Self

import uvicorn

from policy_engine.service.app import make_app
from policy_engine.service.services import Services

_SECONDS_TO_END = 10
_YOUNG = 2_000
"""After so many new objects, garbage is collected. A call leaves some 200 in cycles: of those of
hundreds of calls, collecting them takes so long that whoever waits notices it."""


class CallServer(uvicorn.Server):
    """A server that ends streams of events as soon as it is to end: they would go on for ever."""

    def __init__(self, config: uvicorn.Config, services: Services) -> None:
        super().__init__(config)
        self._services = services
        self.on_end: Callable[[], None] | None = None
        """What else is to end."""

    @classmethod
    def of(cls, services: Services) -> Self:
        """Return the server of services."""
        config = uvicorn.Config(
            make_app(services),
            access_log=False,
            log_level=logging.WARNING,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=_SECONDS_TO_END,
        )
        return cls(config, services)

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer calls until the end."""
        gc.freeze()  # what was imported and opened stays: nobody needs to look through it
        gc.set_threshold(_YOUNG, *gc.get_threshold()[1:])
        with self._services.meters.kept():
            super().run(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end, by a signal."""
        self._let_go()
        super().handle_exit(sig, frame)

    def end(self) -> None:
        """Begin to end."""
        self._let_go()
        self.should_exit = True

    def _let_go(self) -> None:
        self._services.run_news.close()
        if self.on_end is not None:
            self.on_end()
