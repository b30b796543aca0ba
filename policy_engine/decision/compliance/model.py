"""A compliance report: the state of every rule of a policy, and of each of its premises."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from policy_engine.data.rdf.statements import Term
from policy_engine.decision.conditions import State

Performance = Literal["Performed", "Unperformed", "Unknown"]


Deontic = Literal["Fulfilled", "Violated", "NonSet"]


@dataclass(frozen=True)
class PartReport:
    """Whether what is asked lies within the target, the party or the action of a rule."""

    node: str
    part: Literal["Target", "Party", "Action"]
    state: State
    reason: str = ""


@dataclass(frozen=True)
class ConstraintReport:
    """What a constraint evaluated to, or a logical one with `premises`.

    `constraint` is its name in the policy, empty where it has none; `left` what its left
    operand was, and `right` what it was compared with, both as they are written.
    """

    node: str
    constraint: str
    state: State
    operator: str
    left: tuple[Term, ...] = ()
    right: tuple[Term, ...] = ()
    premises: tuple["ConstraintReport", ...] = ()
    is_logical: bool = False
    reason: str = ""


Premise: TypeAlias = PartReport | ConstraintReport


@dataclass(frozen=True)
class DutyReport:
    """What became of a duty; `is_told` where the world tells it in a report of its own."""

    node: str
    rule: str
    performance: Performance
    deontic: Deontic
    active: bool = True
    premises: tuple[ConstraintReport, ...] = ()
    is_told: bool = False


@dataclass(frozen=True)
class RuleReport:
    """Whether a permission or a prohibition is in effect for what is asked, and why.

    `request` is the rule of the request; `conditions` are the duties of a permission. `reason` is
    why it is not in effect though its premises hold: by the conflict strategy of its policy.
    """

    node: str
    kind: Literal["Permission", "Prohibition"]
    rule: str
    request: str
    premises: tuple[Premise, ...]
    conditions: tuple[DutyReport, ...]
    active: bool
    reason: str = ""


@dataclass(frozen=True)
class PolicyReport:
    """The reports on the rules of one policy for one request; `created` is when it holds."""

    node: str
    created: Term
    policy: str
    request: str
    rules: tuple[RuleReport, ...]
    duties: tuple[DutyReport, ...]
