"""Policies from files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from policy_engine.errors import DataError
from policy_engine.policy.model import Policy
from policy_engine.policy.reader import read_policy

Source = str | Path | Mapping[str, Any] | Policy
"""A policy: the path of its file, its JSON as Python has it, or read already."""


def load_policy(source: Source, contexts: Mapping[str, Any] | None = None) -> Policy:
    """Return a policy, read from its file or its JSON (as text or as Python has it).

    Raises DataError where there is no such file, PolicyError where it is no valid policy.
    """
    if isinstance(source, Policy):
        return source
    if isinstance(source, Mapping):
        return read_policy(json.dumps(source), contexts=contexts)
    if isinstance(source, str) and source.lstrip()[:1] in ("{", "["):
        return read_policy(source, contexts=contexts)
    if not isinstance(source, str | Path):
        message = f"A policy is a path, JSON or a Policy. Given: a {type(source).__name__}."
        raise DataError.of("C010", message)
    return read_policy(read_file(Path(source)), source=str(source), contexts=contexts)


def read_file(path: Path) -> bytes:
    """Return a file's bytes. Raises DataError where it is missing or cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError.of("C002", f"There is no file {str(path)!r}.") from None
    except (OSError, ValueError) as error:
        message = f"The file cannot be read: {getattr(error, 'strerror', None) or error}."
        raise DataError.of("C003", message, source=str(path)) from None
