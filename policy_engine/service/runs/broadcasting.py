"""Tells many listeners what happens to runs, by one question to the database for all of them."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from policy_engine.service.runs.notices import RunNotices
from policy_engine.service.runs.views import run_view, subjects_of
from policy_engine.service.store.database import Database
from policy_engine.service.store.people import ApiKey, Person, SignIn, Stewardship
from policy_engine.service.store.runs import RunEvent, StoredRun

FAULTS = logging.getLogger("policy_engine.service.faults")
PAUSE = 0.25
"""Seconds between two questions, however many listen, where the database tells nothing itself."""
_RECENT = 50
"""So many of the last events are told to who has heard none yet."""
_MOST = 1_000


@dataclass(frozen=True)
class RunNews:
    """What a run is by now, after the event of a number; of its earlier events nothing is told."""

    number: int
    run_id: str
    people: frozenset[str]
    """The owners whom the run is about or, where there are none, who has started it."""
    data: str

    @property
    def frame(self) -> str:
        """The news as a server-sent event."""
        return f"id: {self.number}\nevent: run\ndata: {self.data}\n\n"


@dataclass(eq=False)
class RunListener:
    """Somebody who listens: what they have not heard yet, the last of each run."""

    heard: int = -1
    pending: dict[str, RunNews] = field(default_factory=dict)
    has_news: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, news: Sequence[RunNews]) -> None:
        """Add news to what is to be heard."""
        for one in news:
            self.pending[one.run_id] = one
        self.has_news.set()

    def take(self) -> list[RunNews]:
        """Return what is new, in its order."""
        news = sorted(self.pending.values(), key=lambda one: one.number)
        self.pending.clear()
        self.has_news.clear()
        unheard = [one for one in news if one.number > self.heard]
        self.heard = max([self.heard, *(one.number for one in unheard)])
        return unheard


@dataclass
class RunBroadcaster:
    """Asks the database what happened, as long as somebody listens: once it tells that something
    did, or after a pause."""

    database: Database
    pause: float = PAUSE
    questions: int = 0
    """How often the database was asked."""
    is_closed: bool = False
    changes: int = 0
    """How often somebody's sign-in, key or roles have changed: listeners are asked again then."""
    notices: RunNotices = field(init=False)
    _sign_ins: object = None
    _version: object = None
    _listeners: set[RunListener] = field(default_factory=set)
    _has_begun: asyncio.Event = field(default_factory=asyncio.Event)
    _task: "asyncio.Task[None] | None" = None
    _last: int = -1

    def __post_init__(self) -> None:
        self.notices = RunNotices(self.database)

    async def listen(
        self, heard: int | None = None, patience: float = 15.0
    ) -> AsyncIterator[list[RunNews]]:
        """Yield news after those that were heard, as they come; none after so many seconds.

        It ends when the broadcaster is closed.
        """
        listener = RunListener()
        self._listeners.add(listener)
        try:
            if self._task is None or self._task.done():
                self._has_begun.clear()
                self._task = asyncio.create_task(self._ask())
            await self._has_begun.wait()  # what happens from here on is told
            listener.tell(await asyncio.to_thread(self._missed, heard))
            changes = self.changes
            while not self.is_closed:
                try:
                    await asyncio.wait_for(listener.has_news.wait(), patience)
                except TimeoutError:
                    yield []
                    continue
                news = listener.take()
                if news or changes != self.changes:
                    changes = self.changes
                    yield news
        finally:
            self._listeners.discard(listener)

    @property
    def listener_count(self) -> int:
        """How many listen."""
        return len(self._listeners)

    def close(self) -> None:
        """End all listening."""
        self.is_closed = True
        for one in self._listeners:
            one.has_news.set()

    async def _ask(self) -> None:
        try:
            self._last = await asyncio.to_thread(self._newest)
        finally:
            self._has_begun.set()
        try:
            await self._tell()
        finally:
            self.notices.close()

    async def _tell(self) -> None:
        """Tell listeners what is new, as long as there are any."""
        while self._listeners and not self.is_closed:
            await self.notices.wait(self.pause)
            try:
                news, sign_ins = await asyncio.to_thread(self._news, self._last)
            except SQLAlchemyError as error:  # it may answer again
                FAULTS.warning("the database does not answer: %s", type(error).__name__)
                continue
            if sign_ins != self._sign_ins:
                self._sign_ins = sign_ins
                self.changes += 1
                for listener in self._listeners:
                    listener.has_news.set()
            if news:
                self._last = max(one.number for one in news)
                for listener in self._listeners:
                    listener.tell(news)

    def _newest(self) -> int:
        with self.database.reading() as session:
            return _newest(session)

    def _missed(self, heard: int | None) -> list[RunNews]:
        """Return what somebody missed; a number that there is not yet is of another database."""
        with self.database.reading() as session:
            newest = _newest(session)
            if heard is None or heard > newest:
                heard = newest - _RECENT
            return _news(session, heard)

    def _news(self, last: int) -> tuple[list[RunNews], object]:
        """Return what is new; nothing as long as nothing was written, which costs little to ask."""
        version = self.database.version()
        if version == self._version:
            return [], self._sign_ins
        self.questions += 1
        with self.database.reading() as session:
            news = _news(session, last), _sign_ins(session)
        self._version = version
        return news


def _sign_ins(session: Session) -> object:
    """Return what changes once a sign-in or a key was ended, or somebody has other roles.

    The last of several changes can be written first: they are counted, too. Of stewards, one who
    comes and one who goes leave as many.
    """
    counted = (
        select(func.count(SignIn.ended), func.max(SignIn.ended)),
        select(func.count(ApiKey.ended), func.max(ApiKey.ended)),
        select(func.count(), func.sum(Person.revision)),
        select(func.count(), func.max(Stewardship.created)),
    )
    return tuple(tuple(session.execute(one).one()) for one in counted)


def _newest(session: Session) -> int:
    return session.scalar(select(func.max(RunEvent.id))) or 0


def _news(session: Session, last: int) -> list[RunNews]:
    """Return what runs are by now to which something has happened, the last of many."""
    newest = func.max(RunEvent.id).label("newest")
    numbers = {
        one.run_id: one.newest
        for one in session.execute(
            select(RunEvent.run_id, newest)
            .where(RunEvent.id > last)
            .group_by(RunEvent.run_id)
            .order_by(newest.desc())
            .limit(_MOST)
        )
    }
    runs = session.scalars(select(StoredRun).where(StoredRun.id.in_(numbers))).all()
    subjects = subjects_of(session, numbers)
    return [
        RunNews(
            numbers[one.id],
            one.id,
            frozenset(subjects[one.id] or {one.owner_id}),
            run_view(one).model_dump_json(),
        )
        for one in runs
    ]
