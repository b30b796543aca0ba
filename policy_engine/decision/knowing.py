"""What a party knows of data by the permissions that name it, and so may be told."""

from collections.abc import Iterator, Sequence
from functools import cached_property

from policy_engine.decision.decider import Decider
from policy_engine.policy import Policy, Rule
from policy_engine.policy.model import OFFER
from policy_engine.policy.owners import Standing
from policy_engine.policy.owners.hearing import Hearing
from policy_engine.policy.validation.conflicts import iri_prefixes


class Known:
    """What a party knows of: assets that permissions for it are about, whatever their conditions.

    That is not what it may read. It is what may be told of names without telling of more than the
    policies themselves do: who is permitted one column does not learn by errors what others there
    are. Permissions of those who speak for an asset count, or who have consent to do so.
    """

    def __init__(self, decider: Decider, party: str) -> None:
        self._decider, self._party = decider, party

    def has(self, asset: str) -> bool:
        """Tell whether the party knows an asset as a whole, with the names of all its parts."""
        return any(self._covers(asset, one) for one in (asset, *_wider(asset))) or self._makes(
            asset
        )

    def parts(self, asset: str) -> tuple[str, ...]:
        """Return the parts of an asset that permissions for the party name."""
        names = dict.fromkeys(name for _, _, name in self._named)
        parts = (one for one in names if asset in _wider(one))
        return tuple(one for one in parts if self._covers(asset, one))

    def _makes(self, asset: str) -> bool:
        """Tell whether the party knows all that an asset is made of: then it may know that too."""
        makers = [
            rule
            for policy in self._decider.policies
            for rule in policy.permissions
            if rule.output == asset
        ]
        return any(
            all(one.iri != asset and self.has(one.iri) for one in rule.targets) for rule in makers
        )

    def _covers(self, asset: str, name: str) -> bool:
        """Tell whether a rule for the party that counts for an asset names one that has it."""
        speakers = self._standing.of(asset)
        return any(
            name in (called, *policy.hierarchy.wider("asset", called)) or called == name
            for policy, rule, called in self._named
            if self._hearing.counts(rule, speakers)
            if called == name or called in policy.hierarchy.wider("asset", name)
        )

    @cached_property
    def _named(self) -> Sequence[tuple[Policy, Rule, str]]:
        return [*self._names()]

    def _names(self) -> Iterator[tuple[Policy, Rule, str]]:
        for policy in self._decider.policies:
            groups = policy.hierarchy.wider("party", self._party)
            for rule in policy.permissions if policy.type != OFFER else ():
                if not rule.assignees or any(one.iri in groups for one in rule.assignees):
                    names = [one.iri for one in rule.targets]
                    yield from ((policy, rule, one) for one in filter(None, (*names, rule.output)))

    @cached_property
    def _standing(self) -> Standing:
        return Standing(self._decider.owners, self._decider.index.trusted.hierarchy.asset)

    @cached_property
    def _hearing(self) -> Hearing:
        edges = self._decider.index.trusted.hierarchy.asset
        return Hearing(self._decider.policies, self._standing, tuple(edges))


def _wider(asset: str) -> tuple[str, ...]:
    """Return what an IRI goes on from."""
    return tuple(one for one in iri_prefixes(asset) if one != asset)
