"""What policies make, and whether it is theirs to name so."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from policy_engine.errors import Place, Problem
from policy_engine.policy.hierarchy import Edge, Hierarchy, goes_on
from policy_engine.policy.model import MAKING, OFFER, Policy, Rule
from policy_engine.policy.validation.conflicts import iri_prefixes
from policy_engine.terms import dataset_of

Problems = Iterator[tuple[Policy, Problem]]


class Claim(NamedTuple):
    """The output of a rule, or one of its targets: an asset, and who speaks of it where."""

    asset: str
    policy: Policy
    rule: Rule
    is_output: bool = False

    @property
    def place(self) -> Place:
        """Where the asset is named, as near as is known."""
        places = (
            one.place for one in self.rule.targets if one.iri == self.asset and one.place.line
        )
        return self.rule.place if self.is_output else next(places, self.rule.place)

    @property
    def description(self) -> str:
        """The policy, with the file and the line where it says so."""
        line = f"line {self.place.line}" if self.place.line else ""
        where = ", ".join(part for part in (self.policy.source, line) if part)
        return f"{self.policy.uid}{f' ({where})' if where else ''}"


def issuers(policy: Policy) -> frozenset[str]:
    """Return everybody who issued a rule of a policy, as its text has it."""
    text = policy.text or policy
    issuers_of_rules = (rule.issued_by for rule in text.rules or (text.shared,))
    return frozenset().union(*issuers_of_rules)


class Claims:
    """The outputs and the targets of policies, but of Offers and void ones, which claim nothing."""

    def __init__(self, policies: Iterable[Policy], void: Collection[str] = ()) -> None:
        self.policies = [p for p in policies if p.type != OFFER and p.uid not in void]
        self.outputs = [
            Claim(rule.output, policy, rule, is_output=True)
            for policy in self.policies
            for rule in policy.permissions
            if rule.output
        ]

    @cached_property
    def issuers(self) -> Mapping[str, frozenset[str]]:
        """Everybody who issued a rule of a policy, by its uid."""
        return {policy.uid: issuers(policy) for policy in self.policies}

    @cached_property
    def targets(self) -> Mapping[str, Sequence[Claim]]:
        """The targets of rules, by their IRI."""
        claims: dict[str, list[Claim]] = defaultdict(list)
        for policy in self.policies if self.outputs else ():
            for rule in policy.rules:
                for target in rule.targets:
                    claims[target.iri].append(Claim(target.iri, policy, rule))
        return claims

    def problems(
        self,
        edges: Iterable[Edge],
        data: Iterable[str] = (),
        not_owned: "Callable[[Claim, Near], str] | None" = None,
    ) -> Problems:
        """Yield the outputs that are not their policies' to name (P019), each with its policy.

        Each problem has both places.

        `edges` say which asset the caller puts into which, and `data` are the IRIs of the assets
        that data is given for. Where owners are stated, `not_owned` returns what of an output is
        another's. Where nobody is stated to own anything, all policies are one owner's: then an
        output is refused that lies within what another rule is about, or what data is given for,
        that is or contains what another's policy is about, and that two policies have.
        """
        data = tuple(data)
        near = Near(self, tuple(edges), by_policies=not_owned is None)
        for claim in self.outputs:
            for message in (
                _twice(claim, near),
                not_owned(claim, near) if not_owned else _taken(claim, near, self.issuers),
                _data_problem(claim, data),
            ):
                if message:
                    yield claim.policy, Problem("P019", message, _HINT, claim.place)


_HINT = "Name the output in a namespace of its policy's own, or say who owns it: owners=FILE."


class Near:
    """The outputs and targets that are, lie within or contain an asset."""

    def __init__(self, claims: Claims, edges: Sequence[Edge], *, by_policies: bool) -> None:
        hierarchy = Hierarchy(asset=tuple(edges))
        hierarchies = [policy.hierarchy for policy in claims.policies] if by_policies else []
        self._hierarchy = hierarchy.joined(hierarchies)
        self._named: dict[str, list[Claim]] = defaultdict(list)
        for one in claims.outputs:
            self._named[one.asset].append(one)
        names = {*self._named}
        for name, claimants in claims.targets.items():
            self._named[name] += claimants
        self._below: dict[str, list[str]] = defaultdict(list)
        for name in self._named if names else ():
            for wide in self._reach(name) & names:
                self._below[wide].append(name)

    def of(self, asset: str) -> Iterator[Claim]:
        """Yield the outputs and the targets of rules that overlap an asset, or may do so."""
        names = dict.fromkeys((*sorted(self._reach(asset)), *self._below.get(asset, ())))
        yield from (claim for name in names for claim in self._named.get(name, ()))

    def _reach(self, asset: str) -> set[str]:
        if not self._hierarchy.asset:
            return {asset, *iri_prefixes(asset)}
        return {*self._hierarchy.wider("asset", asset), *iri_prefixes(asset)}


def _twice(claim: Claim, near: Near) -> str:
    """Return the output of another policy that is the same one, or a part of it."""
    for other in near.of(claim.asset):
        if other.is_output and other.policy.uid != claim.policy.uid:
            return claim_conflict(claim, other)
    return ""


def _taken(claim: Claim, near: Near, issued: Mapping[str, frozenset[str]]) -> str:
    """Return a target of another rule that is not about this output, as far as anybody can tell.

    Who issued the policy may have a rule about its output, in another policy too. Where nobody is
    named that may be another: then of a part of it no more than of a column.
    """
    for other in near.of(claim.asset):
        is_input = other.rule is claim.rule and _makes(claim.rule)
        if other.is_output or (other.rule is claim.rule and not is_input):
            continue
        is_same = other.policy.uid == claim.policy.uid
        is_known = is_same or issued[other.policy.uid] == issued[claim.policy.uid]
        is_named = is_same or bool(issued[claim.policy.uid])
        is_more = goes_on(claim.asset, other.asset) and dataset_of(other.asset) != claim.asset
        if not is_known or goes_on(other.asset, claim.asset) or (is_more and not is_named):
            return claim_conflict(claim, other)
    return ""


def _makes(rule: Rule) -> bool:
    return any(action.iri in MAKING for action in rule.actions)


def claim_conflict(claim: Claim, other: Claim) -> str:
    """Return how an output and another output or target are one, or lie within one another."""
    subject = f"{'an output' if other.is_output else 'a target'} of {other.description}"
    if claim.asset == other.asset:
        relation = f"is {subject} as well"
    elif goes_on(other.asset, claim.asset):
        relation = f"lies within {other.asset!r}, {subject}"
    elif goes_on(claim.asset, other.asset):
        relation = f"contains {other.asset!r}, {subject}"
    else:
        relation = f"is stated to be in {other.asset!r}, or to contain it, {subject}"
    return f"The output {claim.asset!r} of {claim.description} {relation}."


def _data_problem(claim: Claim, data: Iterable[str]) -> str:
    """Return the problem of an output that is part of given data, or contains it: nobody could
    tell who owns it."""
    for iri in data:
        if goes_on(iri, claim.asset) or goes_on(claim.asset, iri):
            relation = "lies within" if goes_on(iri, claim.asset) else "contains"
            subject = f"{relation} {iri!r}, which data is given for"
            return f"The output {claim.asset!r} of {claim.description} {subject}."
    return ""
