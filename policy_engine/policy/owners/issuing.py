"""Policies by whom they are known to be issued, and what such a party may not publish."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from policy_engine.errors import Problem
from policy_engine.policy import Hierarchy, InForce, Party, Policy, Rule
from policy_engine.policy.claims import Claims
from policy_engine.policy.hierarchy import Edge
from policy_engine.policy.owners.claims import output_problems, owned_outputs
from policy_engine.policy.owners.hearing import Hearing
from policy_engine.policy.owners.model import Owners, Speakers, Standing
from policy_engine.policy.owners.overlapping import are_overlapping
from policy_engine.policy.wording import rule_name


def issue(policy: Policy, party: str) -> Policy:
    """Return a policy that a party is known to have issued, whatever its text says of assigners.

    All its rules are issued by that party alone, those that it inherits among them.
    """
    issuers = (Party(party),)

    def by_party(rules: Iterable[Rule]) -> tuple[Rule, ...]:
        return tuple(replace(rule, issuers=issuers) for rule in rules)

    return replace(
        policy,
        shared=replace(policy.shared, issuers=issuers),
        permissions=by_party(policy.permissions),
        prohibitions=by_party(policy.prohibitions),
        obligations=by_party(policy.obligations),
        text=None if policy.text is None else issue(policy.text, party),
    )


def issue_all(policies: InForce, parties: Mapping[str, str]) -> InForce:
    """Return policies that are known to be issued, each by the party of its uid."""
    policies_issued = (issue(one, parties[one.uid]) for one in policies)
    ended = (issue(one, parties[one.uid]) for one in policies.ended if one.uid in parties)
    return InForce(policies_issued, policies.notes, ended)


def publishing_problems(
    policy: Policy, party: str, beside: Sequence[Policy], owners: Owners
) -> Iterator[Problem]:
    """Yield what keeps a party from publishing a policy, each with its place.

    It names another assigner (P025). Or a rule of it is about something that belongs to somebody
    else or to nobody known (P024): its target, a part of that by what is stated or by what the
    policy itself says. An owner's consent, by the policies in force `beside` it, is enough, as it
    is for a decision. Or an output is not its own to name (P019), or differs from what is another's
    by its spelling alone (P024).
    """
    yield from _foreign_assigners(policy, party)
    own_policy = issue(policy, party)
    edges = tuple(edge for one in (*beside, own_policy) for edge in one.vocabulary.hierarchy.asset)
    for made_by, problem in output_problems(Claims([*beside, own_policy]), owners, edges):
        if made_by is own_policy:  # by whom the other is, is not the publisher's to know
            yield replace(problem, message=_TAKEN, hint=_OWN_NAMESPACE)
    known_owners = owned_outputs(Claims(beside), owners, edges)
    yield from _lookalike_outputs(own_policy, party, known_owners)
    yield from _Assets([*beside, own_policy], owners, edges).problems(own_policy)


def _foreign_assigners(policy: Policy, party: str) -> Iterator[Problem]:
    text = policy.text or policy
    for rule in (text.shared, *text.rules):
        for one in rule.assigners:
            if one.iri != party:
                message = f"The policy is published by {party}, but its assigner is {one.iri}."
                place = one.place if one.place.line else rule.place
                yield Problem("P025", message, "Leave the assigner out.", place)


def _lookalike_outputs(policy: Policy, party: str, owners: Owners) -> Iterator[Problem]:
    others = [one.asset for one in owners.statements if party not in one.owners]
    for rule in policy.permissions:
        for other in others if rule.output else ():
            if other != rule.output and are_overlapping(rule.output, other):
                message = f"The output {rule.output} could be confused with what belongs to others."
                yield Problem("P024", message, _OWN_NAMESPACE, rule.place)
                break


class _Assets:
    """What the rules of policies are about, and whose that is."""

    def __init__(self, policies: Sequence[Policy], owners: Owners, edges: tuple[Edge, ...]) -> None:
        standing = Standing(owned_outputs(Claims(policies), owners, edges), edges)
        self._standing = standing
        self._hearing = Hearing(policies, standing, edges)

    def problems(self, policy: Policy) -> Iterator[Problem]:
        """Yield the rules of a policy that are about what is not its issuer's (P024)."""
        for rule in policy.rules:
            for target in rule.targets:
                refusal = self._refusal(policy.hierarchy, rule, target.iri)
                if refusal:
                    name = rule_name(rule.label(), policy.uid)
                    place = target.place if target.place.line else rule.place
                    yield Problem("P024", f"{name} is not to be published: {refusal}.", _OWN, place)

    def _refusal(self, hierarchy: Hierarchy, rule: Rule, target: str) -> str:
        """Return why a rule may not be about a target, empty where it may.

        A collection that nobody owns is what it consists of, as its policy says.
        """
        parts = [*_parts(hierarchy, target)]
        speakers = [one for asset in (target, *parts) for one in self._standing.all_of(asset)]
        if parts and not speakers[0].is_stated:
            speakers = speakers[1:]
        return next((_denied(rule, one) for one in speakers if not self._counts(rule, one)), "")

    def _counts(self, rule: Rule, one: Speakers) -> bool:
        return bool(one.owners) and self._hearing.counts(rule, one)


def _parts(hierarchy: Hierarchy, whole: str) -> Iterator[str]:
    """Yield all that is a part of an asset, as a policy says."""
    below: dict[str, list[str]] = {}
    for narrow, wide in hierarchy.asset:
        below.setdefault(wide, []).append(narrow)
    parts, queue = {whole}, [whole]
    for one in queue:
        for part in below.get(one, ()):
            if part not in parts:
                parts.add(part)
                queue.append(part)
                yield part


def _denied(rule: Rule, lacking: Speakers) -> str:
    """Return whom an asset does not belong to; whose it is, is not the publisher's to know."""
    if not lacking.owners:
        return f"nobody is known to own {lacking.asset}"
    return f"{' and '.join(sorted(rule.issued_by))} does not own {lacking.asset}"


_TAKEN = "An output of the policy is, lies in or contains what belongs to others."
_OWN = "Register the dataset as yours first, or ask its owner for consent."
_OWN_NAMESPACE = "Name the output in a namespace of its policy's own."
