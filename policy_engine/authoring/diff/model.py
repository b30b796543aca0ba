"""What changed from one state of policies to another, and which way each change can work."""

from datetime import datetime
from enum import Flag
from typing import Literal

from pydantic import BaseModel, ConfigDict

from policy_engine.decision.model import Effect

Tendency = Literal["widens", "narrows", "either", "neither"]


class Way(Flag):
    """Which way what something covers can go."""

    SAME = 0
    GROWS = 1
    SHRINKS = 2
    BOTH = 3

    def flipped(self) -> "Way":
        """Return the way of what lies outside."""
        return {Way.GROWS: Way.SHRINKS, Way.SHRINKS: Way.GROWS}.get(self, self)

    def tendency(self) -> Tendency:
        """Return the word for the way, of what is permitted."""
        return _WORDS[self]


_WORDS: dict[Way, Tendency] = {
    Way.SAME: "neither",
    Way.GROWS: "widens",
    Way.SHRINKS: "narrows",
    Way.BOTH: "either",
}


class Change(BaseModel):
    """One thing that is otherwise than it was.

    `rule` is the uid or the place of the rule, empty where it is about the policy as a whole.
    `what` says in words what changed, `before` and `after` are empty where there was or is
    nothing. `tendency` tells what is permitted after it and was not before (`widens`), or was
    before and is no more (`narrows`): what can happen, for some request, not what must. Where a
    change is said to narrow, it widens nothing, and the other way round.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    policy: str
    rule: str = ""
    what: str
    before: str = ""
    after: str = ""
    tendency: Tendency

    @property
    def can_widen(self) -> bool:
        """Whether something may be permitted that was not."""
        return self.tendency in ("widens", "either")

    @property
    def can_narrow(self) -> bool:
        """Whether something may be permitted no more."""
        return self.tendency in ("narrows", "either")


class Redecided(BaseModel):
    """A request of a log that would be answered otherwise, and `times` it was logged so.

    `before` is the answer that the log holds, as is `logged`; `time` that of the last time.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    assignee: str
    action: str
    targets: tuple[str, ...]
    purpose: str
    time: datetime | None
    times: int
    logged: Effect
    before: Effect
    after: Effect
    reason_before: str
    reason_after: str


class Replay(BaseModel):
    """The entries of a log judged under the new state, and those that it answers otherwise.

    `unlike_log` counts the entries that the old policies answer otherwise now than the log says:
    what was known then, such as what the world was like, is not known now. Of these `undecided`
    cannot be judged: the rule that granted them says other things, or they were denied by
    something that is not known. The numbers of those entries are `undecided_entries`, and of the
    others, which are judged by the rule that granted them, `judged_by_rule`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    entries: int
    requests: int
    unlike_log: int
    undecided: int = 0
    judged_by_rule: tuple[int, ...] = ()
    undecided_entries: tuple[int, ...] = ()
    changed: tuple[Redecided, ...] = ()


class Difference(BaseModel):
    """What changed from some policies to others.

    `notes` say what follows from any change of what a policy means; `replay` is
    there where a log was given.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    replay: Replay | None = None

    @property
    def is_empty(self) -> bool:
        """Whether both states mean the same, and answer every logged request alike."""
        return not self.changes and not (self.replay and self.replay.changed)

    @property
    def tendency(self) -> Tendency:
        """Which way all changes together can work."""
        way = Way.SAME
        for change in self.changes:
            way |= Way.GROWS if change.can_widen else Way.SAME
            way |= Way.SHRINKS if change.can_narrow else Way.SAME
        return way.tendency()
