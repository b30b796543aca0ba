"""The statements of a text in Turtle, N-Triples, RDF/XML or JSON-LD; nothing is fetched."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from policy_engine.data.rdf.statements import Literal, Statement
from policy_engine.errors import Place, PolicyError, Problem
from policy_engine.policy.syntax.detection import syntax_of
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits
from policy_engine.policy.syntax.rdf import read_statements

_COMMENT = re.compile(rb"#[^\r\n]*")
_LANGUAGE = re.compile("[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")


def statements(
    text: bytes, path: Path | None, contexts: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS
) -> tuple[Statement, ...]:
    """Return what a text states, in its order; its syntax is told by its file's name or start.

    Raises PolicyError for what is not RDF in its syntax (F001), relative IRIs (L006), what
    JSON-LD would drop (L002) or fetch (L001), and texts that are too large (J003).
    """
    source = str(path) if path else ""
    if not path and not _COMMENT.sub(b"", text).strip():
        return ()
    found = read_statements(text, syntax_of(source, text), source, contexts, limits)
    for one in found.items:
        if isinstance(one.value, Literal) and one.value.language:
            _check_language(one.value.language, Place("", *one.spot), source)
    return found.items


def _check_language(tag: str, place: Place, source: str) -> None:
    """Refuse what would not be the tag of a language where it is written down again."""
    if not _LANGUAGE.fullmatch(tag):
        message = f"{tag!r:.40} is not the tag of a language, such as 'en'."
        raise PolicyError(Problem("F001", message, place=place), source=source)
