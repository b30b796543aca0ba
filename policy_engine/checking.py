"""Files of policies or of vocabularies, checked as far as can be without data."""

from dataclasses import dataclass
from pathlib import Path

from policy_engine.errors import PolicyEngineError, Problem
from policy_engine.modelling import check_plannable
from policy_engine.policy import Reading
from policy_engine.policy.files import is_vocabulary


@dataclass(frozen=True)
class Checked:
    """What was found in a file: problems, hints, and what it holds if it is no policy."""

    path: Path
    problems: tuple[Problem, ...] = ()
    hints: tuple[Problem, ...] = ()
    what: str = ""
    exit_code: int = 0


def check_file(path: Path, reading: Reading) -> Checked:
    """Return what is wrong with a file of policies, or of who and what belongs to what."""
    try:
        if is_vocabulary(path, reading.limits):
            reading.hierarchy([path])
            return Checked(path, what=" (who and what belongs to what)")
        policies = reading.policies(path)
        for policy in policies:
            check_plannable(policy)
    except PolicyEngineError as error:
        return Checked(path, error.problems, exit_code=error.exit_code)
    return Checked(path, hints=tuple(hint for policy in policies for hint in policy.hints))
