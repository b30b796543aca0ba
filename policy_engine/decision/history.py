"""What was done so far, according to a decision log: how often, by whom, with what."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from policy_engine.policy.doing import meanings_of
from policy_engine.policy.labels import is_made_up, is_place
from policy_engine.policy.model import MAKING, Policy, Rule

Overlaps = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class MadeFrom:
    """What an asset was made from, and the assigners of the rule that made it."""

    asset: str
    by: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass
class ExecutionTally:
    """How often one rule was exercised: in total, by party, and by the assets used together."""

    total: int = 0
    parties: Counter[str] = field(default_factory=Counter)
    assets: Counter[tuple[str, ...]] = field(default_factory=Counter)


@dataclass(frozen=True)
class Deed:
    """A duty was fulfilled or violated, or a prohibition infringed: by whom, and when.

    `digest` is that of the policy at the time, `entry` the number of the log entry, 0 if there is
    none. `meaning` identifies what the duty means (`doing.py`), empty if the entry does not say.
    """

    state: Literal["fulfilled", "violated"]
    by: str
    time: datetime
    digest: str = ""
    evidence: str = ""
    entry: int = 0
    meaning: str = ""

    @property
    def description(self) -> str:
        """Who did it, when, and where it is recorded."""
        where = f", entry {self.entry} of the log" if self.entry else ""
        return f"{self.state} by {self.by} at {self.time.isoformat()}{where}"


@dataclass
class History:
    """Executions of rules, and what parties were permitted and did; it grows with its log.

    Making something (anonymizing, training) and using it are counted separately. Rules are known by
    the uid of their policy and their label.
    """

    tallies: dict[tuple[str, str, bool], ExecutionTally] = field(default_factory=dict)
    unnamed: dict[str, frozenset[str]] = field(default_factory=dict)
    """The digests that every entry has in which a rule of a policy was exercised that has no uid.

    Such a rule is named by what it means, and may mean another once the policy is another.
    """
    permitted: dict[str, dict[str, None]] = field(default_factory=dict)
    origins: dict[str, dict[MadeFrom, None]] = field(default_factory=dict)
    """What was made from what of all that a party was permitted, as was known then."""
    begun: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """When a party was first permitted something with an asset, by policy and party."""
    refused: dict[tuple[str, str, str], dict[str, str]] = field(default_factory=dict)
    """When a party was first told that a duty is outstanding, by policy, rule and duty."""
    deeds: dict[tuple[str, str], list[Deed]] = field(default_factory=dict)
    """What became of duties, by policy and label, in order."""
    in_force: dict[tuple[str, ...], str] = field(default_factory=dict)
    """When something was first permitted under policies together, by their digests."""
    _meanings_by_digest: dict[str, Mapping[str, frozenset[str]]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    """What duties mean, by the digest of their policy: many are looked up for every decision."""

    def record_execution(
        self,
        rule: tuple[str, str],
        party: str,
        action: str,
        assets: Iterable[str],
        digests: Sequence[str],
    ) -> None:
        """Record one execution of a rule, given by its policy and label."""
        policy, label = rule
        tally = self.tallies.setdefault((policy, label, action in MAKING), ExecutionTally())
        tally.total += 1
        tally.parties[party] += 1
        tally.assets[tuple(assets)] += 1
        if is_made_up(label):
            self.unnamed[policy] = self.unnamed.get(policy, frozenset(digests)) & {*digests}

    def record_permit(
        self, party: str, action: str, assets: Iterable[str], origins: Iterable[MadeFrom] = ()
    ) -> None:
        """Record that a party was permitted something with assets together, of these origins."""
        if action not in MAKING:
            self.permitted.setdefault(party, {}).update(dict.fromkeys(assets))
            distinct = dict.fromkeys(origins)
            if distinct:
                self.origins.setdefault(party, {}).update(distinct)

    def record_beginning(self, policy: str, party: str, assets: Iterable[str], time: str) -> None:
        """Record when a policy permitted a party something with assets."""
        times = self.begun.setdefault((policy, party), {})
        for asset in assets:
            times[asset] = _earlier(times.get(asset, time), time)

    def record_in_force(self, digests: Iterable[str], time: str) -> None:
        """Record that something was permitted while policies of these digests were in force."""
        in_force = tuple(digests)
        self.in_force[in_force] = _earlier(self.in_force.get(in_force, time), time)

    def first_permitted(self, digest: str) -> datetime | None:
        """Return when something was first permitted while a policy of this digest was in force."""
        times = (time for together, time in self.in_force.items() if digest in together)
        return min(map(datetime.fromisoformat, times), default=None)

    def record_refusal(self, duty: tuple[str, str, str], party: str, time: str) -> None:
        """Record when a party was told that a duty (by policy, rule and label) is outstanding."""
        times = self.refused.setdefault(duty, {})
        times[party] = _earlier(times.get(party, time), time)

    def record_deed(self, policy: str, duty: str, deed: Deed) -> None:
        """Record what was done about a duty of a policy."""
        self.deeds.setdefault((policy, duty), []).append(deed)

    def refusals(self, policy: str, rule: str, duty: str) -> Mapping[str, str]:
        """Return the parties that were told that a duty is outstanding, and when first."""
        return self.refused.get((policy, rule, duty), {})

    def duty_deeds(self, policy: Policy, duty: Rule) -> Sequence[Deed]:
        """Return what was done about a duty; if it has no uid, under the current policy.

        Records of another duty that had the same uid, according to the log, are left out.
        """
        deeds = self.deeds.get((policy.uid, duty.label()), ())
        if any(one.meaning for one in deeds):
            meanings = self._meanings(policy).get(duty.label(), frozenset())
            deeds = [one for one in deeds if not one.meaning or one.meaning in meanings]
        of_policy = [
            one for one in deeds if not is_made_up(duty.label()) or one.digest == policy.digest
        ]
        return [*self._placed_deeds(policy, duty), *of_policy]

    def _meanings(self, policy: Policy) -> Mapping[str, frozenset[str]]:
        if policy.digest not in self._meanings_by_digest:
            self._meanings_by_digest[policy.digest] = meanings_of(policy)
        return self._meanings_by_digest[policy.digest]

    def _placed_deeds(self, policy: Policy, duty: Rule) -> list[Deed]:
        """Return what was done about a duty without uid, from entries that give its position.

        If several duties may be meant, a violation counts for each of them, a fulfilment for none.
        """
        if duty.uid:
            return []
        is_only = sum(not one.uid and one.kind == duty.kind for one in policy.duties) == 1
        return [
            one
            for (uid, label), deeds in self.deeds.items()
            if uid == policy.uid and is_place(label) and label.startswith(duty.kind)
            for one in deeds
            if one.digest == policy.digest and (is_only or one.state == "violated")
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the history as a JSON object."""
        return {
            "tallies": [
                [*rule, tally.total, dict(tally.parties), [*map(list, tally.assets.items())]]
                for rule, tally in self.tallies.items()
            ],
            "unnamed": {policy: sorted(digests) for policy, digests in self.unnamed.items()},
            "permitted": {party: [*assets] for party, assets in self.permitted.items()},
            "origins": {
                party: [*map(_origin_json, origins)] for party, origins in self.origins.items()
            },
            "begun": [[*key, dict(assets)] for key, assets in self.begun.items()],
            "refused": [[*duty, dict(parties)] for duty, parties in self.refused.items()],
            "deeds": [[*duty, [*map(_deed_json, deeds)]] for duty, deeds in self.deeds.items()],
            "under": [[[*digests], time] for digests, time in self.in_force.items()],
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "History":
        """Return a history from a JSON object. Raises any error if the object is not one."""
        tallies = {}
        for policy, label, making, total, parties, assets in document["tallies"]:
            tally_by_asset = Counter({tuple(together): times for together, times in assets})
            tallies[policy, label, making] = ExecutionTally(total, Counter(parties), tally_by_asset)
        return cls(
            tallies,
            {policy: frozenset(digests) for policy, digests in document["unnamed"].items()},
            {party: dict.fromkeys(assets) for party, assets in document["permitted"].items()},
            {
                party: {MadeFrom(asset, tuple(by), tuple(of)): None for asset, by, of in origins}
                for party, origins in document["origins"].items()
            },
            {(policy, party): assets for policy, party, assets in document["begun"]},
            {(policy, rule, duty): parties for policy, rule, duty, parties in document["refused"]},
            {
                (policy, duty): [*map(_read_deed, deeds)]
                for policy, duty, deeds in document["deeds"]
            },
            {tuple(digests): time for digests, time in document["under"]},
        )

    def assets(self, party: str) -> tuple[str, ...]:
        """Return the assets that a party has been permitted to use, in the order of first use."""
        return tuple(self.permitted.get(party, ()))

    def party_origins(self, party: str) -> Iterable[MadeFrom]:
        """Return the origins of everything that a party has been permitted to use."""
        return self.origins.get(party, ())

    def is_known(self, policy: str, label: str, digest: str) -> bool:
        """Return whether executions of a rule can be told from those of other rules."""
        return not is_made_up(label) or digest in self.unnamed.get(policy, (digest,))

    def labels(self, policy: Policy, rule: Rule) -> tuple[str, ...] | None:
        """Return the labels under which a rule was counted; None if they may be another rule's.

        Entries of earlier versions give the position of a rule without uid. The rule is known only
        if the policy has a single rule of that kind.
        """
        label, kind = rule.label(), rule.kind
        if not is_made_up(label):
            return (label,)
        places = {
            other
            for uid, other, _ in self.tallies
            if uid == policy.uid and is_place(other) and other != label and kind in other
        }
        rules = [one for one in policy.rules if one.kind == kind and is_made_up(one.label())]
        return None if places and len(rules) > 1 else (label, *sorted(places))

    def count(self, policy: str, label: str, *, making: bool) -> int:
        """Return how often a rule was exercised, by anybody and on any asset."""
        tally = self.tallies.get((policy, label, making))
        return tally.total if tally else 0

    def count_by_party(self, policy: str, label: str, party: str, *, making: bool) -> int:
        """Return how often a party exercised a rule."""
        tally = self.tallies.get((policy, label, making))
        return tally.parties[party] if tally else 0

    def count_by_asset(
        self, policy: str, label: str, asset: str, overlaps: Overlaps, *, making: bool
    ) -> int:
        """Return how often a rule was exercised on an asset, its parts, or what contains it."""
        tally = self.tallies.get((policy, label, making))
        return sum(
            times
            for assets, times in (tally.assets.items() if tally else ())
            if any(overlaps(asset, other) for other in assets)
        )


def _origin_json(one: MadeFrom) -> list[Any]:
    return [one.asset, [*one.by], [*one.sources]]


def _earlier(one: str, other: str) -> str:
    """Return the earlier of two ISO 8601 moments: entries may have any times, in any order."""
    if one == other:
        return one
    return min(one, other, key=datetime.fromisoformat)


def _deed_json(deed: Deed) -> list[str | int]:
    details = (deed.digest, deed.evidence, deed.entry, deed.meaning)
    return [deed.state, deed.by, deed.time.isoformat(), *details]


def _read_deed(document: Sequence[Any]) -> Deed:
    state, by, time, digest, evidence, entry, meaning = document
    return Deed(state, by, datetime.fromisoformat(time), digest, evidence, int(entry), meaning)
