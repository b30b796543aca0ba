"""Rules that clash: a permission and a prohibition that both match some request."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import islice
from operator import or_

from policy_engine import terms
from policy_engine.errors import Problem, place_order
from policy_engine.policy.gathering import gathered
from policy_engine.policy.hierarchy import OPERATION, PARTS, TOPS, Hierarchy, Part, goes_on
from policy_engine.policy.model import Asset, Party, Policy, Rule
from policy_engine.policy.validation.disjointness import Apart

MAX_CLASHES = 1_000
"""How many clashes of one text are told at once."""

_Pair = tuple[Rule, Rule]
_Names = Mapping[Part, tuple[str, ...]]


def clashes(*policies: Policy) -> list[Problem]:
    """Return the pairs of rules that void policies whose conflict strategy is `invalid`.

    The first MAX_CLASHES of them, and how many more there are (ODRL Information Model 2.2,
    section 2.10).
    """
    problems: list[Problem] = []
    more = 0
    for policy in policies:
        left = MAX_CLASHES - len(problems)
        overlaps = Overlaps(policy.permissions, policy.prohibitions, policy.hierarchy)
        told = list(islice(overlaps.pairs(), left))
        problems += _told(told, policy.hierarchy)
        more += overlaps.count() - len(told) if len(told) == left else 0
    if more:
        problems.append(_more(more, max(problems, key=place_order)))
    return problems


def clashing(policy: Policy, hierarchy: Hierarchy) -> Iterator[_Pair]:
    """Yield each permission with each prohibition that overlaps it, by all that is known."""
    return Overlaps(policy.permissions, policy.prohibitions, hierarchy).pairs()


def have_asset(rules: Sequence[Rule], iris: Iterable[str], hierarchy: Hierarchy) -> set[str]:
    """Return the IRIs that one of the rules is about, or about a part of, or a wider asset."""
    named = [_names(rule)["asset"] for rule in rules]
    near = _Near("asset", named, iris, hierarchy)
    return {iri for iri in iris if near.of((iri,))}


class Overlaps:
    """Which permissions and prohibitions some request can match together.

    A part left open matches everything, and constraints keep rules apart where no value meets
    those of both. Of assets, one whose IRI goes on where another ends may be a part of it: too
    much rather than too little, since this is what prohibitions are found by.

    Sets of prohibitions are integers, the nth bit for the nth of them. What would keep each pair
    of rules apart is worked out by names and bounds, of which each is looked at once, and not by
    pairs: a policy may have thousands of rules about one asset that never meet.
    """

    def __init__(
        self, permissions: Sequence[Rule], prohibitions: Sequence[Rule], hierarchy: Hierarchy
    ) -> None:
        self.permissions = permissions
        self.prohibitions = prohibitions
        self._needed = [_needed(rule, hierarchy) for rule in permissions]
        others = [_names(rule) for rule in prohibitions]
        self._near = [
            _Near(
                part,
                [names[part] for names in others],
                {name for names in self._needed for name in names[part]},
                hierarchy,
            )
            for part in (PARTS if permissions and prohibitions else ())
        ]
        self._apart = Apart(rule.constraints for rule in prohibitions)

    def pairs(self) -> Iterator[_Pair]:
        """Yield each permission with each prohibition that overlaps it, in their order."""
        for permission, met in zip(self.permissions, self._met(), strict=False):
            for number in _numbers(met):
                yield permission, self.prohibitions[number]

    def count(self) -> int:
        """Return how many pairs there are."""
        return sum(met.bit_count() for met in self._met())

    def _met(self) -> Iterator[int]:
        """Yield, for each permission, the prohibitions that overlap it."""
        for rule, names in zip(self.permissions, self._needed, strict=True):
            met = (1 << len(self.prohibitions)) - 1
            for near in self._near:
                met &= near.of(names[near.part])
            yield met & ~self._apart.of(rule.constraints) if met else 0


def _numbers(bits: int) -> Iterator[int]:
    """Yield the numbers of the bits that are set, from the lowest."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _names(rule: Rule) -> _Names:
    """Return the names of a rule, by the part of it that they are."""
    return {
        "party": _iris(rule.assignees),
        "asset": _iris(rule.targets),
        "action": tuple(action.iri for action in rule.actions),
        "purpose": rule.purposes,
    }


