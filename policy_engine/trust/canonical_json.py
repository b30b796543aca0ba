"""JSON as it is signed: read strictly, and written in the one canonical form of RFC 8785."""

import json
from collections.abc import Sequence
from typing import Any, NoReturn

from policy_engine.errors import PolicyEngineError, SignatureError, TrustError

MOST_BYTES = 64 * 2**20
MOST_LEVELS = 100
"""How deep the objects and lists of a signed document may be nested: as deep as no document is, and
far from where the stack of a reader ends, which is elsewhere for each."""


def canonical_bytes(document: Any, source: str = "") -> bytes:
    """Return a JSON value in the form of RFC 8785 (JCS).

    Raises TrustError (Y004) for what has no such form: a whole number beyond 53 bits, a number that
    is not finite, half of a surrogate pair, or more levels than can be walked.
    """
    import rfc8785  # noqa: PLC0415 (only where something is signed)

    try:
        return rfc8785.dumps(document)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as error:
        message = f"The document has no canonical form: {_reason(error)}."
        raise TrustError.of("Y004", message, source=source) from None


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, UnicodeEncodeError):
        return "a key is not text that UTF-8 can hold"
    return f"{error}"[:200]


def read_document(text: str | bytes, source: str = "") -> dict[str, Any]:
    """Read a signed JSON object so that no two readers can see different things in it.

    Raises SignatureError (Y005) for text that is not UTF-8 or not JSON (RFC 8259), a key that is
    twice in one object (RFC 8785, section 3.1, by RFC 7493), NaN, another value than an object,
    more than 64 MiB, or more than 100 levels.
    """
    if len(text) > MOST_BYTES:
        raise _unreadable(f"it has more than {MOST_BYTES:,} bytes", source)
    try:
        plain = text if isinstance(text, str) else text.decode("utf-8-sig")
        value = json.loads(plain, object_pairs_hook=_unique, parse_constant=_not_json)
    except UnicodeDecodeError:
        raise _unreadable("it is not UTF-8", source) from None
    except RecursionError:
        raise _unreadable("it is nested too deeply", source) from None
    except json.JSONDecodeError as error:
        raise _unreadable(f"it is not JSON (line {error.lineno})", source) from None
    except ValueError as error:
        raise _unreadable(str(error)[:200], source) from None
    if not isinstance(value, dict):
        raise _unreadable("it is not an object", source)
    if not _is_shallow(value):
        raise _unreadable("it is nested too deeply", source)
    return value


def _is_shallow(value: Any) -> bool:
    """Tell whether no more objects and lists are nested than may be."""
    layer = [value]
    for _ in range(MOST_LEVELS + 1):
        layer = [one for one in layer if isinstance(one, dict | list)]
        if not layer:
            return True
        layer = [
            one for each in layer for one in (each.values() if isinstance(each, dict) else each)
        ]
    return False


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key is twice in one object")
    return made


def _not_json(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _unreadable(reason: str, source: str) -> PolicyEngineError:
    return SignatureError.of("Y005", f"The signed document cannot be read: {reason}.", "", source)
