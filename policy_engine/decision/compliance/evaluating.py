"""Compliance reports: policies evaluated against requests and a state of the world."""

import hashlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from policy_engine import terms
from policy_engine.data.rdf.statements import Literal, Term, is_blank
from policy_engine.decision.compliance.graph import Source, read_graph
from policy_engine.decision.compliance.judging import ComplianceCase, Setting, Texts
from policy_engine.decision.compliance.misspelt import refuse_misspelt_names
from policy_engine.decision.compliance.model import (
    ConstraintReport,
    Deontic,
    DutyReport,
    PolicyReport,
)
from policy_engine.decision.compliance.reading import leaves, read_policies
from policy_engine.decision.compliance.reasoning import refuse_unread_conclusions
from policy_engine.decision.compliance.requested_rules import RequestedRule, read_requests
from policy_engine.decision.compliance.sizes import refuse_large_reports
from policy_engine.decision.compliance.unread import refuse_unread_of_world
from policy_engine.decision.compliance.worlds import (
    refuse_told_elsewhere,
    refuse_unclear_nodes,
    requested_time,
    time_of,
)
from policy_engine.decision.compliance.writing import Report
from policy_engine.errors import PolicyError, RequestError
from policy_engine.policy.collecting.files import Reading, VocabularySource
from policy_engine.policy.model import Policy
from policy_engine.policy.owners import OwnersSource, load_owners
from policy_engine.policy.structure import LEFT
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits
from policy_engine.policy.vocabulary import Vocabulary

_GRAVITY: Mapping[Deontic, int] = {"Violated": 0, "Fulfilled": 1, "NonSet": 2}


def compliance_report(
    policy: Source,
    request: Source,
    world: Source | None = None,
    contexts: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    vocabularies: Sequence[VocabularySource] = (),
    owners: OwnersSource | None = None,
) -> Report:
    """Return a report on the rules of policies for requests in a state of the world.

    Each text is given as a path or as itself, in Turtle, N-Triples, RDF/XML or JSON-LD, with
    `contexts`, `limits` and `vocabularies` as in `Reading`. There is one report for each policy and
    request, and in it one for each pair of their rules. An unknown premise grants no permission and
    lifts no prohibition. `conflicts.py` applies the conflict strategy of each policy. If `owners`
    are given (see `load_owners`), one premise is whether the issuers of a rule may speak for the
    target. If neither the request nor the world gives a time, the clock is used; otherwise equal
    texts give equal reports, byte for byte.

    Raises DataError for a missing file, PolicyError for a policy and RequestError for a request or
    a world that cannot be understood (ODRL Information Model 2.2, sections 2.1 to 2.10).
    """
    vocabulary = Reading(contexts, limits=limits, vocabularies=vocabularies).vocabulary
    contexts = vocabulary.contexts(contexts)
    texts = (
        read_graph(policy, "policy", PolicyError, contexts, limits),
        read_graph(request, "request", RequestError, contexts, limits),
        read_graph("" if world is None else world, "world", RequestError, contexts, limits),
    )
    policies, requested_rules = _read(texts, limits, vocabulary)
    stated = load_owners(owners, policies, contexts)
    operands = {leaf.left_operand for one in policies for leaf in leaves(one)}
    operands.update(*(one.values for one in requested_rules))
    world_time = time_of(texts[2], operands)
    times = [requested_time(texts[1], one) for one in requested_rules]
    moments = [(one, world_time or time) for one, time in zip(requested_rules, times, strict=True)]
    now = Literal(datetime.now(UTC).isoformat().replace("+00:00", "Z"), f"{terms.XSD}dateTime")
    by_clock = not all(time for _, time in moments)
    seed_texts = (
        *(text.text for text in texts),
        *(one.encode() for one in sorted(vocabulary.digests)),
    )
    seed_texts = (*seed_texts, repr(stated.statements).encode()) if stated else seed_texts
    seed = _seed(*seed_texts, now.text.encode() if by_clock else b"")
    refuse_large_reports(policies, requested_rules)
    reports: list[PolicyReport] = []
    for setting in Setting.of(policies, requested_rules, texts, seed, stated):
        cases: dict[str, list[ComplianceCase]] = {}
        for at, (rule, time) in enumerate(moments):
            case = ComplianceCase(f"{setting.policy.uid} {at}", setting, rule, time or now)
            cases.setdefault(rule.request, []).append(case)
        reports += map(_policy_report, cases.values())
    return Report(tuple(reports), by_clock)


def _read(
    texts: Texts, limits: Limits, vocabulary: Vocabulary
) -> tuple[tuple[Policy, ...], tuple[RequestedRule, ...]]:
    """Return the policies and the requests of texts in which nothing that counts is passed over."""
    policy, request, world = texts
    errors = (PolicyError, RequestError, RequestError)
    used = {name for text in (policy, request) for _, name in text.edges(LEFT)}
    for text, error in zip(texts, errors, strict=True):
        refuse_told_elsewhere(text, world, error, used)
    policies = read_policies(policy, limits, vocabulary)
    has_policies, has_world = (request.text == other.text for other in (policy, world))
    requested_rules = read_requests(
        request, vocabulary, has_policies=has_policies, has_world=has_world
    )
    for text, error in zip(texts, errors, strict=True):
        refuse_misspelt_names(text, error, vocabulary)
        refuse_unread_conclusions(text, error)
    if world.text not in (policy.text, request.text):
        refuse_unread_of_world(world)
    refuse_unclear_nodes(world, policies, requested_rules)
    return policies, requested_rules


def _policy_report(cases: Sequence[ComplianceCase]) -> PolicyReport:
    """Return the report on a policy for one request, whose rules are the cases, in any order.

    An obligation has the report of the case that it matters most in: violated if in one it is.
    Rules with several times are reported on at the last of them.
    """
    first = cases[0]
    last = max(cases, key=lambda case: (case.moment, repr(case.time)))
    obligations = zip(*(case.duty_reports() for case in cases), strict=True)
    return PolicyReport(
        node=first.node("policy"),
        created=last.time,
        policy=first.written(first.policy.uid),
        request=first.asked.request,
        rules=tuple(report for case in cases for report in case.rule_reports()),
        duties=tuple(min(reports, key=_gravity) for reports in obligations),
    )


def _gravity(report: DutyReport) -> tuple[object, ...]:
    """Return a key that is the less, the more a duty matters; equal only if all it says is.

    The order of the statements and the names of nodes are not part of it.
    """
    return (_GRAVITY[report.deontic], not report.active, _format_premises(report.premises))


def _format_premises(premises: Iterable[ConstraintReport]) -> list[str]:
    """Return what constraints evaluate to, in an order of its own."""
    return sorted(
        repr(
            (
                one.state,
                one.operator,
                _format_terms(one.left),
                _format_terms(one.right),
                _format_premises(one.premises),
            )
        )
        for one in premises
    )


def _format_terms(values: Iterable[Term]) -> list[str]:
    return sorted("_:" if isinstance(one, str) and is_blank(one) else repr(one) for one in values)


def _seed(*texts: bytes) -> uuid.UUID:
    digests = "".join(hashlib.sha256(text).hexdigest() for text in texts)
    return uuid.uuid5(uuid.NAMESPACE_URL, f"{terms.PE}{digests}")
