"""Transitive closures of the hierarchies, memoised."""

from collections.abc import Iterable

from policy_engine.policy.hierarchy import PARTS, Hierarchy, Laid, Part, Ways
from policy_engine.policy.validation.conflicts import iri_prefixes

_MOST = 100_000


class Closures:
    """The memoised closures of a hierarchy: everything that includes an IRI, and by which path."""

    __slots__ = ("_above", "_needs", "_reach", "hierarchy")

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self._above: dict[Part, dict[str, Ways]] = {part: {} for part in PARTS}
        self._reach: dict[Part, dict[str, frozenset[str]]] = {part: {} for part in PARTS}
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
        below = list(self.hierarchy.below(part, iri))
        return bool(below) and not self.up(part, iri).keys() >= {*below}
