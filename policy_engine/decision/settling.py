"""The state of a duty at a moment: fulfilled, late or violated, since it became due.

Decisions and the list of duties both use this, so they never contradict each other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from policy_engine.decision.closures import Closures
from policy_engine.decision.deadlines import Deadline, deadline, has_elapsed_time
from policy_engine.decision.history import Deed, History
from policy_engine.decision.model import Performance
from policy_engine.policy import Policy, Rule


@dataclass(frozen=True)
class DutyOutcome:
    """The outcome of a duty; `state` is None while it is outstanding.

    `done` is the event that fulfilled it; it `is_late` if that was after its `end`. `missed` is
    when the duty was first violated, by a recorded violation or by passing its end: from then on
    the consequences are due, whatever happens later. `is_recorded` says whether there is any event.
    """

    state: Performance | None
    since: datetime | None = None
    end: Deadline | None = None
    done: Deed | None = None
    is_late: bool = False
    missed: datetime | None = None
    is_recorded: bool = False


def duty_outcome(
    duty: Rule, deeds: Iterable[Deed], now: datetime, since: datetime | None = None
) -> DutyOutcome:
    """Return what a party's recorded events, in the order of recording, amount to.

    An event counts from its own time. One from before a duty became due (`since`) counts only for a
    duty of a permission, which may be fulfilled before anybody asks. The last event decides the
    state. If several fulfil the duty, the one recorded first sets the time: fulfilling it again
    makes nobody late, and recording it again with another date makes nobody punctual.
    """
    end = deadline(duty, since)
    # The duty of a permission may be fulfilled before anybody asks for access.
    earliest = None if duty.kind == "duty" else since
    numbered_deeds = [
        (place, one)
        for place, one in enumerate(deeds)
        if one.time <= now and (earliest is None or one.time >= earliest)
    ]
    in_order = sorted(numbered_deeds, key=lambda numbered: numbered[1].time)
    done = _fulfilling_deed(in_order)
    is_late = bool(done and end and end.is_missed(done.time))
    is_over = end is not None and end.is_missed(now)
    violations = [one.time for _, one in in_order if one.state == "violated"]
    if end is not None and (is_late or (is_over and not in_order)):
        violations.append(end.until)
    state: Performance | None = (
        in_order[-1][1].state if in_order else "violated" if is_over else None
    )
    return DutyOutcome(
        state, since, end, done, is_late, min(violations, default=None), bool(in_order)
    )


def _fulfilling_deed(in_order: Sequence[tuple[int, Deed]]) -> Deed | None:
    """Return the event that fulfils a duty: the first one recorded after its last violation."""
    fulfilling: list[tuple[int, Deed]] = []
    for numbered in in_order:
        fulfilling = [*fulfilling, numbered] if numbered[1].state == "fulfilled" else []
    return min(fulfilling, default=(0, None), key=lambda numbered: numbered[0])[1]


def party_deeds(
    party: str, history: History, policy: Policy, duty: Rule, closures: Closures
) -> list[Deed]:
    """Return what a party, its group or its members did about a duty, in the order of recording."""
    deeds = history.duty_deeds(policy, duty)
    return [one for one in deeds if counts_for(one.by, party, closures)]


def counts_for(by: str, party: str, closures: Closures) -> bool:
    """Return whether one party's act counts for another: the same party, its group or a member."""
    return party in closures.up("party", by) or by in closures.up("party", party)


def depends_on_start(duty: Rule) -> bool:
    """Return whether the outcome of a duty depends on when it became due."""
    return duty.kind != "duty" or has_elapsed_time(duty)


def duty_start(
    duty: Rule, rule: str, party: str, policy: Policy, history: History, closures: Closures
) -> datetime | None:
    """Return when a duty of a rule became due: when its party was first permitted, or refused.

    Permitted means any use, by the same policy, of what the duty is about. None if neither
    happened.
    """
    refused = history.refusals(policy.uid, rule, duty.label())
    times = [when for name, when in refused.items() if counts_for(name, party, closures)]
    for (uid, name), assets in history.begun.items():
        if uid == policy.uid and counts_for(name, party, closures):
            times += [when for asset, when in assets.items() if _is_about(duty, asset, closures)]
    return min(map(datetime.fromisoformat, times), default=None)


def _is_about(duty: Rule, asset: str, closures: Closures) -> bool:
    targets = duty.targets
    return not targets or any(closures.overlaps("asset", asset, one.iri) for one in targets)
