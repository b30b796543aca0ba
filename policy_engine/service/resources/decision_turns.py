"""Decides requests in turn, by a thread of its own: all that wait in one transaction of the log."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic, sleep

from policy_engine.data.chain.rows import reason
from policy_engine.data.chain.verification import Head
from policy_engine.decision import Decider, Decision, Request
from policy_engine.decision.log import DecisionLog
from policy_engine.decision.log.log import Transaction
from policy_engine.decision.telling import Telling
from policy_engine.errors import OutputError
from policy_engine.service.files.turn_lock import TurnLock
from policy_engine.service.metrics.call_meter import EventTally
from policy_engine.service.resources.log_heads import LogHead

Asking = Callable[[object], tuple[Decider, Request, Telling]]
"""Says what is asked, of whom, and what of the answer is told to who asks, at a version of the
database that was read after the call came.

It is called once it is the request's turn, and raises as whoever asks may not, or not so."""
_MOST_AT_ONCE = 200
"""So many requests are decided in one transaction."""
_PAUSE, _MOST_PAUSES = 1 / 8, 3
"""How long others are waited for, as a part of what the last transaction took, and how often."""
_LONGEST_PAUSE = 0.005


@dataclass(frozen=True)
class _Ticket:
    """A request that waits for its answer to be in the log."""

    asking: Asking
    answer: "Future[Decision]" = field(default_factory=Future)


@dataclass(frozen=True)
class _Case:
    """A request whose turn it is."""

    ticket: _Ticket
    decider: Decider
    request: Request
    told: Telling


@dataclass
class DecisionTurns:
    """Decides all waiting requests in one transaction of the log.

    Each request still sees the effect of those before it. Syncing the log to disk is what takes
    long, and it is done once for all of them; so is asking whether the database has changed. One
    thread does it, which whoever waits for an answer does not need.
    """

    log: Callable[[], DecisionLog]
    version: Callable[[], object]
    """What is equal to what was returned before only if the database is as it was."""
    tally: EventTally
    head: Callable[[], LogHead | None] = lambda: None
    """What remembers the last entry of the log."""
    _waiting: "SimpleQueue[_Ticket | None]" = field(default_factory=SimpleQueue, repr=False)
    _thread: Thread | None = None
    _last_seconds: float = 0.0
    _last_count: int = 0
    _lock: Lock = field(default_factory=Lock, repr=False)

    def ask(self, asking: Asking) -> "Future[Decision]":
        """Return the answer to a request, which is there once it is in the log.

        Who cancels it before its turn has nothing decided.
        """
        ticket = _Ticket(asking)
        self._waiting.put(ticket)
        if self._thread is None:
            self._start()
        return ticket.answer

    def close(self) -> None:
        """End once all that wait have been answered."""
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is not None:
                self._waiting.put(None)
                thread.join()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = Thread(target=self._work, name="decisions", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while True:
            first = self._waiting.get()
            if first is not None:
                self._decide_with(first)
            elif self._waiting.empty():
                return
            else:
                self._waiting.put(None)

    def _wait_for_others(self) -> None:
        """Wait a fraction of what syncing takes, for as long as more come: who was answered just
        now asks again, and would else wait until what begins now is synced, and then for itself.
        """
        for _ in range(_MOST_PAUSES if self._last_count > 1 or self._waiting.qsize() else 0):
            before = self._waiting.qsize()
            sleep(min(self._last_seconds * _PAUSE, _LONGEST_PAUSE))
            if self._waiting.qsize() == before:
                return

    def _decide_with(self, first: _Ticket) -> None:
        """Decide a request, and all that wait by now."""
        self._wait_for_others()
        tickets = [first, *self._taken()]
        version = self.version()
        cases = [*_cases(tickets, version)]
        if not cases:
            return
        answers: list[Decision | Exception] = []
        began = monotonic()
        try:
            log = self.log()
            head = self.head()
            with TurnLock(log.path.with_suffix(".turn")).held():
                with log.transaction() as transaction:
                    if head is not None:
                        head.check_end(_end(transaction))
                    for one in self._with_latest(cases, version):
                        answers.append(_answer(transaction, one))  # noqa: PERF401 (kept if one raises)
                if head is not None:
                    head.keep(_end(transaction))
        except OSError as error:
            message = f"The decision log cannot be written: {reason(error)}."
            answers = [OutputError.of("O002", message)] * len(cases)
        except Exception as error:  # noqa: BLE001 (who asked is told, and the next ones are decided)
            answers = [error] * len(cases)
        self._last_seconds, self._last_count = monotonic() - began, len(cases)
        self._give(cases, answers)

    def _with_latest(self, cases: list[_Case], version: object) -> Iterator[_Case]:
        """Yield cases, and those that have come meanwhile; these are added to the list.

        Once rights or rules would have to be read anew, who comes waits: nobody else can use the
        log now.
        """
        yield from cases
        while len(cases) < _MOST_AT_ONCE and (tickets := [*self._taken()]):
            if self.version() != version:
                for one in tickets:
                    self._waiting.put(one)
                return
            latest = [*_cases(tickets, version)]
            cases += latest
            yield from latest

    def _taken(self) -> Iterator[_Ticket]:
        """Yield the requests that wait by now."""
        for _ in range(min(self._waiting.qsize(), _MOST_AT_ONCE)):
            try:
                ticket = self._waiting.get_nowait()
            except Empty:
                return
            if ticket is None:
                self._waiting.put(None)
                return
            yield ticket

    def _give(self, cases: Sequence[_Case], answers: Sequence[Decision | Exception]) -> None:
        for one, answer in zip(cases, answers, strict=True):
            if isinstance(answer, Decision):
                self.tally.add(answer.effect)
                one.ticket.answer.set_result(one.told(answer))
            else:
                one.ticket.answer.set_exception(answer)


def _end(transaction: Transaction) -> Head:
    mark = transaction.state.mark
    return Head(mark.number, mark.hash)


def _cases(tickets: Sequence[_Ticket], version: object) -> Iterator[_Case]:
    """Yield the requests that may be made; who may not make theirs is told at once."""
    for ticket in tickets:
        if not ticket.answer.set_running_or_notify_cancel():
            continue
        try:
            yield _Case(ticket, *ticket.asking(version))
        except Exception as error:  # noqa: BLE001 (that of one request is not that of the others)
            ticket.answer.set_exception(error)


def _answer(transaction: Transaction, one: _Case) -> Decision | Exception:
    try:
        decision = one.decider.decide(one.request, None, transaction.history)
    except Exception as error:  # noqa: BLE001 (as above; nothing was changed yet)
        return error
    transaction.append(decision)
    return decision
