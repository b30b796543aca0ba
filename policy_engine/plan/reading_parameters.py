"""What the refinements of an action to anonymise ask for, checked as far as can be without data."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from policy_engine import terms
from policy_engine.errors import Place, PlanError, Problem, did_you_mean, join_names, place_order
from policy_engine.methods import (
    Finding,
    PrivacyModel,
    method_class,
    parameters,
    privacy_model_class,
)
from policy_engine.methods.buckets import bucket_conflicts
from policy_engine.methods.columns import IDENTIFIERS, Column, QuasiIdentifier, Sensitive
from policy_engine.methods.conflicts import (
    composition_conflicts,
    default_generalization,
    option_conflicts,
    parameter_findings,
    role_conflicts,
    setting_conflicts,
    suppression_conflicts,
)
from policy_engine.methods.findings import missing_parameter
from policy_engine.methods.guide import GUIDE, REPRESENTATIVE
from policy_engine.methods.masking import ColumnMasking, is_known, masking_class, settings
from policy_engine.methods.permutation import PERMUTING, permutation_conflicts
from policy_engine.methods.recoding import RecodingOptions
from policy_engine.methods.sampling import Sampling
from policy_engine.plan.anonymization import Anonymization, Transformation
from policy_engine.plan.column_settings import CellKind, read_settings, to_plain
from policy_engine.plan.joins import (
    JOIN_ON,
    MASKED,
    NOT_ROLES,
    STRATA,
    Datasets,
    Named,
    Roles,
    group_by_name,
)
from policy_engine.plan.joins import problems as problems_of_join
from policy_engine.plan.reading_guide import ReadGuide, read_guide
from policy_engine.plan.reading_samples import sample_problems, uncounted
from policy_engine.policy import Action, Constraint, Policy, Rule, Value


def parameters_of(action: Action) -> dict[str, Constraint]:
    """Return the refinements of an action to anonymise, by the name of their parameter."""
    return {
        terms.local_name(part.left_operand): part
        for part in action.refinements
        if isinstance(part, Constraint)
    }


def column_places(transformation: Transformation) -> Iterator[tuple[str, Place]]:
    """Yield the columns that a transformation names, each with its place."""
    for part in parameters_of(transformation.action).values():
        if terms.names_columns(part.left_operand):
            columns = _columns(part, Datasets.of(transformation.rule), [])
            yield from ((name, value.place) for _, name, value in columns)


class Sanitisation(NamedTuple):
    """What an action asks for: of all columns together, of those it masks, and of rows.

    `columns_by_role` are the columns that it names.
    """

    columns_by_role: Roles
    anonymization: Anonymization
    maskings: tuple[ColumnMasking, ...]
    sampling: Sampling | None


def columns_in_roles(columns: Roles) -> dict[str, Sequence[Named]]:
    """Return columns by role, without those named for what is not a role."""
    return {role: named for role, named in columns.items() if role not in NOT_ROLES}


def read_sanitisation(
    policy: Policy, rule: Rule, action: Action, *, is_joined: bool = False
) -> Sanitisation:
    """Return what an action asks for. Raises PlanError with every problem of it."""
    parameters_ = parameters_of(action)
    notations = _notations(parameters_.pop("method", None), action, policy)
    if any(method_class(notation).step == "aggregate" for notation in notations):
        message = "Tables of aggregates cannot be planned yet."
        raise PlanError(Problem("M009", message, "", action.place), source=policy.source)
    problems: list[Problem] = []
    on, datasets = parameters_.get(JOIN_ON), Datasets.of(rule)
    columns_by_role: Roles = {
        name: tuple(_columns(part, datasets, problems))
        for name, part in parameters_.items()
        if terms.names_columns(part.left_operand)
    }
    guide = read_guide(parameters_, columns_by_role, _has_models(notations), datasets, policy)
    columns_by_role = guide.columns_by_role
    problems += guide.problems
    in_roles = columns_in_roles(columns_by_role)
    problems += problems_of_join(rule, on, in_roles, action.place) if is_joined else ()
    roles = group_by_name(in_roles)
    # A name is what is written: 007 is not 7.
    values = {
        name: part.right_operands[0].value
        if name in _NAMES
        else to_plain(part.right_operands[0].value)
        for name, part in parameters_.items()
        if name not in (*columns_by_role, *guide.values)
    }
    sample = {name: values.pop(name) for name in parameters(Sampling) if name in values}
    strata = [(name, value) for _, name, value in columns_by_role.get(STRATA, ())]
    if strata:
        sample[STRATA] = tuple(name for name, _ in strata)
    unit = next((name for name, _ in roles.pop("privacyUnit", ())), "")
    scope = values.pop("pseudonymScope", None)
    parts, problem_list = _parts(notations, roles, values, unit, sample, guide)
    used = {name for role, named in roles.items() if role != _LEFT_OUT for name, _ in named}
    named_columns = {unit, *(name for some in roles.values() for name, _ in some)}
    visible = _shown_columns(roles, values.get("algorithm"))
    problem_list += sample_problems(sample, strata, used, visible, named_columns, unit)
    if scope is not None:
        parts["columns"]["pseudonymScope"] = scope
        problem_list += [(one, None) for one in _scope_problems(scope, roles)]
    representative = guide.values.get(REPRESENTATIVE)
    cells = CellKind(values.get("algorithm"), representative, PERMUTING in notations)
    problem_list += _column_problems(roles, datasets, cells)
    wrong = {problem.place for problem in problems}
    for finding, value in problem_list:
        part = parameters_.get(finding.parameter)
        if wrong & {one.place for one in getattr(part, "right_operands", ())}:
            continue
        place = value.place if value else part.place if part else action.place
        problems.append(Problem(finding.code, finding.message, _hint(finding), place))
    if problems:
        raise PlanError(*sorted(dict.fromkeys(problems), key=place_order), source=policy.source)
    if guide.is_of_classes:
        parts["recoding"]["guide"] = guide.guide(is_permuted=PERMUTING in notations)
    maskings = (_masking(name, value, datasets) for name, value in roles.get(MASKED, ()))
    sampling = Sampling(**sample) if sample else None
    return Sanitisation(columns_by_role, Anonymization(**parts), tuple(maskings), sampling)


Located = list[tuple[Finding, Value | None]]


def _has_models(notations: Iterable[str]) -> bool:
    return any(issubclass(method_class(one), PrivacyModel) for one in notations)


def _parts(
    notations: tuple[str, ...],
    roles: Mapping[str, Sequence[tuple[str, Value]]],
    values: Mapping[str, Any],
    unit: str,
    sample: Mapping[str, Any],
    guide: ReadGuide,
) -> tuple[dict[str, Any], Located]:
    """Return columns, models and options as asked for, and what is wrong with each of them."""
    columns: dict[str, Any] = {"privacyUnit": unit}
    for role, columns_of_role in roles.items():
        if role in (MASKED, GUIDE):
            continue
        column = _SETTINGS.get(role)
        columns[role] = [
            {"name": name, **read_settings(value, column)} if column else name
            for name, value in columns_of_role
        ]
    kinds = {notation: method_class(notation) for notation in notations}
    models, remaining = {}, set(values)
    problem_list = []
    for notation, kind in kinds.items():
        models[notation] = {name: values[name] for name in parameters(kind) if name in values}
        remaining -= set(models[notation])
        problem_list += parameter_findings(kind, models[notation], notation)
        problem_list += kind.lacking([*(role for role in roles if roles[role]), *sample])
    options = {name: values[name] for name in remaining & set(parameters(RecodingOptions))}
    representative = guide.values.get(REPRESENTATIVE)
    generalization = default_generalization(options.get("algorithm"), representative)
    if generalization and PERMUTING not in notations:
        # So that whoever reads the plan knows what every cell is.
        for one in columns.get("quasi-identifier", []):
            one.setdefault("generalization", generalization)
    problem_list += [
        *parameter_findings(RecodingOptions, options, "recoding"),
        *option_conflicts({**options, **guide.values}),
    ]
    names = {role: [name for name, _ in of_role] for role, of_role in roles.items()}
    added = [sample["weightColumn"]] if sample.get("weightColumn") else []
    problem_list += guide.findings(options.get("algorithm"), names, unit)
    problem_list += bucket_conflicts(options.get("algorithm"), notations, names, unit, added)
    problem_list += [_unowned(name, notations) for name in sorted(remaining - set(options))]
    of_models = [name for name, kind in kinds.items() if issubclass(kind, PrivacyModel)]
    about = [name for name in of_models if privacy_model_class(name).is_about_values]
    problem_list += permutation_conflicts({**options, **guide.values}, notations, names, about)
    problem_list += suppression_conflicts(options, of_models, roles, unit)
    problem_list += composition_conflicts(options, notations)
    if not of_models:
        problem_list += _useless([*roles, *options, *guide.values])
        problem_list += uncounted(unit, sample)
    elif not columns.get("quasi-identifier"):
        problem_list.append(missing_parameter(of_models[0], "quasi-identifier"))
    weights = [one.get("weight", 1) for one in columns.get("quasi-identifier", [])]
    if weights and not any(weight != 0 for weight in weights):
        message = "Every quasi-identifier has the weight 0. One at least has more."
        problem_list.append(Finding("M003", "quasi-identifier", message))
    problem_list += role_conflicts({role: tuple(some) for role, some in names.items()}, unit)
    return {"columns": columns, "methods": models, "recoding": options}, [
        (f, None) for f in problem_list
    ]


def _useless(names: Iterable[str]) -> Iterator[Finding]:
    """Yield the parameters that are about classes, where no privacy model forms any (M004)."""
    term = terms.vocabulary()[f"{terms.PE}PrivacyModel"]
    own = {terms.local_name(iri) for key in ("requires", "allows") for iri in term.iris(key)}
    for name in names:
        if name in own:
            message = f"masking has no parameter {name!r}: masking alone bounds nothing. Ask for a "
            yield Finding("M004", name, f"{message}privacy model as well.")


def _scope_problems(scope: object, roles: Mapping[str, object]) -> Iterator[Finding]:
    if not roles.get("pseudonymize"):
        message = "pseudonymScope is about pseudonyms, and the policy asks for none."
        yield Finding("M004", "pseudonymScope", message)
    if not isinstance(scope, str):
        message = f"pseudonymScope is not allowed to be {scope!r}. Allowed is a text."
        yield Finding("M003", "pseudonymScope", message)
    elif not scope.strip():
        message = "pseudonymScope is not allowed to be empty. Allowed is a name, or an IRI."
        yield Finding("M003", "pseudonymScope", message)
    elif len(scope) > _LONGEST_SCOPE:
        message = f"pseudonymScope has {len(scope):,} characters. Allowed are {_LONGEST_SCOPE:,}."
        yield Finding("M003", "pseudonymScope", message)


_NAMES = ("weightColumn", "pseudonymScope")


_LONGEST_SCOPE = 1_000


def _shown_columns(roles: Mapping[str, Sequence[tuple[str, Value]]], algorithm: object) -> set[str]:
    """Return the columns whose values a released row has as they are: of releases by buckets,
    sensitive values are in a table of their own."""
    visible_roles = (
        ("insensitive",) if algorithm == "bucketization" else ("insensitive", "sensitive")
    )
    return {name for role in visible_roles for name, _ in roles.get(role, ())}


_LEFT_OUT = "identifier"


_SETTINGS: Mapping[str, type[Column]] = {
    "quasi-identifier": QuasiIdentifier,
    "sensitive": Sensitive,
}


def _unowned(name: str, notations: tuple[str, ...]) -> Finding:
    """Return that no method asked for has a parameter, and which methods have it."""
    owners = [
        notation
        for notation, term in terms.methods().items()
        if name in {*parameters(method_class(notation)), *map(terms.local_name, _own(term))}
    ]
    *head, last = notations
    subject = f"{', '.join(head)} and {last} have" if head else f"{last} has"
    return Finding(
        "M004", name, f"{subject} no parameter {name!r}. It belongs to {join_names(owners)}."
    )


def _own(method: terms.Term) -> tuple[str, ...]:
    return (*method.iris("requires"), *method.iris("allows"))


def _masking(name: str, value: Value, datasets: Datasets) -> ColumnMasking:
    settings_ = _with_names(read_settings(value, settings()), datasets)
    return masking_class(settings_["masking"])(name=name, **settings_)


def _kind(role: str, settings_: Mapping[str, Any]) -> tuple[type[Column], str]:
    """Return the model of a column's settings, and its name."""
    if role != MASKED:
        return _SETTINGS[role], role
    notation = str(settings_.get("masking"))
    return (masking_class(notation), notation) if is_known(notation) else (settings(), role)


