"""Files of policies or of vocabularies, checked as far as can be without the data's values."""

from dataclasses import dataclass, replace
from pathlib import Path

from policy_engine.catalog import Catalog
from policy_engine.errors import DataError, PolicyEngineError, Problem
from policy_engine.modelling import check_plannable
from policy_engine.policy import Reading
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


def check_file(path: Path, reading: Reading, catalog: Catalog | None = None) -> Checked:
    """Return what is wrong with a file of policies, of who belongs to what, or of terms.

    With a catalog, the columns that it names and the data lacks are among it.
    """
    try:
        kind = kind_of(path, reading.limits)
        if kind == "hierarchy":
            in_spelling_of(catalog or Catalog(), [], [reading.hierarchy([path])])
            return Checked(path, what=" (who and what belongs to what)")
        if kind == "vocabulary":
            _ = replace(reading, vocabularies=(*reading.vocabularies, path)).vocabulary
            return Checked(path, what=" (a vocabulary)")
        policies = reading.policies(path)
        for policy in policies:
            check_plannable(policy)
        problems = [
            problem
            for policy in policies
            for problem in column_problems(policy, catalog or Catalog(), policies)
        ]
    except DataError as error:
        is_about_names = {problem.code for problem in error.problems} <= {"C001", "C005"}
        return Checked(path, error.problems, exit_code=1 if is_about_names else error.exit_code)
    except PolicyEngineError as error:
        return Checked(path, error.problems, exit_code=error.exit_code)
    if problems:
        return Checked(path, tuple(problems), exit_code=1)
    return Checked(path, hints=tuple(hint for policy in policies for hint in policy.hints))
