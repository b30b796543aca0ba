"""What changed between two states of policies, and which effect each change can have."""

from datetime import datetime
from enum import Flag
from typing import Literal

from pydantic import BaseModel, ConfigDict

from policy_engine.decision.model import Effect

Tendency = Literal["widens", "narrows", "either", "neither"]


class Way(Flag):
    """How the requests that something covers can change."""

    SAME = 0
    GROWS = 1
    SHRINKS = 2
    BOTH = 3

    def flipped(self) -> "Way":
        """Return the way of the requests that are not covered."""
        return {Way.GROWS: Way.SHRINKS, Way.SHRINKS: Way.GROWS}.get(self, self)

    def tendency(self) -> Tendency:
        """The word for the effect on what is permitted."""
        return _WORDS[self]


_WORDS: dict[Way, Tendency] = {
    Way.SAME: "neither",
    Way.GROWS: "widens",
    Way.SHRINKS: "narrows",
    Way.BOTH: "either",
}


class Change(BaseModel):
    """One difference between the two states.

    `rule` is the uid or the position of the rule, empty if the change is about the policy as a
    whole. `what` describes the change, `before` and `after` are empty if there was or is nothing.
    `tendency` says whether something may be permitted after it that was not before (`widens`), or
    the other way round (`narrows`): for some request, not necessarily. A change that is said to
    narrow widens nothing, and the other way round.
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
        """Whether something may no longer be permitted."""
        return self.tendency in ("narrows", "either")


class Redecided(BaseModel):
    """A logged request with a different answer now, and the number of `times` it was logged.

    `before` is the logged answer, as is `logged`; `time` is that of the last time.
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
    """The entries of a log judged under the new state, and those with a different answer.

    `unlike_log` counts the entries that even the old policies now answer differently from the log:
    facts known then, such as the state of the world, are not known now. Of these, `undecided`
    cannot be judged: the rule that granted them has changed, or they were denied by something
    unknown. Their numbers are `undecided_entries`; `judged_by_rule` are the numbers of the others,
    which are judged by the rule that granted them.
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

    `notes` give the consequences of changes of meaning; `replay` is present if a log was given.
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
        """The effect that all changes together can have."""
        way = Way.SAME
        for change in self.changes:
            way |= Way.GROWS if change.can_widen else Way.SAME
            way |= Way.SHRINKS if change.can_narrow else Way.SAME
        return way.tendency()