def _with_names(settings_: Mapping[str, Any], datasets: Datasets) -> dict[str, Any]:
    """Return settings with columns by their names; those of other datasets as they are."""
    iris = settings_.get("given", ())
    columns = ((iri, datasets.column(iri)) for iri in iris)
    names = tuple(column[1] if column else iri for iri, column in columns)
    return {**settings_, **({"given": names} if iris else {})}


def _given_problems(
    roles: Mapping[str, Sequence[tuple[str, Value]]], datasets: Datasets
) -> Located:
    """Return the columns that others are masked given, where they are not in the table (M006),
    are masked together with them, or identify (M003)."""
    used = {name for role, columns in roles.items() if role != _LEFT_OUT for name, _ in columns}
    shuffled = {name for name, value in roles.get(MASKED, ()) if "given" in value.settings}
    identifying = {name for role in IDENTIFIERS for name, _ in roles.get(role, ())}
    problem_list: Located = []
    for name, value in roles.get(MASKED, ()):
        for one in value.settings["given"].all if "given" in value.settings else ():
            column = datasets.column(str(one.value))
            if column is not None and column[1] in identifying:
                message = f"{name!r} is masked given {column[1]!r}, which identifies persons. "
                finding = Finding("M003", "given", f"{message}Allowed are other columns.")
                problem_list.append((finding, one))
            elif column is None or column[1] not in used:
                message = f"{name!r} is masked given {one.value!r}, a column without a role."
                finding = Finding("M006", "given", f"{message} Name it, such as under insensitive.")
                problem_list.append((finding, one))
            elif column[1] in shuffled:
                message = f"{name!r} is masked given {column[1]!r}, which is shuffled as well."
                problem_list.append((Finding("M003", "given", message), one))
    return problem_list


