"""The syntaxes that a policy may be written in, each read to a JSON-LD document."""

import re

from policy_engine.policy.syntax import Syntax
from policy_engine.policy.syntax.json_text import Document, read_json
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits

_TURTLE = re.compile(
    rb"@prefix\b|@base\b|(?i:prefix|base)\s|_:|<[^\s<>\"{}|^`]*>|\[(?!\s*[\[{\"\]])"
    rb"|[A-Za-z][\w.-]*:|:|\("
)
_BLANKS = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s+|#[^\r\n]*)*+")

_ENDINGS: dict[str, Syntax] = {
    ".json": "json-ld",
    ".jsonld": "json-ld",
    ".ttl": "turtle",
    ".nt": "n-triples",
    ".rdf": "rdf-xml",
    ".xml": "rdf-xml",
    ".owl": "rdf-xml",
    ".yaml": "yaml",
    ".yml": "yaml",
}
_SHORT = re.compile(rb"(?m)^policy:[ \t]+\S")
"""What a text in the short form has, and at the start of a line no other."""


def syntax_of(name: str, text: bytes = b"") -> Syntax:
    """Return the syntax of a text: by the ending of its file's name, else by how it begins.

    What looks like none of the others is taken for JSON-LD, whose reader says why it is not.
    """
    ending = name[name.rfind(".") :].lower() if "." in name else ""
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    if not text.lstrip().startswith((b"{", b"[")) and _SHORT.search(text):
        return "yaml"
    start = _BLANKS.match(text)
    at = start.end() if start else 0
    if _TURTLE.match(text, at):
        return "turtle"
    return "rdf-xml" if text[at : at + 1] == b"<" else "json-ld"


def read_document(
    text: str | bytes | Document, source: str, syntax: Syntax, limits: Limits = DEFAULT_LIMITS
) -> Document:
    """Return a text as a JSON-LD document that knows where each part stood; one as it is.

    Raises PolicyError where it is not a text in its syntax, or goes beyond the limits.
    """
    if isinstance(text, Document):
        return text
    if syntax == "json-ld":
        return read_json(text, source, limits)
    if syntax == "yaml":
        from policy_engine.policy.syntax.short import read_short  # noqa: PLC0415 (as below)

        return read_short(text, source, limits)
    from policy_engine.policy.syntax.rdf import to_json_ld  # noqa: PLC0415 (only where it is needed)

    return to_json_ld(text, syntax, source, limits)
