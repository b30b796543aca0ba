"""The IRIs by which the service calls datasets and people."""

import re

from policy_engine import terms
from policy_engine.errors import RequestError

_SCHEMES = ("http", "https", "urn", "did", "mailto", "acct", "orcid", "tag", "info", "doi", "ark")
_AUTHORITY = re.compile(r"https?://([^/?#@\s]+)")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:]+)(:\d+)?", re.IGNORECASE)


def dataset_name(iri: str) -> str:
    """Return the one spelling of an IRI of a dataset: more than a host, of which others have parts.

    Raises RequestError (D001) for what no dataset is called by.
    """
    name = _name(iri, "dataset", "http://example.com/Customer")
    path = re.split(r"[/?#]+", name.partition("://")[2]) if "://" in name else name.split(":")
    if len([one for one in path if one]) < _LEAST_PARTS or terms.count_levels(name) > _MOST_LEVELS:
        message = f"A dataset is called by a name below a host. Given: {iri!r}."
        raise RequestError.of("D001", message, "For example http://example.com/Customer.")
    return name


def party_name(iri: str) -> str:
    """Return the one spelling of an IRI of a party. Raises RequestError (D001) for another name."""
    return _name(iri, "party", "http://example.com/people/ada")


def _name(iri: str, what: str, example: str) -> str:
    if not _is_name(iri):
        message = f"A {what} is called by a whole IRI. Given: {iri!r:.200}."
        raise RequestError.of("D001", message, f"For example {example}.")
    return terms.canonical(iri)


def _is_name(iri: str) -> bool:
    """Tell whether a text is an IRI that people are shown and policies call something by."""
    scheme, _, rest = iri.partition(":")
    if terms.name_problem(iri) or scheme.lower() not in _SCHEMES or not rest.strip("/"):
        return False
    if scheme.lower() not in ("http", "https"):
        return True
    authority = _AUTHORITY.match(iri.replace(scheme, scheme.lower(), 1))
    return bool(authority and _HOST.fullmatch(authority[1]))


_LEAST_PARTS = 2
_MOST_LEVELS = 64
