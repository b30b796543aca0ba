"""Pages of the log of decisions, read from its end: the newest come first."""

from collections.abc import Callable, Mapping
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from policy_engine.decision.log import Entry, last_number, latest_entries
from policy_engine.decision.model import Effect
from policy_engine.service.calls.timestamps import Moment

_MOST_SKIPPED, _MOST_JUDGED = 20_000, 5_000
"""Entries that one page is looked for in: where the log skips those without some texts, and where
each of them is judged."""

LoggedDecision = Mapping[str, Any]
"""What is decision of a decision, as JSON has it."""


class LoggedView(BaseModel):
    """An entry of the log: a decision, without why."""

    number: int
    logged: datetime
    effect: Effect
    assignee: str
    action: str
    targets: tuple[str, ...]
    purpose: str
    policy: str
    rule: str
    policy_digests: tuple[str, ...]


class LogFilter(BaseModel):
    """Which entries of the log are meant; those with all that is given."""

    effect: Effect | Literal[""] = ""
    assignee: str = ""
    target: str = ""
    policy: str = ""
    since: Moment | None = None
    until: Moment | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that entries have which are meant: a log finds these fast."""
        return tuple(filter(None, (self.effect, self.assignee, self.target, self.policy)))

    def has(self, decision: LoggedDecision, logged: str) -> bool:
        """Return whether a decision is meant, and when it was logged."""
        request = decision["request"]
        return (
            self.effect in ("", decision["effect"])
            and self.assignee in ("", request["assignee"])
            and (not self.target or self.target in request["targets"])
            and self.policy in ("", decision["policy"])
            and self._has_moment(logged)
        )

    def _has_moment(self, logged: str) -> bool:
        if self.since is None and self.until is None:
            return True
        moment = datetime.fromisoformat(logged)
        is_late_enough = self.since is None or self.since <= moment
        return is_late_enough and (self.until is None or moment < self.until)


class LogPage(BaseModel):
    """A page of the log, the newest first; `next` is the cursor of the page after it, if any.

    A page ends after so many entries that are not wanted, perhaps with none: go on while there is
    a `next`.
    """

    items: list[LoggedView]
    next: int | None = None


def read_page(
    path: Path,
    wanted: LogFilter,
    is_readable: Callable[[LoggedDecision], bool],
    limit: int,
    before: int | None = None,
) -> LogPage:
    """Return a page of a log: of what is wanted what is readable, before the entry of a number.

    No more of the log is read than the page needs, and so many entries at most: who looks for what
    is rare, or not there, goes on from page to page. Raises LogError (G001) where it cannot be
    read.
    """
    if not path.exists():
        return LogPage(items=[])
    end = last_number(path) + 1 if before is None else before
    after = end - 1 - (_MOST_SKIPPED if wanted.texts else _MOST_JUDGED)
    rest = None if after < 1 else after

    def is_wanted(entry: Mapping[str, Any]) -> bool:
        if "decision" not in entry:
            return False
        decision = entry["decision"]
        return wanted.has(decision, entry["logged"]) and is_readable(decision)

    entries = latest_entries(path, is_wanted, before=end, texts=wanted.texts, after=rest)
    views = [entry_view(one) for one in islice(entries, limit + 1)]
    if len(views) > limit:
        return LogPage(items=views[:limit], next=views[limit - 1].number)
    return LogPage(items=views, next=rest and rest + 1)


def read_entry(path: Path, number: int) -> Entry | None:
    """Return the entry of a number, if that is a decision. Raises as `read_page`."""
    if not path.exists():
        return None
    latest = latest_entries(path, lambda _entry: True, before=number + 1)
    entry = next(latest, None)
    return entry if entry and entry.number == number and entry.decision else None


def entry_view(entry: Entry) -> LoggedView:
    """Return a decision as lists have it."""
    decided = entry.decided
    request = decided.request
    return LoggedView(
        number=entry.number,
        logged=datetime.fromisoformat(entry.logged),
        effect=decided.effect,
        assignee=request.assignee,
        action=request.action,
        targets=request.targets,
        purpose=request.purpose,
        policy=decided.policy,
        rule=decided.rule,
        policy_digests=decided.policy_digests,
    )
