"""Rules made ready for decisions: what could match a request, found without walking them all."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from policy_engine.decision.closures import Closures
from policy_engine.decision.voiding import Voidable, has_conflict
from policy_engine.policy import Action, Asset, Condition, Party, Policy, Rule
from policy_engine.policy.collecting.ending import ended
from policy_engine.policy.hierarchy import Hierarchy, Part
from policy_engine.policy.joining import naming_output
from policy_engine.policy.model import COUNTS, JOINTLY, MAKING, OFFER, READ_SO_FAR, is_parameter
from policy_engine.policy.owners.model import issuers
from policy_engine.policy.validation.clashes import starts
from policy_engine.policy.wording import rule_name

MOST_KEYS = 4_096
"""How many keys a rule has at most; one of more stands under the key that is always looked at."""
_ANY = ""


@dataclass(frozen=True, slots=True, eq=False)
class Clause:
    """A rule of a policy, with its parts as sets and the closures of its own policy.

    It `is_plain` where no condition or duty bounds it, and `is_counted` where how often does.
    Whether it matches is always worked out in full: the index only tells where to look.
    `assigners` are who issued it; `sources`, of a permission to read what is made, the assets that
    it is made of. The `rule` of a permission is without what refines how something is made, which
    is not a condition; `makes_by` are the actions of which it says how, and `whole` is the rule as
    it stands; of a permission to read what is made, the one to make it.
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
    is_counted: bool
    assigners: frozenset[str]
    sources: frozenset[str]
    makes_by: frozenset[str]
    whole: Rule

    @classmethod
    def of(
        cls,
        number: int,
        policy: Policy,
        rule: Rule,
        closures: Closures,
        made_by: Rule | None = None,
    ) -> "Clause":
        """Return a rule made ready; one to read what is made by another, with that one."""
        sources = made_by.targets if made_by else ()
        whole = made_by or rule
        rule, makes_by = _without_parameters(rule)
        conditions = [*_conditions(rule)]
        bound = conditions or rule.duties or policy.type == OFFER
        return cls(
            number,
            policy,
            rule,
            closures,
            frozenset(target.iri for target in rule.targets),
            frozenset(party.iri for party in rule.assignees),
            frozenset(action.iri for action in rule.actions),
            frozenset(rule.purposes),
            rule.label(),
            not bound,
            any(part.left_operand in COUNTS for one in conditions for part in one.constraints()),
            rule.issued_by,
            frozenset(source.iri for source in sources),
            makes_by,
            whole,
        )

    @property
    def name(self) -> str:
        """The rule in sentences: those without a uid are called alike in every policy."""
        return rule_name(self.label, self.policy.uid)


Level = dict[str, list[Clause]]
Leaf = list[Clause] | Level
"""Rules that one way of looking leads to; where there are many, by their purposes."""
Keys = Sequence[str]
"""What to look under."""
_FEW = 16
_MOST_PURPOSES = 64


def _group_by_purpose(leaves: dict[str, Leaf]) -> None:
    """Put rules by their purposes where there are many."""
    for key, leaf in leaves.items():
        if len(leaf) > _FEW and isinstance(leaf, list):
            found: Level = {}
            for clause in leaf:
                is_open = not 0 < len(clause.purposes) <= _MOST_PURPOSES
                for purpose in (_ANY,) if is_open else clause.purposes:
                    found.setdefault(purpose, []).append(clause)
            leaves[key] = found


def _collect(leaf: Leaf, purposes: Collection[str] | None, found: dict[int, Clause]) -> None:
    """Add the rules of a leaf to those found; without purposes those for any of them."""
    if isinstance(leaf, list):
        for clause in leaf:
            found[clause.number] = clause
    elif purposes is None:
        for clauses in leaf.values():
            _collect(clauses, None, found)
    else:
        for purpose in (_ANY, *purposes):
            _collect(leaf.get(purpose, []), None, found)


