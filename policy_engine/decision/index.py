"""An index of rules: finds those that may match a request without looking at every rule."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from policy_engine.decision.clauses import Clause, reading_permissions, rule_conditions
from policy_engine.decision.closures import Closures
from policy_engine.decision.voiding import Voidable, has_conflict
from policy_engine.policy import Policy
from policy_engine.policy.claims import issuers
from policy_engine.policy.collecting.ending import ended
from policy_engine.policy.hierarchy import Hierarchy, Part
from policy_engine.policy.model import JOINTLY, OFFER, READ_SO_FAR
from policy_engine.policy.validation.conflicts import iri_prefixes

MOST_KEYS = 4_096
"""The maximum keys of a rule; one with more goes under the key that is always looked up."""
_ANY = ""


Level = dict[str, list[Clause]]
Leaf = list[Clause] | Level
"""The rules under one key; if there are many, by their purposes."""
Keys = Sequence[str]
"""The keys to look under."""
_FEW = 16
_MOST_PURPOSES = 64


def _group_by_purpose(leaves: dict[str, Leaf]) -> None:
    """Group the rules of large leaves by their purposes."""
    for key, leaf in leaves.items():
        if len(leaf) > _FEW and isinstance(leaf, list):
            by_purpose: Level = {}
            for clause in leaf:
                is_open = not 0 < len(clause.purposes) <= _MOST_PURPOSES
                for purpose in (_ANY,) if is_open else clause.purposes:
                    by_purpose.setdefault(purpose, []).append(clause)
            leaves[key] = by_purpose


def _collect(
    leaf: Leaf, purposes: Collection[str] | None, clauses_by_number: dict[int, Clause]
) -> None:
    """Add the rules of a leaf to those found; without purposes, those for any purpose."""
    if isinstance(leaf, list):
        for clause in leaf:
            clauses_by_number[clause.number] = clause
    elif purposes is None:
        for clauses in leaf.values():
            _collect(clauses, None, clauses_by_number)
    else:
        for purpose in (_ANY, *purposes):
            _collect(leaf.get(purpose, []), None, clauses_by_number)


@dataclass
class Permissions:
    """Permissions by their targets, assignees, actions and purposes."""

    clauses: list[Clause] = field(default_factory=list)
    tree: dict[str, dict[str, dict[str, Leaf]]] = field(default_factory=dict)
    target_index: Level = field(default_factory=dict)
    assignee_index: Level = field(default_factory=dict)

    def add(self, clause: Clause) -> None:
        """Add a permission."""
        self.clauses.append(clause)
        targets, assignees, actions = clause.targets, clause.assignees, clause.actions
        size = max(len(targets), 1) * max(len(assignees), 1) * max(len(actions), 1)
        if size > MOST_KEYS:
            targets = assignees = actions = frozenset()
        for target in targets or (_ANY,):
            level = self.tree.setdefault(target, {})
            self.target_index.setdefault(target, []).append(clause)
            for assignee in assignees or (_ANY,):
                leaves = level.setdefault(assignee, {})
                for action in actions or (_ANY,):
                    leaves.setdefault(action, []).append(clause)  # type: ignore[union-attr]
        for assignee in assignees or (_ANY,):
            self.assignee_index.setdefault(assignee, []).append(clause)

    def candidates(
        self,
        target: Iterable[str],
        assignee: Iterable[str],
        action: Iterable[str],
        purpose: Collection[str],
    ) -> list[Clause]:
        """Return the permissions that may cover the parts of a request, given what includes each.

        In the order of the policies.
        """
        clauses: dict[int, Clause] = {}
        actions = (_ANY, *action)
        assignees = (_ANY, *assignee)
        for wide in (_ANY, *target):
            level = self.tree.get(wide)
            for party in assignees if level else ():
                leaves = level.get(party)  # type: ignore[union-attr]
                for verb in actions if leaves else ():
                    leaf = leaves.get(verb)  # type: ignore[union-attr]
                    if leaf:
                        _collect(leaf, purpose, clauses)
        return [clauses[number] for number in sorted(clauses)]

    def finish(self) -> None:
        """Prepare for requests, after all permissions are added."""
        for level in self.tree.values():
            for leaves in level.values():
                _group_by_purpose(leaves)

    def near_candidates(
        self, target: Iterable[str], assignee: Iterable[str], most: int
    ) -> list[Clause]:
        """Return up to `most` permissions that cover a target or an assignee, in policy order.

        All permissions, if there are no more than that.
        """
        if len(self.clauses) <= most:
            return self.clauses
        clauses: dict[int, Clause] = {}
        for index, keys in ((self.target_index, target), (self.assignee_index, assignee)):
            for key in (*keys, _ANY):
                for clause in index.get(key, ())[: most // 4]:
                    clauses[clause.number] = clause
        return [clauses[number] for number in sorted(clauses)][:most]


@dataclass
class Prohibitions:
    """Prohibitions by targets and assignees, by everything containing these, and by purposes."""

    closures: Closures
    everywhere: list[Clause] = field(default_factory=list)
    tree: dict[str, dict[str, Leaf]] = field(default_factory=dict)
    purposes: dict[str, dict[str, None]] = field(default_factory=dict)

    def add(self, clause: Clause) -> None:
        """Add a prohibition."""
        targets = self._keys("asset", clause.targets)
        assignees = self._keys("party", clause.assignees)
        if len(targets) * len(assignees) > MOST_KEYS:
            self.everywhere.append(clause)
            return
        for target in targets:
            level = self.tree.setdefault(target, {})
            for assignee in assignees:
                level.setdefault(assignee, []).append(clause)  # type: ignore[union-attr]
        for purpose in clause.purposes:
            for wide in self.closures.up("purpose", purpose):
                self.purposes.setdefault(wide, {})[purpose] = None

    def finish(self) -> None:
        """Prepare for requests, after all prohibitions are added."""
        for level in self.tree.values():
            _group_by_purpose(level)

    def candidates(
        self, targets: Keys, assignees: Keys, purposes: Collection[str] | None
    ) -> list[Clause]:
        """Return the prohibitions under the keys of targets and assignees, in order.

        Without purposes, those for any purpose.
        """
        clauses = {clause.number: clause for clause in self.everywhere}
        parties = (_ANY, *assignees)
        for target in (_ANY, *targets):
            level = self.tree.get(target)
            for party in parties if level else ():
                leaf = level.get(party)  # type: ignore[union-attr]
                if leaf:
                    _collect(leaf, purposes, clauses)
        return [clauses[number] for number in sorted(clauses)]

    def _keys(self, part: Part, names: frozenset[str]) -> list[str]:
        """Return the names, and under another key everything that includes one of them, or may."""
        if not names:
            return [_ANY]
        above = {wide for name in names for wide in self.closures.reach(part, name)}
        return [*sorted(names), *map(inclusion_key, sorted(above))]


def inclusion_key(name: str) -> str:
    """Return the key for everything that an IRI includes, or may include."""
    return f"<{name}"


@dataclass(frozen=True, slots=True)
class RuleOutput:
    """An output that a rule of a policy names."""

    policy: Policy
    asset: str
    clause: Clause


class Index:
    """All rules of some policies under one hierarchy, compiled once for many requests.

    If the policies belong to several owners (`apart`), no policy is void because of what others
    say. `ended` are the policies that are void together with another one, with the reason.
    `trusted` are the closures of what the caller says: of the given hierarchy and vocabularies.
    """

    def __init__(self, policies: Sequence[Policy], base: Hierarchy, *, apart: bool = False) -> None:
        self.policies = policies
        self.apart = apart
        self.given = base
        self.joint = base.joined(policy.hierarchy for policy in policies)
        self.closures = Closures(self.joint)
        self.permissions = Permissions()
        self.prohibitions = Prohibitions(self.closures)
        vocabularies = dict.fromkeys(policy.vocabulary.hierarchy for policy in policies)
        self.trusted = Closures(base.joined(vocabularies))
        self._voiding_memo: dict[frozenset[str], Closures] = {}
        self.ended = ended(policies)
        self.void = frozenset(
            policy.uid
            for policy in policies
            if policy.uid in self.ended
            or (
                policy.conflict == "invalid"
                and has_conflict(policy, self._voiding_closures(policy).hierarchy)
            )
        )
        self.outputs: list[RuleOutput] = []
        self.output_index: dict[str, list[int]] = {}
        self.inputs: dict[str, dict[str, None]] = {}
        numbers = iter(range(1 << 62))
        hierarchies = {policy.hierarchy for policy in policies} - {Hierarchy()}
        closures_of = (
            {one: Closures(base.joined([one])) for one in hierarchies}
            if len(hierarchies) > 1
            else {}
        )
        closures_of[Hierarchy()] = Closures(base) if hierarchies else self.closures
        for policy in policies:
            self._add(policy, closures_of.get(policy.hierarchy, self.closures), numbers)
        self.permissions.finish()
        self.prohibitions.finish()

    def _add(self, policy: Policy, closures: Closures, numbers: Iterator[int]) -> None:
        for rule in policy.permissions if policy.uid not in self.void else ():
            clause = Clause.of(next(numbers), policy, rule, closures)
            self.permissions.add(clause)
            if rule.output and policy.type != OFFER:
                self._add_output(RuleOutput(policy, rule.output, clause))
                inputs = self.inputs.setdefault(rule.output, {})
                inputs.update(dict.fromkeys(target.iri for target in rule.targets))
            for reading in reading_permissions(rule, policy.vocabulary.reading):
                reading_clause = Clause.of(next(numbers), policy, reading, closures, rule)
                self.permissions.add(reading_clause)
        for rule in policy.prohibitions:
            self.prohibitions.add(Clause.of(next(numbers), policy, rule, closures))

    def _add_output(self, output: RuleOutput) -> None:
        for key in {output.asset, *map(inclusion_key, self.closures.reach("asset", output.asset))}:
            self.output_index.setdefault(key, []).append(len(self.outputs))
        self.outputs.append(output)

    @cached_property
    def output_rules(self) -> Mapping[str, Sequence[RuleOutput]]:
        """The rules that make outputs, by the output's IRI."""
        by_asset: dict[str, list[RuleOutput]] = {}
        for one in self.outputs:
            by_asset.setdefault(one.asset, []).append(one)
        return by_asset

    @cached_property
    def voidable(self) -> Sequence[Voidable]:
        """The policies that additional memberships may make void."""
        policies = [one for one in self.policies if one.conflict == "invalid"]
        return [
            Voidable(one, self._voiding_closures(one))
            for one in policies
            if one.uid not in self.void
        ]

    @cached_property
    def _issuers(self) -> Mapping[str, frozenset[str]]:
        return {policy.uid: issuers(policy) for policy in self.policies}

    def _voiding_closures(self, policy: Policy) -> Closures:
        """Return the closures of all hierarchies by which two rules of a policy may conflict."""
        if not self.apart:
            return self.closures
        parties = self._issuers[policy.uid]
        closures = self._voiding_memo.get(parties) if parties else None
        if closures is None:
            policies, issuers_of = self.policies, self._issuers
            related = (one for one in policies if not parties.isdisjoint(issuers_of[one.uid]))
            hierarchies = (one.hierarchy for one in (policy, *related))
            closures = Closures(self.given.joined(hierarchies))
            self._voiding_memo |= {parties: closures} if parties else {}
        return closures

    @cached_property
    def has_joint_conditions(self) -> bool:
        """Whether any rule has a condition on what is read together, or was read before."""
        rules = (one for policy in self.policies for one in policy.rules)
        rules_below = (one for rule in rules for one in (rule, *rule.all_nested_rules()))
        leaves = (
            leaf
            for rule in rules_below
            for one in rule_conditions(rule)
            for leaf in one.constraints()
        )
        return any(leaf.left_operand in (JOINTLY, READ_SO_FAR) for leaf in leaves)

    @cached_property
    def assets(self) -> Mapping[str, Sequence[str]]:
        """The assets that rules and hierarchies name, by the prefixes of their IRIs."""
        return named_assets(self.policies, self.joint)


def named_assets(policies: Iterable[Policy], hierarchy: Hierarchy) -> Mapping[str, Sequence[str]]:
    """Return the assets that rules and a hierarchy name, by the prefixes of their IRIs."""
    rules = [rule for policy in policies for rule in policy.rules]
    names = [*chain(*hierarchy.asset), *(rule.output for rule in rules if rule.output)]
    names += [target.iri for rule in rules for target in rule.targets]
    return group_by_prefix(names)


def group_by_prefix(names: Iterable[str]) -> dict[str, list[str]]:
    """Return names by the prefixes of their IRIs: the assets that they may be part of."""
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        for start in iri_prefixes(name):
            groups.setdefault(start, []).append(name)
    return groups
