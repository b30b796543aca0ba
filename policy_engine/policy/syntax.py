"""The syntaxes that a policy may be written in, each read to a JSON-LD document."""

from typing import Literal, get_args

from policy_engine.policy.limits import USUAL, Limits
from policy_engine.policy.text import Document, read_json

Syntax = Literal["json-ld", "turtle", "n-triples", "rdf-xml"]
SYNTAXES: tuple[Syntax, ...] = get_args(Syntax)
_ENDINGS: dict[str, Syntax] = {
    ".ttl": "turtle",
    ".nt": "n-triples",
    ".rdf": "rdf-xml",
    ".xml": "rdf-xml",
    ".owl": "rdf-xml",
}


def syntax_of(name: str) -> Syntax:
    """Return the syntax that the ending of a file's name tells; JSON-LD for any other."""
    ending = name[name.rfind(".") :].lower() if "." in name else ""
    return _ENDINGS.get(ending, "json-ld")


def read_document(
    text: str | bytes, source: str, syntax: Syntax, limits: Limits = USUAL
) -> Document:
    """Return a text as a JSON-LD document that knows where each part stood.

    Raises PolicyError where it is no text in its syntax, or goes beyond the limits.
    """
    if syntax == "json-ld":
        return read_json(text, source, limits)
    from policy_engine.policy.rdf import to_json_ld  # noqa: PLC0415 (only where it is needed)

    return to_json_ld(text, syntax, source, limits)
