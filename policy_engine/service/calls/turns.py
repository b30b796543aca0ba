"""How many costly calls are carried out at once."""

from asyncio import CancelledError, wrap_future
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from threading import Condition, Thread
from typing import ParamSpec, TypeVar

from policy_engine.errors import ServiceError
from policy_engine.service.files.caller_locks import CallerLocks

_T = TypeVar("_T")
_P = ParamSpec("_P")
AT_ONCE = 2
_BEAT = 0.05
_IDLE = 10.0
"""Seconds after which a thread ends that has nothing to carry out."""
_MOST_WAITING = 20
"""So many calls of one caller wait for their turn."""


@dataclass(frozen=True, eq=False)
class _Ticket:
    """A call that waits for its turn."""

    caller: str
    work: Callable[[], object]
    answer: "Future[object]" = field(default_factory=Future)

    def carry_out(self) -> Callable[[], None]:
        """Do the work, unless nobody waits for it any more; return what tells who waits."""
        if not self.answer.set_running_or_notify_cancel():
            return lambda: None
        try:
            return partial(self.answer.set_result, self.work())
        except BaseException as error:  # noqa: BLE001 (who waits is told)
            return partial(self.answer.set_exception, error)


@dataclass
class CallTurns:
    """Carries out one costly call of each caller at once, and a few of all: the others wait.

    They wait without a thread, so that whoever asks for much keeps nobody else from being answered.
    Callers take turns. Threads of its own carry calls out one after another: to hand each over
    through the loop costs as much as a small call does.
    """

    at_once: int = AT_ONCE
    locks: CallerLocks | None = None
    """What a caller has one turn by in all processes that answer calls, if there are several."""
    _waiting: dict[str, deque[_Ticket]] = field(default_factory=dict)
    """The calls of each caller that wait, the callers in the order of their turns."""
    _served: set[str] = field(default_factory=set)
    """Those of whom a call is being carried out."""
    _threads: int = 0
    _idle: int = 0
    _called: int = 0
    """So many of the idle threads have been called, and are not awake yet."""
    _changed: Condition = field(default_factory=Condition)

    async def carry_out(
        self, caller: str, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T:
        """Return what work returns that is carried out when it is the caller's turn.

        A call that is cancelled before its turn is not carried out. Raises ServiceError (N006) for
        a caller of whom too many calls wait, and as the work does.
        """
        ticket = _Ticket(caller, partial(work, *args, **kwargs))
        self._add(ticket)
        try:
            return await wrap_future(ticket.answer)  # type: ignore[arg-type]  # what work returns
        except CancelledError:
            self._forget(ticket)
            raise

    def _add(self, ticket: _Ticket) -> None:
        with self._changed:
            own = self._waiting.setdefault(ticket.caller, deque())
            if len(own) + (ticket.caller in self._served) >= _MOST_WAITING:
                message = f"{_MOST_WAITING} calls like this of yours wait to be answered."
                raise ServiceError.of("N006", message, "Wait for their answers.")
            own.append(ticket)
            if ticket.caller in self._served:
                return  # who carries out the call before takes this one next
            if self._idle > self._called:
                self._called += 1
                self._changed.notify()
            elif self._threads < self.at_once:
                self._threads += 1
                Thread(target=self._work, name="turns", daemon=True).start()

    def _forget(self, ticket: _Ticket) -> None:
        """Let a call that waits no longer count among those of its caller."""
        with self._changed:
            own = self._waiting.get(ticket.caller, deque())
            if ticket in own:
                own.remove(ticket)
            if not own:
                self._waiting.pop(ticket.caller, None)

    def _work(self) -> None:
        while (ticket := self._next()) is not None:
            tell = ticket.carry_out()
            self._end(ticket.caller)
            tell()

    def _next(self) -> _Ticket | None:
        """Return the call whose turn it is, once there is one; None after a while without any."""
        with self._changed:
            while True:
                ticket = self._taken()
                if ticket is not None:
                    return ticket
                has_waiting = any(one not in self._served for one in self._waiting)
                self._idle += 1
                was_called = self._changed.wait(_BEAT if has_waiting else _IDLE)
                self._idle -= 1
                self._called = max(0, self._called - 1)
                if not was_called and not self._waiting:
                    self._threads -= 1
                    return None

    def _taken(self) -> _Ticket | None:
        """Return a call of the first caller of whom none is being carried out, here or elsewhere.

        The caller is the last one then.
        """
        for caller in [*self._waiting]:
            if caller in self._served or not (self.locks is None or self.locks.take(caller)):
                continue
            own = self._waiting.pop(caller)
            ticket = own.popleft()
            if own:
                self._waiting[caller] = own
            self._served.add(caller)
            return ticket
        return None

    def _end(self, caller: str) -> None:
        with self._changed:
            if self.locks is not None:
                self.locks.give_back(caller)
            self._served.discard(caller)
