"""Compliance reports: policies evaluated against requests and a state of the world."""

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from policy_engine import terms
from policy_engine.data.rdf.statements import Literal
from policy_engine.decision.compliance.graph import Source, read_graph
from policy_engine.decision.compliance.judging import ComplianceCase, Setting
from policy_engine.decision.compliance.model import PolicyReport
from policy_engine.decision.compliance.reading import read_policies
from policy_engine.decision.compliance.requested_rules import RequestedRule, read_requests, time_of
from policy_engine.decision.compliance.writing import Report
from policy_engine.errors import PolicyError, RequestError
from policy_engine.policy.collecting.files import Reading, VocabularySource
from policy_engine.policy.model import Policy
from policy_engine.policy.owners import OwnersSource, load_owners
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits

MAX_REPORTS = 100_000
"""How many rules of policies are evaluated against rules of requests, at most, at once."""


def compliance_report(
    policy: Source,
    request: Source,
    world: Source | None = None,
    contexts: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    vocabularies: Sequence[VocabularySource] = (),
    owners: OwnersSource | None = None,
) -> Report:
    """Return what the rules of a policy evaluate to for a request and a state of the world.

    Each text is given as a path or as itself, in Turtle, N-Triples, RDF/XML or JSON-LD, with
    `contexts`, `limits` and `vocabularies` as in `Reading`. There is one report for each policy
    and request, and in it one for each rule of the policy and of the request. A premise that
    cannot be told gives no permission, and lifts no prohibition. What the conflict strategy of a
    policy makes of its reports, `conflicts.py` tells. Where it is said who `owners` are (see
    `load_owners`), whether those who issued a rule speak for the target is one of its premises.
    Where neither the request nor the world tells the time, it is the clock's; else the same texts
    give the same report, to the byte.

    Raises DataError for a missing file, PolicyError for a policy and RequestError for a request
    or a world that cannot be understood (ODRL Information Model 2.2, sections 2.1 to 2.10).
    """
    known = Reading(contexts, limits=limits, vocabularies=vocabularies).vocabulary
    contexts = known.contexts(contexts)
    texts = (
        read_graph(policy, "policy", PolicyError, contexts, limits),
        read_graph(request, "request", RequestError, contexts, limits),
        read_graph("" if world is None else world, "world", RequestError, contexts, limits),
    )
    policies, asked = read_policies(texts[0], limits, known), read_requests(texts[1], known)
    stated = load_owners(owners, policies, contexts)
    moments = [(one, time_of(texts[2], one)) for one in asked]
    now = Literal(datetime.now(UTC).isoformat().replace("+00:00", "Z"), f"{terms.XSD}dateTime")
    by_clock = not all(time for _, time in moments)
    given = (*(text.text for text in texts), *(one.encode() for one in sorted(known.digests)))
    given = (*given, repr(stated.statements).encode()) if stated else given
    seed = _seed(*given, now.text.encode() if by_clock else b"")
    _check_size(policies, asked)
    reports: list[PolicyReport] = []
    for setting in Setting.of(policies, texts, seed, stated):
        cases: dict[str, list[ComplianceCase]] = {}
        for at, (rule, time) in enumerate(moments):
            case = ComplianceCase(f"{setting.policy.uid} {at}", setting, rule, time or now)
            cases.setdefault(rule.request, []).append(case)
        reports += map(_policy_report, cases.values())
    return Report(tuple(reports), by_clock)


def _policy_report(cases: Sequence[ComplianceCase]) -> PolicyReport:
    first = cases[0]
    return PolicyReport(
        node=first.node("policy"),
        created=first.time,
        policy=first.written(first.policy.uid),
        request=first.asked.request,
        rules=tuple(report for case in cases for report in case.rule_reports()),
        duties=tuple(first.duty_reports()),
    )


def _check_size(policies: Sequence[Policy], asked: Sequence[RequestedRule]) -> None:
    count = sum(len(policy.rules) for policy in policies) * len(asked)
    if count > MAX_REPORTS:
        message = f"The report would be on {count:,} pairs of rules. {MAX_REPORTS:,} are allowed."
        raise RequestError.of("D003", message, "Ask in several requests.")


def _seed(*texts: bytes) -> uuid.UUID:
    digests = "".join(hashlib.sha256(text).hexdigest() for text in texts)
    return uuid.uuid5(uuid.NAMESPACE_URL, f"{terms.PE}{digests}")
