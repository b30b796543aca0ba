"""Who owns an asset, and whose rules count for it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from policy_engine import terms
from policy_engine.errors import NOWHERE, Place
from policy_engine.policy import InForce, Policy
from policy_engine.policy.hierarchy import Edge


@dataclass(frozen=True)
class OwnerStatement:
    """What is stated of one asset; all names are IRIs in one spelling.

    `owners` own it together; where there are none, the assigner of the `policy` does, if one is
    named. `delegates` speak for it as its owner does, and the prohibitions of its `regulators`
    count. `within` are the assets that it is a part of, and `parts` those that are parts of it.
    """

    asset: str
    owners: tuple[str, ...] = ()
    policy: str = ""
    delegates: tuple[str, ...] = ()
    regulators: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    place: Place = field(default=NOWHERE, compare=False)

    @property
    def is_of_owner(self) -> bool:
        """Whether it is stated who owns the asset, known or not."""
        return bool(self.owners or self.policy)


@dataclass(frozen=True)
class Owners:
    """Who owns which asset: one statement for each, as the catalog or the caller says.

    Without any, all policies are those of one owner. `source` names the text in messages.
    """

    statements: tuple[OwnerStatement, ...] = ()
    source: str = field(default="", compare=False)

    @classmethod
    def of(cls, owners: Mapping[str, str]) -> "Owners":
        """Return the owners of assets by these; all are IRIs in one spelling."""
        return cls(tuple(OwnerStatement(asset, (owner,)) for asset, owner in owners.items()))

    def __bool__(self) -> bool:
        return bool(self.statements)

    @cached_property
    def statements_by_asset(self) -> Mapping[str, OwnerStatement]:
        """The statements by the asset that they are of."""
        return {one.asset: one for one in self.statements}

    @property
    def columns(self) -> Iterator[str]:
        """The assets that are columns by their names, of datasets if there are such."""
        return (one.asset for one in self.statements if terms.dataset_of(one.asset))

    @property
    def edges(self) -> Iterator[Edge]:
        """What is stated to be a part of what: pairs of a narrower asset and a wider one."""
        for one in self.statements:
            yield from ((one.asset, wide) for wide in one.within)
            yield from ((part, one.asset) for part in one.parts)

    def known_by(self, policies: Sequence[Policy]) -> "Owners":
        """Return the owners with the assigners of the policies that assets have.

        Those that are in force no longer are asked as well, where they are known (`InForce`):
        whoever takes the uid of another's policy gets nothing by that. Where policies of one uid
        name others, nobody is known to own the asset.
        """
        if not any(one.policy and not one.owners for one in self.statements):
            return self
        ended = policies.ended if isinstance(policies, InForce) else ()
        issued: dict[str, set[frozenset[str]]] = defaultdict(set)
        for policy in (*policies, *ended):
            issued[policy.uid].add(policy.issued_by)
        assigners = {uid: tuple(sorted(*by)) for uid, by in issued.items() if len(by) == 1}
        statements = (
            one if one.owners else replace(one, owners=assigners.get(one.policy, ()))
            for one in self.statements
        )
        return replace(self, statements=tuple(statements))

    def with_statements(self, new: Mapping[str, OwnerStatement]) -> "Owners":
        """Return the owners with other statements of some assets, by asset."""
        unchanged = (one for one in self.statements if one.asset not in new)
        return replace(self, statements=(*unchanged, *new.values()))


@dataclass(frozen=True, slots=True)
class Speakers:
    """Whose rules count for an asset: permissions of its owners and their delegates,
    prohibitions of the regulators as well.

    Of an asset without a known owner no permission counts, and every prohibition does. Of one
    that `is_stated` somebody says whose it is, at a `place`, though nobody may know the owner.
    """

    asset: str
    owners: tuple[str, ...] = ()
    delegates: frozenset[str] = frozenset()
    regulators: frozenset[str] = frozenset()
    is_stated: bool = False
    place: Place = field(default=NOWHERE, compare=False)

    def own(self, parties: Collection[str]) -> bool:
        """Tell whether parties, together, own the asset."""
        return bool(self.owners) and all(one in parties for one in self.owners)

    def permit(self, parties: Collection[str]) -> bool:
        """Tell whether a permission that parties issued together counts."""
        is_delegate = bool(self.owners) and not self.delegates.isdisjoint(parties)
        return is_delegate or self.own(parties)

    def prohibit(self, parties: Collection[str]) -> bool:
        """Tell whether a prohibition that one of the parties issued counts."""
        entitled = {*self.owners, *self.delegates, *self.regulators}
        return not self.owners or not entitled.isdisjoint(parties)

    def denied(self, parties: Collection[str]) -> str:
        """Return why what parties issued does not count, without a full stop."""
        if not self.owners:
            return f"nobody is known to own {self.asset}"
        if not parties:
            owners = " and ".join(self.owners)
            return f"it names no assigner, and {owners} owns {self.asset}"
        *head, last = sorted(parties)
        names = f"{', '.join(head)} and {last} do" if head else f"{last} does"
        return f"{names} not own {self.asset}"


class Standing:
    """Who speaks for which asset, by all that is known of which asset is part of which.

    The nearest statement of an owner counts: that of the asset itself, of what its IRI goes on
    from (its dataset, its namespace), or of what the catalog or the caller says that it is a part
    of. Where the nearest differ, the asset has no known owner. Regulators are those of all that
    the asset is a part of. What policies say of parts never counts.
    """

    def __init__(self, owners: Owners, edges: Iterable[Edge] = ()) -> None:
        self.owners = owners
        self._stated = owners.statements_by_asset
        self._wider: dict[str, list[str]] = defaultdict(list)
        for narrow, wide in dict.fromkeys((*owners.edges, *edges)):
            self._wider[narrow].append(wide)
        self._known: dict[str, Speakers] = {}

    def of(self, asset: str) -> Speakers:
        """Return whose rules count for an asset."""
        speakers = self._known.get(asset)
        if speakers is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            speakers = self._known[asset] = self._speakers(asset)
        return speakers

    def known_parts(self, asset: str) -> Sequence[str]:
        """Return the assets of which something is known that are parts of an asset."""
        return self._parts_by_whole.get(asset, ())

    def all_of(self, asset: str) -> Iterator[Speakers]:
        """Yield whose rules count for an asset, and for each part of it that is known."""
        yield self.of(asset)
        yield from map(self.of, self.known_parts(asset))

    def _speakers(self, asset: str) -> Speakers:
        owner: list[OwnerStatement] = []
        delegates: set[str] = set()
        regulators: set[str] = set()
        for level in self._levels(asset):
            statements = [self._stated[name] for name in level if name in self._stated]
            if not owner:
                delegates |= {party for one in statements for party in one.delegates}
                owner = [one for one in statements if one.is_of_owner]
            regulators |= {party for one in statements for party in one.regulators}
        several = {frozenset(one.owners) for one in owner}
        owners = owner[0].owners if len(several) == 1 else ()
        return Speakers(
            asset,
            owners,
            frozenset(delegates if owners else ()),
            frozenset(regulators),
            bool(owner),
            owner[0].place if owner else NOWHERE,
        )

    def _levels(self, asset: str) -> Iterator[list[str]]:
        """Yield an asset, then what it is a part of by one step, by two steps, and so on."""
        level, visited = [asset], {asset}
        while level:
            for name in level:  # names that are parts of one another are of one asset
                same = [one for one in self._same(name) if one not in visited]
                level += same
                visited.update(same)
            yield level
            above = (up for name in level for up in (*self._wider.get(name, ()), *_cut(name)))
            level = [up for up in dict.fromkeys(above) if up not in visited]
            visited.update(level)

    def _same(self, name: str) -> list[str]:
        return [one for one in self._wider.get(name, ()) if name in self._wider.get(one, ())]

    @cached_property
    def _parts_by_whole(self) -> Mapping[str, Sequence[str]]:
        below: dict[str, list[str]] = defaultdict(list)
        for name in dict.fromkeys((*self._stated, *self._wider)):
            for level in self._levels(name):
                for wide in level:
                    if wide != name:
                        below[wide].append(name)
        return below


_MOST = 100_000


def _cut(iri: str) -> Iterator[str]:
    """Yield what an IRI goes on from by one step, with the mark behind which it does, and without.

    Nothing above a host, or above what the first colon of another scheme names.
    """
    start = iri.find("://") + 3 if "://" in iri else 0
    place = max(iri.rfind(mark, start) for mark in "/?#")
    if place > start:
        if place + 1 < len(iri):
            yield iri[: place + 1]
        yield iri[:place]
