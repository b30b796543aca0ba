"""Rules that clash: a permission and a prohibition that both match some request."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice, product

from policy_engine import terms
from policy_engine.errors import Problem
from policy_engine.policy.disjointness import exclude_one_another
from policy_engine.policy.hierarchy import Hierarchy, Part
from policy_engine.policy.model import Asset, Party, Policy, Rule

MAX_CLASHES = 100
"""How many clashes of one policy are told at once."""


def clashes(policy: Policy) -> Iterator[Problem]:
    """Yield the pairs of rules that void a policy whose conflict strategy is `invalid`.

    At most MAX_CLASHES of them (ODRL Information Model 2.2, section 2.10).
    """
    yield from islice(
        (_problem(*pair, policy.hierarchy) for pair in clashing(policy, policy.hierarchy)),
        MAX_CLASHES,
    )


def clashing(policy: Policy, hierarchy: Hierarchy) -> Iterator[tuple[Rule, Rule]]:
    """Yield each permission with each prohibition that overlaps it, by all that is known."""
    near = Neighbours(policy.prohibitions, hierarchy)
    for permission in policy.permissions:
        for prohibition in near.of(permission):
            if overlap(permission, prohibition, hierarchy):
                yield permission, prohibition


def overlap(one: Rule, other: Rule, hierarchy: Hierarchy) -> bool:
    """Tell whether a request can match both rules. A part left open matches everything.

    Constraints keep rules apart where no value meets those of both.
    """
    return (
        _meet("party", iris(one.assignees), iris(other.assignees), hierarchy)
        and _meet("asset", iris(one.targets), iris(other.targets), hierarchy)
        and _meet("action", _needed(one, hierarchy), _actions(other), hierarchy)
        and _meet("purpose", one.purposes, other.purposes, hierarchy)
        and not exclude_one_another(one.constraints, other.constraints)
    )


def iris(members: Iterable[Party | Asset]) -> tuple[str, ...]:
    """Return the IRIs of parties or assets."""
    return tuple(member.iri for member in members)


def _actions(rule: Rule) -> tuple[str, ...]:
    return tuple(action.iri for action in rule.actions)


def _needed(rule: Rule, hierarchy: Hierarchy) -> tuple[str, ...]:
    """Return the actions of a rule, and those that must not be prohibited for them."""
    actions = _actions(rule)
    return (*actions, *(needed for action in actions for needed in sorted(hierarchy.needs(action))))


def _meet(part: Part, some: tuple[str, ...], others: tuple[str, ...], within: Hierarchy) -> bool:
    return not some or not others or bool(_common(part, some, others, within))


def _common(
    part: Part, some: tuple[str, ...], others: tuple[str, ...], within: Hierarchy
) -> tuple[str, str] | None:
    pairs = product(some, others)
    return next((pair for pair in pairs if within.overlaps(part, *pair)), None)


class Neighbours:
    """The rules that could overlap another one, found by the assets and parties of both."""

    def __init__(self, rules: tuple[Rule, ...], hierarchy: Hierarchy) -> None:
        self.rules = rules
        self._assets = _Index("asset", [iris(rule.targets) for rule in rules], hierarchy)
        self._parties = _Index("party", [iris(rule.assignees) for rule in rules], hierarchy)

    def of(self, rule: Rule) -> Iterator[Rule]:
        """Yield the rules about an asset that one of a rule includes or is a part of, and whose
        parties do so likewise.
        """
        assets = self._assets.near(iris(rule.targets))
        parties = self._parties.near(iris(rule.assignees))
        few, many = sorted((assets, parties), key=len)
        yield from (self.rules[number] for number in sorted(few) if number in many)

    def have_asset(self, iri: str) -> bool:
        """Tell whether one of the rules is about an asset, a part of it, or a wider one."""
        return bool(self._assets.near((iri,)))


class _Index:
    """The numbers of rules by what they name, and by all that includes it or may do so."""

    def __init__(self, part: Part, names: list[tuple[str, ...]], hierarchy: Hierarchy) -> None:
        self.part = part
        self.hierarchy = hierarchy
        self.every = frozenset(range(len(names)))
        self.open = frozenset(number for number, given in enumerate(names) if not given)
        self.named: dict[str, list[int]] = defaultdict(list)
        self.within: dict[str, list[int]] = defaultdict(list)
        for number, given in enumerate(names):
            for name in given:
                self.named[name].append(number)
                for wide in self._wider(name):
                    self.within[wide].append(number)

    def near(self, names: tuple[str, ...]) -> frozenset[int]:
        """Return the rules that name what includes one of the names, or is included in it."""
        if not names:
            return self.every
        found = {number for name in names for number in self.within.get(name, ())}
        wider = (wide for name in names for wide in self._wider(name))
        found.update(number for wide in wider for number in self.named.get(wide, ()))
        return self.open.union(found) if found else self.open

    def _wider(self, name: str) -> Iterator[str]:
        yield from self.hierarchy.wider(self.part, name)
        yield from starts(name) if self.part == "asset" else ()


def starts(iri: str) -> Iterator[str]:
    """Yield the IRIs that a longer one goes on from, and might be a part of.

    With the slash or hash behind which it goes on, and without.
    """
    for place in range(len(iri) - 1, 0, -1):
        if iri[place] in "/?#":
            yield iri[: place + 1]
            yield iri[:place]


def _problem(permission: Rule, prohibition: Rule, hierarchy: Hierarchy) -> Problem:
    message = (
        f"{permission.label()} permits what {prohibition.label()} prohibits, and the conflict "
        f"strategy is 'invalid': the policy is void. Both cover "
        f"{_told(permission, prohibition, hierarchy)}. The permission is in line "
        f"{permission.place.line}."
    )
    hint = 'Separate the rules, or say which wins with "conflict": "prohibit" or "perm".'
    return Problem("P010", message, hint, prohibition.place)


def _told(one: Rule, other: Rule, hierarchy: Hierarchy) -> str:
    """Return the overlap of two rules in words: who does what to what, and for what."""
    who = _narrower("party", iris(one.assignees), iris(other.assignees), hierarchy) or "anybody"
    do = _narrower("action", _actions(one), _actions(other), hierarchy) or "anything"
    what = _narrower("asset", iris(one.targets), iris(other.targets), hierarchy) or "anything"
    why = _narrower("purpose", one.purposes, other.purposes, hierarchy) or "any purpose"
    return f"{do} on {what} by {who} for {why}"


def _narrower(part: Part, some: tuple[str, ...], others: tuple[str, ...], within: Hierarchy) -> str:
    if not some or not others:
        return " or ".join(map(terms.compact, (some or others)[:1]))
    pair = _common(part, some, others, within) or (some[0], some[0])
    return terms.compact(pair[1] if within.path(part, pair[1], pair[0]) else pair[0])
