"""Whose rules count for what a request is about."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from policy_engine.decision.closures import Closures
from policy_engine.decision.consents import rule_inputs
from policy_engine.decision.index import Clause
from policy_engine.plan.consenting import Shortfall
from policy_engine.policy.hierarchy import goes_on
from policy_engine.policy.owners import Speakers, Standing


@dataclass(frozen=True, slots=True)
class OwnerConsent:
    """Whether the owner of an asset lets a party grant its use, or make something of it.

    `is_given` where that is known, by the rule of a `clause`; `may_be` where it is not known to
    be otherwise. `lacks` tells what keeps the rule from giving it, `short` in what the thing that
    is made falls short of what is asked of it.
    `counting` are prohibitions of granting use that have a bound on how often.
    """

    is_given: bool = False
    may_be: bool = False
    clause: Clause | None = None
    short: tuple[Shortfall, ...] = ()
    lacks: str = ""
    counting: tuple[Clause, ...] = ()

    @property
    def rule(self) -> str:
        """The name of the rule by which it is given, or would be."""
        return self.clause.name if self.clause else ""

    @property
    def used(self) -> tuple[Clause, ...]:
        """The rules that are exercised by who acts by it."""
        return (*([self.clause] if self.clause else []), *self.counting)


class AssetUse(NamedTuple):
    """What an asset is used for: `beside` which others, and by what actions of `making`."""

    beside: tuple[str, ...] = ()
    making: frozenset[str] = frozenset()


DelegationLookup = Callable[[str, str, bool, AssetUse], OwnerConsent]
"""What leave a party has to use an asset: to act by it once more, or to have acted (`True`)."""
ConsentLookup = Callable[[Clause, str, str, bool], OwnerConsent]
"""What leave a party has to make of an asset what a rule makes of it: once more, or to have made
it (`True`)."""


_NO_OTHER_USE = AssetUse()


def _rule_use(clause: Clause) -> AssetUse:
    actions = frozenset(action.iri for action in clause.whole.actions)
    return AssetUse(rule_inputs(clause), actions if clause.whole.output else frozenset())


def no_consent(_making: Clause, _party: str, _asset: str, _was_done: bool) -> OwnerConsent:
    """Tell that nobody is let: what others make is of no matter here."""
    return OwnerConsent()


def consent_rank(leave: OwnerConsent) -> tuple[bool, bool, bool, int]:
    """Return by what leaves are told apart: the greatest lacks least."""
    return leave.is_given, bool(leave.short), bool(leave.clause), -len(leave.short)


class Ownership:
    """Whose rules count for the assets of one request.

    A permission counts where who issued it speaks for every asset that is asked for, with all
    its known parts, and for what it makes its output of; and where its policy puts nothing of
    others into what is asked for. `also` are assets that it has to speak for besides. For what
    something is made of, it does for the owner too where that one lets its issuer make just that
    (`consents`), and lets the `maker`, where it is about to be made. A
    prohibition counts where one of those who issued it speaks for an asset that is asked for and
    that it meets, or for the part of one that it names. `trusted` are the closures of what the
    caller says: what policies say of parts gives nobody a say. `beside` is all that is asked for
    together. Where it is `part_by_part` that leave is asked for, who issued a permission has to
    speak for the assets alone.
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
        self._delegated = delegated
        self._consents = consents
        self._also = tuple(also)
        self._maker = maker
        self._use = AssetUse(beside)
        self._leaves: dict[tuple[str, str, bool, AssetUse], OwnerConsent] = {}
        self._consented: dict[tuple[int, str, str, bool], OwnerConsent] = {}

    def permission_fails(self, clause: Clause, targets: Sequence[str], own: Closures) -> str:
        """Return why a permission does not count for the targets, empty where it does.

        `own` are the closures of its own policy.
        """
        making = clause if self._maker is not None and clause.whole.output else None
        return (
            self._fails(clause, targets, self._use, making)
            or self._fails(clause, self._also, self._use)
            or self.making_fails(clause, clause.sources)
            or self._takes(clause, targets, own)
        )

    def leaves(
        self, clause: Clause, targets: Sequence[str], own: Closures
    ) -> Iterator[tuple[str, str, OwnerConsent]]:
        """Yield by what leave a permission counts for the targets, where its own will not do.

        That is who was let grant the use of which asset, and the leave.
        """
        if not self._leaves:
            return
        for one in chain(self._every((*targets, *self._also)), self._taken(targets, own)):
            if not one.permit(clause.assigners):
                who = sorted(clause.assigners)
                given = ((party, self._leave(party, one.asset, self._use)) for party in who)
                found = next(((party, by) for party, by in given if by.is_given), None)
                if found is not None:
                    yield found[0], one.asset, found[1]

    def by_consent(
        self, clause: Clause, *, was_done: bool
    ) -> Iterator[tuple[str, str, OwnerConsent]]:
        """Yield the assets, parties and rules by which owners let others make what is made."""
        for (number, party, asset, earlier), leave in self._consented.items():
            if number == clause.number and earlier == was_done and leave.is_given:
                yield asset, party, leave

    def making_fails(
        self, clause: Clause, assets: Collection[str], *, was_done: bool = True
    ) -> str:
        """Return why a rule may not make its output of assets, empty where it may.

        That is asked of what it made (`was_done`), or of making it once more.
        """
        use = _rule_use(clause) if assets else self._use
        return self._fails(clause, sorted(assets), use, clause, was_done=was_done)

    def consents_to(self, clause: Clause) -> Iterator[tuple[str, OwnerConsent]]:
        """Yield the assets of which a rule makes something by their owners' leave alone, with it.

        And those for which it has none, with what is short of one that it could have.
        """
        for target in sorted(clause.targets):
            for one in self._standing.all_of(target):
                if not self._permits(clause.assigners, one, _rule_use(clause)):
                    found = (self._consent(clause, who, one.asset) for who in clause.assigners)
                    yield one.asset, max(found, key=consent_rank, default=OwnerConsent())

    def prohibition_fails(self, clause: Clause, targets: Sequence[str], known: Closures) -> str:
        """Return why a prohibition does not count for the targets, empty where it does.

        `known` are the closures by which it was found.
        """
        about = [*self._about(clause, targets, known)]
        if any(self._prohibits(clause, name) for name in about):
            return ""
        return self._standing.of(about[0]).denied(clause.assigners)

    def owns(self, clause: Clause, asset: str) -> bool:
        """Tell whether a rule is one of the owners of an asset, rather than of a delegate.

        Its parts may be others': each of them is asked for by itself.
        """
        return self._standing.of(asset).own(clause.assigners)

    def concerns(self, clause: Clause, target: str) -> bool:
        """Tell whether what a rule makes has to do with a target, whatever policies say of it:
        by what the caller says, or because the target is the maker's as well."""
        is_near = self._trusted.overlaps("asset", target, clause.rule.output)
        return is_near or self._standing.of(target).own(clause.assigners)

    def takes_in(self, asset: str, parties: frozenset[str], target: str) -> bool:
        """Tell whether an asset that parties made has to do with a target.

        It has not where they make it of what is another's: where that is stated of the asset, or
        of the target as a part of it; nor by the word of policies alone. What nobody knows who
        made has.
        """
        made, asked = self._standing.of(asset), self._standing.of(target)
        if not parties:
            return True
        is_part = goes_on(asset, target) or asset in self._trusted.up("asset", target)
        others = [made, asked] if is_part else [made]
        if any(one.is_stated and not one.permit(parties) for one in others):
            return False
        return self._trusted.overlaps("asset", target, asset) or asked.own(parties)

    def _about(self, clause: Clause, targets: Sequence[str], known: Closures) -> Iterator[str]:
        for target in targets:
            met = [name for name in clause.targets if known.overlaps("asset", target, name)]
            if met or not clause.targets:
                yield target
            yield from (name for name in sorted(met) if self._is_part(name, target))

    def _is_part(self, name: str, target: str) -> bool:
        return goes_on(target, name) or target in self._trusted.up("asset", name)

    def _prohibits(self, clause: Clause, asset: str) -> bool:
        found = self._standing.of(asset)
        if found.prohibit(clause.assigners):
            return True
        # What was granted by a leave does not outlast the say of who had it.
        leaves = (self._leave(who, asset, was_done=True) for who in clause.assigners)
        return any(leave.may_be for leave in leaves)

    def _fails(
        self,
        clause: Clause,
        assets: Sequence[str],
        use: AssetUse,
        making: Clause | None = None,
        *,
        was_done: bool = False,
    ) -> str:
        parties = clause.assigners
        for one in self._every(assets):
            is_let = self._permits(parties, one, use, was_done=was_done)
            if not is_let and not (making and self._lets(making, one, was_done=was_done)):
                short = self._short(making, one.asset, was_done=was_done) if making else ""
                return one.denied(parties) + short
        return ""

    def _every(self, assets: Sequence[str]) -> Iterator[Speakers]:
        """Yield who speaks for each of some assets, and for the known parts of each."""
        known = self._standing
        for asset in assets:
            yield from (known.of(asset),) if self._part_by_part else known.all_of(asset)

    def _lets(self, making: Clause, speakers: Speakers, *, was_done: bool) -> bool:
        """Tell whether an owner lets somebody who issued a rule make what it makes, and who asks
        to make it."""
        parties = sorted(making.assigners) if speakers.owners else ()
        asking = [self._maker] if self._maker else []
        asset = speakers.asset
        given = (self._consent(making, one, asset, was_done=was_done) for one in parties)
        wanted = (self._consent(making, one, asset, was_done=was_done) for one in asking)
        return any(one.is_given for one in given) and all(one.is_given for one in wanted)

    def _short(self, making: Clause, asset: str, *, was_done: bool) -> str:
        """Return in what a thing falls short of the leave that there would be to make it."""
        parties = dict.fromkeys((*sorted(making.assigners), *filter(None, [self._maker])))
        leaves = {one: self._consent(making, one, asset, was_done=was_done) for one in parties}
        for party, one in leaves.items():
            if not one.is_given and one.short:
                return f", and {one.rule} lets no such thing be made: {one.short[0].message}"
            if not one.is_given and one.lacks:
                return f", and {one.rule} does not let {party} make it: {one.lacks}"
        if self._maker and any(one.is_given for one in leaves.values()):
            return f", and its owner does not let {self._maker} make anything of it"
        return ""

    def _consent(
        self, making: Clause, party: str, asset: str, *, was_done: bool = False
    ) -> OwnerConsent:
        key = making.number, party, asset, was_done
        found = self._consented.get(key)
        if found is None:
            found = self._consented[key] = self._consents(making, party, asset, was_done)
        return found

    def _takes(self, clause: Clause, targets: Sequence[str], own: Closures) -> str:
        """Return whose asset a policy puts into the targets by its own word, if it does."""
        who, taken = clause.assigners, self._taken(targets, own)
        fails = (one for one in taken if not self._permits(who, one, self._use))
        return next((one.denied(who) for one in fails), "")

    def _taken(self, targets: Sequence[str], own: Closures) -> Iterator[Speakers]:
        """Yield who speaks for what a policy puts into the targets, where that is stated."""
        for target in targets:
            known = self._standing.within(target) if self._part_by_part else ()
            said = [name for name in own.down("asset", target)[1:] if name not in known]
            yield from (one for one in self._every(said) if one.is_stated)

    def _permits(
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
        leaves = (self._leave(who, asset, use, was_done=was_done) for who in sorted(parties))
        return bool(speakers.owners) and any(leave.is_given for leave in leaves)

    def _leave(
        self, party: str, asset: str, use: AssetUse = _NO_OTHER_USE, *, was_done: bool = False
    ) -> OwnerConsent:
        key = party, asset, was_done, use
        found = self._leaves.get(key)
        if found is None:
            found = self._leaves[key] = self._delegated(*key)
        return found