def _needed(rule: Rule, hierarchy: Hierarchy) -> _Names:
    """Return the names of a rule, with the actions that must not be prohibited for its own."""
    names = _names(rule)
    needed = (one for action in names["action"] for one in sorted(hierarchy.needs(action)))
    return {**names, "action": (*names["action"], *needed)}


def _iris(members: Iterable[Party | Asset]) -> tuple[str, ...]:
    """Return the IRIs of parties or assets."""
    return tuple(member.iri for member in members)


def starts(iri: str) -> Iterator[str]:
    """Yield the IRIs that a longer one goes on from, and might be a part of.

    With the slash or hash behind which it goes on, and without.
    """
    for place in range(len(iri) - 1, 0, -1):
        if iri[place] in "/?#":
            yield iri[: place + 1]
            yield iri[:place]


class _Near:
    """The rules that name what an IRI is a part of, and those that name a part of it, as bits.

    Of the IRIs `asked` about. Rules that leave the part open are near to all.
    """

    def __init__(
        self, part: Part, named: Sequence[tuple[str, ...]], asked: Iterable[str], within: Hierarchy
    ) -> None:
        self.part = part
        self._every = (1 << len(named)) - 1
        self._open = sum(1 << number for number, names in enumerate(named) if not names)
        own: dict[str, int] = {}
        for number, names in enumerate(named):
            for name in names:
                own[name] = own.get(name, 0) | 1 << number
        about = {name: (name, *_holder(part, name)) for name in asked}
        above, below = _steps(part, within, {*own, *about})
        up = gathered((one for names in about.values() for one in names), above, own)
        down = gathered(about, below, _with_holders(part, own))
        may = _may_hold(own, about) if part == "asset" else {}
        none = 0, 0
        self.wider = {
            name: _joined(may.get(name, none)[0], *(up[one] for one in names))
            for name, names in about.items()
        }
        self._near = {
            name: _joined(self._open, wider, down[name], may.get(name, none)[1])
            for name, wider in self.wider.items()
        }

    def of(self, names: tuple[str, ...]) -> int:
        """Return the rules that a rule with these names may meet; all where it has none."""
        return _joined(*(self._near[name] for name in names)) if names else self._every


_Step = Callable[[str], Iterable[str]]


def _steps(part: Part, within: Hierarchy, named: Iterable[str]) -> tuple[_Step, _Step]:
    """Return how to go one step up from an IRI, and one down, by what is said or may be."""
    if part != "action":
        return lambda iri: within.above(part, iri), lambda iri: within.below(part, iri)
    # The vocabulary of operations is left unread where nothing named can be among them.
    has_operations = within.names_dpv or any(name.startswith(terms.DPV) for name in named)

    def below(iri: str) -> Iterator[str]:
        yield from within.below(part, iri)
        yield from within.perhaps_below(iri)
        if has_operations and iri in TOPS:
            yield OPERATION

    return lambda iri: (*within.above(part, iri), *within.perhaps_above(iri)), below


def _joined(*bits: int) -> int:
    return reduce(or_, bits, 0)


def _holder(part: Part, name: str) -> tuple[str, ...]:
    """Return what an asset is a part of without being said so."""
    dataset = terms.dataset_of(name) if part == "asset" else ""
    return (dataset,) if dataset else ()


def _with_holders(part: Part, own: Mapping[str, int]) -> Mapping[str, int]:
    found = dict(own)
    for name, bits in own.items():
        for dataset in _holder(part, name):
            found[dataset] = found.get(dataset, 0) | bits
    return found


