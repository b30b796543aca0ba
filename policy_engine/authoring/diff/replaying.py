"""The entries of a decision log, judged with their own facts under other policies."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.authoring.diff.meaning import Key, rule_key
from policy_engine.authoring.diff.model import Redecided, Replay
from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.decision import Decider
from policy_engine.decision.history import History
from policy_engine.decision.model import Decision, Effect, Request, World
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.model import Policy
from policy_engine.policy.owners import Owners

if TYPE_CHECKING:
    from policy_engine.decision import Decider
    from policy_engine.decision.history import History
    from policy_engine.decision.log import Entry

_Answer = tuple[Request, Effect, Effect]


@dataclass(frozen=True)
class PolicySide:
    """What decides requests on one side: policies, and everything given with them."""

    policies: Sequence[Policy]
    certificates: Sequence[Certificate | Attestation] = ()
    hierarchy: Hierarchy | None = None
    world: World = field(default_factory=World)
    owners: Owners = field(default_factory=Owners)

    @cached_property
    def decider(self) -> "Decider":
        """The Decider for the policies."""
        return Decider(self.policies, self.certificates, self.hierarchy, self.owners)

    @cached_property
    def rules(self) -> dict[tuple[str, str], Key]:
        """The contents of the rules, with the relevant parts of their policies.

        By the policy's uid and the rule's label.
        """
        return {
            (policy.uid, rule.label()): (
                rule_key(rule),
                policy.type,
                policy.conflict,
                policy.hierarchy.digest,
            )
            for policy in self.policies
            for rule in policy.rules
        }

    def decide(self, entry: "Entry", history: "History") -> Decision:
        """Return the answer to a logged request, at its time and with the history up to it."""
        world = self.world.model_copy(update={"time": entry.time or self.world.time})
        return self.decider.decide(entry.request, world, None if world.counts else history)


def replay(old: PolicySide, new: PolicySide, log: str | Path) -> Replay:
    """Judge each entry of a log with the new side, and return those with a different answer.

    The logged answer of an entry is known. If the old side still gives it, the new side's answer is
    compared. If not, something was known then that is unknown now: a permit then remains one if the
    rule that granted it is unchanged, and no new prohibition applies. Raises LogError if the log
    cannot be read.
    """
    redecided: dict[_Answer, Redecided] = {}
    entries = 0
    unlike_log: list[int] = []
    undecided: list[int] = []
    requests = set()
    for entry, history in _entries_with_history(log):
        entries += 1
        requests.add(entry.request)
        old_decision, new_decision = old.decide(entry, history), new.decide(entry, history)
        logged = entry.decided.effect
        is_alike = old_decision.effect == logged
        after = (
            new_decision.effect
            if is_alike
            else _new_effect(entry, (old, old_decision), (new, new_decision))
        )
        if not is_alike:
            (undecided if after is None else unlike_log).append(entry.number)
        if after is not None and after != logged:
            key = entry.request, logged, after
            first = redecided.get(key)
            redecided[key] = _make_redecided(
                entry, old_decision, new_decision, (first.times if first else 0) + 1
            )
    return Replay(
        entries=entries,
        requests=len(requests),
        unlike_log=len(unlike_log) + len(undecided),
        undecided=len(undecided),
        judged_by_rule=tuple(unlike_log),
        undecided_entries=tuple(undecided),
        changed=tuple(redecided.values()),
    )


def _entries_with_history(log: str | Path) -> "Iterator[tuple[Entry, History]]":
    """Yield the decisions of a log, each with the history before it."""
    from policy_engine.decision.log import read_log  # noqa: PLC0415
    from policy_engine.decision.log.state import record_entry  # noqa: PLC0415

    history = History()
    for entry in read_log(log):
        if entry.decision is not None:
            yield entry, history
        record_entry(history, entry.to_json())


def _new_effect(
    entry: "Entry", before: tuple[PolicySide, Decision], after: tuple[PolicySide, Decision]
) -> Effect | None:
    """Return the new side's answer if the old side's differs from the log.

    None if the log does not have the facts to tell.
    """
    (old, old_decision), (new, new_decision) = before, after
    logged, rule = entry.decided.effect, (entry.decided.policy, entry.decided.rule)
    if new_decision.effect == logged:
        return logged
    if logged == "deny" or rule not in old.rules:
        # If both sides would permit it now, the logged denial cannot be explained.
        return None if new_decision.effect == old_decision.effect else new_decision.effect
    is_barred = bool(_prohibitions(new_decision, new) - _prohibitions(old_decision, old))
    if not is_barred and new.rules.get(rule) == old.rules[rule]:
        return "permit"
    # A changed rule that no longer covers the request grants nothing.
    is_gone = rule not in new.rules or (
        _covers(old_decision, rule) and not _covers(new_decision, rule)
    )
    return "deny" if is_barred or is_gone else None


def _covers(decision: Decision, rule: tuple[str, str]) -> bool:
    return any((one.policy, one.rule) == rule for one in decision.matches)


def _prohibitions(decision: Decision, side: PolicySide) -> set[Key]:
    """Return the prohibitions that a request meets, by their content."""
    return {
        (one.policy, *side.rules[one.policy, one.rule])
        for one in decision.matches
        if one.kind == "prohibition" and one.applies and (one.policy, one.rule) in side.rules
    }


def _make_redecided(
    entry: "Entry", old_decision: Decision, new_decision: Decision, times: int
) -> Redecided:
    logged = entry.decided
    permit_reason = f"{logged.rule or 'A rule'} permitted it then, with what was known."
    deny_reason = "It was denied then, with what was known."
    logged_reason = permit_reason if logged.effect == "permit" else deny_reason
    return Redecided(
        assignee=entry.request.assignee,
        action=entry.request.action,
        targets=entry.request.targets,
        purpose=entry.request.purpose,
        time=entry.time,
        times=times,
        logged=logged.effect,
        before=logged.effect,
        after="deny" if logged.effect == "permit" else "permit",
        reason_before=old_decision.reason
        if old_decision.effect == logged.effect
        else logged_reason,
        reason_after=new_decision.reason,
    )
