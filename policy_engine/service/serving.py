"""Starts the service in a folder, and ends it."""

import os
import socket
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

from policy_engine.errors import ServiceError
from policy_engine.service.files.folder import FileFolder
from policy_engine.service.resources.removals import RemovalWorker
from policy_engine.service.runs.clusters import check_installed
from policy_engine.service.runs.keeping import ProcessKeeper, SupervisorKeeper
from policy_engine.service.services import Services
from policy_engine.service.settings import LOOPBACK, ServiceSettings
from policy_engine.service.workers.answering import CallServer
from policy_engine.service.workers.sharing import Shared
from policy_engine.trust.signers import read_signer

_WORKER = (sys.executable, "-P", "-m", "policy_engine.service.workers")


def serve(settings: ServiceSettings, announce: Callable[[str, str], None]) -> None:
    """Answer calls until the process is told to end.

    Once calls are accepted, `announce` is called with the address, and with the link by which its
    first owner signs in, once. Raises ServiceError: N012 for settings that would be unsafe, N013
    where the folder, the database or the port cannot be used; EngineError (S001, S002) where runs
    are carried out by Spark, and PySpark or Java is missing or too old; TrustError for a trust file
    (Y008) or a key that signs (Y001, Y002), and DataError for one that cannot be read.
    """
    _check_reach(settings)
    if settings.cluster:
        check_installed()
    if settings.sign:
        read_signer(settings.sign)  # one that cannot be used is told now, and not by each run
    prepare_folder(settings.folder)
    with closing(listen(settings)) as listener, closing(Shared.make()) as shared:
        actual = settings.model_copy(update={"port": listener.getsockname()[1]})
        buckets = shared if actual.workers > 1 else None
        files = FileFolder(actual.folder)
        files.forget_spills()
        files.forget_readings()
        with closing(Services.open(actual, buckets, asks_processes=True)) as services:
            services.decisions.head.check()
            services.meters.forget()
            services.reviews.records.sweep()
            identities = services.identities
            secret = identities.new_link(identities.first_person())
            announce(f"{actual.address}/", f"{actual.address}/sign-in?token={secret}")
            _answer(actual, services, listener, shared)


def _answer(
    settings: ServiceSettings, services: Services, listener: socket.socket, shared: Shared
) -> None:
    """Answer calls here and in the other processes, and have runs carried out, until the end."""
    server = CallServer.of(services)
    workers = _workers(settings, listener, shared)
    server.on_end = partial(_let_go, workers)
    with ExitStack() as stack:
        for keeper in (SupervisorKeeper(settings), *workers):
            stack.enter_context(closing(keeper))
            keeper.start()
        removing = stack.enter_context(closing(RemovalWorker(services.removals)))
        removing.start()
        server.run([listener])


def _let_go(keepers: Iterable[ProcessKeeper]) -> None:
    for one in keepers:
        one.let_go()


def _workers(
    settings: ServiceSettings, listener: socket.socket, shared: Shared
) -> list[ProcessKeeper]:
    """Return what keeps the other processes that answer calls: one is this."""
    handed = (listener.fileno(), shared.number)
    program = (*_WORKER, *map(str, handed))
    name = "a process that answers calls"
    numbers = range(settings.workers - 1)
    return [ProcessKeeper(settings, program, name, handed) for _ in numbers]


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
