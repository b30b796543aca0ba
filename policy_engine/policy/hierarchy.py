"""What is part of what: parties, assets, actions and purposes, each a directed graph."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from typing import Literal, get_args

from policy_engine import terms

Part = Literal["party", "asset", "action", "purpose"]
Edge = tuple[str, str]
PARTS: tuple[Part, ...] = get_args(Part)
TOPS = frozenset((f"{terms.ODRL}use", f"{terms.ODRL}transfer"))
"""The actions that all others are included in (ODRL Information Model 2.2, section 2.4)."""
OPERATION = f"{terms.DPV}Processing"
"""What includes every operation of the Data Privacy Vocabulary."""


@dataclass(frozen=True)
class Hierarchy:
    """Edges (narrower, wider) for each part of a rule; all of them are transitive.

    Parties by `mosaicrown:belongsTo` and `odrl:partOf`, assets by `odrl:partOf`, actions by
    `odrl:includedIn`, purposes by `mosaicrown:declinationOf` and `skos:broader`. A column is
    part of its dataset without being said so, and so is what ODRL says of actions, and the Data
    Privacy Vocabulary of purposes and operations. `implied` holds pairs of actions of which the
    first, with all that is included in it, needs the second not to be prohibited
    (`odrl:implies`), and `perhaps` pairs of actions of which the second may include the first,
    though nobody said so: prohibitions are found by them, and permissions are not.
    """

    party: tuple[Edge, ...] = ()
    asset: tuple[Edge, ...] = ()
    action: tuple[Edge, ...] = ()
    purpose: tuple[Edge, ...] = ()
    implied: tuple[Edge, ...] = ()
    perhaps: tuple[Edge, ...] = ()

    def joined(self, others: Iterable["Hierarchy"]) -> "Hierarchy":
        """Return the union of this hierarchy and the others."""
        hierarchies = [self, *others]
        edges = {
            part: tuple(dict.fromkeys(edge for one in hierarchies for edge in getattr(one, part)))
            for part in (*PARTS, "implied", "perhaps")
        }
        return Hierarchy(**edges)

    @cached_property
    def digest(self) -> str:
        """The sha-256 of all edges, whatever their order; empty without edges."""
        parts = (*PARTS, "implied", "perhaps")
        edges_by_part = {part: sorted({*edges}) for part in parts if (edges := getattr(self, part))}
        if not edges_by_part:
            return ""
        text = json.dumps(edges_by_part, sort_keys=True, separators=(",", ":"))
        return sha256(text.encode()).hexdigest()

    def names(self, *parts: Part) -> frozenset[str]:
        """Return the IRIs that the edges of some parts join."""
        return frozenset(iri for part in parts for edge in getattr(self, part) for iri in edge)

    def path(self, part: Part, narrow: str, wide: str) -> tuple[str, ...]:
        """Return the shortest way from an IRI up to one that includes it, both ends included.

        Empty where `wide` does not include `narrow`; one element where they are the same.
        Circles in the graph do no harm.
        """
        return self.wider(part, narrow).to(wide)

    def wider(self, part: Part, iri: str) -> "Ways":
        """Return all that includes an IRI, itself first, the shorter ways up before the longer."""
        ways = Ways({iri: ""})
        queue = [iri]
        for here in queue:
            dataset = terms.dataset_of(here) if part == "asset" and here == iri else ""
            for up in (*self.above(part, here), *filter(None, [dataset])):
                if up not in ways:
                    ways[up] = here
                    queue.append(up)
        return ways

    def overlaps(self, part: Part, one: str, other: str) -> bool:
        """Tell whether one of two IRIs includes the other, or may do so.

        Of assets, one whose IRI goes on where the other ends may be a part of it: too much
        rather than too little, since this is what prohibitions and outputs are found by.
        """
        if part == "asset" and (goes_on(one, other) or goes_on(other, one)):
            return True
        if part == "action":
            return one in self.may_be(other) or other in self.may_be(one)
        return bool(self.path(part, one, other) or self.path(part, other, one))

    def may_be(self, action: str) -> frozenset[str]:
        """Return all that includes an action, or might: what prohibitions of it are found by."""
        actions, queue = {action}, [action]
        for here in queue:
            above = {*self.above("action", here), *self.perhaps_above(here)} - actions
            actions |= above
            queue += sorted(above)
        return frozenset(actions)

    def perhaps_above(self, action: str) -> Iterator[str]:
        """Yield what an action may be a part of, by one step.

        Every action is a way to use or to transfer (ODRL Information Model 2.2, section 2.4). The
        Data Privacy Vocabulary does not say which its operations are, so that they may be both.
        """
        yield from self._perhaps.get(action, ())
        if action == OPERATION:
            yield from sorted(TOPS)

    def perhaps_below(self, action: str) -> Iterator[str]:
        """Yield what may be a part of an action, by one step, the operations of the DPV apart."""
        yield from self._perhaps_below.get(action, ())

    def needs(self, action: str) -> frozenset[str]:
        """Return the actions that must not be prohibited for an action to be done, but itself.

        To do an action is to do all that it is included in, which hand down what they need.
        """
        needed, visited, queue = {action}, {action}, [action]
        for here in queue:
            further = {*self.implies(here)}
            needed |= further
            new = {*further, *self.above("action", here)} - visited
            visited |= new
            queue += sorted(new)
        return frozenset(needed - {action})

    def above(self, part: Part, iri: str) -> Iterator[str]:
        """Yield what an IRI is part of, by one edge."""
        yield from self._wider[part].get(iri, ())
        if part == "action":
            yield from _odrl_actions().get(iri, ())
        if part in ("action", "purpose") and iri.startswith(terms.DPV):
            yield from _dpv().get(iri, ())

    def below(self, part: Part, iri: str) -> Iterator[str]:
        """Yield what is part of an IRI, by one edge."""
        yield from self._narrower[part].get(iri, ())
        if part == "action":
            yield from _odrl_actions_below().get(iri, ())
        if part in ("action", "purpose") and iri.startswith(terms.DPV):
            yield from _dpv_below().get(iri, ())

    @cached_property
    def names_dpv(self) -> bool:
        """Whether an edge names operations of the DPV, so that more may be part of them."""
        return any(name.startswith(terms.DPV) for edge in self.action for name in edge)

    def implies(self, action: str) -> Iterator[str]:
        """Yield the actions that an action implies, by one edge."""
        yield from self._implied.get(action, ())
        yield from _odrl_implied().get(action, ())

    @cached_property
    def _perhaps(self) -> dict[str, list[str]]:
        return _group_by_narrow(self.perhaps)

    @cached_property
    def _perhaps_below(self) -> dict[str, list[str]]:
        return _group_by_wide(self.perhaps)

    @cached_property
    def _implied(self) -> dict[str, list[str]]:
        return _group_by_narrow(self.implied)

    @cached_property
    def _wider(self) -> dict[Part, dict[str, list[str]]]:
        return {part: _group_by_narrow(getattr(self, part)) for part in PARTS}

    @cached_property
    def _narrower(self) -> dict[Part, dict[str, list[str]]]:
        return {part: _group_by_wide(getattr(self, part)) for part in PARTS}


class Ways(dict[str, str]):
    """What includes an IRI, each with its predecessor on the shortest path up."""

    def to(self, wide: str) -> tuple[str, ...]:
        """Return the path up to one of them, both ends included; empty where it is not among
        them."""
        way = [wide] if wide in self else []
        while way and self[way[-1]]:
            way.append(self[way[-1]])
        return tuple(reversed(way))


def goes_on(short: str, long: str) -> bool:
    """Tell whether an IRI goes on where another ends, and may be a part of it."""
    is_start = long.startswith(short) and len(long) > len(short) > 0
    return is_start and (long[len(short)] in "/?#" or short[-1] in "/?#")


def _group_by_narrow(edges: Iterable[Edge]) -> dict[str, list[str]]:
    wider: dict[str, list[str]] = {}
    for narrow, wide in edges:
        wider.setdefault(narrow, []).append(wide)
    return wider


def _group_by_wide(edges: Iterable[Edge]) -> dict[str, list[str]]:
    return _group_by_narrow((wide, narrow) for narrow, wide in edges)


@cache
def _odrl_implied() -> dict[str, list[str]]:
    actions = terms.instances(f"{terms.ODRL}Action").values()
    return _group_by_narrow((one.iri, other) for one in actions for other in one.iris("implies"))


@cache
def _odrl_actions() -> dict[str, list[str]]:
    """Return the inclusions of the ODRL vocabulary (sections 3.5.2 and 4.3).

    A deprecated action is included in the one that replaced it, which may mean more.
    """
    actions = terms.instances(f"{terms.ODRL}Action").values()
    keys = ("includedIn", "replacedBy")
    return _group_by_narrow(
        (one.iri, up) for one in actions for key in keys for up in one.iris(key)
    )


@cache
def _odrl_actions_below() -> dict[str, list[str]]:
    return _group_by_wide((iri, up) for iri, above in _odrl_actions().items() for up in above)


@cache
def _dpv() -> dict[str, tuple[str, ...]]:
    """Return what is right above each purpose and each operation of the DPV."""
    dpv_terms = terms.data_privacy_vocabulary().items()
    return {iri: term.iris("broader") for iri, term in dpv_terms}


@cache
def _dpv_below() -> dict[str, list[str]]:
    return _group_by_wide((iri, up) for iri, above in _dpv().items() for up in above)
