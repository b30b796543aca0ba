"""A compliance report: the state of every rule of a policy, and of each of its premises."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from policy_engine.data.rdf.statements import Term
from policy_engine.decision.conditions import State

Performance = Literal["Performed", "Unperformed", "Unknown"]


Deontic = Literal["Fulfilled", "Violated", "NonSet"]


@dataclass(frozen=True)
class PartReport:
    """Whether the request is within the target, the party or the action of a rule."""

    node: str
    part: Literal["Target", "Party", "Action"]
    state: State
    reason: str = ""


@dataclass(frozen=True)
class ConstraintReport:
    """The result of a constraint, or of a logical one with `premises`.

    `constraint` is its name in the policy, empty if it has none; `left` is the value of its left
    operand, and `right` what that was compared with, both as written.
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
    """The state of a duty; `is_told` if the world gives it in a report of its own."""

    node: str
    rule: str
    performance: Performance
    deontic: Deontic
    active: bool = True
    premises: tuple[ConstraintReport, ...] = ()
    is_told: bool = False


@dataclass(frozen=True)
class RuleReport:
    """Whether a permission or a prohibition is in effect for the request, and why.

    `request` is the rule of the request; `conditions` are the duties of a permission. `reason` says
    why the rule is not in effect although its premises hold: because of its policy's conflict
    strategy, or since its policy is no longer in force.
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
    """The reports on the rules of one policy for one request; `created` is their time."""

    node: str
    created: Term
    policy: str
    request: str
    rules: tuple[RuleReport, ...]
    duties: tuple[DutyReport, ...]
