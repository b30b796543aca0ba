"""The one transformation that a policy asks for, checked as far as can be without data."""

import re
from collections.abc import Iterator
from typing import Any

from policy_engine import terms
from policy_engine.catalog import column_name
from policy_engine.errors import PlanError, Problem, by_place, did_you_mean, listed
from policy_engine.methods import Method, findings, method_class
from policy_engine.policy import Action, Policy, Refinement, Rule
from policy_engine.policy.clashes import overlap

_INTEGER = re.compile(r"[-+]?[0-9]{1,400}")
ANONYMIZE = f"{terms.ODRL}anonymize"


def check_transformation(policy: Policy) -> None:
    """Raise PlanError with all that keeps a policy's transformation from being planned.

    A policy that asks for none is fine.
    """
    if transforms(policy):
        transformation(policy)


def transformation(policy: Policy) -> tuple[Rule, Method]:
    """Return the permission to anonymise that a policy gives, and the method it asks for.

    Raises PlanError with every problem that shows without data, each with its place.
    """
    rule, action = _only_one(policy)
    method = _method(policy, rule, action)
    problems = list(_forbidden(policy, rule))
    if problems:
        raise PlanError(*problems, source=policy.source)
    return rule, method


def transforms(policy: Policy) -> tuple[tuple[Rule, Action], ...]:
    """Return the permissions of a policy that ask for a transformation, with their actions."""
    return tuple(
        (rule, action)
        for rule in policy.permissions
        for action in rule.actions
        if action.iri == ANONYMIZE
    )


def _only_one(policy: Policy) -> tuple[Rule, Action]:
    found = transforms(policy)
    if len(found) != 1:
        message = f"A plan carries out one permission to anonymize. The policy has {len(found)}."
        place = found[1][1].place if len(found) > 1 else policy.place
        raise PlanError(Problem("M007", message, "", place), source=policy.source)
    rule, action = found[0]
    problems = []
    if len(rule.targets) != 1:
        message = f"One dataset is anonymised at a time. The rule has {len(rule.targets)} targets."
        problems.append(Problem("M007", message, "", rule.place))
    if not rule.output:
        message = "The permission to anonymize names no output."
        hint = 'Add "output": "http://...", the IRI of the result.'
        problems.append(Problem("M007", message, hint, rule.place))
    if rule.output in rule.targets:
        message = f"The output {rule.output!r} is the target itself; the result needs its own IRI."
        problems.append(Problem("M007", message, "", rule.place))
    if problems:
        raise PlanError(*problems, source=policy.source)
    return rule, action


def _method(policy: Policy, rule: Rule, action: Action) -> Method:
    """Return the method that an action asks for, its columns by name."""
    given = {terms.local_name(part.parameter): part for part in action.refinements}
    kind = _kind(given.pop("method", None), action, policy)
    problems: list[Problem] = []
    values = {name: _bound(part) for name, part in given.items()}
    for name, part in given.items():
        if _is_columns(part):
            values[name] = tuple(_columns(part, rule.targets[0], problems))
    wrong = {problem.place for problem in problems}
    for finding in findings(kind, values):
        if any(
            value.place in wrong for value in getattr(given.get(finding.parameter), "values", ())
        ):
            continue
        place = given[finding.parameter].place if finding.parameter in given else action.place
        hint = ""
        if finding.code == "M002":
            hint = f"Add a refinement with the leftOperand mosaicrown:{finding.parameter}."
        problems.append(Problem(finding.code, finding.message, hint, place))
    if problems:
        raise PlanError(*sorted(problems, key=by_place), source=policy.source)
    return kind(**values)


def _kind(part: Refinement | None, action: Action, policy: Policy) -> type[Method]:
    known = terms.methods()
    if part is None:
        message = f"The action names no method. Known are {listed(known)}."
        hint = "Add a refinement with the leftOperand mosaicrown:method."
        raise PlanError(Problem("M002", message, hint, action.place), source=policy.source)
    notation = str(part.values[0].value).removeprefix(terms.PE)
    if notation not in known:
        message = f"The method {notation!r} is not known. Known are {listed(known)}."
        hint = did_you_mean(notation, known)
        raise PlanError(Problem("M001", message, hint, part.place), source=policy.source)
    return method_class(notation)


def _bound(part: Refinement) -> Any:
    """Return a bound as an integer, where its text is one."""
    value = part.values[0].value
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_columns(part: Refinement) -> bool:
    return terms.vocabulary()[part.parameter].iris("range") == (f"{terms.ODRL}Asset",)


def _columns(part: Refinement, target: str, problems: list[Problem]) -> Iterator[str]:
    for value in part.values:
        name = column_name(target, terms.canonical(str(value.value)))
        if name is None:
            message = f"{value.value!r} is not a column of the target. Its columns are {target}/..."
            hint = "In a name, / ? and # are written as %2F, %3F and %23."
            problems.append(Problem("M006", message, hint, value.place))
        else:
            yield name


def _forbidden(policy: Policy, rule: Rule) -> Iterator[Problem]:
    """Yield the prohibitions that speak against carrying the rule out."""
    for prohibition in policy.prohibitions if policy.conflict != "perm" else ():
        if overlap(rule, prohibition, policy.hierarchy):
            message = f"{prohibition.label()} prohibits what {rule.label()} permits."
            hint = 'Narrow the one or the other, or let the permission win: "conflict": "perm".'
            yield Problem("M008", message, hint, prohibition.place)
