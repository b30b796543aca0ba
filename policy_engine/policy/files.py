"""Policies from files."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from policy_engine.errors import DataError, PolicyError, Problem
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.limits import USUAL, Limits
from policy_engine.policy.model import Policy
from policy_engine.policy.reader import read_drafts, read_hierarchy, read_policies
from policy_engine.policy.syntax import Syntax, read_document, syntax_of

Source = str | Path | Mapping[str, Any] | Policy
"""A policy: the path of its file, its JSON as Python has it, or read already."""


def load_policy(
    source: Source,
    contexts: Mapping[str, Any] | None = None,
    parents: Sequence[Source] = (),
    limits: Limits = USUAL,
) -> Policy:
    """Return a policy, read from its file or its JSON (as text or as Python has it).

    A file's ending tells its syntax, and how it begins where the ending is none of JSON-LD's or
    RDF's. `parents` are what it may inherit from. Raises DataError where there is no such
    file, PolicyError where it is no valid policy, or not a single one.
    """
    policies = load_policies(source, contexts, parents, limits)
    if len(policies) != 1:
        message = f"One policy is needed. The text holds {len(policies)}."
        raise PolicyError(
            Problem("P001", message, "", policies[1].place), source=policies[0].source
        )
    return policies[0]


def load_policies(
    source: Source,
    contexts: Mapping[str, Any] | None = None,
    parents: Sequence[Source] = (),
    limits: Limits = USUAL,
) -> tuple[Policy, ...]:
    """Return every policy that a file or a JSON text holds. Raises as `load_policy`."""
    if isinstance(source, Policy):
        return (source,)
    above = [draft for parent in parents for draft in _drafts(parent, contexts, limits)]
    text, name, syntax = _text(source)
    return read_policies(
        text, source=name, contexts=contexts, parents=above, limits=limits, syntax=syntax
    )


def load_hierarchies(
    paths: Sequence[str | Path], contexts: Mapping[str, Any] | None = None
) -> Hierarchy:
    """Return what files say of who and what belongs to what, taken together.

    Raises DataError where there is no such file, PolicyError where it says anything else.
    """
    found = []
    for path in paths:
        text = read_file(Path(path))
        syntax = syntax_of(str(path), text)
        found.append(read_hierarchy(text, source=str(path), contexts=contexts, syntax=syntax))
    return Hierarchy().joined(found)


def is_vocabulary(path: Path, limits: Limits = USUAL) -> bool:
    """Tell whether a file says what belongs to what, and nothing that only a policy says."""
    try:
        text = read_file(path)
        document = read_document(text, str(path), syntax_of(str(path), text), limits)
    except PolicyError:
        return False
    keys = set(_names(document.value))
    return bool(keys & _OF_HIERARCHIES) and not keys & _OF_POLICIES


_OF_HIERARCHIES = {"belongsTo", "partOf", "includedIn", "implies", "declinationOf", "broader"}
_OF_POLICIES = {"permission", "prohibition", "obligation", "profile", "conflict", "inheritFrom"}


def _names(value: Any) -> Iterator[str]:
    """Yield the last parts of the keys of the objects at the top of a JSON-LD text."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            yield from (key.replace("/", ":").replace("#", ":").rsplit(":", 1)[-1] for key in one)
            yield from _names(one.get("@graph"))


def _drafts(
    source: Source, contexts: Mapping[str, Any] | None, limits: Limits
) -> tuple[Policy, ...]:
    if isinstance(source, Policy):
        return (source,)
    text, name, syntax = _text(source)
    return read_drafts(text, source=name, contexts=contexts, limits=limits, syntax=syntax)


def _text(source: Source) -> tuple[str | bytes, str, Syntax]:
    """Return the text of a policy, its name in messages, and its syntax."""
    if isinstance(source, Mapping | list):
        return json.dumps(source), "", "json-ld"
    if isinstance(source, str) and source.lstrip()[:1] in ("{", "["):
        return source, "", "json-ld"
    if not isinstance(source, str | Path):
        message = f"A policy is a path, JSON or a Policy. Given: a {type(source).__name__}."
        raise DataError.of("C010", message)
    text = read_file(Path(source))
    return text, str(source), syntax_of(str(source), text)


def read_file(path: Path) -> bytes:
    """Return a file's bytes. Raises DataError where it is missing or cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError.of("C002", f"There is no file {str(path)!r}.") from None
    except (OSError, ValueError) as error:
        message = f"The file cannot be read: {getattr(error, 'strerror', None) or error}."
        raise DataError.of("C003", message, source=str(path)) from None
