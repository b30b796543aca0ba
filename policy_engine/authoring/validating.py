"""Checks files of policies or vocabularies, as far as possible without the values of data."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from policy_engine.errors import DataError, PolicyEngineError, Problem, place_order
from policy_engine.plan.products import check_plannable, hints_of_checks
from policy_engine.policy import InForce, Policy, PolicyText, Reading
from policy_engine.policy.claims import Claims, Problems
from policy_engine.policy.collecting.files import is_collection, kind_of
from policy_engine.policy.collecting.registry import files_of
from policy_engine.policy.hierarchy import Edge
from policy_engine.policy.syntax.limits import MAX_PROBLEMS

if TYPE_CHECKING:
    from policy_engine.authoring.data_columns import DataColumns


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
    paths: Sequence[Path], reading: Reading, data: Mapping[str, Any] | None = None
) -> list[Checked]:
    """Return the problems of files, of each by itself and of all together, as `check_path` does.

    Policies that meet in one decision are checked together: their outputs must belong to them.
    All are one owner's; `check_owned_files` knows of several.
    """
    checked = check_each(paths, reading, data)
    policies = in_force(checked)
    problems = Claims(policies).problems(edges_of(policies), data_iris(data, checked))
    return add_problems(checked, problems)


def check_each(
    paths: Iterable[Path], reading: Reading, data: Mapping[str, Any] | None
) -> list[Checked]:
    """Return the problems of files, of each by itself."""
    return [one for path in paths for one in check_path(path, reading, data)]


def in_force(checked: Sequence[Checked]) -> InForce:
    """Return the policies of files that were checked, and those that are no longer in force."""
    return InForce(
        (policy for one in checked for policy in one.policies),
        ended=(policy for one in checked for policy in one.ended),
    )


def data_iris(data: Mapping[str, Any] | None, checked: Sequence[Checked]) -> list[str]:
    """Return the IRIs of data, which may be named differently in each file."""
    if not data:
        return []
    from policy_engine.policy.datasets import named_data  # noqa: PLC0415 (only with data)

    data_by_file = (named_data(data, one.policies) for one in checked if one.policies)
    return [*dict.fromkeys(iri for iris in data_by_file for iri in iris)]


def edges_of(policies: Iterable[Policy]) -> tuple[Edge, ...]:
    """Return what the vocabularies say about parts of assets."""
    return tuple(dict.fromkeys(e for p in policies for e in p.vocabulary.hierarchy.asset))


def add_problems(
    checked: Iterable[Checked], problems: Problems, hints: Iterable[tuple[Policy, Problem]] = ()
) -> list[Checked]:
    """Return files with problems of several of them, and with hints where they have none."""
    problems_by_file, hints_by_file = _group_by_file(problems), _group_by_file(hints)
    return [
        _add_to_file(one, problems_by_file[str(one.path)], hints_by_file[str(one.path)])
        for one in checked
    ]


def _group_by_file(problems: Iterable[tuple[Policy, Problem]]) -> Mapping[str, list[Problem]]:
    by_file: dict[str, list[Problem]] = defaultdict(list)
    for policy, problem in problems:
        if problem not in by_file[policy.source]:
            by_file[policy.source].append(problem)
    return by_file


def _add_to_file(one: Checked, problems: list[Problem], hints: list[Problem]) -> Checked:
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
    return _check_source(path, path, reading, data)


def check_text(text: PolicyText, reading: Reading) -> Checked:
    """Return the problems of a text of policies, of memberships, or of terms, which has no file."""
    return _check_source(text.parsed(reading.limits), Path(text.name), reading)


def _check_source(
    source: Path | PolicyText, path: Path, reading: Reading, data: Mapping[str, Any] | None = None
) -> Checked:
    try:
        kind = kind_of(source, reading.limits)
        if kind == "hierarchy":
            columns, hierarchy = _columns_of(data), reading.hierarchy([source])
            if columns:
                columns.check_hierarchy(hierarchy)
            return Checked(path, what=" (who and what belongs to what)")
        if kind == "vocabulary":
            _ = replace(reading, vocabularies=(*reading.vocabularies, source)).vocabulary
            return Checked(path, what=" (a vocabulary)")
        policies = reading.policies(source)
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
        columns = _columns_of(data, among)
        for policy in policies:
            check_plannable(policy)
        problems = columns.problems(policies, among) if columns else []
    except PolicyEngineError as error:
        return Checked(path, error.problems[:MAX_PROBLEMS], exit_code=_exit_code(error))
    if problems:
        return Checked(path, tuple(problems[:MAX_PROBLEMS]), exit_code=1)
    hints = (hint for policy in policies for hint in (*policy.hints, *hints_of_checks(policy)))
    return Checked(path, hints=tuple(hints), policies=policies)


def _exit_code(error: PolicyEngineError) -> int:
    if isinstance(error, DataError):
        is_about_names = {problem.code for problem in error.problems} <= {"C001", "C005"}
        return 1 if is_about_names else error.exit_code
    return error.exit_code


def _columns_of(
    data: Mapping[str, Any] | None, policies: Sequence[Policy] = ()
) -> "DataColumns | None":
    """Return the columns of data, None where none is given."""
    if not data:
        return None
    from policy_engine.authoring.data_columns import DataColumns  # noqa: PLC0415 (slow to import)

    return DataColumns(data, policies)
