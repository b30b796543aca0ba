"""The statements of a text in Turtle, N-Triples, RDF/XML or JSON-LD; nothing is fetched."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

from policy_engine import terms
from policy_engine.data.rdf.statements import Literal, Statement
from policy_engine.errors import Place, PolicyError, Problem
from policy_engine.policy.syntax.detection import syntax_of
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, MAX_PROBLEMS, Limits
from policy_engine.policy.syntax.rdf import read_statements
from policy_engine.policy.syntax.rdf.repeated_operands import refuse_repeated_operands
from policy_engine.policy.xsd.literals import NUMERIC_TYPES, check_time, read_literal

_COMMENT = re.compile(rb"#[^\r\n]*")
_NUMBER = re.compile(
    r"[-+]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]+)?|inf(?:inity)?)|nan", re.IGNORECASE
)
_NUMERIC = {f"{terms.XSD}{name}" for name in NUMERIC_TYPES}
_LANGUAGE = re.compile("[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")


def statements(
    text: bytes, path: Path | None, contexts: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS
) -> tuple[Statement, ...]:
    """Return the statements of a text, in order; its syntax is told by its file name or its start.

    Raises PolicyError for a text that is not RDF in its syntax (F001), relative IRIs (L006),
    something that JSON-LD would drop (L002) or fetch (L001), a number that is not a value of its
    data type, such as one beyond the range of doubles (P007), a time that is finer than
    microseconds (P007), a constraint that a logical one names twice (P014), and a text that is too
    large (J003).
    """
    source = str(path) if path else ""
    if not path and not _COMMENT.sub(b"", text).strip():
        return ()
    statements_read = read_statements(text, syntax_of(source, text), source, contexts, limits)
    refuse_repeated_operands(statements_read)
    for one in statements_read.items:
        if isinstance(one.value, Literal) and one.value.language:
            _check_language(one.value.language, Place("", *one.spot), source)
    wrong = chain(_number_problems(statements_read.items), _time_problems(statements_read.items))
    problems = [*islice(wrong, MAX_PROBLEMS)]
    if problems:
        raise PolicyError(*problems, source=source)
    return statements_read.items


def _number_problems(items: Iterable[Statement]) -> Iterator[Problem]:
    """Yield the numbers that are not values of their numeric data type.

    A number of JSON would be refused; a literal would be unknown, or equal to all that are as odd.
    """
    for one in items:
        if isinstance(one.value, Literal) and one.value.type in _NUMERIC:
            text = one.value.text
            try:
                read_literal(text, one.value.type)
            except ValueError as error:
                if _NUMBER.fullmatch(text.strip(" \t\r\n")):
                    yield Problem("P007", f"{error}.", place=Place("", *one.spot))


def _time_problems(items: Iterable[Statement]) -> Iterator[Problem]:
    """Yield the times that are finer than microseconds: compared without that, some are equal."""
    for one in items:
        if isinstance(one.value, Literal):
            try:
                check_time(one.value.text)
            except ValueError as error:
                yield Problem("P007", f"{error}.", place=Place("", *one.spot))


def _check_language(tag: str, place: Place, source: str) -> None:
    """Refuse a language tag that would not be valid when it is written again."""
    if not _LANGUAGE.fullmatch(tag):
        message = f"{tag!r:.40} is not a language tag such as 'en'."
        raise PolicyError(Problem("F001", message, place=place), source=source)