def _column_problems(
    roles: Mapping[str, Sequence[tuple[str, Value]]], datasets: Datasets, cells: CellKind
) -> Located:
    """Return what is wrong with the settings of single columns, each with its place."""
    problem_list = _given_problems(roles, datasets)
    for role in (*_SETTINGS, MASKED):
        for name, value in roles.get(role, ()):
            settings_ = read_settings(value, settings() if role == MASKED else _SETTINGS[role])
            kind, subject = _kind(role, settings_)
            wrong = [
                *parameter_findings(kind, {"name": name, **settings_}, subject),
                *setting_conflicts(role, settings_),
            ]
            wrong += cells.conflicts(settings_) if role == "quasi-identifier" else ()
            for finding in wrong:
                message = f"{name!r}: {as_settings(finding)}"
                place = value.settings.get(finding.parameter, value)
                problem_list.append((finding._replace(message=message), place))
    return problem_list


def as_settings(finding: Finding) -> str:
    """Return the message of a finding on settings: one that is missing, as a policy writes it."""
    missing = finding.code == "M002" and " needs the parameter " in finding.message
    return re.sub(r"'(\w+)'", r"'pe:\1'", finding.message) if missing else finding.message


def _hint(finding: Finding) -> str:
    if finding.code != "M002" or finding.parameter not in _operands():
        return ""
    return f"Add a refinement with the leftOperand {_operands()[finding.parameter]}."


