"""Requests from what a person writes."""

import re
from collections.abc import Sequence

from policy_engine import terms
from policy_engine.decision.model import Request
from policy_engine.errors import RequestError

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
