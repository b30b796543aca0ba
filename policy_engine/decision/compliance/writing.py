"""Compliance reports as Turtle, and as plain JSON."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from policy_engine import terms
from policy_engine.data.rdf.statements import STRING, Literal, Term
from policy_engine.decision.compliance.model import (
    ConstraintReport,
    DutyReport,
    PartReport,
    PolicyReport,
    Premise,
    RuleReport,
)
from policy_engine.terms import REPORT

_PREFIXES = {
    "dct": "http://purl.org/dc/terms/",
    "odrl": terms.ODRL,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "report": REPORT,
    "xsd": terms.XSD,
}
_LOCAL = re.compile("[A-Za-z][A-Za-z0-9_-]*")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = re.compile('[\\\\"\x00-\x1f\x7f]')

_Said: TypeAlias = tuple[str, Iterable[Term]]
_Block: TypeAlias = tuple[str, list[_Said]]
"""A node and its statements."""


@dataclass(frozen=True)
class Report:
    """One report for each policy and request; `by_clock` if the world gives no time."""

    policies: tuple[PolicyReport, ...]
    by_clock: bool = False

    def to_turtle(self) -> str:
        """Return the report as Turtle, in ODRL's compliance report vocabulary."""
        return turtle(self)

    def to_json(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        return plain(self)


def turtle(report: Report) -> str:
    """Return a report as Turtle; equal reports give equal texts."""
    blocks = [block for policy in report.policies for block in _policy(policy)]
    # A node may be named several times, like a duty of two rules, but is described once.
    of: dict[str, _Block] = {block[0]: block for block in blocks}
    body = "\n\n".join(_written(block) for block in of.values())
    prefixes = [
        f"@prefix {prefix}: <{namespace}> ."
        for prefix, namespace in _PREFIXES.items()
        if re.search(rf"[ ^]{prefix}:", body)
    ]
    return "\n".join([*prefixes, "", body, ""])


def plain(report: Report) -> dict[str, Any]:
    """Return a report as a JSON object: names as strings, literals with their types."""
    return {
        "timeByClock": report.by_clock,
        "policyReports": [_plain_policy(policy) for policy in report.policies],
    }


# -- Turtle -----------------------------------------------------------------------------------


def _policy(policy: PolicyReport) -> Iterator[_Block]:
    rules = [rule.node for rule in policy.rules] + [duty.node for duty in policy.duties]
    yield (
        policy.node,
        [
            ("a", [f"{REPORT}PolicyReport"]),
            (f"{_PREFIXES['dct']}created", [policy.created]),
            (f"{REPORT}policy", [policy.policy]),
            (f"{REPORT}policyRequest", [policy.request]),
            (
                f"{REPORT}ruleReport",
                rules,
            ),
        ],
    )
    for rule in policy.rules:
        yield from _rule(rule)
    for duty in policy.duties:
        yield from _duty(duty)


def _rule(rule: RuleReport) -> Iterator[_Block]:
    yield (
        rule.node,
        [
            ("a", [f"{REPORT}{rule.kind}Report"]),
            (f"{REPORT}attemptState", [f"{REPORT}Attempted"]),
            (f"{REPORT}rule", [rule.rule]),
            (f"{REPORT}ruleRequest", [rule.request]),
            (f"{REPORT}premiseReport", [premise.node for premise in rule.premises]),
            (f"{REPORT}conditionReport", [duty.node for duty in rule.conditions]),
            (f"{REPORT}activationState", [_activation(rule)]),
            (f"{_PREFIXES['rdfs']}comment", _comment(rule.reason)),
        ],
    )
    for premise in rule.premises:
        yield from _premise(premise)
    for duty in rule.conditions:
        if not duty.is_told:
            yield from _duty(duty)


def _duty(duty: DutyReport) -> Iterator[_Block]:
    yield (
        duty.node,
        [
            ("a", [f"{REPORT}DutyReport"]),
            (f"{REPORT}rule", [duty.rule]),
            (f"{REPORT}premiseReport", [premise.node for premise in duty.premises]),
            (f"{REPORT}activationState", [_activation(duty)]),
            (f"{REPORT}performanceState", [f"{REPORT}{duty.performance}"]),
            (f"{REPORT}deonticState", [f"{REPORT}{duty.deontic}"]),
        ],
    )
    for premise in duty.premises:
        yield from _premise(premise)


def _premise(premise: Premise) -> Iterator[_Block]:
    inner: tuple[ConstraintReport, ...] = ()
    if isinstance(premise, PartReport):
        statements: list[_Said] = [("a", [f"{REPORT}{premise.part}Report"])]
    else:
        statements, inner = _constraint_statements(premise), premise.premises
    state = (f"{REPORT}satisfactionState", [f"{REPORT}{_satisfaction(premise)}"])
    yield (
        premise.node,
        [*statements, state, (f"{_PREFIXES['rdfs']}comment", _comment(premise.reason))],
    )
    for part in inner:
        yield from _premise(part)


def _constraint_statements(premise: ConstraintReport) -> list[_Said]:
    """Return the statements about a constraint; the compared values only if it is satisfied."""
    statements: list[_Said] = [
        ("a", [f"{REPORT}ConstraintReport"]),
        (f"{REPORT}constraint", [premise.constraint] if premise.constraint else []),
    ]
    if premise.is_logical:
        statements.append((f"{REPORT}constraintLogicalOperand", [premise.operator]))
        statements.append((f"{REPORT}premiseReport", [inner.node for inner in premise.premises]))
        return statements
    statements.append((f"{REPORT}constraintLeftOperand", premise.left))
    if premise.state == "satisfied":
        statements.append((f"{REPORT}constraintOperator", [premise.operator]))
        statements.append((f"{REPORT}constraintRightOperand", premise.right))
    return statements


def _comment(reason: str) -> list[Literal]:
    return [Literal(reason)] if reason else []


def _activation(report: RuleReport | DutyReport) -> str:
    return f"{REPORT}{'Active' if report.active else 'Inactive'}"


def _satisfaction(premise: Premise) -> str:
    return "Satisfied" if premise.state == "satisfied" else "Unsatisfied"


def _written(block: _Block) -> str:
    node, statements = block
    lines = [
        f"{'a' if prop == 'a' else _term(prop)} {', '.join(map(_term, dict.fromkeys(objects)))}"
        for prop, objects in statements
        if list(objects)
    ]
    return f"{_term(node)} " + " ;\n    ".join(lines) + " ."


def _term(term: Term) -> str:
    if not isinstance(term, Literal):
        return term if term.startswith("_:") else _iri(term)
    text = term.text.encode("utf-8", "replace").decode("utf-8")
    quoted = f'"{_ESCAPED.sub(_escape, text)}"'
    if term.language:
        return f"{quoted}@{term.language}"
    return quoted if term.type == STRING else f"{quoted}^^{_iri(term.type)}"


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04X}"


