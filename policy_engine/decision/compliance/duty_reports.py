"""The states of duties, which the world gives in reports of their own."""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NoReturn

from policy_engine import terms
from policy_engine.data.rdf.statements import Literal, is_blank
from policy_engine.decision.compliance.graph import StatementGraph, format_term, refuse
from policy_engine.decision.compliance.names import (
    DEONTIC,
    DUTY_REPORT,
    INNER_REPORTS,
    OTHER_REPORTS,
    PERFORMANCE,
    REPORTED_POLICY,
    REPORTED_RULE,
)
from policy_engine.errors import did_you_mean, join_names
from policy_engine.policy.model import Policy

_STATES = {
    PERFORMANCE: ("Performed", "Unperformed", "Unknown"),
    DEONTIC: ("Fulfilled", "Violated", "NonSet"),
}
_OF_REPORTS = (
    *(*_STATES, REPORTED_POLICY, REPORTED_RULE, *INNER_REPORTS),
    *(f"{terms.REPORT}{kind}State" for kind in ("attempt", "activation", "satisfaction")),
    *(f"{terms.REPORT}{name}" for name in ("ruleRequest", "premiseReport")),
)
"""The properties of reports on rules, of which the states of a duty are read."""
_CONTRADICTION = ("Unperformed", "Fulfilled")


@dataclass(frozen=True)
class DutyState:
    """The state of a duty that the world gives in a report of its own; a state may be empty."""

    node: str
    duty: str
    performance: str
    deontic: str


def duties_of(world: StatementGraph, policies: Sequence[Policy]) -> Iterator[DutyState]:
    """Yield what the world says about the duties of policies, by their names.

    They are obligations, and duties of permissions: no report has the states of others. Raises
    RequestError (D003) for a report of anything else, unless the report on another policy has it,
    for one without the class of a duty report, and for one without a state, or with states that
    are not known or contradict each other: what is passed over could be what says that a duty was
    violated.
    """
    rules = [
        one
        for policy in policies
        for rule in policy.rules
        for one in (rule, *rule.all_nested_rules())
    ]
    others = {one.uid for one in rules if one.kind in ("remedy", "consequence")}
    duties = {one.uid for one in rules if one.kind in ("duty", "obligation")}
    elsewhere = _foreign_reports(world, {one.uid for one in policies})
    for node in world.about:
        if DUTY_REPORT in world.types(node):
            states = _states(world, node)
            for duty in _reported_duties(world, node):
                if not is_blank(duty) and duty in duties:
                    _require_state(world, node, states)
                    yield DutyState(world.written_name(node), duty, *states)
                elif not is_blank(duty) and duty in others:
                    what = "a remedy or a consequence, whose state is not evaluated"
                    refuse(world, f"The duty report {node} is about {duty!r}, {what}.")
                elif node not in elsewhere:
                    _refuse_unknown_duty(world, node, duty)
        else:
            _refuse_unclear_report(world, node, duties | others)


def is_duty_report(graph: StatementGraph, node: str) -> bool:
    """Tell whether a node is a report on a duty, or tells the state of one."""
    return DUTY_REPORT in graph.types(node) or _tells_state(graph, node)


def _tells_state(graph: StatementGraph, node: str) -> bool:
    return not graph.about[node].keys().isdisjoint(_STATES)


def _foreign_reports(world: StatementGraph, policies: AbstractSet[str]) -> AbstractSet[str]:
    """Return the reports that those on other policies have."""
    nodes = [
        node
        for node in world.having(REPORTED_POLICY)
        if policies.isdisjoint(_names(world, world.objects(node, REPORTED_POLICY)))
    ]
    reports = {*nodes}
    for node in nodes:
        inner = [one for one in world.nodes(node, *INNER_REPORTS) if one not in reports]
        reports.update(inner)
        nodes += inner
    return reports


def _reported_duties(world: StatementGraph, node: str) -> tuple[str, ...]:
    rules = world.objects(node, REPORTED_RULE)
    if not rules or any(isinstance(one, Literal) for one in rules):
        refuse(world, f"The duty report {node} must name its duty by {REPORTED_RULE}.")
    return (*_names(world, rules),)


def _refuse_unknown_duty(world: StatementGraph, node: str, duty: str) -> NoReturn:
    message = f"The duty report {node} is about {duty!r}, which is not a duty of the policies."
    hint = f"A report on another policy names it by {REPORTED_POLICY!r}."
    refuse(world, message, hint)


def _refuse_unclear_report(world: StatementGraph, node: str, duties: AbstractSet[str]) -> None:
    """Refuse a report on a duty that does not say that it is one."""
    rules = world.objects(node, REPORTED_RULE)
    is_other = not {*world.types(node)}.isdisjoint(OTHER_REPORTS)
    is_of_duty = not duties.isdisjoint(_names(world, rules))
    if is_of_duty or (not is_other and (rules or _tells_state(world, node))):
        hint = f"A report on a duty has the class {DUTY_REPORT!r}."
        refuse(world, f"{node} tells the state of a rule, and not of which kind it is.", hint)


def _names(world: StatementGraph, rules: Iterable[object]) -> Iterator[str]:
    return (world.name(one) for one in rules if isinstance(one, str))


def _states(world: StatementGraph, node: str) -> tuple[str, str]:
    """Return the two states of a report, each empty if there is none."""
    performance, deontic = (_state(world, node, prop) for prop in _STATES)
    if (performance, deontic) == _CONTRADICTION:
        refuse(world, f"{node} contradicts itself: what is Unperformed cannot be Fulfilled.")
    return performance, deontic


def _require_state(world: StatementGraph, node: str, states: Iterable[str]) -> None:
    """Refuse a report on a duty that tells no state, or tells something by an unknown name."""
    unknown = sorted(
        prop
        for prop in world.about[node]
        if prop.startswith(terms.REPORT) and prop not in _OF_REPORTS
    )
    if unknown:
        near = did_you_mean(unknown[0], _OF_REPORTS)
        refuse(world, f"{unknown[0]!r} says nothing of a duty. {node} has it.", near)
    if not any(states):
        names = join_names(map(repr, _STATES), "or")
        refuse(world, f"The duty report {node} tells no state.", f"It is told by {names}.")


def _state(world: StatementGraph, node: str, prop: str) -> str:
    values, allowed = world.values(node, prop), _STATES[prop]
    names = [format_term(one).removeprefix(terms.REPORT) for one in values]
    is_known = all(one in [f"{terms.REPORT}{name}" for name in allowed] for one in values)
    if len(values) > 1 or not is_known:
        kind, others = terms.local_name(prop), join_names(sorted(names))
        message = f"The {kind} of {node} must be one of {join_names(allowed)}. Given: {others}."
        is_text = any(isinstance(one, Literal) for one in values)
        hint = f"A state is an IRI, such as {terms.REPORT}{allowed[0]}." if is_text else ""
        refuse(world, message, hint)
    return "".join(names)
