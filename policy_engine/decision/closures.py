"""Who and what includes what, asked often and worked out once."""

from policy_engine.policy.clashes import starts
from policy_engine.policy.hierarchy import PARTS, Hierarchy, Part, Ways

_MOST = 100_000


class Closures:
    """The memoised closures of a hierarchy: for each IRI all that includes it, and by what way."""

    __slots__ = ("_above", "_reach", "hierarchy")

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self._above: dict[Part, dict[str, Ways]] = {part: {} for part in PARTS}
        self._reach: dict[Part, dict[str, frozenset[str]]] = {part: {} for part in PARTS}

    def up(self, part: Part, iri: str) -> Ways:
        """Return all that includes an IRI, itself too, each with the shortest way up to it."""
        memo = self._above[part]
        found = memo.get(iri)
        if found is None:
            if len(memo) >= _MOST:
                memo.clear()
            found = memo[iri] = self.hierarchy.wider(part, iri)
        return found

    def reach(self, part: Part, iri: str) -> frozenset[str]:
        """Return all that includes an IRI, or might: of assets, what their IRI goes on from."""
        memo = self._reach[part]
        found = memo.get(iri)
        if found is None:
            if len(memo) >= _MOST:
                memo.clear()
            may = starts(iri) if part == "asset" else ()
            found = memo[iri] = frozenset((*self.up(part, iri), *may))
        return found

    def overlaps(self, part: Part, one: str, other: str) -> bool:
        """Tell whether one of two IRIs includes the other, or may do so."""
        return other in self.reach(part, one) or one in self.reach(part, other)
