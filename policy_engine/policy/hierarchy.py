"""What is part of what: parties, assets, actions and purposes, each a directed graph."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args
from urllib.parse import urlsplit

from policy_engine import terms

Part = Literal["party", "asset", "action", "purpose"]
Edge = tuple[str, str]
PARTS: tuple[Part, ...] = get_args(Part)


@dataclass(frozen=True)
class Hierarchy:
    """Edges (narrower, wider) for each part of a rule; all of them are transitive.

    Parties by `mosaicrown:belongsTo` and `odrl:partOf`, assets by `odrl:partOf`, actions by
    `odrl:includedIn`, purposes by `mosaicrown:declinationOf` and `skos:broader`. A column is
    part of its dataset without being said so.
    """

    party: tuple[Edge, ...] = ()
    asset: tuple[Edge, ...] = ()
    action: tuple[Edge, ...] = ()
    purpose: tuple[Edge, ...] = ()

    def joined(self, others: Iterable["Hierarchy"]) -> "Hierarchy":
        """Return the union of this hierarchy and the others."""
        every = [self, *others]
        edges = {
            part: tuple(dict.fromkeys(edge for one in every for edge in getattr(one, part)))
            for part in PARTS
        }
        return Hierarchy(**edges)

    def path(self, part: Part, narrow: str, wide: str) -> tuple[str, ...]:
        """Return the shortest way from an IRI up to one that includes it, both ends included.

        Empty where `wide` does not include `narrow`; one element where they are the same.
        Circles in the graph do no harm.
        """
        ways: dict[str, tuple[str, ...]] = {narrow: (narrow,)}
        queue = [narrow]
        for here in queue:
            if here == wide:
                return ways[here]
            # A column's name gives its dataset; a dataset's name gives nothing above it.
            dataset = _dataset(here) if part == "asset" and here == narrow else ()
            for up in (*self._above(part, here), *dataset):
                if up not in ways:
                    ways[up] = (*ways[here], up)
                    queue.append(up)
        return ()

    def overlaps(self, part: Part, one: str, other: str) -> bool:
        """Tell whether one of two IRIs includes the other."""
        return bool(self.path(part, one, other) or self.path(part, other, one))

    def _above(self, part: Part, iri: str) -> Iterator[str]:
        yield from (wide for narrow, wide in getattr(self, part) if narrow == iri)
        if part == "action":
            yield from (wide for narrow, wide in _odrl_actions() if narrow == iri)


def _dataset(iri: str) -> tuple[str, ...]:
    """Return the dataset that an IRI would be a column of, by its name; none for a host's."""
    dataset, _, column = iri.rpartition("/")
    return (dataset,) if column and urlsplit(dataset).path.strip("/") else ()


@cache
def _odrl_actions() -> tuple[Edge, ...]:
    """Return the inclusions of the ODRL vocabulary (section 3.5.2 and 4.3)."""
    actions = terms.instances(f"{terms.ODRL}Action").values()
    return tuple((action.iri, wide) for action in actions for wide in action.iris("includedIn"))