@dataclass
class Permissions:
    """Permissions by their targets, assignees, actions and purposes."""

    clauses: list[Clause] = field(default_factory=list)
    tree: dict[str, dict[str, dict[str, Leaf]]] = field(default_factory=dict)
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
                    leaves.setdefault(action, []).append(clause)  # type: ignore[union-attr]
        for assignee in assignees or (_ANY,):
            self.by_assignee.setdefault(assignee, []).append(clause)

    def near(
        self,
        target: Iterable[str],
        assignee: Iterable[str],
        action: Iterable[str],
        purpose: Collection[str],
    ) -> list[Clause]:
        """Return those that may cover the parts of a request, by all that includes each.

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
                    leaf = leaves.get(verb)  # type: ignore[union-attr]
                    if leaf:
                        _collect(leaf, purpose, found)
        return [found[number] for number in sorted(found)]

    def settle(self) -> None:
        """Make ready for requests, once all are taken up."""
        for level in self.tree.values():
            for leaves in level.values():
                _group_by_purpose(leaves)

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
    """Prohibitions by their targets and assignees, by all that these are part of, and purposes."""

    closures: Closures
    everywhere: list[Clause] = field(default_factory=list)
    tree: dict[str, dict[str, Leaf]] = field(default_factory=dict)
    purposes: dict[str, dict[str, None]] = field(default_factory=dict)

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
                level.setdefault(assignee, []).append(clause)  # type: ignore[union-attr]
        for purpose in clause.purposes:
            for wide in self.closures.up("purpose", purpose):
                self.purposes.setdefault(wide, {})[purpose] = None

    def settle(self) -> None:
        """Make ready for requests, once all are taken up."""
        for level in self.tree.values():
            _group_by_purpose(level)

    def near(
        self, targets: Keys, assignees: Keys, purposes: Collection[str] | None
    ) -> list[Clause]:
        """Return those that stand under the keys of targets and assignees, in their order.

        Without purposes those for any.
        """
        found = {clause.number: clause for clause in self.everywhere}
        parties = (_ANY, *assignees)
        for target in (_ANY, *targets):
            level = self.tree.get(target)
            for party in parties if level else ():
                leaf = level.get(party)  # type: ignore[union-attr]
                if leaf:
                    _collect(leaf, purposes, found)
        return [found[number] for number in sorted(found)]

    def _keys(self, part: Part, names: frozenset[str]) -> list[str]:
        """Return the names, and under another key each that includes one of them or might."""
        if not names:
            return [_ANY]
        above = {wide for name in names for wide in self.closures.reach(part, name)}
        return [*sorted(names), *map(inclusion_key, sorted(above))]


def inclusion_key(name: str) -> str:
    """Return the key under which stands what is included in an IRI, or might be."""
    return f"<{name}"


@dataclass(frozen=True, slots=True)
class RuleOutput:
    """An output that a rule of a policy speaks of."""

    policy: Policy
    asset: str
    clause: Clause


class Index:
    """All rules of some policies under one hierarchy, compiled once and asked often.

    Where the policies are of several owners (`apart`), none is void by the words of policies that
    others issued. `ended` are those that are void with another one, each with the reason.
    `trusted` are the closures of what the caller says: by the hierarchy that is given, and by
    vocabularies.
    """

    def __init__(
        self, policies: Sequence[Policy], given: Hierarchy, *, apart: bool = False
    ) -> None:
        self.policies = policies
        self.apart = apart
        self.given = given
        self.joint = given.joined(policy.hierarchy for policy in policies)
        self.closures = Closures(self.joint)
        self.permissions = Permissions()
        self.prohibitions = Prohibitions(self.closures)
        said = dict.fromkeys(policy.vocabulary.hierarchy for policy in policies)
        self.trusted = Closures(given.joined(said))
        self._voiding: dict[frozenset[str], Closures] = {}
        self.ended = ended(policies)
        self.void = frozenset(
            policy.uid
            for policy in policies
            if policy.uid in self.ended
            or (
                policy.conflict == "invalid"
                and has_conflict(policy, self._may_void(policy).hierarchy)
            )
        )
        self.outputs: list[RuleOutput] = []
        self.by_output: dict[str, list[int]] = {}
        self.inputs: dict[str, dict[str, None]] = {}
        numbers = iter(range(1 << 62))
        own = {policy.hierarchy for policy in policies} - {Hierarchy()}
        known = {one: Closures(given.joined([one])) for one in own} if len(own) > 1 else {}
        known[Hierarchy()] = Closures(given) if own else self.closures
        for policy in policies:
            self._add(policy, known.get(policy.hierarchy, self.closures), numbers)
        self.permissions.settle()
        self.prohibitions.settle()

    def _add(self, policy: Policy, closures: Closures, numbers: Iterator[int]) -> None:
        for rule in policy.permissions if policy.uid not in self.void else ():
            clause = Clause.of(next(numbers), policy, rule, closures)
            self.permissions.add(clause)
            if rule.output and policy.type != OFFER:
                self._add_output(RuleOutput(policy, rule.output, clause))
                of_output = self.inputs.setdefault(rule.output, {})
                of_output.update(dict.fromkeys(target.iri for target in rule.targets))
            for granted in _reading_permissions(rule, policy.vocabulary.reading):
                reads = Clause.of(next(numbers), policy, granted, closures, rule)
                self.permissions.add(reads)
        for rule in policy.prohibitions:
            self.prohibitions.add(Clause.of(next(numbers), policy, rule, closures))

    def _add_output(self, made: RuleOutput) -> None:
        for key in {made.asset, *map(inclusion_key, self.closures.reach("asset", made.asset))}:
            self.by_output.setdefault(key, []).append(len(self.outputs))
        self.outputs.append(made)

    @cached_property
    def makers(self) -> Mapping[str, Sequence[RuleOutput]]:
        """What the policies make, by the asset that it is."""
        found: dict[str, list[RuleOutput]] = {}
        for one in self.outputs:
            found.setdefault(one.asset, []).append(one)
        return found

    @cached_property
    def voidable(self) -> Sequence[Voidable]:
        """The policies that what is still to be known might make void."""
        policies = [one for one in self.policies if one.conflict == "invalid"]
        return [Voidable(one, self._may_void(one)) for one in policies if one.uid not in self.void]

    @cached_property
    def _issuers(self) -> Mapping[str, frozenset[str]]:
        return {policy.uid: issuers(policy) for policy in self.policies}

    def _may_void(self, policy: Policy) -> Closures:
        """Return the closures of all whose words may make two rules of a policy clash."""
        if not self.apart:
            return self.closures
        parties = self._issuers[policy.uid]
        found = self._voiding.get(parties) if parties else None
        if found is None:
            every, issued = self.policies, self._issuers
            theirs = (one for one in every if not parties.isdisjoint(issued[one.uid]))
            words = (one.hierarchy for one in (policy, *theirs))
            found = Closures(self.given.joined(words))
            self._voiding |= {parties: found} if parties else {}
        return found

    @cached_property
    def tells_together(self) -> bool:
        """Whether a rule is about what is read together with its targets, or has been read."""
        rules = (one for policy in self.policies for one in policy.rules)
        every = (one for rule in rules for one in (rule, *rule.below()))
        leaves = (leaf for rule in every for one in _conditions(rule) for leaf in one.constraints())
        return any(leaf.left_operand in (JOINTLY, READ_SO_FAR) for leaf in leaves)

    @cached_property
    def assets(self) -> Mapping[str, Sequence[str]]:
        """The assets that rules and hierarchies name, by what their IRI goes on from."""
        rules = [rule for policy in self.policies for rule in policy.rules]
        named = [*chain(*self.joint.asset), *(rule.output for rule in rules if rule.output)]
        named += [target.iri for rule in rules for target in rule.targets]
        return group_by_prefix(named)


def _conditions(rule: Rule) -> Iterator[Condition]:
    """Yield the constraints of a rule, and the refinements of its members."""
    members: Sequence[Party | Asset | Action] = (*rule.targets, *rule.assignees, *rule.actions)
    yield from chain(rule.constraints, *(member.refinements for member in members))


def group_by_prefix(names: Iterable[str]) -> dict[str, list[str]]:
    """Return names by what they go on from, and might be a part of."""
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        for start in starts(name):
            found.setdefault(start, []).append(name)
    return found


def _without_parameters(rule: Rule) -> tuple[Rule, frozenset[str]]:
    """Return a permission without what says how something is made, and of which actions it does.

    A prohibition of making something in one way may be one of any: it stays as it is.
    """
    makes_by = frozenset(
        action.iri
        for action in (rule.actions if rule.kind == "permission" else ())
        if action.iri in MAKING and any(map(is_parameter, action.refinements))
    )
    if not makes_by:
        return rule, makes_by
    actions = tuple(_drop_parameters(one) if one.iri in makes_by else one for one in rule.actions)
    return replace(rule, actions=actions), makes_by


def _drop_parameters(action: Action) -> Action:
    conditions = tuple(one for one in action.refinements if not is_parameter(one))
    return replace(action, refinements=conditions)


def _reading_permissions(rule: Rule, reading: Iterable[str]) -> Iterator[Rule]:
    """Yield, of a permission under which something is made, the one to read that.

    `reading` are the actions of reading.
    """
    if rule.output:
        yield Rule(
            kind="permission",
            targets=(Asset(rule.output),),
            actions=tuple(map(Action, reading)),
            uid=rule.uid,
            assigners=rule.assigners,
            issuers=rule.issuers,
            assignees=rule.assignees,
            purposes=rule.purposes,
            constraints=naming_output(rule),
            duties=rule.duties,
            place=rule.place,
        )
