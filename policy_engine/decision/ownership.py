"""Whose rules count for the assets of a request."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from policy_engine.decision.clauses import Clause
from policy_engine.decision.closures import Closures
from policy_engine.decision.consents import rule_inputs
from policy_engine.plan.consenting import Shortfall
from policy_engine.policy.hierarchy import goes_on
from policy_engine.policy.owners import Speakers, Standing


@dataclass(frozen=True, slots=True)
class OwnerConsent:
    """Whether the owner of an asset lets a party grant its use, or make something of it.

    It `is_given`, by the rule of a `clause`, if that is known; it `may_be` if it is not known to be
    refused. `missing` says what keeps the rule from giving consent, `shortfalls` how the output
    falls short of its requirements. `counted_prohibitions` are prohibitions of granting use with a
    limit on how often.
    """

    is_given: bool = False
    may_be: bool = False
    clause: Clause | None = None
    shortfalls: tuple[Shortfall, ...] = ()
    missing: str = ""
    counted_prohibitions: tuple[Clause, ...] = ()

    @property
    def rule(self) -> str:
        """The name of the rule that gives consent, or would."""
        return self.clause.name if self.clause else ""

    @property
    def exercised_rules(self) -> tuple[Clause, ...]:
        """The rules that are exercised by relying on the consent."""
        return (*([self.clause] if self.clause else []), *self.counted_prohibitions)


class AssetUse(NamedTuple):
    """What an asset is used for: `beside` which others, and by which actions of `making`."""

    beside: tuple[str, ...] = ()
    making: frozenset[str] = frozenset()


DelegationLookup = Callable[[str, str, bool, AssetUse], OwnerConsent]
"""The consent a party has to use an asset: for another use, or for a past one (`True`)."""
ConsentLookup = Callable[[Clause, str, str, bool], OwnerConsent]
"""The consent a party has to make what a rule makes of an asset: once more, or to have made
it (`True`)."""


_NO_OTHER_USE = AssetUse()


def _rule_use(clause: Clause) -> AssetUse:
    actions = frozenset(action.iri for action in clause.written_rule.actions)
    return AssetUse(rule_inputs(clause), actions if clause.written_rule.output else frozenset())


def no_consent(_making: Clause, _party: str, _asset: str, _was_done: bool) -> OwnerConsent:
    """Return no consent: what others make does not matter here."""
    return OwnerConsent()


def consent_rank(consent: OwnerConsent) -> tuple[bool, bool, bool, int]:
    """Return a sort key for consents: the greatest one lacks least."""
    return (
        consent.is_given,
        bool(consent.shortfalls),
        bool(consent.clause),
        -len(consent.shortfalls),
    )


class Ownership:
    """Whose rules count for the assets of one request.

    A permission counts if its issuer speaks for every requested asset, with all its known parts,
    and for the inputs of any output that it makes, and if its policy adds no assets of others to
    the requested ones. `also` are further assets that the issuer must speak for. An input's owner
    may let the issuer make exactly that output (`consents`); if it is about to be made, the owner
    must let the `maker` make it as well. A prohibition counts if one of its issuers speaks for a
    requested asset that it affects, or for the part that it names. `trusted` are the closures of
    what the caller says: what policies say about parts gives nobody a say. `beside` is everything
    requested together. If consent is checked `part_by_part`, the issuer of a permission must speak
    only for the assets themselves.
    """

    def __init__(
        self,
        standing: Standing,
        trusted: Closures,
        delegated: DelegationLookup,
        consents: ConsentLookup = no_consent,
        also: Sequence[str] = (),
        maker: str | None = None,
        beside: tuple[str, ...] = (),
        *,
        part_by_part: bool = False,
    ) -> None:
        self._standing = standing
        self._part_by_part = part_by_part
        self._trusted = trusted
        self._find_use_consent = delegated
        self._find_making_consent = consents
        self._further_assets = tuple(also)
        self._maker = maker
        self._use = AssetUse(beside)
        self._use_consents: dict[tuple[str, str, bool, AssetUse], OwnerConsent] = {}
        self._making_consents: dict[tuple[int, str, str, bool], OwnerConsent] = {}

    def permission_refusal(self, clause: Clause, targets: Sequence[str], own: Closures) -> str:
        """Return why a permission does not count for the targets, empty if it does.

        `own` are the closures of its own policy.
        """
        making = clause if self._maker is not None and clause.written_rule.output else None
        return (
            self._refusal(clause, targets, self._use, making)
            or self._refusal(clause, self._further_assets, self._use)
            or self.making_refusal(clause, clause.sources)
            or self._taking_refusal(clause, targets, own)
        )

    def use_consents(
        self, clause: Clause, targets: Sequence[str], own: Closures
    ) -> Iterator[tuple[str, str, OwnerConsent]]:
        """Yield the consents by which a permission counts for targets that its issuer does not own.

        Each comes with the party that was allowed to grant the use, and the asset.
        """
        if not self._use_consents:
            return
        for one in chain(
            self._speakers((*targets, *self._further_assets)), self._taken_speakers(targets, own)
        ):
            if not one.permit(clause.assigners):
                assigners = sorted(clause.assigners)
                consents = (
                    (party, self._use_consent(party, one.asset, self._use)) for party in assigners
                )
                given_consent = next(((party, by) for party, by in consents if by.is_given), None)
                if given_consent is not None:
                    yield given_consent[0], one.asset, given_consent[1]

    def making_consents(
        self, clause: Clause, *, was_done: bool
    ) -> Iterator[tuple[str, str, OwnerConsent]]:
        """Yield the assets, parties and rules by which owners let others make an output."""
        for (number, party, asset, was_made), consent in self._making_consents.items():
            if number == clause.number and was_made == was_done and consent.is_given:
                yield asset, party, consent

    def making_refusal(
        self, clause: Clause, assets: Collection[str], *, was_done: bool = True
    ) -> str:
        """Return why a rule may not make its output of assets, empty if it may.

        This is asked about what it has made (`was_done`), or about making it again.
        """
        use = _rule_use(clause) if assets else self._use
        return self._refusal(clause, sorted(assets), use, clause, was_done=was_done)

    def required_consents(self, clause: Clause) -> Iterator[tuple[str, OwnerConsent]]:
        """Yield the assets that a rule may use only with their owners' consent, with that consent.

        And those for which consent is missing, with the shortfalls of one that could be given.
        """
        for target in sorted(clause.targets):
            for one in self._standing.all_of(target):
                if not self._is_use_allowed(clause.assigners, one, _rule_use(clause)):
                    consents = (
                        self._making_consent(clause, who, one.asset) for who in clause.assigners
                    )
                    yield one.asset, max(consents, key=consent_rank, default=OwnerConsent())

    def prohibition_refusal(
        self, clause: Clause, targets: Sequence[str], closures: Closures
    ) -> str:
        """Return why a prohibition does not count for the targets, empty if it does.

        `closures` are the closures by which it was found.
        """
        names = [*self._prohibited_names(clause, targets, closures)]
        if any(self._may_prohibit(clause, name) for name in names):
            return ""
        return self._standing.of(names[0]).denied(clause.assigners)

    def owns(self, clause: Clause, asset: str) -> bool:
        """Return whether a rule was issued by one of an asset's owners, not by a delegate.

        Parts of the asset may have other owners: each part is checked separately.
        """
        return self._standing.of(asset).own(clause.assigners)

    def concerns(self, clause: Clause, target: str) -> bool:
        """Return whether a rule's output concerns a target, whatever policies say.

        It does by the caller's word, or because the target belongs to the maker as well.
        """
        is_near = self._trusted.overlaps("asset", target, clause.rule.output)
        return is_near or self._standing.of(target).own(clause.assigners)

    def takes_in(self, asset: str, parties: frozenset[str], target: str) -> bool:
        """Return whether an asset that parties made concerns a target.

        It does not if they make it of another's asset: if that is stated of the asset, or of the
        target as a part of it; nor if only policies say so. If its makers are unknown, it does.
        """
        asset_speakers, speakers = self._standing.of(asset), self._standing.of(target)
        if not parties:
            return True
        is_part = goes_on(asset, target) or asset in self._trusted.up("asset", target)
        stated_speakers = [asset_speakers, speakers] if is_part else [asset_speakers]
        if any(one.is_stated and not one.permit(parties) for one in stated_speakers):
            return False
        return self._trusted.overlaps("asset", target, asset) or speakers.own(parties)

    def _prohibited_names(
        self, clause: Clause, targets: Sequence[str], closures: Closures
    ) -> Iterator[str]:
        for target in targets:
            overlapping = [
                name for name in clause.targets if closures.overlaps("asset", target, name)
            ]
            if overlapping or not clause.targets:
                yield target
            yield from (name for name in sorted(overlapping) if self._is_part(name, target))

    def _is_part(self, name: str, target: str) -> bool:
        return goes_on(target, name) or target in self._trusted.up("asset", name)

    def _may_prohibit(self, clause: Clause, asset: str) -> bool:
        speakers = self._standing.of(asset)
        if speakers.prohibit(clause.assigners):
            return True
        # What was granted by consent ends when the party with that consent loses its say.
        consents = (self._use_consent(who, asset, was_done=True) for who in clause.assigners)
        return any(consent.may_be for consent in consents)

    def _refusal(
        self,
        clause: Clause,
        assets: Sequence[str],
        use: AssetUse,
        making: Clause | None = None,
        *,
        was_done: bool = False,
    ) -> str:
        parties = clause.assigners
        for one in self._speakers(assets):
            is_allowed = self._is_use_allowed(parties, one, use, was_done=was_done)
            if not is_allowed and not (
                making and self._is_making_allowed(making, one, was_done=was_done)
            ):
                shortfall = (
                    self._consent_shortfall(making, one.asset, was_done=was_done) if making else ""
                )
                return one.denied(parties) + shortfall
        return ""

    def _speakers(self, assets: Sequence[str]) -> Iterator[Speakers]:
        """Yield who speaks for each of some assets, and for the known parts of each."""
        standing = self._standing
        for asset in assets:
            yield from (standing.of(asset),) if self._part_by_part else standing.all_of(asset)

    def _is_making_allowed(self, making: Clause, speakers: Speakers, *, was_done: bool) -> bool:
        """Return whether an owner lets an issuer of a rule, and the requester, make its output."""
        parties = sorted(making.assigners) if speakers.owners else ()
        makers = [self._maker] if self._maker else []
        asset = speakers.asset
        issuer_consents = (
            self._making_consent(making, one, asset, was_done=was_done) for one in parties
        )
        maker_consents = (
            self._making_consent(making, one, asset, was_done=was_done) for one in makers
        )
        return any(one.is_given for one in issuer_consents) and all(
            one.is_given for one in maker_consents
        )

    def _consent_shortfall(self, making: Clause, asset: str, *, was_done: bool) -> str:
        """Return how an output falls short of the consent that could be given to make it."""
        parties = dict.fromkeys((*sorted(making.assigners), *filter(None, [self._maker])))
        consents = {
            one: self._making_consent(making, one, asset, was_done=was_done) for one in parties
        }
        for party, one in consents.items():
            if not one.is_given and one.shortfalls:
                return f", and {one.rule} does not allow that output: {one.shortfalls[0].message}"
            if not one.is_given and one.missing:
                return f", and {one.rule} does not let {party} make it: {one.missing}"
        if self._maker and any(one.is_given for one in consents.values()):
            return f", and its owner does not let {self._maker} make anything of it"
        return ""

    def _making_consent(
        self, making: Clause, party: str, asset: str, *, was_done: bool = False
    ) -> OwnerConsent:
        key = making.number, party, asset, was_done
        consent = self._making_consents.get(key)
        if consent is None:
            consent = self._making_consents[key] = self._find_making_consent(
                making, party, asset, was_done
            )
        return consent

    def _taking_refusal(self, clause: Clause, targets: Sequence[str], own: Closures) -> str:
        """Return whose assets a policy adds to the targets by its own statement, if any."""
        assigners, speakers = clause.assigners, self._taken_speakers(targets, own)
        refusing = (one for one in speakers if not self._is_use_allowed(assigners, one, self._use))
        return next((one.denied(assigners) for one in refusing), "")

    def _taken_speakers(self, targets: Sequence[str], own: Closures) -> Iterator[Speakers]:
        """Yield who speaks for the assets that a policy adds to the targets, if that is stated."""
        for target in targets:
            parts = self._standing.known_parts(target) if self._part_by_part else ()
            added = [name for name in own.down("asset", target)[1:] if name not in parts]
            yield from (one for one in self._speakers(added) if one.is_stated)

    def _is_use_allowed(
        self,
        parties: frozenset[str],
        speakers: Speakers,
        use: AssetUse,
        *,
        was_done: bool = False,
    ) -> bool:
        if speakers.permit(parties):
            return True
        asset = speakers.asset
        consents = (
            self._use_consent(who, asset, use, was_done=was_done) for who in sorted(parties)
        )
        return bool(speakers.owners) and any(consent.is_given for consent in consents)

    def _use_consent(
        self, party: str, asset: str, use: AssetUse = _NO_OTHER_USE, *, was_done: bool = False
    ) -> OwnerConsent:
        key = party, asset, was_done, use
        consent = self._use_consents.get(key)
        if consent is None:
            consent = self._use_consents[key] = self._find_use_consent(*key)
        return consent
