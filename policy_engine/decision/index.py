"""Rules made ready for decisions: what could match a request, found without walking them all."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from policy_engine import terms
from policy_engine.decision.closures import Closures
from policy_engine.policy import Action, Asset, Party, Policy, Rule
from policy_engine.policy.clashes import clashing
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.model import MAKING, READ

OFFER = f"{terms.ODRL}Offer"
MOST_KEYS = 4_096
"""How many keys a rule has at most; one of more stands under the key that is always looked at."""
_ANY = ""


@dataclass(frozen=True, slots=True, eq=False)
class Clause:
    """A rule of a policy, with its parts as sets and the closures that count for it.

    Whether it matches is always worked out in full: the index only tells where to look.
    """

    number: int
    policy: Policy
    rule: Rule
    closures: Closures
    targets: frozenset[str]
    assignees: frozenset[str]
    actions: frozenset[str]
    purposes: frozenset[str]
    label: str
    is_plain: bool

    @classmethod
    def of(cls, number: int, policy: Policy, rule: Rule, closures: Closures) -> "Clause":
        """Return a rule made ready.

        What a permission to make something is refined by are parameters that no request has.
        """
        is_open = rule.kind == "prohibition"
        actions = [a for a in rule.actions if is_open or a.iri not in MAKING or not a.refinements]
        members: Iterable[Party | Asset | Action] = (*rule.targets, *rule.assignees, *actions)
        bound = rule.constraints or rule.duties or any(member.refinements for member in members)
        bound = bound or policy.type == OFFER
        return cls(
            number,
            policy,
            rule,
            closures,
            frozenset(target.iri for target in rule.targets),
            frozenset(party.iri for party in rule.assignees),
            frozenset(action.iri for action in actions),
            frozenset(rule.purposes),
            rule.label(),
            not bound,
        )


Level = dict[str, list[Clause]]


@dataclass
class Permissions:
    """Permissions by their targets, assignees and actions."""

    clauses: list[Clause] = field(default_factory=list)
    tree: dict[str, dict[str, Level]] = field(default_factory=dict)
    by_target: Level = field(default_factory=dict)
    by_assignee: Level = field(default_factory=dict)

    def add(self, clause: Clause) -> None:
        """Take up a permission."""
        self.clauses.append(clause)
        targets, assignees, actions = clause.targets, clause.assignees, clause.actions
        size = max(len(targets), 1) * max(len(assignees), 1) * max(len(actions), 1)
        if size > MOST_KEYS:
            targets = assignees = actions = frozenset()
        for target in targets or (_ANY,):
            level = self.tree.setdefault(target, {})
            self.by_target.setdefault(target, []).append(clause)
            for assignee in assignees or (_ANY,):
                leaves = level.setdefault(assignee, {})
                for action in actions or (_ANY,):
                    leaves.setdefault(action, []).append(clause)
        for assignee in assignees or (_ANY,):
            self.by_assignee.setdefault(assignee, []).append(clause)

    def near(
        self, target: Iterable[str], assignee: Iterable[str], action: Iterable[str]
    ) -> list[Clause]:
        """Return those that may cover a target, an assignee and an action, by what includes them.

        In the order of the policies.
        """
        found: dict[int, Clause] = {}
        actions = (_ANY, *action)
        assignees = (_ANY, *assignee)
        for wide in (_ANY, *target):
            level = self.tree.get(wide)
            for party in assignees if level else ():
                leaves = level.get(party)  # type: ignore[union-attr]
                for verb in actions if leaves else ():
                    for clause in leaves.get(verb, ()):  # type: ignore[union-attr]
                        found[clause.number] = clause
        return [found[number] for number in sorted(found)]

    def nearly(self, target: Iterable[str], assignee: Iterable[str], most: int) -> list[Clause]:
        """Return up to `most` that cover a target or an assignee, in the order of the policies.

        All of them, where there are no more than that in all.
        """
        if len(self.clauses) <= most:
            return self.clauses
        found: dict[int, Clause] = {}
        for index, keys in ((self.by_target, target), (self.by_assignee, assignee)):
            for key in (*keys, _ANY):
                for clause in index.get(key, ())[: most // 4]:
                    found[clause.number] = clause
        return [found[number] for number in sorted(found)][:most]


@dataclass
class Prohibitions:
    """Prohibitions by their targets and assignees, and by all that these are part of."""

    closures: Closures
    everywhere: list[Clause] = field(default_factory=list)
    tree: dict[str, Level] = field(default_factory=dict)

    def add(self, clause: Clause) -> None:
        """Take up a prohibition."""
        targets = self._keys("asset", clause.targets)
        assignees = self._keys("party", clause.assignees)
        if len(targets) * len(assignees) > MOST_KEYS:
            self.everywhere.append(clause)
            return
        for target in targets:
            level = self.tree.setdefault(target, {})
            for assignee in assignees:
                level.setdefault(assignee, []).append(clause)

    def near(self, targets: Iterable[str], assignee: str) -> list[Clause]:
        """Return those that may overlap what an assignee asks for, in the order of the policies."""
        found = {clause.number: clause for clause in self.everywhere}
        parties = (_ANY, _below(assignee), *self.closures.reach("party", assignee))
        for target in targets:
            for key in (_ANY, _below(target), *self.closures.reach("asset", target)):
                level = self.tree.get(key)
                for party in parties if level else ():
                    for clause in level.get(party, ()):  # type: ignore[union-attr]
                        found[clause.number] = clause
        return [found[number] for number in sorted(found)]

    def _keys(self, part: str, names: frozenset[str]) -> list[str]:
        """Return the names, and under another key each that includes one of them or might."""
        if not names:
            return [_ANY]
        above = {wide for name in names for wide in self.closures.reach(part, name)}  # type: ignore[arg-type]
        return [*sorted(names), *map(_below, sorted(above))]


def _below(name: str) -> str:
    return f"<{name}"


class Index:
    """All rules of some policies under one hierarchy, compiled once and asked often."""

    def __init__(self, policies: Sequence[Policy], given: Hierarchy) -> None:
        joint = given.joined(policy.hierarchy for policy in policies)
        self.closures = Closures(joint)
        self.permissions = Permissions()
        self.prohibitions = Prohibitions(self.closures)
        self.void = frozenset(
            policy.uid
            for policy in policies
            if policy.conflict == "invalid" and _clash(policy, joint)
        )
        self.outputs: list[tuple[Policy, str]] = []
        self._by_output: dict[str, list[int]] = {}
        numbers = iter(range(1 << 62))
        own = {policy.hierarchy for policy in policies} - {Hierarchy()}
        known = {one: Closures(given.joined([one])) for one in own} if len(own) > 1 else {}
        known[Hierarchy()] = Closures(given) if own else self.closures
        for policy in policies:
            self._add(policy, known.get(policy.hierarchy, self.closures), numbers)

    def _add(self, policy: Policy, closures: Closures, numbers: Iterator[int]) -> None:
        for rule in policy.permissions:
            if policy.uid not in self.void:
                for granted in _grants(rule):
                    self.permissions.add(Clause.of(next(numbers), policy, granted, closures))
            if rule.output:
                self._add_output(policy, rule.output)
        for rule in policy.prohibitions:
            self.prohibitions.add(Clause.of(next(numbers), policy, rule, self.closures))

    def _add_output(self, policy: Policy, asset: str) -> None:
        for key in {asset, *map(_below, self.closures.reach("asset", asset))}:
            self._by_output.setdefault(key, []).append(len(self.outputs))
        self.outputs.append((policy, asset))

    def touched(self, targets: Iterable[str]) -> list[int]:
        """Return the numbers of the outputs that targets are, belong to or hold, or might."""
        if not self.outputs:
            return []
        keys = {key for t in targets for key in (_below(t), *self.closures.reach("asset", t))}
        return sorted({number for key in keys for number in self._by_output.get(key, ())})


def _grants(rule: Rule) -> Iterator[Rule]:
    """Yield a permission and, where something is made under it, one to read that."""
    yield rule
    if rule.output and any(action.iri in MAKING for action in rule.actions):
        yield Rule(
            kind="permission",
            targets=(Asset(rule.output),),
            actions=(Action(READ),),
            uid=rule.uid,
            assignees=rule.assignees,
            purposes=rule.purposes,
            constraints=rule.constraints,
            duties=rule.duties,
            place=rule.place,
        )


def _clash(policy: Policy, hierarchy: Hierarchy) -> bool:
    return next(clashing(policy, hierarchy), None) is not None
