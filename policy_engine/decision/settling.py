"""What became of a duty by a moment: fulfilled, late or violated, since it came to be owed.

Decisions and the list of what is owed both ask here, so that neither says what the other denies.
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
    """What became of a duty; `state` is None while it is outstanding.

    `done` is the deed that fulfilled it, which `is_late` where that was after its `end`. `missed`
    is when it was violated first, by a deed of that kind or by its end going by: whatever was done
    since, the consequences are owed from then on. `is_recorded` where there is any deed.
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
    """Return what the deeds of a party, in the order in which they were recorded, amount to.

    A deed counts from its own time on. One from before a duty came to be owed (`since`) counts for
    a duty of a permission alone, which may be done before anybody asks. The last deed tells what
    became of the duty. Of several that fulfil it, that which was recorded first tells when: to do
    it once more makes nobody late, and to record it again with another date nobody punctual.
    """
    end = deadline(duty, since)
    # What a permission asks for may be done before anybody asks.
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
    missed = [one.time for _, one in in_order if one.state == "violated"]
    if end is not None and (is_late or (is_over and not in_order)):
        missed.append(end.until)
    state: Performance | None = (
        in_order[-1][1].state if in_order else "violated" if is_over else None
    )
    return DutyOutcome(state, since, end, done, is_late, min(missed, default=None), bool(in_order))


def _fulfilling_deed(in_order: Sequence[tuple[int, Deed]]) -> Deed | None:
    """Return the deed that fulfils a duty: the first to be recorded of those since it was violated
    last."""
    fulfilling: list[tuple[int, Deed]] = []
    for numbered in in_order:
        fulfilling = [*fulfilling, numbered] if numbered[1].state == "fulfilled" else []
    return min(fulfilling, default=(0, None), key=lambda numbered: numbered[0])[1]


def party_deeds(
    party: str, history: History, policy: Policy, duty: Rule, closures: Closures
) -> list[Deed]:
    """Return what a party, its group or a member of it did about a duty, as it was recorded."""
    deeds = history.duty_deeds(policy, duty)
    return [one for one in deeds if counts_for(one.by, party, closures)]


def counts_for(by: str, party: str, closures: Closures) -> bool:
    """Tell whether what one did is done for another: of a group and its members."""
    return party in closures.up("party", by) or by in closures.up("party", party)


def depends_on_start(duty: Rule) -> bool:
    """Tell whether what becomes of a duty depends on when it came to be owed."""
    return duty.kind != "duty" or has_elapsed_time(duty)


def duty_start(
    duty: Rule, rule: str, party: str, policy: Policy, history: History, closures: Closures
) -> datetime | None:
    """Return when a duty of a rule came to be owed: its party was first permitted, or refused.

    Permitted something with what the duty is about, by its policy. None where neither was so yet.
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