def _may_hold(own: Mapping[str, int], asked: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Return for each IRI the rules that name what it goes on from, and what goes on from it."""
    order = sorted({*own, *asked})
    holder = _holders(order)
    above, below = {"": 0}, dict.fromkeys(["", *order], 0)
    for name in order:
        above[name] = own.get(name, 0) | above[holder[name]]
    for name in reversed(order):
        below[name] |= own.get(name, 0)
        below[holder[name]] |= below[name]
    return {name: (above[name], below[name]) for name in order}


def _holders(order: Iterable[str]) -> dict[str, str]:
    """Return for each of sorted IRIs the longest of them that it goes on from, if any."""
    found: dict[str, str] = {}
    begun: list[str] = []
    for name in order:
        while begun and not name.startswith(begun[-1]):
            begun.pop()
        found[name] = next((one for one in reversed(begun) if goes_on(one, name)), "")
        begun.append(name)
    return found


# -- in words -------------------------------------------------------------------------------------


def _told(pairs: Sequence[_Pair], hierarchy: Hierarchy) -> Iterator[Problem]:
    """Yield a sentence for each of several pairs: which rules clash, and about what."""
    covered = {part: _covered(part, pairs, hierarchy) for part in PARTS}
    for number, (permission, prohibition) in enumerate(pairs):
        what = {part: terms.compact(names[number]) for part, names in covered.items()}
        message = (
            f"{permission.where()} permits what {prohibition.where()} prohibits, and the conflict "
            f"strategy is 'invalid': the policy is void. Both cover "
            f"{what['action'] or 'anything'} on {what['asset'] or 'anything'} by "
            f"{what['party'] or 'anybody'} for {what['purpose'] or 'any purpose'}. "
            f"The permission is in line {permission.place.line}."
        )
        yield Problem("P010", message, _HINT, prohibition.place)


_HINT = 'Separate the rules, or say which wins with "conflict": "prohibit" or "perm".'


def _more(number: int, last: Problem) -> Problem:
    pairs = "1 more pair" if number == 1 else f"{number:,} more pairs"
    message = f"{pairs} of a permission and a prohibition clash. {MAX_CLASHES:,} are told."
    return Problem("P010", message, "", last.place)


def _covered(part: Part, pairs: Sequence[_Pair], hierarchy: Hierarchy) -> list[str]:
    """Return for each pair a name that both cover; that of one where the other is open."""
    ours = _by_rule(part, (permission for permission, _ in pairs))
    theirs = _by_rule(part, (prohibition for _, prohibition in pairs))
    keys = [(id(permission), id(prohibition)) for permission, prohibition in pairs]
    inner = _within(part, keys, ours, theirs, hierarchy)
    turned = [(theirs_, ours_) for ours_, theirs_ in keys]
    outer = _within(part, turned, theirs, ours, hierarchy)
    return [
        inner.get(key) or outer.get(other) or next(iter((*ours[key[0]], *theirs[key[1]])), "")
        for key, other in zip(keys, turned, strict=True)
    ]


def _by_rule(part: Part, rules: Iterable[Rule]) -> dict[int, tuple[str, ...]]:
    """Return the names of rules by their identity: one rule may be in a thousand pairs."""
    return {key: _names(rule)[part] for key, rule in {id(rule): rule for rule in rules}.items()}


def _within(
    part: Part,
    pairs: Iterable[tuple[int, int]],
    some: Mapping[int, tuple[str, ...]],
    others: Mapping[int, tuple[str, ...]],
    hierarchy: Hierarchy,
) -> dict[tuple[int, int], str]:
    """Return for pairs of rules the first name of the one that is part of what the other names."""
    near = _Near(
        part, [*others.values()], {name for names in some.values() for name in names}, hierarchy
    )
    keys = [*others]
    bits = {key: 1 << number for number, key in enumerate(keys)}
    left = dict.fromkeys(some, 0)
    for one, other in pairs:
        left[one] |= bits[other]
    found: dict[tuple[int, int], str] = {}
    for one, names in some.items():
        for name in names:
            met = near.wider[name] & left[one]
            left[one] &= ~met
            found |= {(one, keys[number]): name for number in _numbers(met)}
    return found
