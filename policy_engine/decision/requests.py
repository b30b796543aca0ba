"""Requests as people write them."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from policy_engine import terms
from policy_engine.decision.model import Request
from policy_engine.errors import RequestError, did_you_mean, join_names
from policy_engine.policy import Policy
from policy_engine.policy.naming import Names

_DPV_KINDS: Mapping[str, Literal["Purpose", "Processing"]] = MappingProxyType(
    {"action": "Processing", "purpose": "Purpose"}
)
_SURROGATES = re.compile("[\ud800-\udfff]")


def read_request(
    assignee: str,
    action: str,
    targets: Sequence[str],
    purpose: str = "",
    policies: Sequence[Policy] = (),
) -> Request:
    """Return a request from IRIs, or from short names as in policies.

    Raises RequestError (D001) if a name stands for no IRI or for several, or without targets.
    """
    return RequestReader(policies).read(assignee, action, targets, purpose)


class RequestReader:
    """Reads requests of names as in some policies, each name once."""

    def __init__(self, policies: Sequence[Policy] = ()) -> None:
        self._policies = policies
        self._names = Names(policies)
        self._iri_of = lru_cache(maxsize=_MOST_NAMES)(self._read_name)

    def read(
        self, assignee: str, action: str, targets: Sequence[str], purpose: str = ""
    ) -> Request:
        """Return a request. Raises RequestError (D001) as `read_request` does."""
        if not targets:
            message = "A request needs at least one target. None was given."
            raise RequestError.of("D001", message)
        return Request(
            assignee=self._iri_of("assignee", assignee),
            action=self._iri_of("action", action),
            targets=tuple(self._iri_of("target", one) for one in targets),
            purpose=self._iri_of("purpose", purpose),
        )

    def _read_name(self, part: str, name: str) -> str:
        if _SURROGATES.search(name):
            message = f"The {part} {name!r} cannot be encoded as UTF-8."
            raise RequestError.of("D001", message)
        iri = self._names.full(name, part)
        if iri or part != "purpose":
            check_name(part, iri, self._policies)
        return iri


_MOST_NAMES = 100_000


def check_name(part: str, name: str, policies: Sequence[Policy] = ()) -> None:
    """Raise RequestError (D001) for a name that stands for nothing, or that the DPV lacks."""
    if not terms.has_known_scheme(name):
        message = f"The {part} {name!r} is neither a whole IRI nor a term of the contexts."
        hint = did_you_mean(name, _known_names(part, policies)) or _allowed_names(part)
        raise RequestError.of("D001", message, hint)
    if terms.count_levels(name) > terms.MOST_LEVELS:
        message = (
            f"The {part} has {terms.count_levels(name):,} levels. Allowed are {terms.MOST_LEVELS}."
        )
        raise RequestError.of("D001", message)
    dpv_kind = _DPV_KINDS.get(part)
    if dpv_kind and name.startswith(terms.DPV) and not terms.is_in_dpv(name, dpv_kind):
        names = map(terms.local_name, terms.dpv_terms(dpv_kind))
        hint = did_you_mean(terms.local_name(name), names)
        message = f"The {part} {terms.compact(name)!r} is not in the Data Privacy Vocabulary."
        raise RequestError.of("D001", message, hint)


def _allowed_names(part: str) -> str:
    """Return in words what names a part of a request can have."""
    if part == "purpose":
        names = map(terms.local_name, terms.instances(f"{terms.MOSAICROWN}purpose"))
        return (
            f"Known are {join_names(names)}, and the purposes of the Data Privacy Vocabulary, such "
            "as 'dpv:Marketing'. Any other is a whole IRI, such as 'http://example.com/sales'."
        )
    if part == "action":
        return (
            "Known are the actions of ODRL, such as 'read'. Any other is a whole IRI, such as "
            "'http://example.com/audit'."
        )
    return f"Write its whole IRI, such as 'http://example.com/{part}'."


def _known_names(part: str, policies: Sequence[Policy]) -> list[str]:
    """Return the known names for a part of a request: short terms, and those in the rules."""
    rules = [rule for policy in policies for rule in policy.rules]
    if part == "action":
        return [*map(terms.local_name, terms.instances(f"{terms.ODRL}Action"))]
    if part == "purpose":
        rule_purposes = {purpose for rule in rules for purpose in rule.purposes}
        return [
            *map(terms.local_name, terms.instances(f"{terms.MOSAICROWN}purpose")),
            *rule_purposes,
        ]
    return [
        member.iri
        for rule in rules
        for member in (rule.assignees if part == "assignee" else rule.targets)
    ]
