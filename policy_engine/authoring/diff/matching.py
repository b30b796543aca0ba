"""Which rule of an old policy became which rule of a new one."""

from collections.abc import Sequence
from typing import NamedTuple

from policy_engine.authoring.diff.meaning import features, rule_key
from policy_engine.policy.model import Rule

_LEAST_LIKENESS = 1 / 3
_MOST_COMPARISONS = 250_000


class MatchedRules(NamedTuple):
    """Pairs of rules, in the order of the old ones, and rules without a partner."""

    pairs: tuple[tuple[Rule, Rule], ...]
    removed: tuple[Rule, ...]
    added: tuple[Rule, ...]


def match(old: Sequence[Rule], new: Sequence[Rule]) -> MatchedRules:
    """Match rules by uid, else by content, else, if one has no uid, by similarity."""
    partner: dict[int, int] = {}
    matched: set[int] = set()
    for pair_rules in (_pair_by_uid, _pair_by_content, _pair_by_likeness):
        old_numbers = [n for n in range(len(old)) if n not in partner]
        new_numbers = [n for n in range(len(new)) if n not in matched]
        pairs = pair_rules(old, new, old_numbers, new_numbers)
        partner |= pairs
        matched |= set(pairs.values())
    return MatchedRules(
        tuple((old[n], new[partner[n]]) for n in sorted(partner)),
        tuple(rule for n, rule in enumerate(old) if n not in partner),
        tuple(rule for n, rule in enumerate(new) if n not in matched),
    )


def _pair_by_uid(
    old: Sequence[Rule], new: Sequence[Rule], old_numbers: list[int], new_numbers: list[int]
) -> dict[int, int]:
    places = {new[n].uid: n for n in new_numbers if new[n].uid}
    return {n: places[old[n].uid] for n in old_numbers if old[n].uid in places}


def _pair_by_content(
    old: Sequence[Rule], new: Sequence[Rule], old_numbers: list[int], new_numbers: list[int]
) -> dict[int, int]:
    places: dict[tuple[object, ...], list[int]] = {}
    for n in reversed(new_numbers):
        places.setdefault(rule_key(new[n]), []).append(n)
    keys = ((n, places.get(rule_key(old[n]))) for n in old_numbers)
    return {n: numbers.pop() for n, numbers in keys if numbers}


def _pair_by_likeness(
    old: Sequence[Rule], new: Sequence[Rule], old_numbers: list[int], new_numbers: list[int]
) -> dict[int, int]:
    if len(old_numbers) * len(new_numbers) > _MOST_COMPARISONS:
        return {}
    ours = {n: _features(old[n]) for n in old_numbers}
    theirs = {n: _features(new[n]) for n in new_numbers}
    ranked = sorted(
        (-likeness, one, other)
        for one in old_numbers
        for other in new_numbers
        if not (old[one].uid and new[other].uid)
        and (likeness := _likeness(ours[one], theirs[other])) >= _LEAST_LIKENESS
    )
    pairs: dict[int, int] = {}
    for _, one, other in ranked:
        if one not in pairs and other not in pairs.values():
            pairs[one] = other
    return pairs


def _features(rule: Rule) -> frozenset[tuple[str, object]]:
    """Return the features by which two rules are compared; empty parts are equal."""
    return frozenset(
        (name, one) for name, keys in features(rule).items() for one in keys or ("open",)
    )


def _likeness(one: frozenset[object], other: frozenset[object]) -> float:
    return len(one & other) / len(one | other)
