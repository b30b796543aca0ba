"""Checks files of policies or vocabularies, as far as possible without the values of data."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from policy_engine.data.catalog import Catalog, make_catalog
from policy_engine.errors import DataError, PolicyEngineError, Problem, place_order
from policy_engine.plan.products import check_plannable
from policy_engine.plan.spelling import column_problems, respell_hierarchies
from policy_engine.policy import InForce, Policy, Reading
from policy_engine.policy.collecting.files import is_collection, kind_of
from policy_engine.policy.collecting.registry import files_of
from policy_engine.policy.datasets import named_data
from policy_engine.policy.hierarchy import Edge
from policy_engine.policy.owners import Claims, OwnersSource, load_owners
from policy_engine.policy.owners.hearing import unheard


class Checked(NamedTuple):
    """The result for a file: problems, hints, and its content: policies, or something else.

    `notes` say which policies of a folder or a registry are no longer in force, which are `ended`.
    """

    path: Path
    problems: tuple[Problem, ...] = ()
    hints: tuple[Problem, ...] = ()
    what: str = ""
    exit_code: int = 0
    notes: tuple[str, ...] = ()
    policies: tuple[Policy, ...] = ()
    ended: tuple[Policy, ...] = ()


def check_files(
    paths: Sequence[Path],
    reading: Reading,
    data: Mapping[str, Any] | None = None,
    owners: OwnersSource | None = None,
) -> list[Checked]:
    """Return the problems of files, of each by itself and of all together, as `check_path` does.

    Policies that meet in one decision are checked together: their outputs must belong to them. With
    `owners`, rules that do not count are among the hints. Raises RequestError (D004) for owners
    that cannot be understood.
    """
    checked = [one for path in paths for one in check_path(path, reading, data)]
    policies = InForce(
        (policy for one in checked for policy in one.policies),
        ended=(policy for one in checked for policy in one.ended),
    )
    known_owners = load_owners(owners, policies, reading.contexts)
    data_iris = _data_iris(data, checked)
    claims = Claims(policies)
    owners_known, edges = known_owners.known_by(policies), _edges(policies)
    problems = _group_by_file(claims.problems(owners_known, edges, data_iris))
    hints = _group_by_file(unheard(policies, owners_known, edges))
    return [_add_problems(one, problems[str(one.path)], hints[str(one.path)]) for one in checked]


def _data_iris(data: Mapping[str, Any] | None, checked: Sequence[Checked]) -> list[str]:
    """Return the IRIs of data, which may be named differently in each file."""
    data_by_file = (named_data(data, one.policies) for one in checked if data and one.policies)
    return [*dict.fromkeys(iri for iris in data_by_file for iri in iris)]


def _edges(policies: Iterable[Policy]) -> tuple[Edge, ...]:
    """Return what the vocabularies say about parts of assets."""
    return tuple(dict.fromkeys(e for p in policies for e in p.vocabulary.hierarchy.asset))


def _group_by_file(problems: Iterable[tuple[Policy, Problem]]) -> Mapping[str, list[Problem]]:
    by_file: dict[str, list[Problem]] = defaultdict(list)
    for policy, problem in problems:
        if problem not in by_file[policy.source]:
            by_file[policy.source].append(problem)
    return by_file


def _add_problems(one: Checked, problems: list[Problem], hints: list[Problem]) -> Checked:
    if problems:
        all_problems = tuple(sorted((*one.problems, *problems), key=place_order))
        return one._replace(problems=all_problems, hints=(), exit_code=one.exit_code or 1)
    return one._replace(hints=(*one.hints, *hints)) if hints else one


def check_path(
    path: Path, reading: Reading, data: Mapping[str, Any] | None = None
) -> list[Checked]:
    """Return the problems of a file, or of each file in a folder or a registry of policies.

    Policies no longer in force only have to be readable, if they exist.
    """
    if not is_collection(path):
        return [check_file(path, reading, data)]
    try:
        policies = reading.policies_in_force(path)
    except PolicyEngineError as error:
        results = [check_file(one, reading, data) for one in _files(path) if not error.source]
        failures = [one for one in results if one.problems]
        return failures or [Checked(Path(error.source or path), error.problems, exit_code=1)]
    checked = []
    for source in dict.fromkeys(policy.source for policy in policies):
        own = tuple(policy for policy in policies if policy.source == source)
        checked.append(_check_policies(Path(source), own, data, policies))
    summary = f" ({len(policies)} in force)"
    return [*checked, Checked(path, what=summary, notes=policies.notes, ended=policies.ended)]


def _files(path: Path) -> list[Path]:
    return [*files_of(path)] if path.is_dir() else []


def check_file(path: Path, reading: Reading, data: Mapping[str, Any] | None = None) -> Checked:
    """Return the problems of a file of policies, of memberships, or of terms.

    With data by IRI, columns that the file names and the data lacks are problems.
    """
    try:
        kind = kind_of(path, reading.limits)
        if kind == "hierarchy":
            respell_hierarchies(_catalog(data), [], [reading.hierarchy([path])])
            return Checked(path, what=" (who and what belongs to what)")
        if kind == "vocabulary":
            _ = replace(reading, vocabularies=(*reading.vocabularies, path)).vocabulary
            return Checked(path, what=" (a vocabulary)")
        policies = reading.policies(path)
    except PolicyEngineError as error:
        return Checked(path, error.problems, exit_code=_exit_code(error))
    return _check_policies(path, policies, data, policies)


def _check_policies(
    path: Path,
    policies: tuple[Policy, ...],
    data: Mapping[str, Any] | None,
    among: Sequence[Policy],
) -> Checked:
    """Return the problems of the policies in a file, which are given among others."""
    try:
        catalog = _catalog(data, among)
        for policy in policies:
            check_plannable(policy)
        problems = [
            problem for policy in policies for problem in column_problems(policy, catalog, among)
        ]
    except PolicyEngineError as error:
        return Checked(path, error.problems, exit_code=_exit_code(error))
    if problems:
        return Checked(path, tuple(problems), exit_code=1)
    hints = tuple(hint for policy in policies for hint in policy.hints)
    return Checked(path, hints=hints, policies=policies)


def _exit_code(error: PolicyEngineError) -> int:
    if isinstance(error, DataError):
        is_about_names = {problem.code for problem in error.problems} <= {"C001", "C005"}
        return 1 if is_about_names else error.exit_code
    return error.exit_code


def _catalog(data: Mapping[str, Any] | None, policies: Sequence[Policy] = ()) -> Catalog:
    return make_catalog(named_data(data, policies), in_buckets=True) if data else Catalog()