def _iri(iri: str) -> str:
    for prefix, namespace in _PREFIXES.items():
        if iri.startswith(namespace) and _LOCAL.fullmatch(iri[len(namespace) :]):
            return f"{prefix}:{iri[len(namespace) :]}"
    return f"<{iri}>"


# -- JSON -------------------------------------------------------------------------------------


def _plain_policy(policy: PolicyReport) -> dict[str, Any]:
    return {
        "report": policy.node,
        "created": _plain_term(policy.created),
        "policy": policy.policy,
        "policyRequest": policy.request,
        "ruleReports": [
            *map(_plain_rule, policy.rules),
            *map(_plain_duty, policy.duties),
        ],
    }


def _plain_rule(rule: RuleReport) -> dict[str, Any]:
    fields = {
        "report": rule.node,
        "type": f"{rule.kind}Report",
        "attemptState": "Attempted",
        "rule": rule.rule,
        "ruleRequest": rule.request,
        "premiseReports": [*map(_plain_premise, rule.premises)],
        "conditionReports": [*map(_plain_duty, rule.conditions)],
        "activationState": "Active" if rule.active else "Inactive",
    }
    return fields | ({"comment": rule.reason} if rule.reason else {})


def _plain_duty(duty: DutyReport) -> dict[str, Any]:
    return {
        "report": duty.node,
        "type": "DutyReport",
        "rule": duty.rule,
        "premiseReports": [*map(_plain_premise, duty.premises)],
        "activationState": "Active" if duty.active else "Inactive",
        "performanceState": duty.performance,
        "deonticState": duty.deontic,
    }


def _plain_premise(premise: Premise) -> dict[str, Any]:
    fields: dict[str, Any] = {"report": premise.node, "type": "ConstraintReport"}
    if isinstance(premise, PartReport):
        fields["type"] = f"{premise.part}Report"
    else:
        fields |= _plain_constraint(premise)
    fields["satisfactionState"] = _satisfaction(premise)
    return fields | ({"comment": premise.reason} if premise.reason else {})


def _plain_constraint(premise: ConstraintReport) -> dict[str, Any]:
    fields: dict[str, Any] = {"constraint": premise.constraint}
    operator = terms.compact(premise.operator)
    if premise.is_logical:
        inner = [*map(_plain_premise, premise.premises)]
        return {**fields, "constraintLogicalOperand": operator, "premiseReports": inner}
    return {
        **fields,
        "constraintLeftOperand": [*map(_plain_term, premise.left)],
        "constraintOperator": operator,
        "constraintRightOperand": [*map(_plain_term, premise.right)],
    }


def _plain_term(term: Term) -> Any:
    if not isinstance(term, Literal):
        return term
    language = {"language": term.language} if term.language else {}
    return {"value": term.text, "type": term.type, **language}