def _operands() -> dict[str, str]:
    operands = terms.instances(f"{terms.ODRL}LeftOperand")
    return {terms.local_name(iri): terms.compact(iri) for iri in operands}


def _notations(part: Constraint | None, action: Action, policy: Policy) -> tuple[str, ...]:
    methods = terms.methods()
    if part is None:
        message = f"The action names no method. Known are {join_names(methods)}."
        hint = "Add a refinement with the leftOperand mosaicrown:method."
        raise PlanError(Problem("M002", message, hint, action.place), source=policy.source)
    problems, notations = [], []
    by_iri = {term.iri: notation for notation, term in methods.items()}
    for value in part.right_operands:
        notation = by_iri.get(str(value.value), str(value.value))
        if notation not in methods:
            name = notation.removeprefix(terms.PE)
            name = terms.compact(notation) if name in methods else name
            message = f"The method {name!r} is not known. Known are {join_names(methods)}."
            problems.append(Problem("M001", message, did_you_mean(name, methods), value.place))
        elif notation in notations:
            message = f"The method {notation!r} is asked for twice."
            problems.append(Problem("M003", message, "", value.place))
        notations.append(notation)
    if problems:
        raise PlanError(*problems, source=policy.source)
    return tuple(notations)


def _columns(
    part: Constraint, datasets: Datasets, problems: list[Problem]
) -> Iterator[tuple[str, str, Value]]:
    """Yield the columns that a parameter names, each by its dataset and its name."""
    for value in part.right_operands:
        name = datasets.column(str(value.value))
        if name is None:
            their = " and ".join(f"{target}/..." for target in datasets.iris)
            message = f"{value.value!r} is not a column of the target. Its columns are {their}"
            hint = "In a name, / ? # and a blank are written as %2F, %3F, %23 and %20."
            problems.append(Problem("M006", message, hint, value.place))
        else:
            yield *name, value
