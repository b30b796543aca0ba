"""Whose rules count for what a request is about."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from policy_engine.decision.closures import Closures
from policy_engine.decision.index import Clause
from policy_engine.owners import Speakers, Standing
from policy_engine.policy.hierarchy import goes_on


@dataclass(frozen=True, slots=True)
class Leave:
    """Whether the owner of an asset lets a party grant its use.

    `is_given` where that is known, by the `rule` of that name; `may_be` where it is not known to
    be otherwise.
    """

    is_given: bool = False
    may_be: bool = False
    rule: str = ""


Delegated = Callable[[str, str], Leave]
"""What leave a party has for an asset."""


class Ownership:
    """Whose rules count for the assets of one request.

    A permission counts where who issued it speaks for every asset that is asked for, with all
    its known parts, and for what it makes its output of; and where its policy puts nothing of
    others into what is asked for. `also` are assets that it has to speak for besides. A
    prohibition counts where one of those who issued it speaks for an asset that is asked for and
    that it meets, or for the part of one that it names. `trusted` are the closures of what the
    caller says: what policies say of parts gives nobody a say.
    """

    def __init__(
        self, standing: Standing, trusted: Closures, delegated: Delegated, also: Sequence[str] = ()
    ) -> None:
        self._standing = standing
        self._trusted = trusted
        self._delegated = delegated
        self._also = tuple(also)
        self._leaves: dict[tuple[str, str], Leave] = {}

    def permission_fails(self, clause: Clause, targets: Sequence[str], own: Closures) -> str:
        """Return why a permission does not count for the targets, empty where it does.

        `own` are the closures of its own policy.
        """
        every = (*targets, *self._also, *sorted(clause.sources))
        return self._fails(clause.assigners, every) or self._takes(clause, targets, own)

    def by_leave(self, clause: Clause, targets: Sequence[str]) -> Iterator[str]:
        """Yield by whose leave a permission counts for the targets, where its own will not do."""
        every = (one for target in targets for one in self._standing.all_of(target))
        for one in every if self._leaves else ():
            if not one.permit(clause.assigners):
                given = ((who, self._leave(who, one.asset)) for who in sorted(clause.assigners))
                leave = next(((who, by.rule) for who, by in given if by.is_given), ("", ""))
                yield f"{leave[1]} lets {leave[0]} grant the use of {one.asset}"

    def making_fails(self, clause: Clause) -> str:
        """Return why a rule may not make its output of its targets, empty where it may."""
        return self._fails(clause.assigners, sorted(clause.targets))

    def prohibition_fails(self, clause: Clause, targets: Sequence[str], known: Closures) -> str:
        """Return why a prohibition does not count for the targets, empty where it does.

        `known` are the closures by which it was found.
        """
        about = [*self._about(clause, targets, known)]
        if any(self._prohibits(clause, name) for name in about):
            return ""
        return self._standing.of(about[0]).denied(clause.assigners)

    def owns(self, clause: Clause, asset: str) -> bool:
        """Tell whether a rule is one of the owners of an asset, rather than of a delegate."""
        return all(one.own(clause.assigners) for one in self._standing.all_of(asset))

    def concerns(self, clause: Clause, target: str) -> bool:
        """Tell whether what a rule makes has to do with a target, whatever policies say of it:
        by what the caller says, or because the target is the maker's as well."""
        is_near = self._trusted.overlaps("asset", target, clause.rule.output)
        return is_near or self._standing.of(target).own(clause.assigners)

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
        return any(self._leave(party, asset).may_be for party in clause.assigners)

    def _fails(self, parties: frozenset[str], assets: Sequence[str]) -> str:
        every = (one for asset in assets for one in self._standing.all_of(asset))
        failing = (one for one in every if not self._permits(parties, one))
        return next((one.denied(parties) for one in failing), "")

    def _takes(self, clause: Clause, targets: Sequence[str], own: Closures) -> str:
        """Return whose asset a policy puts into the targets by its own word, if it does."""
        said = (name for target in targets for name in own.down("asset", target)[1:])
        stated = (one for one in map(self._standing.of, said) if one.is_stated)
        failing = (one for one in stated if not self._permits(clause.assigners, one))
        return next((one.denied(clause.assigners) for one in failing), "")

    def _permits(self, parties: frozenset[str], speakers: Speakers) -> bool:
        return speakers.permit(parties) or (
            bool(speakers.owners)
            and any(self._leave(party, speakers.asset).is_given for party in sorted(parties))
        )

    def _leave(self, party: str, asset: str) -> Leave:
        found = self._leaves.get((party, asset))
        if found is None:
            found = self._leaves[party, asset] = self._delegated(party, asset)
        return found
