"""Starts the service in a folder, and ends it."""

import gc
import logging
import os
import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import FrameType

import uvicorn

from policy_engine.errors import ServiceError
from policy_engine.service.app import make_app
from policy_engine.service.runs.keeping import SupervisorKeeper
from policy_engine.service.services import Services
from policy_engine.service.settings import LOOPBACK, ServiceSettings

_SECONDS_TO_END = 10


def serve(settings: ServiceSettings, announce: Callable[[str, str], None]) -> None:
    """Answer calls until the process is told to end.

    Once calls are accepted, `announce` is called with the address, and with the link by which its
    first owner signs in, once. Raises ServiceError: N012 for settings that would be unsafe, N013
    where the folder, the database or the port cannot be used.
    """
    _check_reach(settings)
    prepare_folder(settings.folder)
    with closing(listen(settings)) as listener:
        actual = settings.model_copy(update={"port": listener.getsockname()[1]})
        with closing(Services.open(actual)) as services:
            identities = services.identities
            secret = identities.new_link(identities.first_person())
            announce(f"{actual.address}/", f"{actual.address}/sign-in?token={secret}")
            config = uvicorn.Config(
                make_app(services),
                access_log=False,
                log_level=logging.WARNING,
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=_SECONDS_TO_END,
            )
            with closing(SupervisorKeeper(actual)) as keeper:
                keeper.start()
                gc.freeze()  # what was imported and opened stays: nobody needs to look through it
                _Server(config, services).run([listener])


class _Server(uvicorn.Server):
    """A server that ends streams of events as soon as it is to end: they would go on for ever."""

    def __init__(self, config: uvicorn.Config, services: Services) -> None:
        super().__init__(config)
        self._services = services

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end."""
        self._services.run_news.close()
        super().handle_exit(sig, frame)


def prepare_folder(folder: Path) -> None:
    """Make a folder that its owner alone can read. Raises ServiceError (N013)."""
    try:
        os.umask(0o077)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        message = f"The folder {str(folder)!r} cannot be used: {error.strerror}."
        raise ServiceError.of("N013", message) from None


def listen(settings: ServiceSettings) -> socket.socket:
    """Return the socket that calls come to. Raises ServiceError (N013) where it cannot be had."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen(2048)
    except OSError as error:
        listener.close()
        message = f"{settings.host}:{settings.port} cannot be listened at: {error.strerror}."
        raise ServiceError.of("N013", message, "Give another one: port=N, or 0 for any.") from None
    return listener


def _check_reach(settings: ServiceSettings) -> None:
    if settings.host not in LOOPBACK and not settings.public_url:
        message = "Beyond this machine, the service needs to know where people reach it."
        raise ServiceError.of("N012", message, "Give its address: public_url=URL.")
