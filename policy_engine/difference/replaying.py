"""The requests of a decision log, decided again by the policies before and after."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.certificate import Certificate
from policy_engine.decision.model import Decision, Effect, Request, World
from policy_engine.difference.model import Redecided, Replay
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.model import Policy

if TYPE_CHECKING:
    from policy_engine.decision_log import Entry


@dataclass
class _Logged:
    """A distinct request of a log: how often it stands there, when and how answered last."""

    times: int = 0
    time: datetime | None = None
    effect: Effect = "deny"


def replay(
    old: Sequence[Policy],
    new: Sequence[Policy],
    log: str | Path,
    certificates: Sequence[Certificate],
    hierarchy: Hierarchy | None,
) -> Replay:
    """Decide each distinct request of a log by both, at the moment it was last decided for.

    What else was known of the world then is not in the log, and so unknown here. Raises LogError
    where the log cannot be read.
    """
    from policy_engine.decision import Decider  # noqa: PLC0415
    from policy_engine.decision_log import read_log  # noqa: PLC0415

    found, entries = _distinct(read_log(log))
    before, after = (Decider(some, certificates, hierarchy) for some in (old, new))
    changed, unlike = [], 0
    for request, one in found.items():
        world = World(time=one.time)
        was, is_now = before.decide(request, world), after.decide(request, world)
        unlike += was.effect != one.effect
        if was.effect != is_now.effect:
            changed.append(_redecided(request, one, was, is_now))
    return Replay(entries=entries, requests=len(found), unlike_log=unlike, changed=tuple(changed))


def _distinct(log: "Iterable[Entry]") -> tuple[dict[Request, _Logged], int]:
    """Return the distinct requests in the order in which they were first made, and all entries."""
    found: dict[Request, _Logged] = {}
    for entry in log:
        one = found.setdefault(entry.request, _Logged())
        one.times, one.time, one.effect = one.times + 1, entry.time, entry.decision.effect
    return found, sum(one.times for one in found.values())


def _redecided(request: Request, one: _Logged, was: Decision, is_now: Decision) -> Redecided:
    return Redecided(
        assignee=request.assignee,
        action=request.action,
        targets=request.targets,
        purpose=request.purpose,
        time=one.time,
        times=one.times,
        logged=one.effect,
        before=was.effect,
        after=is_now.effect,
        reason_before=was.reason,
        reason_after=is_now.reason,
    )
