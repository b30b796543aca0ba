"""Rules of policies, prepared for decisions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from policy_engine.decision.closures import Closures
from policy_engine.policy import Action, Asset, Condition, Party, Policy, Rule
from policy_engine.policy.joining import naming_output
from policy_engine.policy.model import COUNTS, MAKING, OFFER, is_parameter
from policy_engine.policy.wording import rule_name


@dataclass(frozen=True, slots=True, eq=False)
class Clause:
    """A rule of a policy, with its parts as sets and the closures of its own policy.

    It `is_plain` if no condition or duty bounds it, and `is_counted` if a condition bounds how
    often it is exercised. The index only says where to look: every match is evaluated. `assigners`
    are the parties that issued it; `sources`, for a permission to read an output, are the assets
    that the output is made of. The `rule` of a permission lacks the refinements that say how
    something is made, since they are not conditions; `parametrized_actions` are the actions that
    have such refinements, and `written_rule` is the unchanged rule; for a permission to read an
    output, it is the rule that makes the output.
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
    parametrized_actions: frozenset[str]
    written_rule: Rule

    @classmethod
    def of(
        cls,
        number: int,
        policy: Policy,
        rule: Rule,
        closures: Closures,
        made_by: Rule | None = None,
    ) -> "Clause":
        """Return a rule prepared for decisions.

        With `made_by`, it permits reading the output of that rule.
        """
        sources = made_by.targets if made_by else ()
        written_rule = made_by or rule
        rule, makes_by = _without_parameters(rule)
        conditions = [*rule_conditions(rule)]
        bounds = conditions or rule.duties or policy.type == OFFER
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
            not bounds,
            any(part.left_operand in COUNTS for one in conditions for part in one.constraints()),
            rule.issued_by,
            frozenset(source.iri for source in sources),
            makes_by,
            written_rule,
        )

    @property
    def name(self) -> str:
        """The rule's name in sentences; rules without a uid get theirs from their policy's."""
        return rule_name(self.label, self.policy.uid)


def rule_conditions(rule: Rule) -> Iterator[Condition]:
    """Yield the constraints of a rule, and the refinements of its members."""
    members: Sequence[Party | Asset | Action] = (*rule.targets, *rule.assignees, *rule.actions)
    yield from chain(rule.constraints, *(member.refinements for member in members))


def _without_parameters(rule: Rule) -> tuple[Rule, frozenset[str]]:
    """Return a permission without the parameters of its actions, and the actions that had any.

    A prohibition is left unchanged: making something in one way may be prohibited as making it at
    all.
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


def reading_permissions(rule: Rule, reading: Iterable[str]) -> Iterator[Rule]:
    """Yield the permission to read the output of a permission that makes one.

    `reading` are the actions that count as reading.
    """
    if rule.output:
        yield Rule(
            kind="permission",
            targets=(Asset(rule.output),),
            actions=tuple(map(Action, reading)),
            uid=rule.uid,
            name=rule.name,
            assigners=rule.assigners,
            issuers=rule.issuers,
            assignees=rule.assignees,
            purposes=rule.purposes,
            constraints=naming_output(rule),
            duties=rule.duties,
            place=rule.place,
        )
