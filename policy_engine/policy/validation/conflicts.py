"""Conflicting rules: a permission and a prohibition that both match some request."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import islice
from operator import or_

from policy_engine import terms
from policy_engine.errors import Problem, place_order
from policy_engine.policy.gathering import gather_bits
from policy_engine.policy.hierarchy import OPERATION, PARTS, TOPS, Hierarchy, Part, goes_on
from policy_engine.policy.model import Asset, Party, Policy, Rule
from policy_engine.policy.validation.disjointness import DisjointConditions

MAX_CONFLICTS = 1_000
"""The most conflicts that are reported for one text."""

_RulePair = tuple[Rule, Rule]
_NamesByPart = Mapping[Part, tuple[str, ...]]


def conflicts(*policies: Policy) -> list[Problem]:
    """Return the pairs of rules that void policies whose conflict strategy is `invalid`.

    The first MAX_CONFLICTS of them, and how many more there are (ODRL Information Model 2.2,
    section 2.10).
    """
    problems: list[Problem] = []
    omitted = 0
    for policy in policies:
        room = MAX_CONFLICTS - len(problems)
        overlaps = Overlaps(policy.permissions, policy.prohibitions, policy.hierarchy)
        pairs = list(islice(overlaps.pairs(), room))
        problems += _conflict_problems(pairs, policy.hierarchy)
        omitted += overlaps.count() - len(pairs) if len(pairs) == room else 0
    if omitted:
        problems.append(_remaining_problem(omitted, max(problems, key=place_order)))
    return problems


def conflicting_pairs(policy: Policy, hierarchy: Hierarchy) -> Iterator[_RulePair]:
    """Yield each permission with each prohibition that overlaps it under a hierarchy."""
    return Overlaps(policy.permissions, policy.prohibitions, hierarchy).pairs()


def assets_with_rules(rules: Sequence[Rule], iris: Iterable[str], hierarchy: Hierarchy) -> set[str]:
    """Return the IRIs that one of the rules is about, or about a part of, or a wider asset."""
    names_by_rule = [_names(rule)["asset"] for rule in rules]
    related = _RelatedRules("asset", names_by_rule, iris, hierarchy)
    return {iri for iri in iris if related.rule_bits((iri,))}


class Overlaps:
    """Which permissions and prohibitions some request can match together.

    A part left open matches everything, and rules do not overlap where no value satisfies the
    constraints of both. An asset whose IRI continues another's counts as a part of it: too many
    matches rather than too few, since prohibitions are found this way.

    Sets of prohibitions are integers, the nth bit for the nth of them. Names and bounds are
    indexed and each is looked up once, rather than comparing rules in pairs: a policy may have
    thousands of rules about one asset that never overlap.
    """

    def __init__(
        self, permissions: Sequence[Rule], prohibitions: Sequence[Rule], hierarchy: Hierarchy
    ) -> None:
        self.permissions = permissions
        self.prohibitions = prohibitions
        self._permission_names = [_names_with_needs(rule, hierarchy) for rule in permissions]
        prohibited_names = [_names(rule) for rule in prohibitions]
        self._related = [
            _RelatedRules(
                part,
                [names[part] for names in prohibited_names],
                {name for names in self._permission_names for name in names[part]},
                hierarchy,
            )
            for part in (PARTS if permissions and prohibitions else ())
        ]
        self._disjoint = DisjointConditions(rule.constraints for rule in prohibitions)

    def pairs(self) -> Iterator[_RulePair]:
        """Yield each permission with each prohibition that overlaps it, in their order."""
        for permission, overlap in zip(self.permissions, self._overlapping_bits(), strict=False):
            for number in set_bits(overlap):
                yield permission, self.prohibitions[number]

    def count(self) -> int:
        """Return the number of pairs."""
        return sum(overlap.bit_count() for overlap in self._overlapping_bits())

    def _overlapping_bits(self) -> Iterator[int]:
        """Yield, for each permission, the prohibitions that overlap it."""
        for rule, names in zip(self.permissions, self._permission_names, strict=True):
            overlap = (1 << len(self.prohibitions)) - 1
            for related in self._related:
                overlap &= related.rule_bits(names[related.part])
            yield overlap & ~self._disjoint.disjoint_sets(rule.constraints) if overlap else 0


def set_bits(bits: int) -> Iterator[int]:
    """Yield the numbers of the bits that are set, from the lowest."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _names(rule: Rule) -> _NamesByPart:
    """Return the names of a rule, by the part of it that they are."""
    return {
        "party": _member_iris(rule.assignees),
        "asset": _member_iris(rule.targets),
        "action": tuple(action.iri for action in rule.actions),
        "purpose": rule.purposes,
    }


