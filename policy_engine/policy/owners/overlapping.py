"""Names of assets that are the same, lie in one another or could be confused."""

import unicodedata
from urllib.parse import unquote

from policy_engine import terms


def are_overlapping(first: str, second: str) -> bool:
    """Tell whether one of two IRIs lies in the other, or could be confused with one that does.

    Case, percent-encoding, a port that goes without saying, `http` for `https`, `#` or `?` for `/`
    and slashes at the end make no difference: a person takes all of these for one name.
    """
    one, other = sorted(map(_likeness, (first, second)), key=len)
    return one == other or other.startswith(f"{one}/")


def are_alike(first: str, second: str) -> bool:
    """Tell whether two IRIs could be confused, as `are_overlapping` has it."""
    return _likeness(first) == _likeness(second)


def _likeness(iri: str) -> str:
    """Return what an IRI has in common with those that it could be confused with."""
    iri = terms.canonical(_decoded(terms.canonical(iri)))
    iri = unicodedata.normalize("NFKC", _decoded(iri)).casefold()
    scheme, colon, rest = iri.partition(":")
    name = rest.replace("?", "/").replace("#", "/")
    steps = [step for step in name.split("/") if step not in ("", ".")]
    return f"{'http' if scheme == 'https' else scheme}{colon}{'/'.join(steps)}"


def _decoded(iri: str) -> str:
    """Return an IRI without percent-encoding, however often it was encoded."""
    for _ in range(_MOST_ROUNDS):
        decoded = unquote(iri)
        if decoded == iri:
            break
        iri = decoded
    return iri


_MOST_ROUNDS = 8
