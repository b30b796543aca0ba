"""The policies that a state of the world makes void."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from weakref import ref

from policy_engine.decision.closures import Closures
from policy_engine.policy import Asset, Party, Policy, Rule
from policy_engine.policy.hierarchy import PARTS, Hierarchy, Part
from policy_engine.policy.model import Strategy
from policy_engine.policy.validation.conflicts import Overlaps, conflicting_pairs


def has_conflict(policy: Policy, hierarchy: Hierarchy) -> bool:
    """Return whether two rules of a policy conflict by what is known; computed once for each."""
    return _has_conflict(_PolicyIdentity(policy), hierarchy)


def yields_to(
    conflict: Strategy,
    issuers: AbstractSet[str],
    permitting: Callable[[], Iterable[AbstractSet[str]]],
) -> bool:
    """Return whether a prohibition yields to permissions of its policy (ODRL IM 2.2, section 2.10).

    `issuers` issued it, and `permitting` are the issuers of each permission. If several owners
    issue one policy, none lifts another's prohibition.
    """
    return conflict == "perm" and all(issuers <= others for others in permitting())


class _PolicyIdentity:
    """A policy compared by identity, since comparing contents takes long. It is not kept alive."""

    __slots__ = ("_id", "policy")

    def __init__(self, policy: Policy) -> None:
        self.policy = ref(policy)
        self._id = id(policy)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine = self.policy()
        return isinstance(other, _PolicyIdentity) and mine is not None and mine is other.policy()


@lru_cache(maxsize=64)
def _has_conflict(same: _PolicyIdentity, hierarchy: Hierarchy) -> bool:
    policy = same.policy()
    return policy is not None and next(conflicting_pairs(policy, hierarchy), None) is not None


class Voidable:
    """A policy with the strategy `invalid` whose rules do not conflict as far as is known."""

    def __init__(self, policy: Policy, closures: Closures) -> None:
        self.policy = policy
        self.closures = closures
        self._rules_by_name: dict[Part, Mapping[str, list[Rule]]] = {}
        self._rules_by_ancestor: dict[Part, Mapping[str, list[Rule]]] = {}
        for part in PARTS:
            by_name, by_ancestor = defaultdict(list), defaultdict(list)
            for rule in (*policy.permissions, *policy.prohibitions):
                for name in _names(part, rule):
                    by_name[name].append(rule)
                    for wide in closures.up(part, name):
                        by_ancestor[wide].append(rule)
            self._rules_by_name[part], self._rules_by_ancestor[part] = by_name, by_ancestor

    def is_voided(self, more: Hierarchy, closures: Closures) -> bool:
        """Return whether an additional hierarchy makes two rules conflict.

        `closures` are those of everything known with this hierarchy. Only rules joined by one of
        its edges can conflict, where one names something below the edge and the other something
        above it. Its statements about actions are checked for all rules.
        """
        rules: tuple[Sequence[Rule], Sequence[Rule]]
        rules = self.policy.permissions, self.policy.prohibitions
        if not (more.action or more.implied or more.perhaps):
            rules = self._rules_meeting(more, closures)
        return next(Overlaps(*rules, closures.hierarchy).pairs(), None) is not None

    def _rules_meeting(
        self, more: Hierarchy, closures: Closures
    ) -> tuple[Sequence[Rule], Sequence[Rule]]:
        """Return the permissions and prohibitions that one of the edges may join."""
        meeting: dict[str, dict[int, Rule]] = {"permission": {}, "prohibition": {}}
        for part in PARTS:
            for narrow, wide in getattr(more, part):
                lower = self._rules_by_ancestor[part].get(narrow, ())
                names = closures.up(part, wide)
                upper = [rule for name in names for rule in self._rules_by_name[part].get(name, ())]
                kinds = {rule.kind for rule in lower}, {rule.kind for rule in upper}
                if set.union(*kinds) == meeting.keys():
                    for rule in (*lower, *upper):
                        meeting[rule.kind][id(rule)] = rule
        return [*meeting["permission"].values()], [*meeting["prohibition"].values()]


def _names(part: Part, rule: Rule) -> Sequence[str]:
    members: Mapping[Part, Sequence[Party | Asset]]
    members = {"party": rule.assignees, "asset": rule.targets}
    return rule.purposes if part == "purpose" else [one.iri for one in members.get(part, ())]
