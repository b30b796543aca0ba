"""Which syntax a text of RDF is in, and the same in another."""

import json
import re
from collections.abc import Mapping
from typing import Any

from policy_engine.data.rdf import Statements, read_rdf
from policy_engine.errors import Place, PolicyError, Problem
from policy_engine.policy.syntax import Syntax
from policy_engine.policy.syntax.json_text import decoded, read_json
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits
from policy_engine.policy.syntax.rdf.expanded import bounds_of, read_json_ld
from policy_engine.policy.syntax.rdf.repeated_operands import refuse_repeated_operands
from policy_engine.policy.syntax.rdf.texts import refuse_name_like_texts
from policy_engine.policy.syntax.rdf.tree import Converted, json_ld_of
from policy_engine.policy.syntax.rdf.writing import to_n_triples, to_rdf_xml, to_turtle
from policy_engine.policy.syntax.short import read_short, write_short

_HALF_PAIR = re.compile("[\ud800-\udfff]")


def to_json_ld(
    text: bytes | str, syntax: Syntax, source: str = "", limits: Limits = DEFAULT_LIMITS
) -> Converted:
    """Return the JSON-LD that means the same as a text in another syntax, for the reader.

    Its places are the lines and columns of the text given. Raises PolicyError: F001 where the
    text is not in its syntax, L006 for a relative IRI, L007 for a text
    that looks like a name where names are compared, J003 beyond the limits, J004
    where it is not UTF-8, P001 where it says nothing, P002 where an `odrl:uid` is another IRI,
    P014 where a logical constraint names another twice, F002 where JSON-LD cannot say it.
    """
    statements = read_statements(text, syntax, source, {}, limits)
    refuse_repeated_operands(statements)
    return json_ld_of(statements)


def convert_text(
    text: bytes | str,
    syntax: Syntax,
    to: Syntax,
    source: str = "",
    contexts: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> str:
    """Return a text of one syntax in another (or in the same, put in order).

    `contexts` are JSON-LD contexts beyond the bundled ones, by URL. Raises PolicyError as
    `to_json_ld` does, and F002 for what the other syntax cannot say.
    """
    statements = read_statements(text, syntax, source, contexts or {}, limits)
    if to == "json-ld":
        return json.dumps(json_ld_of(statements).value, indent=2, ensure_ascii=False) + "\n"
    if to == "yaml":
        return _short_form(json_ld_of(statements).value, source, limits)
    write = {"turtle": to_turtle, "n-triples": to_n_triples, "rdf-xml": to_rdf_xml}[to]
    return write(statements)


def _short_form(document: Mapping[str, Any], source: str, limits: Limits) -> str:
    """Return a policy's JSON-LD in the short form. Raises PolicyError (F002) if it does not fit."""
    text = write_short(document, source)
    try:
        read_short(text, source, limits)
    except PolicyError as error:
        message = f"The short form cannot say all of this. {error.problems[0].message}"
        raise PolicyError.of("F002", message, "Convert to json-ld.", source) from None
    return text


def read_statements(
    text: bytes | str, syntax: Syntax, source: str, contexts: Mapping[str, Any], limits: Limits
) -> Statements:
    """Return the statements of a text, with places. Raises PolicyError for errors of syntax."""
    decoded_text = decoded(text, source, limits)
    half = _HALF_PAIR.search(decoded_text)
    if half:
        message = "The text holds half of a surrogate pair."
        before = decoded_text[: half.start()]
        place = Place("", before.count("\n") + 1, len(before) - before.rfind("\n"))
        raise PolicyError(Problem("J004", message, "", place), source=source)
    if syntax == "json-ld":
        return read_json_ld(read_json(decoded_text, source, limits), source, contexts, limits)
    if syntax == "yaml":
        return read_json_ld(read_short(decoded_text, source, limits), source, contexts, limits)
    statements = read_rdf(decoded_text, syntax, source, bounds_of(limits), PolicyError)
    refuse_name_like_texts(statements)
    return statements
