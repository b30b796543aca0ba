"""Who must do what until when, according to policies and a log."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from policy_engine.decision.closures import Closures
from policy_engine.decision.history import Deed, History
from policy_engine.decision.settling import counts_for, duty_outcome, duty_start, party_deeds
from policy_engine.errors import RequestError, did_you_mean, join_names
from policy_engine.policy import Hierarchy, InForce, Party, Policy, Rule
from policy_engine.policy.collecting.ending import goes_on
from policy_engine.policy.doing import doing_of
from policy_engine.policy.model import OFFER, Kind
from policy_engine.policy.naming import Names

Settlement = Literal["outstanding", "violated", "fulfilled"]


class Due(BaseModel):
    """A party's duty: its rule, its start and end, and its state.

    `kind` is that of the duty. The duty of a permission must be fulfilled by whoever asked for the
    permitted use. `done` is when it was fulfilled, and `is_late` says that this was after its end.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    policy: str
    rule: str
    duty: str
    kind: Kind
    by: str
    actions: tuple[str, ...]
    targets: tuple[str, ...] = ()
    state: Settlement
    since: datetime | None = None
    until: datetime | None = None
    done: datetime | None = None
    is_late: bool = False
    evidence: str = ""


def list_dues(
    policies: Sequence[Policy], history: History, now: datetime, hierarchy: Hierarchy | None = None
) -> tuple[Due, ...]:
    """Return all duties that are or were due, in the order of the policies and their rules.

    These are the obligations of policies; the duties of permissions, for the parties that asked for
    the permitted use; the consequences of violated duties; and the remedies of infringed
    prohibitions. An Offer obliges nobody. For policies no longer in force (`InForce`), these are
    the duties that became due while they were, unless a policy in force by the same issuers repeats
    them: a policy of that uid by another party is something else, and its duties are due as well.
    """
    caller_hierarchy, past = hierarchy or Hierarchy(), _ended_policies(policies)
    current, remaining = (
        [
            one
            for policy in some
            if policy.type != OFFER
            for one in book(
                policy, history, now, closures(policy, caller_hierarchy), other_policies
            ).dues()
        ]
        for book, some, other_policies in (
            (_PolicyDues, policies, ()),
            (_PastPolicyDues, past, (*policies, *past)),
        )
    )
    return tuple(one.due for one in (*current, *_unrepeated_dues(remaining, current)))


def closures(policy: Policy, hierarchy: Hierarchy) -> Closures:
    """Return who and what belongs to what, according to a policy and to a given hierarchy."""
    return Closures(hierarchy.joined([policy.hierarchy]))


def _ended_policies(policies: Sequence[Policy]) -> tuple[Policy, ...]:
    return policies.ended if isinstance(policies, InForce) else ()


class _PolicyDue(NamedTuple):
    """Something due, with its policy and its duty."""

    due: Due
    policy: Policy
    duty: Rule

    def identity(self) -> tuple[object, ...]:
        """Return a key by which two versions of a policy say the same; remedies are always due."""
        due = self.due
        again = due.since if due.kind in ("consequence", "remedy") else None
        return due.policy, due.rule, due.duty, due.by, again, doing_of(self.duty)


def _unrepeated_dues(
    remaining: Sequence[_PolicyDue], current: Sequence[_PolicyDue]
) -> Sequence[_PolicyDue]:
    """Return what is still due under ended policies, each thing as it was last stated.

    Only the parties that stated a duty can repeat it. Otherwise a stranger could erase what is due
    to others with a policy of their uid.
    """
    if not remaining:
        return ()
    policies_by_due: dict[tuple[object, ...], list[Policy]] = {}
    for one in current:
        policies_by_due.setdefault(one.identity(), []).append(one.policy)
    unrepeated: list[_PolicyDue] = []
    for one in reversed(remaining):
        later_policies = policies_by_due.setdefault(one.identity(), [])
        if not any(goes_on(one.policy, policy) for policy in later_policies):
            later_policies.append(one.policy)
            unrepeated.append(one)
    return unrepeated[::-1]


def find_duty(
    policies: Sequence[Policy], name: str, of: str = "", *, violated: bool = False
) -> tuple[Policy, Rule]:
    """Return the duty with a name (uid, label or position), and its policy, `of`.

    With `violated` it may also be a prohibition. Raises RequestError (D006) if there is none, or
    several.
    """
    past = _ended_policies(policies)
    names = Names((*policies, *past))
    policy_uid, full_name = names.full(of) if of else "", names.full(name)
    candidates = [
        (policy, rule)
        for policy in (*policies, *past)
        if policy_uid in ("", policy.uid)
        for rule in (*policy.duties, *(policy.prohibitions if violated else ()))
    ]
    matches = [one for one in candidates if {name, full_name} & {one[1].label(), one[1].where()}]
    # A duty that became due must still be fulfilled after the policy has ended.
    matches = [one for one in matches if any(one[0] is other for other in policies)] or [
        *{policy.uid: (policy, rule) for policy, rule in matches}.values()
    ]
    if len(matches) == 1:
        return matches[0]
    kind = "duty or prohibition" if violated else "duty"
    if matches:
        message = f"Several have the {kind} {name!r}: {join_names(one.uid for one, _ in matches)}."
        raise RequestError.of("D006", message, "Say which one: of=POLICY.")
    labels = sorted({rule.label() for _, rule in candidates})
    message = f"No policy has the {kind} {name!r}."
    message += f" Known are {join_names(labels)}." if labels else " The policies have none."
    raise RequestError.of("D006", message, did_you_mean(full_name, labels))