def _names_with_needs(rule: Rule, hierarchy: Hierarchy) -> _NamesByPart:
    """Return the names of a rule, with the actions that must not be prohibited for its own."""
    names = _names(rule)
    needed_actions = (one for action in names["action"] for one in sorted(hierarchy.needs(action)))
    return {**names, "action": (*names["action"], *needed_actions)}


def _member_iris(members: Iterable[Party | Asset]) -> tuple[str, ...]:
    """Return the IRIs of parties or assets."""
    return tuple(member.iri for member in members)


def iri_prefixes(iri: str) -> Iterator[str]:
    """Yield the IRIs that an IRI continues after a separator, and might be a part of.

    Each with the slash, hash or question mark before the continuation, and without it.
    """
    for position in range(len(iri) - 1, 0, -1):
        if iri[position] in "/?#":
            yield iri[: position + 1]
            yield iri[:position]


class _RelatedRules:
    """The rules that name what an IRI is a part of, and those that name a part of it, as bits.

    For the given `iris`. Rules that leave the part open are related to all.
    """

    def __init__(
        self,
        part: Part,
        names_by_rule: Sequence[tuple[str, ...]],
        iris: Iterable[str],
        hierarchy: Hierarchy,
    ) -> None:
        self.part = part
        self._every = (1 << len(names_by_rule)) - 1
        self._open = sum(1 << number for number, names in enumerate(names_by_rule) if not names)
        bits_by_name: dict[str, int] = {}
        for number, names in enumerate(names_by_rule):
            for name in names:
                bits_by_name[name] = bits_by_name.get(name, 0) | 1 << number
        names_by_iri = {name: (name, *_implicit_holder(part, name)) for name in iris}
        above, below = _step_functions(part, hierarchy, {*bits_by_name, *names_by_iri})
        up = gather_bits(
            (one for names in names_by_iri.values() for one in names), above, bits_by_name
        )
        down = gather_bits(names_by_iri, below, _bits_with_holders(part, bits_by_name))
        possible = _possible_holders(bits_by_name, names_by_iri) if part == "asset" else {}
        none = 0, 0
        self.wider = {
            name: _bit_or(possible.get(name, none)[0], *(up[one] for one in names))
            for name, names in names_by_iri.items()
        }
        self._related = {
            name: _bit_or(self._open, wider, down[name], possible.get(name, none)[1])
            for name, wider in self.wider.items()
        }

    def rule_bits(self, names: tuple[str, ...]) -> int:
        """Return the rules that may overlap one with these names; all where it has none."""
        return _bit_or(*(self._related[name] for name in names)) if names else self._every


_Step = Callable[[str], Iterable[str]]


def _step_functions(part: Part, hierarchy: Hierarchy, names: Iterable[str]) -> tuple[_Step, _Step]:
    """Return the steps from an IRI to wider and to narrower ones, both stated and possible."""
    if part != "action":
        return lambda iri: hierarchy.above(part, iri), lambda iri: hierarchy.below(part, iri)
    # The vocabulary of operations is left unread where nothing named can be among them.
    has_operations = hierarchy.names_dpv or any(name.startswith(terms.DPV) for name in names)

    def below(iri: str) -> Iterator[str]:
        yield from hierarchy.below(part, iri)
        yield from hierarchy.perhaps_below(iri)
        if has_operations and iri in TOPS:
            yield OPERATION

    return lambda iri: (*hierarchy.above(part, iri), *hierarchy.perhaps_above(iri)), below


def _bit_or(*bits: int) -> int:
    return reduce(or_, bits, 0)


def _implicit_holder(part: Part, name: str) -> tuple[str, ...]:
    """Return the dataset that a column is a part of by its IRI alone."""
    dataset = terms.dataset_of(name) if part == "asset" else ""
    return (dataset,) if dataset else ()


def _bits_with_holders(part: Part, bits_by_name: Mapping[str, int]) -> Mapping[str, int]:
    bits_by_holder = dict(bits_by_name)
    for name, bits in bits_by_name.items():
        for dataset in _implicit_holder(part, name):
            bits_by_holder[dataset] = bits_by_holder.get(dataset, 0) | bits
    return bits_by_holder


