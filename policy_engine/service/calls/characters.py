"""Which characters texts of calls have: those that every database keeps."""

import re
from collections.abc import Iterator
from typing import Any

from fastapi import Request

from policy_engine.errors import ServiceError
from policy_engine.service.identity.authorising import nothing_there

NUL = "\0"
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SUSPECT = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])|\xed[\xa0-\xbf]|\0")
"""What a body has that has such a character, as an escape or, in any encoding of JSON, itself."""


async def check_characters(call: Request) -> None:
    """Check that no text of a call has U+0000, or half a character, in any kind of database.

    PostgreSQL stores neither, SQLite stores the first. Uploaded bytes are not checked. Raises
    ServiceError: N003 for a path, by which nothing can be called, N007 for a query or JSON.
    """
    if NUL in call.scope["path"]:
        raise nothing_there()
    if b"%00" in call.scope["query_string"]:
        check_text(NUL)
    if getattr(call.scope.get("route"), "body_field", None) is None:
        return  # only JSON bodies hold texts that are stored
    if has_suspect(await call.body()):
        for text in _texts(await _json(call)):
            check_text(text)


def has_suspect(body: bytes) -> bool:
    """Return whether JSON may have a character that is not allowed."""
    return _SUSPECT.search(body) is not None


def check_text(text: str) -> None:
    """Check that a text can be kept. Raises ServiceError (N007)."""
    if NUL in text:
        message = "A text of the call has the character U+0000, which is not allowed."
        raise ServiceError.of("N007", message)
    if _SURROGATE.search(text):
        message = "A text of the call has half a character: a surrogate by itself."
        raise ServiceError.of("N007", message)


async def _json(call: Request) -> Any:
    """Return the JSON of a call; None for what is none, which its route sees to."""
    try:
        return await call.json()
    except ValueError:
        return None


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of JSON, with the names in it, however deep."""
    rest = [value]
    while rest:
        one = rest.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            rest += [*one, *one.values()]
        elif isinstance(one, list):
            rest += one
