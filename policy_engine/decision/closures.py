"""Transitive closures of the hierarchies, memoised."""

from collections.abc import Collection, Iterable
from functools import partial

from policy_engine import terms
from policy_engine.decision.laid_hierarchy import Laid
from policy_engine.policy.gathering import Circles
from policy_engine.policy.hierarchy import PARTS, Hierarchy, Part, Ways
from policy_engine.policy.validation.conflicts import iri_prefixes

_MOST = 100_000


class Closures:
    """The memoised closures of a hierarchy: everything that includes an IRI, and by which path."""

    __slots__ = ("_above", "_circles", "_needs", "_reach", "_stated", "hierarchy")

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self._above: dict[Part, dict[str, Ways]] = {part: {} for part in PARTS}
        self._reach: dict[Part, dict[str, frozenset[str]]] = {part: {} for part in PARTS}
        self._stated: dict[tuple[Part, str], frozenset[str]] = {}
        self._circles: dict[Part, Circles] = {}
        self._needs: dict[str, tuple[str, ...]] = {}

    def extended(self, more: Hierarchy) -> "Closures":
        """Return the closures of this hierarchy and another one."""
        return Closures(Laid.of(more, self.hierarchy))

    def up(self, part: Part, iri: str) -> Ways:
        """Return everything that includes an IRI, itself too, each with the shortest path to it."""
        memo = self._above[part]
        ways = memo.get(iri)
        if ways is None:
            if len(memo) >= _MOST:
                memo.clear()
            ways = memo[iri] = self.hierarchy.wider(part, iri)
        return ways

    def reach(self, part: Part, iri: str) -> frozenset[str]:
        """Return everything that includes an IRI, or may: for assets, also prefixes of the IRI.

        For actions, also what `Hierarchy.may_be` gives.
        """
        memo = self._reach[part]
        names = memo.get(iri)
        if names is None:
            if len(memo) >= _MOST:
                memo.clear()
            possible: Iterable[str] = iri_prefixes(iri) if part == "asset" else ()
            possible = self.hierarchy.may_be(iri) if part == "action" else possible
            names = memo[iri] = frozenset((*self.up(part, iri), *possible))
        return names

    def overlaps(self, part: Part, one: str, other: str) -> bool:
        """Return whether one of two IRIs includes the other, or may."""
        return other in self.reach(part, one) or one in self.reach(part, other)

    def needs(self, action: str) -> tuple[str, ...]:
        """Return an action, and the actions that must not be prohibited for it to be done."""
        actions = self._needs.get(action)
        if actions is None:
            if len(self._needs) >= _MOST:
                self._needs.clear()
            actions = self._needs[action] = (action, *self.hierarchy.needs(action))
        return actions

    def down(self, part: Part, iri: str) -> list[str]:
        """Return an IRI and everything that edges put into it, near or far, nearest first."""
        reached = {iri}
        queue = [iri]
        for here in queue:
            narrower = [one for one in self.hierarchy.below(part, here) if one not in reached]
            queue += dict.fromkeys(narrower)
            reached.update(narrower)
        return queue

    def has_members(self, part: Part, iri: str) -> bool:
        """Return whether edges put something into an IRI that does not include that IRI in turn."""
        below = [*self.hierarchy.below(part, iri)]
        dataset = terms.dataset_of(iri) if below and part == "asset" else ""
        wider = self._stated_above(part, dataset) if dataset else frozenset()
        circles = self._circles.setdefault(part, Circles(partial(self.hierarchy.above, part)))
        return not all(one in wider or circles.are_joined(one, iri) for one in below)

    def _stated_above(self, part: Part, iri: str) -> frozenset[str]:
        """Return an IRI and everything that edges put it into: not the dataset of a column."""
        names = self._stated.get((part, iri))
        if names is None:
            if len(self._stated) >= _MOST:
                self._stated.clear()
            names = self._stated[part, iri] = frozenset(_walked(part, [iri], self.hierarchy))
        return names

    def select_included(self, part: Part, names: Collection[str], wide: str) -> set[str]:
        """Return those of some parties or assets that `wide` includes, or may, as `reach` tells.

        All are looked at in one walk over the edges above them.
        """
        is_asset = part == "asset"
        datasets = {one: terms.dataset_of(one) for one in names} if is_asset else {}
        starts = [*names, *filter(None, datasets.values())]
        below = _walked(part, starts, self.hierarchy)
        inside, queue = {wide}, [wide]
        for here in queue:
            new = {*below.get(here, ())} - inside
            inside |= new
            queue += new
        return {
            one
            for one in names
            if one in inside
            or datasets.get(one) in inside
            or (is_asset and wide in iri_prefixes(one))
        }


def _walked(part: Part, starts: Iterable[str], hierarchy: Hierarchy) -> dict[str, list[str]]:
    """Return some IRIs and everything that edges put them into, each with what is right below."""
    below: dict[str, list[str]] = {one: [] for one in starts}
    queue = [*below]
    for here in queue:
        for up in hierarchy.above(part, here):
            if up not in below:
                below[up] = []
                queue.append(up)
            below[up].append(here)
    return below
