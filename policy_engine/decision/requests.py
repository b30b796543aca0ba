"""Requests and states of the world from what a person writes."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from policy_engine import terms
from policy_engine.decision.model import Request, World
from policy_engine.errors import Problem, RequestError

_NO_TEXT = re.compile("[\ud800-\udfff]")


def read_request(assignee: str, action: str, targets: Sequence[str], purpose: str = "") -> Request:
    """Return a request from IRIs, or from the short names of the bundled contexts.

    Raises RequestError (D001) where a name stands for no IRI.
    """
    parts = {"assignee": [assignee], "action": [action], "target": targets, "purpose": [purpose]}
    for part, given in parts.items():
        for name in given:
            if _NO_TEXT.search(name):
                message = f"The {part} {name!r} is no text that UTF-8 can write."
                raise RequestError.of("D001", message)
    iris = {part: tuple(map(terms.in_full, names)) for part, names in parts.items()}
    for part, names in iris.items():
        for name in names:
            if not terms.has_known_scheme(name) and not (part == "purpose" and not name):
                message = (
                    f"The {part} {name!r} is no whole IRI and no term of the bundled contexts."
                )
                raise RequestError.of("D001", message)
    return Request(
        assignee=iris["assignee"][0],
        action=iris["action"][0],
        targets=iris["target"],
        purpose=iris["purpose"][0],
    )


def no_iri(part: str, name: str) -> str:
    """Return that a name stands for nothing, as a sentence."""
    return f"The {part} {name!r} is no whole IRI and no term of the bundled contexts."


def read_world(given: str | bytes | Mapping[str, Any], source: str = "") -> World:
    """Return a state of the world from JSON, as text or as Python has it.

    Raises RequestError (D003) with everything that is wrong in it.
    """
    try:
        value = given if isinstance(given, Mapping) else json.loads(given, object_pairs_hook=_once)
        return World.model_validate(value)
    except ValidationError as error:
        problems = [
            Problem("D003", f"{'.'.join(map(str, one['loc'])) or 'The text'}: {one['msg']}.")
            for one in error.errors(include_url=False)
        ]
        raise RequestError(*problems, source=source) from None
    except (ValueError, RecursionError) as error:
        message = f"The state of the world is no JSON: {error}."
        raise RequestError(Problem("D003", message), source=source) from None


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. Raises ValueError for a key that stands in it twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(
            name for name, times in Counter(name for name, _ in pairs).items() if times > 1
        )
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return found
