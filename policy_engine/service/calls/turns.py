"""How many costly calls are carried out at once."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar
from weakref import WeakValueDictionary

from starlette.concurrency import run_in_threadpool

from policy_engine.errors import ServiceError
from policy_engine.service.files.caller_locks import CallerLocks

_T = TypeVar("_T")
_P = ParamSpec("_P")
AT_ONCE = 2
_BEAT = 0.05
_MOST_WAITING = 20
"""So many calls of one caller wait for their turn."""


@dataclass
class CallTurns:
    """Carries out one costly call of each caller at once, and a few of all: the others wait.

    They wait without a thread, so that whoever asks for much keeps nobody else from being answered.
    """

    at_once: int = AT_ONCE
    locks: CallerLocks | None = None
    """What a caller has one turn by in all processes that answer calls, if there are several."""
    _waiting: Counter[str] = field(default_factory=Counter)
    _own_turns: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)
    _turns: asyncio.Semaphore | None = None

    async def carry_out(
        self, caller: str, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T:
        """Return what work returns that is carried out when it is the caller's turn.

        Raises ServiceError (N006) for a caller of whom too many calls wait, and as the work does.
        """
        async with self._turn(caller):
            return await run_in_threadpool(work, *args, **kwargs)

    @asynccontextmanager
    async def _turn(self, caller: str) -> AsyncIterator[None]:
        if self._waiting[caller] >= _MOST_WAITING:
            message = f"{_MOST_WAITING} calls like this of yours wait to be answered."
            raise ServiceError.of("N006", message, "Wait for their answers.")
        self._turns = self._turns or asyncio.Semaphore(self.at_once)
        own_turn = self._own_turns.setdefault(caller, asyncio.Lock())
        self._waiting[caller] += 1
        try:
            async with own_turn, self._alone(caller), self._turns:
                yield
        finally:
            self._waiting[caller] -= 1
            if not self._waiting[caller]:
                del self._waiting[caller]

    @asynccontextmanager
    async def _alone(self, caller: str) -> AsyncIterator[None]:
        """Wait until no other process carries out a call of the caller."""
        if self.locks is None:
            yield
            return
        while not self.locks.take(caller):  # noqa: ASYNC110 (nothing says when another lets go)
            await asyncio.sleep(_BEAT)
        try:
            yield
        finally:
            self.locks.give_back(caller)
