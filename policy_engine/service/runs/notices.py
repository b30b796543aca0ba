"""Notices of PostgreSQL that something has happened to a run, as soon as it has."""

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from policy_engine.service.store.database import Database

_CHANNEL = "policy_engine_runs"
LONGEST = 0.75
"""Seconds after which who waits for a notice asks all the same: other changes have none."""
_LEAST = 0.1
"""Seconds between two questions, however many notices come."""
_AGAIN = 5.0
"""Seconds after which it is tried again to listen."""


def send_notice(session: Session) -> None:
    """Let those who listen know that something happened, once it can be seen."""
    if _is_server(session.get_bind()):
        session.execute(text(f"NOTIFY {_CHANNEL}"))


@dataclass
class RunNotices:
    """Waits until something happened, by one connection that listens.

    A file of SQLite tells nobody, nor does a server whose connection was lost: who waits then asks
    after a pause. It is for the loop on which it first waits.
    """

    database: Database
    longest: float = LONGEST
    _connection: Any = None
    _number: int = -1
    """The descriptor of the connection."""
    _tried: float = -_AGAIN
    _asked: float = 0.0
    _has_notice: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_listening(self) -> bool:
        """Whether there is a connection that listens."""
        return self._connection is not None

    async def wait(self, pause: float) -> None:
        """Return once there was a notice, or after `longest`; after a pause where nobody tells."""
        await self._listen()
        if not self.is_listening:
            await asyncio.sleep(pause)
            return
        await asyncio.sleep(self._asked + _LEAST - time.monotonic())
        with suppress(TimeoutError):
            await asyncio.wait_for(self._has_notice.wait(), self.longest)
        self._has_notice.clear()
        self._asked = time.monotonic()

    def close(self) -> None:
        """Listen no longer."""
        connection, self._connection = self._connection, None
        if connection is not None:
            asyncio.get_running_loop().remove_reader(self._number)
            connection.close()

    async def _listen(self) -> None:
        """Begin to listen, where that is possible and was not just tried."""
        is_due = time.monotonic() >= self._tried + _AGAIN
        if self.is_listening or not is_due or not _is_server(self.database.engine):
            return
        self._tried = time.monotonic()
        with suppress(SQLAlchemyError, self._driver_error, NotImplementedError):
            connection = await asyncio.to_thread(self._opened)
            try:
                self._number = connection.fileno()
                asyncio.get_running_loop().add_reader(self._number, self._hear)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
            self._has_notice.set()  # of what happened before

    def _opened(self) -> Any:
        """Return a connection of the driver that listens, and is nobody else's."""
        pooled = self.database.engine.raw_connection()
        pooled.detach()
        connection: Any = pooled.dbapi_connection
        try:
            connection.autocommit = True
            connection.execute(f"LISTEN {_CHANNEL}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _hear(self) -> None:
        """Read what came by the connection; where that was its end, somebody has to ask."""
        self._has_notice.set()
        try:
            for _ in self._connection.notifies(timeout=0):
                pass
        except self._driver_error:
            self.close()

    @property
    def _driver_error(self) -> type[Exception]:
        error: type[Exception] = self.database.engine.dialect.loaded_dbapi.Error
        return error


def _is_server(bind: Any) -> bool:
    return bool(bind.dialect.name == "postgresql")
