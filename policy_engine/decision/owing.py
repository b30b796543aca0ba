"""What is owed by whom until when, by what policies say and a log tells."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict

from policy_engine.decision.closures import Closures
from policy_engine.decision.history import Deed, History
from policy_engine.decision.settling import begun, deeds_by, settled
from policy_engine.errors import RequestError, did_you_mean, listed
from policy_engine.policy import Hierarchy, Party, Policy, Rule
from policy_engine.policy.model import OFFER, Kind
from policy_engine.policy.naming import Names

Settlement = Literal["outstanding", "violated", "fulfilled"]


class Due(BaseModel):
    """A duty of somebody: under which rule, since and until when, and what became of it.

    `kind` is that of the duty. A duty of a permission is due by whoever asked for what it is the
    price of. `done` is when it was fulfilled, and `is_late` tells that this was after its end.
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


def dues(
    policies: Sequence[Policy], history: History, now: datetime, hierarchy: Hierarchy | None = None
) -> tuple[Due, ...]:
    """Return all that is or was owed, in the order of the policies and their rules.

    These are the obligations of policies; the duties of permissions, by those who asked for what
    they are the price of; the consequences of what was violated; and the remedies of prohibitions
    that were. An Offer obliges nobody.
    """
    given = hierarchy or Hierarchy()
    return tuple(
        due
        for policy in policies
        if policy.type != OFFER
        for due in _Book(policy, history, now, Closures(given.joined([policy.hierarchy]))).dues()
    )


def find_duty(
    policies: Sequence[Policy], name: str, of: str = "", *, violated: bool = False
) -> tuple[Policy, Rule]:
    """Return the duty that goes by a name, uid, label or where it stands, and its policy, `of`.

    With `violated` it may be a prohibition. Raises RequestError (D006) where there is none, or
    several.
    """
    names = Names(policies)
    owner, full = names.full(of) if of else "", names.full(name)
    known = [
        (policy, rule)
        for policy in policies
        if owner in ("", policy.uid)
        for rule in (*policy.duties, *(policy.prohibitions if violated else ()))
    ]
    found = [one for one in known if {name, full} & {one[1].label(), one[1].where()}]
    if len(found) == 1:
        return found[0]
    what = "duty or prohibition" if violated else "duty"
    if found:
        message = f"Several have the {what} {name!r}: {listed(one.uid for one, _ in found)}."
        raise RequestError.of("D006", message, "Say which one: of=POLICY.")
    labels = sorted({rule.label() for _, rule in known})
    message = f"No policy has the {what} {name!r}."
    message += f" Known are {listed(labels)}." if labels else " None has any."
    raise RequestError.of("D006", message, did_you_mean(full, labels))


@dataclass(frozen=True)
class _Book:
    """What one policy has people do."""

    policy: Policy
    history: History
    now: datetime
    closures: Closures

    def dues(self) -> Iterator[Due]:
        for duty in self.policy.obligations:
            for party in duty.assignees:
                yield from self._due(duty, duty.label(), party.iri)
        for rule in self.policy.permissions:
            for duty in rule.duties:
                for name in self._asked(rule, duty):
                    yield from self._due(duty, rule.label(), name)
        for rule in self.policy.prohibitions:
            for deed in self._deeds(rule):
                if deed.state == "violated" and deed.time <= self.now:
                    yield from self._follow(rule.remedies, rule.label(), deed.by, deed.time)

    def _asked(self, rule: Rule, duty: Rule) -> Sequence[str]:
        """Return who is to do a duty: whom it names, else who asked for what needs it, or did it.

        What the log told nobody that it is outstanding is owed by nobody yet.
        """
        asked = self.history.refused_by(self.policy.uid, rule.label(), duty.label())
        done = (deed.by for deed in self._deeds(duty) if deed.time <= self.now)
        doers = dict.fromkeys((*asked, *done))
        named = _names(duty.assignees) if doers else ()
        return named or tuple(doers)

    def _due(
        self, duty: Rule, rule: str, party: str, since: datetime | None = None
    ) -> Iterator[Due]:
        since = since or begun(duty, rule, party, self.policy, self.history, self.closures)
        deeds = deeds_by(party, self.history, self.policy, duty, self.closures)
        found = settled(duty, deeds, self.now, since)
        done, end = found.done, found.end
        yield Due(
            policy=self.policy.uid,
            rule=rule,
            duty=duty.label(),
            kind=duty.kind,
            by=party,
            actions=tuple(action.iri for action in duty.actions),
            targets=tuple(target.iri for target in duty.targets),
            state=found.state or "outstanding",
            since=since,
            until=end.until if end else None,
            done=done.time if done else None,
            is_late=found.is_late,
            evidence=done.evidence if done else "",
        )
        if found.missed:
            yield from self._follow(duty.consequences, duty.label(), party, found.missed)

    def _follow(
        self, duties: Sequence[Rule], rule: str, party: str, since: datetime | None
    ) -> Iterator[Due]:
        for duty in duties:
            for name in _names(duty.assignees) or (party,):
                yield from self._due(duty, rule, name, since)

    def _deeds(self, duty: Rule) -> Sequence[Deed]:
        return self.history.deeds_of(self.policy, duty)


def _names(parties: Sequence[Party]) -> tuple[str, ...]:
    return tuple(party.iri for party in parties)
