"""The transformations that a policy asks for, checked as far as can be without data."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from policy_engine.data.column_names import column_name
from policy_engine.errors import PlanError, Problem, place_order
from policy_engine.methods.guide import LABEL
from policy_engine.plan.aggregates.asking import (
    asks_for_answers,
    asks_for_rows,
    asks_for_statistics,
    asks_for_synthetic_rows,
)
from policy_engine.plan.anonymization import Consent, Transformation
from policy_engine.plan.joins import (
    JOIN_ON,
    STRATA,
    joined,
)
from policy_engine.plan.reading_parameters import columns_in_roles, parameters_of, read_sanitisation
from policy_engine.policy import Action, Policy, Rule
from policy_engine.policy.model import ANONYMIZE
from policy_engine.policy.validation.conflicts import Overlaps

if TYPE_CHECKING:
    from policy_engine.plan.aggregates.reading import Statistics
    from policy_engine.plan.reading_randomisation import RandomisedTable
    from policy_engine.plan.reading_synthesis import SyntheticTable

_Asked = TypeVar("_Asked")


def transformations(policy: Policy) -> tuple[Transformation, ...]:
    """Return the permissions to anonymise rows that a policy gives, each with what it asks for.

    Raises PlanError with every problem that shows without data, each with its place.
    """
    of_rows = [pair for pair in transforms(policy) if asks_for_rows(pair[1])]
    return _read_all(policy, of_rows, _transformation)


def statistics(policy: Policy) -> "tuple[Statistics, ...]":
    """Return the permissions to release statistics, each with what it asks for.

    Raises PlanError with every problem that shows without data, each with its place.
    """
    some = [pair for pair in transforms(policy) if asks_for_statistics(pair[1])]
    if not some:
        return ()
    from policy_engine.plan.aggregates.reading import read_statistics  # noqa: PLC0415

    return _read_all(policy, some, read_statistics)


def randomised_tables(policy: Policy) -> "tuple[RandomisedTable, ...]":
    """Return the permissions to randomise records one by one, each with what it asks for.

    Raises PlanError with every problem that shows without data, each with its place.
    """
    some = [pair for pair in transforms(policy) if asks_for_answers(pair[1])]
    if not some:
        return ()
    from policy_engine.plan.reading_randomisation import read_randomised  # noqa: PLC0415

    return _read_all(policy, some, read_randomised)


def synthetic_tables(policy: Policy) -> "tuple[SyntheticTable, ...]":
    """Return the permissions to release rows that are made up, each with what it asks for.

    Raises PlanError with every problem that shows without data, each with its place.
    """
    some = [pair for pair in transforms(policy) if asks_for_synthetic_rows(pair[1])]
    if not some:
        return ()
    from policy_engine.plan.reading_synthesis import read_synthetic  # noqa: PLC0415

    return _read_all(policy, some, read_synthetic)


def _read_all(
    policy: Policy,
    pairs: Iterable[tuple[Rule, Action]],
    read: Callable[[Policy, Rule, Action], _Asked],
) -> tuple[_Asked, ...]:
    """Return what rules ask for. Raises PlanError with every problem of all of them."""
    problems: list[Problem] = []
    pieces = []
    for rule, action in pairs:
        try:
            _check(policy, rule)
            pieces.append(read(policy, rule, action))
            problems += forbidden(policy, rule)
        except PlanError as error:
            problems += error.problems
    if problems:
        raise PlanError(*sorted(dict.fromkeys(problems), key=place_order), source=policy.source)
    return tuple(pieces)


def transforms(policy: Policy) -> tuple[tuple[Rule, Action], ...]:
    """Return the permissions of a policy that ask for a transformation, with their actions."""
    pairs = permitting(policy, ANONYMIZE)
    return tuple((rule, action) for rule, action in pairs if not is_consent(rule))


def is_consent(rule: Rule) -> bool:
    """Tell whether a permission lets others make something, rather than asking for it: who gives
    it is named, and no output."""
    return bool(rule.assigners) and not rule.output


def consents(policy: Policy) -> tuple[Consent, ...]:
    """Return the permissions by which a policy lets others anonymise.

    Raises PlanError with every problem that shows without data, each with its place.
    """
    problems: list[Problem] = []
    consent_list = []
    for rule, action in permitting(policy, ANONYMIZE):
        try:
            consent_list += [_consent(policy, rule, action)] if is_consent(rule) else []
        except PlanError as error:
            problems += error.problems
    if problems:
        raise PlanError(*sorted(dict.fromkeys(problems), key=place_order), source=policy.source)
    return tuple(consent_list)


def _consent(policy: Policy, rule: Rule, action: Action) -> Consent:
    if not parameters_of(action):
        return Consent(rule, action)
    if not asks_for_rows(action):
        message = "By which statistics, answers or synthetic rows others may make a table of "
        message += "theirs is not supported."
        hint = "Name an output: then they are released."
        raise PlanError(Problem("M018", message, hint, action.place), source=policy.source)
    if len({target.iri for target in rule.targets}) != 1:
        message = f"Bounds are those of one dataset. The rule has {len(rule.targets)} targets."
        hint = "Write a permission for each."
        raise PlanError(Problem("M007", message, hint, rule.place), source=policy.source)
    request = read_sanitisation(policy, rule, action)
    columns_by_role = request.columns_by_role
    on = columns_by_role.get(JOIN_ON, ())
    if len(on) > 1:
        message = f"A dataset is joined on one column. Given: {len(on)}."
        problem = Problem("M016", message, "", on[1][2].place)
        raise PlanError(problem, source=policy.source)
    return Consent(
        rule,
        action,
        request.anonymization,
        {role: columns for role, columns in columns_by_role.items() if role not in (STRATA, LABEL)},
        next((name for _, name, _ in on), ""),
        request.maskings,
        request.sampling,
    )


def permitting(policy: Policy, action: str) -> tuple[tuple[Rule, Action], ...]:
    """Return the permissions of a policy that name an action, each with the action."""
    return tuple(
        (rule, one) for rule in policy.permissions for one in rule.actions if one.iri == action
    )


def _check(policy: Policy, rule: Rule) -> None:
    """Raise PlanError where a permission does not say what is anonymised, and what it becomes."""
    problems = []
    if not rule.output:
        message = "The permission to anonymize names no output."
        hint = 'Add "output": "http://...", the IRI of the result.'
        problems.append(Problem("M007", message, hint, rule.place))
    if rule.output in [target.iri for target in rule.targets]:
        message = f"The output {rule.output!r} is the target itself; the result needs its own IRI."
        problems.append(Problem("M007", message, "", rule.place))
    problems += row_bound_problems(rule)
    if problems:
        raise PlanError(*problems, source=policy.source)


def row_bound_problems(rule: Rule, verb: str = "anonymised") -> Iterator[Problem]:
    """Yield what would exclude rows: all rows of a dataset are `verb`.

    What else bounds the permission, its time or its duties, decides who may read the output.
    """
    leaves = [leaf for condition in rule.constraints for leaf in condition.constraints()]
    for target in rule.targets:
        for leaf in leaves:
            name = column_name(target.iri, leaf.left_operand)
            if name is not None:
                message = f"The constraint is about the rows' {name!r}, and all rows are {verb}."
                hint = "Give these rows a dataset of their own."
                yield Problem("M010", message, hint, leaf.place)
        if target.refinements:
            message = f"The target is refined, and all of a dataset is {verb}."
            yield Problem("M010", message, "Name a dataset of these rows alone.", target.place)


def _transformation(policy: Policy, rule: Rule, action: Action) -> Transformation:
    """Return what an action asks to be made of one dataset, or of several that are joined."""
    on = parameters_of(action).get(JOIN_ON)
    request = read_sanitisation(policy, rule, action, is_joined=True)
    roles = columns_in_roles(request.columns_by_role)
    return Transformation(
        rule,
        request.anonymization,
        action,
        joined(rule, on, roles),
        roles,
        request.maskings,
        request.sampling,
    )


def forbidden(policy: Policy, rule: Rule) -> Iterator[Problem]:
    """Yield the prohibitions that speak against carrying the rule out."""
    prohibitions = policy.prohibitions if policy.conflict != "perm" else ()
    if not prohibitions:
        return
    for _, prohibition in Overlaps((rule,), prohibitions, policy.hierarchy).pairs():
        message = f"{prohibition.where()} prohibits what {rule.where()} permits."
        hint = 'Narrow the one or the other, or let the permission win: "conflict": "perm".'
        yield Problem("M008", message, hint, prohibition.place)