def _possible_holders(
    bits_by_name: Mapping[str, int], iris: Iterable[str]
) -> dict[str, tuple[int, int]]:
    """Return for each IRI the rules that name a prefix of it, and those that name an extension."""
    names = sorted({*bits_by_name, *iris})
    holders = _holders(names)
    above, below = {"": 0}, dict.fromkeys(["", *names], 0)
    for name in names:
        above[name] = bits_by_name.get(name, 0) | above[holders[name]]
    for name in reversed(names):
        below[name] |= bits_by_name.get(name, 0)
        below[holders[name]] |= below[name]
    return {name: (above[name], below[name]) for name in names}


def _holders(names: Iterable[str]) -> dict[str, str]:
    """Return for each of sorted IRIs the longest other one that it continues, empty where none."""
    holders: dict[str, str] = {}
    open_names: list[str] = []
    for name in names:
        while open_names and not name.startswith(open_names[-1]):
            open_names.pop()
        holders[name] = next((one for one in reversed(open_names) if goes_on(one, name)), "")
        open_names.append(name)
    return holders


# -- in words -------------------------------------------------------------------------------------


def _conflict_problems(pairs: Sequence[_RulePair], hierarchy: Hierarchy) -> Iterator[Problem]:
    """Yield a sentence for each of several pairs: which rules conflict, and about what."""
    names_by_part = {part: _common_names(part, pairs, hierarchy) for part in PARTS}
    for number, (permission, prohibition) in enumerate(pairs):
        shared_names = {
            part: terms.compact(common_names[number])
            for part, common_names in names_by_part.items()
        }
        message = (
            f"{permission.where()} permits what {prohibition.where()} prohibits, and the conflict "
            f"strategy is 'invalid': the policy is void. Both cover "
            f"{shared_names['action'] or 'anything'} on {shared_names['asset'] or 'anything'} by "
            f"{shared_names['party'] or 'anybody'} for {shared_names['purpose'] or 'any purpose'}. "
            f"The permission is in line {permission.place.line}."
        )
        yield Problem("P010", message, _HINT, prohibition.place)


_HINT = 'Separate the rules, or say which wins with "conflict": "prohibit" or "perm".'


def _remaining_problem(number: int, last: Problem) -> Problem:
    pairs = "1 more pair" if number == 1 else f"{number:,} more pairs"
    message = f"{pairs} of a permission and a prohibition conflict. {MAX_CONFLICTS:,} are listed."
    return Problem("P010", message, "", last.place)


def _common_names(part: Part, pairs: Sequence[_RulePair], hierarchy: Hierarchy) -> list[str]:
    """Return for each pair a name that both cover, or the name of one where the other has none."""
    permission_names = _names_by_rule(part, (permission for permission, _ in pairs))
    prohibition_names = _names_by_rule(part, (prohibition for _, prohibition in pairs))
    keys = [(id(permission), id(prohibition)) for permission, prohibition in pairs]
    inner = _names_within(part, keys, permission_names, prohibition_names, hierarchy)
    reversed_keys = [(prohibition_key, permission_key) for permission_key, prohibition_key in keys]
    outer = _names_within(part, reversed_keys, prohibition_names, permission_names, hierarchy)
    return [
        inner.get(key)
        or outer.get(other)
        or next(iter((*permission_names[key[0]], *prohibition_names[key[1]])), "")
        for key, other in zip(keys, reversed_keys, strict=True)
    ]


def _names_by_rule(part: Part, rules: Iterable[Rule]) -> dict[int, tuple[str, ...]]:
    """Return the names of rules by their identity: one rule may be in a thousand pairs."""
    return {key: _names(rule)[part] for key, rule in {id(rule): rule for rule in rules}.items()}


def _names_within(
    part: Part,
    pairs: Iterable[tuple[int, int]],
    names_by_key: Mapping[int, tuple[str, ...]],
    other_names: Mapping[int, tuple[str, ...]],
    hierarchy: Hierarchy,
) -> dict[tuple[int, int], str]:
    """Return for pairs of rules the first name of the one that is part of what the other names."""
    related = _RelatedRules(
        part,
        [*other_names.values()],
        {name for names in names_by_key.values() for name in names},
        hierarchy,
    )
    keys = [*other_names]
    bits = {key: 1 << number for number, key in enumerate(keys)}
    remaining = dict.fromkeys(names_by_key, 0)
    for one, other in pairs:
        remaining[one] |= bits[other]
    names_by_pair: dict[tuple[int, int], str] = {}
    for one, names in names_by_key.items():
        for name in names:
            overlap = related.wider[name] & remaining[one]
            remaining[one] &= ~overlap
            names_by_pair |= {(one, keys[number]): name for number in set_bits(overlap)}
    return names_by_pair