def check_doer(policy: Policy, duty: Rule, party: str, hierarchy: Hierarchy | None = None) -> None:
    """Raise RequestError (D008) if a party's act about a duty would not count.

    It does not in an Offer, which obliges nobody, or if the duty is another party's. A duty that
    names nobody belongs to the assignees of the rule or duty that it is attached to.
    """
    if policy.type == OFFER:
        message = f"{policy.uid} is an Offer, which obliges nobody to do {duty.label()}."
        raise RequestError.of("D008", message, "Give the Agreement by which it was accepted.")
    known_closures = closures(policy, hierarchy or Hierarchy())
    doers = next(
        (names for one in _duty_path(policy, duty) if (names := _names(one.assignees))), ()
    )
    if doers and not any(counts_for(party, name, known_closures) for name in doers):
        message = f"{duty.label()} is not a duty of {party}, but of {join_names(doers)}."
        hint = "If the party belongs to one of them, say so: hierarchy=HIERARCHY."
        raise RequestError.of("D008", message, hint)


def _duty_path(policy: Policy, duty: Rule) -> tuple[Rule, ...]:
    """Return a duty and what it is attached to, nearest first."""
    return next(way for rule in policy.rules for way in _rule_paths(rule, ()) if way[0] is duty)


def _rule_paths(rule: Rule, above: tuple[Rule, ...]) -> Iterator[tuple[Rule, ...]]:
    way = (rule, *above)
    yield way
    for one in rule.nested_rules:
        yield from _rule_paths(one, way)


@dataclass(frozen=True)
class _PolicyDues:
    """The duties under one policy; `others` are the policies that may repeat them."""

    policy: Policy
    history: History
    now: datetime
    closures: Closures
    others: Sequence[Policy] = ()

    def dues(self) -> Iterator[_PolicyDue]:
        for duty in self.policy.obligations:
            for party in duty.assignees:
                yield from self._duty_dues(duty, duty.label(), party.iri)
        for rule in self.policy.permissions:
            for duty in rule.duties:
                for name in self._doers(rule, duty):
                    yield from self._duty_dues(duty, rule.label(), name)
        for rule in self.policy.prohibitions:
            for deed in self._deeds(rule):
                if deed.state == "violated" and deed.time <= self.now:
                    yield from self._following_dues(rule.remedies, rule.label(), deed.by, deed.time)

    def _doers(self, rule: Rule, duty: Rule) -> Sequence[str]:
        """Return who must do a duty: the parties it names, else those who asked for or used it.

        Nobody has to do a duty of a permission before the log says that it is outstanding for them.
        """
        refused = self.history.refusals(self.policy.uid, rule.label(), duty.label())
        done = (deed.by for deed in self._deeds(duty) if deed.time <= self.now)
        doers = dict.fromkeys((*refused, *done))
        assignees = _names(duty.assignees) if doers else ()
        return assignees or tuple(doers)

    def _duty_dues(
        self, duty: Rule, rule: str, party: str, since: datetime | None = None
    ) -> Iterator[_PolicyDue]:
        since = since or duty_start(duty, rule, party, self.policy, self.history, self.closures)
        deeds = party_deeds(party, self.history, self.policy, duty, self.closures)
        outcome = duty_outcome(duty, deeds, self.now, since)
        done, end = outcome.done, outcome.end
        due = Due(
            policy=self.policy.uid,
            rule=rule,
            duty=duty.label(),
            kind=duty.kind,
            by=party,
            actions=tuple(action.iri for action in duty.actions),
            targets=tuple(target.iri for target in duty.targets),
            state=outcome.state or "outstanding",
            since=since,
            until=end.until if end else None,
            done=done.time if done else None,
            is_late=outcome.is_late,
            evidence=done.evidence if done else "",
        )
        yield _PolicyDue(due, self.policy, duty)
        if outcome.missed:
            yield from self._following_dues(duty.consequences, duty.label(), party, outcome.missed)

    def _following_dues(
        self, duties: Sequence[Rule], rule: str, party: str, since: datetime | None
    ) -> Iterator[_PolicyDue]:
        for duty in duties:
            for name in _names(duty.assignees) or (party,):
                yield from self._duty_dues(duty, rule, name, since)

    def _deeds(self, duty: Rule) -> Sequence[Deed]:
        return self.history.duty_deeds(self.policy, duty)


class _PastPolicyDues(_PolicyDues):
    """The duties still due under a policy that is no longer in force."""

    def _duty_dues(
        self, duty: Rule, rule: str, party: str, since: datetime | None = None
    ) -> Iterator[_PolicyDue]:
        dues = [*super()._duty_dues(duty, rule, party, since)]
        if self._is_still_due(duty, dues[0].due):
            yield from dues

    def _is_still_due(self, duty: Rule, due: Due) -> bool:
        """Return whether something is still due: an obligation that began, or a violated duty.

        Duties of permissions that have ended are no longer due.
        """
        if duty.kind == "obligation":
            return due.since is not None and not self._is_of_later_version(due.since)
        deeds = self._deeds(duty) if duty.kind == "duty" else ()
        is_recorded = any(counts_for(one.by, due.by, self.closures) for one in deeds)
        return duty.kind != "duty" or (is_recorded and due.state != "outstanding")

    def _is_of_later_version(self, since: datetime) -> bool:
        """Return whether another version of the policy was in force then, and not this one."""
        own = self.history.first_permitted(self.policy.digest)
        other_versions = (
            self.history.first_permitted(one.digest)
            for one in self.others
            if one.uid == self.policy.uid and one.digest != self.policy.digest
        )
        return any(when <= since and (own is None or own < when) for when in other_versions if when)


def _names(parties: Sequence[Party]) -> tuple[str, ...]:
    return tuple(party.iri for party in parties)
