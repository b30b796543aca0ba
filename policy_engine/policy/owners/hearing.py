"""Rules that count for nothing, because those who issued them own nothing that they are about."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from policy_engine.errors import Problem
from policy_engine.policy import Hierarchy, Policy, Rule
from policy_engine.policy.claims import Claims
from policy_engine.policy.hierarchy import Edge
from policy_engine.policy.model import ANONYMIZE, GRANT_USE, OFFER
from policy_engine.policy.owners.claims import owned_outputs
from policy_engine.policy.owners.model import Owners, Speakers, Standing
from policy_engine.policy.wording import rule_name


def unheard(
    policies: Sequence[Policy], owners: Owners, edges: Iterable[Edge] = ()
) -> Iterator[tuple[Policy, Problem]]:
    """Yield the permissions and prohibitions that do not count (W003), each with its policy.

    Those count for none of their targets; or they make something of several, and for one of them
    its issuer neither owns it nor is let do so by the owner. Whom an owner lets grant the use of
    something, or anonymise it, is taken to be let, whatever the constraints of that are.
    """
    if not owners:
        return
    edges = tuple(edges)
    all_owners = owned_outputs(Claims(policies), owners.known_by(policies), edges)
    heard = Hearing(policies, Standing(all_owners, edges), edges)
    for policy in policies:
        for rule in (*policy.permissions, *policy.prohibitions):
            lacking = heard.lacking(rule)
            if lacking is not None:
                name = rule_name(rule.label(), policy.uid)
                message = f"{name} does not count: {lacking.denied(rule.issued_by)}."
                yield policy, Problem("W003", message, _hint(rule, lacking), rule.place)


def _hint(rule: Rule, lacking: Speakers) -> str:
    """Return what would make a rule count that makes something of another's asset."""
    if not (rule.output and lacking.owners and rule.issued_by):
        return ""
    whose, who = (" and ".join(sorted(parties)) for parties in (lacking.owners, rule.issued_by))
    return f"Give the policy by which {whose} lets {who} anonymize {lacking.asset}."


class _OwnerConsent(NamedTuple):
    """A permission by which an owner lets others grant the use of assets, or anonymise them."""

    action: str
    assigners: frozenset[str]
    assignees: frozenset[str]
    targets: frozenset[str]


class Hearing:
    """Whose rules count for what, by who owns it and by the consent that owners give."""

    def __init__(
        self, policies: Sequence[Policy], standing: Standing, edges: tuple[Edge, ...]
    ) -> None:
        self._standing = standing
        self._hierarchy = Hierarchy(asset=edges).joined(p.hierarchy for p in policies)
        self._consents = [*_owner_consents(policies)]

    def lacking(self, rule: Rule) -> Speakers | None:
        """Return who speaks for an asset that keeps a rule from counting, None where it counts."""
        speakers = [self._standing.of(target.iri) for target in rule.targets]
        if rule.output:
            parts = (one for target in rule.targets for one in self._standing.all_of(target.iri))
            return next((one for one in parts if not self.counts(rule, one)), None)
        return (
            speakers[0]
            if speakers and not any(self.counts(rule, one) for one in speakers)
            else None
        )

    def counts(self, rule: Rule, one: Speakers) -> bool:
        """Tell whether a rule counts for an asset, by who speaks for that and by their consent."""
        parties = rule.issued_by
        counts = one.prohibit if rule.kind == "prohibition" else one.permit
        return counts(parties) or any(self._is_let(who, rule, one) for who in parties)

    def _is_let(self, party: str, rule: Rule, one: Speakers) -> bool:
        """Tell whether an owner lets a party speak for an asset, or make of it what a rule does."""
        makes = rule.output and any(action.iri == ANONYMIZE for action in rule.actions)
        actions = (GRANT_USE, ANONYMIZE) if makes else (GRANT_USE,)
        groups = self._hierarchy.wider("party", party)
        wider = self._hierarchy.wider("asset", one.asset)
        return any(
            consent.action in actions
            and one.own(consent.assigners)
            and (not consent.assignees or not consent.assignees.isdisjoint(groups))
            and (not consent.targets or not consent.targets.isdisjoint(wider))
            for consent in self._consents
        )


def _owner_consents(policies: Iterable[Policy]) -> Iterator[_OwnerConsent]:
    """Yield the permissions of policies that let others grant use, or anonymise."""
    for policy in policies:
        for rule in policy.permissions if policy.type != OFFER else ():
            letting = (GRANT_USE,) if rule.output else (GRANT_USE, ANONYMIZE)
            for action in rule.actions:
                if action.iri in letting:
                    yield _OwnerConsent(
                        action.iri,
                        rule.issued_by,
                        frozenset(one.iri for one in rule.assignees),
                        frozenset(one.iri for one in rule.targets),
                    )
