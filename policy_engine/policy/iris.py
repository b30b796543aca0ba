"""What can be told of an IRI by itself: whether it is absolute, and whether it is ours."""

import re

from policy_engine import terms

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def is_ours(iri: str) -> bool:
    """Tell whether an IRI is in a namespace all of whose terms are known here."""
    return iri.startswith((terms.ODRL, terms.MOSAICROWN, terms.PE))


def is_absolute(iri: str) -> bool:
    """Tell whether an IRI is absolute (RFC 3986, section 3)."""
    return bool(_ABSOLUTE.match(iri))


def relative(iri: str, hint: str = "") -> tuple[str, str]:
    """Return what is wrong with a relative IRI, and how to mend it."""
    hint = hint or "Write the whole IRI, such as 'http://example.com/...'."
    if iri.startswith("_:"):
        return f"{iri!r} is a blank node, which has no name outside this text.", hint
    return f"{iri!r} is a relative IRI; it would mean something else in another place.", hint
