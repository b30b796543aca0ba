"""Checks files of policies against who owns what."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from policy_engine.authoring.validating import (
    Checked,
    add_problems,
    check_each,
    data_iris,
    edges_of,
    in_force,
)
from policy_engine.policy import Reading
from policy_engine.policy.claims import Claims
from policy_engine.policy.owners import OwnersSource, load_owners, output_problems
from policy_engine.policy.owners.hearing import unheard


def check_owned_files(
    paths: Sequence[Path],
    reading: Reading,
    owners: OwnersSource,
    data: Mapping[str, Any] | None = None,
) -> list[Checked]:
    """Return the problems of files as `check_files` does, where it is stated who owns what.

    Rules that do not count are among the hints. Raises RequestError (D004) for owners that cannot
    be understood.
    """
    checked = check_each(paths, reading, data)
    policies = in_force(checked)
    edges = edges_of(policies)
    known_owners = load_owners(owners, policies, reading.contexts).known_by(policies)
    problems = output_problems(Claims(policies), known_owners, edges, data_iris(data, checked))
    return add_problems(checked, problems, unheard(policies, known_owners, edges))
