"""Files of policies or of vocabularies, checked as far as can be without the data's values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from policy_engine.catalog import Catalog, make_catalog
from policy_engine.errors import DataError, PolicyEngineError, Problem
from policy_engine.modelling import check_plannable
from policy_engine.policy import Policy, Reading
from policy_engine.policy.datasets import named_data
from policy_engine.policy.files import kind_of
from policy_engine.spelling import column_problems, in_spelling_of


@dataclass(frozen=True)
class Checked:
    """What was found in a file: problems, hints, and what it holds if it is no policy."""

    path: Path
    problems: tuple[Problem, ...] = ()
    hints: tuple[Problem, ...] = ()
    what: str = ""
    exit_code: int = 0


def check_file(path: Path, reading: Reading, data: Mapping[str, Any] | None = None) -> Checked:
    """Return what is wrong with a file of policies, of who belongs to what, or of terms.

    With data by IRI, the columns that it names and the data lacks are among it.
    """
    try:
        kind = kind_of(path, reading.limits)
        if kind == "hierarchy":
            in_spelling_of(_catalog(data), [], [reading.hierarchy([path])])
            return Checked(path, what=" (who and what belongs to what)")
        if kind == "vocabulary":
            _ = replace(reading, vocabularies=(*reading.vocabularies, path)).vocabulary
            return Checked(path, what=" (a vocabulary)")
        policies = reading.policies(path)
        catalog = _catalog(data, policies)
        for policy in policies:
            check_plannable(policy)
        problems = [
            problem for policy in policies for problem in column_problems(policy, catalog, policies)
        ]
    except DataError as error:
        is_about_names = {problem.code for problem in error.problems} <= {"C001", "C005"}
        return Checked(path, error.problems, exit_code=1 if is_about_names else error.exit_code)
    except PolicyEngineError as error:
        return Checked(path, error.problems, exit_code=error.exit_code)
    if problems:
        return Checked(path, tuple(problems), exit_code=1)
    return Checked(path, hints=tuple(hint for policy in policies for hint in policy.hints))


def _catalog(data: Mapping[str, Any] | None, policies: Sequence[Policy] = ()) -> Catalog:
    return make_catalog(named_data(data, policies)) if data else Catalog()
