"""A hierarchy laid over another one, so that the wider one is not built again for each request."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from policy_engine import terms
from policy_engine.policy.hierarchy import PARTS, Hierarchy, Part


@dataclass(frozen=True)
class Laid(Hierarchy):
    """A hierarchy laid over another one: as if both were joined, at the cost of its own edges."""

    over: Hierarchy = field(default_factory=Hierarchy)

    @classmethod
    def of(cls, upper: Hierarchy, over: Hierarchy) -> "Laid":
        """Return a hierarchy laid over another one."""
        edges = {part: getattr(upper, part) for part in (*PARTS, "implied", "perhaps")}
        return cls(**edges, over=over)

    def joined(self, others: Iterable[Hierarchy]) -> Hierarchy:
        """Return the union of this hierarchy, what it is laid over, and the others."""
        return Hierarchy().joined([super().joined(()), self.over, *others])

    def above(self, part: Part, iri: str) -> Iterator[str]:
        """Yield what an IRI is part of, by one edge."""
        yield from self._wider[part].get(iri, ())
        yield from self.over.above(part, iri)

    def below(self, part: Part, iri: str) -> Iterator[str]:
        """Yield what is part of an IRI, by one edge."""
        yield from self._narrower[part].get(iri, ())
        yield from self.over.below(part, iri)

    def perhaps_above(self, action: str) -> Iterator[str]:
        """Yield what an action may be a part of, by one step."""
        yield from self._perhaps.get(action, ())
        yield from self.over.perhaps_above(action)

    def perhaps_below(self, action: str) -> Iterator[str]:
        """Yield what may be a part of an action, by one step, the operations of the DPV apart."""
        yield from self._perhaps_below.get(action, ())
        yield from self.over.perhaps_below(action)

    @cached_property
    def names_dpv(self) -> bool:
        """Whether an edge names operations of the DPV, here or below."""
        return any(one.startswith(terms.DPV) for edge in self.action for one in edge) or (
            self.over.names_dpv
        )

    def implies(self, action: str) -> Iterator[str]:
        """Yield the actions that an action implies, by one edge."""
        yield from self._implied.get(action, ())
        yield from self.over.implies(action)
