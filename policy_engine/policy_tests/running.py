"""Policy tests against the policies that they are about."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from policy_engine import terms
from policy_engine.certificate import load_certificate
from policy_engine.decision import Decider, Decision
from policy_engine.policy import USUAL, Limits, Policy, Reading, read_file
from policy_engine.policy_tests.model import (
    Expectation,
    PolicyTest,
    RuleCoverage,
    Suite,
    TestReport,
    TestResult,
)
from policy_engine.policy_tests.reading import read_suite

_Rule = tuple[str, str, str]


def run_policy_tests(
    path: str | Path, contexts: Mapping[str, Any] | None = None, limits: Limits = USUAL
) -> TestReport:
    """Return what came of the policy tests in a YAML file; paths in it are relative to it.

    `contexts` and `limits` are as in `Reading`; the file itself names the parents of policies.
    Raises RequestError where the file cannot be understood, and what reading the policies,
    certificates and hierarchies raises.
    """
    path = Path(path)
    suite = read_suite(read_file(path), str(path))
    parents = [path.parent / name for name in suite.parents]
    policies, decider = _decider(suite, path.parent, Reading(contexts, parents, limits))
    decisions = [decider.decide(test.request, test.world) for test in suite.tests]
    pairs = list(zip(suite.tests, decisions, strict=True))
    return TestReport(
        file=str(path),
        tests=tuple(_result(test, decision) for test, decision in pairs),
        rules=tuple(_coverage(policies, pairs)),
    )


def _decider(suite: Suite, folder: Path, reading: Reading) -> tuple[tuple[Policy, ...], Decider]:
    policies = reading.policies(*(folder / name for name in suite.policies))
    certificates = [load_certificate(folder / name) for name in suite.certificates]
    hierarchy = reading.hierarchy([folder / name for name in suite.hierarchies])
    return policies, Decider(policies, certificates, hierarchy)


def _result(test: PolicyTest, decision: Decision) -> TestResult:
    return TestResult(
        name=test.name,
        line=test.place.line,
        expected=test.expect.effect,
        effect=decision.effect,
        rule=decision.rule,
        reason=decision.reason,
        failures=tuple(_failures(test.expect, decision)),
    )


def _failures(expect: Expectation, decision: Decision) -> Iterator[str]:
    if decision.effect != expect.effect:
        yield f"expected {expect.effect}, got {decision.effect}: {decision.reason}"
    if expect.rule is not None and expect.rule != decision.rule:
        yield f"expected the rule {expect.rule}, got {decision.rule or 'none'}"
    if expect.duties is not None:
        yield from _duties(expect.duties, decision)


def _duties(expected: Sequence[str], decision: Decision) -> Iterator[str]:
    """Yield the duties expected and not owed, and those owed and not expected."""
    owed = list(decision.duties)
    for name in expected:
        names = (name, terms.in_full(name))
        found = [one for one in owed if one.duty in names or set(names) & set(one.actions)]
        if found:
            owed.remove(found[0])
        else:
            yield f"expected the duty {name}, which is not owed"
    for one in owed:
        what = " and ".join(map(terms.compact, one.actions))
        yield f"got the duty {one.duty} ({what}), which was not expected"


def _coverage(
    policies: Sequence[Policy], pairs: Sequence[tuple[PolicyTest, Decision]]
) -> Iterator[RuleCoverage]:
    decided: dict[_Rule, list[str]] = {}
    matched: dict[_Rule, list[str]] = {}
    for test, decision in pairs:
        for match in decision.matches:
            decides = (match.policy, match.rule) == (decision.policy, decision.rule)
            names = (decided if decides else matched).setdefault(
                (match.policy, match.rule, match.kind), []
            )
            if test.name not in names:
                names.append(test.name)
    for policy in policies:
        for rule in policy.permissions + policy.prohibitions:
            key = (policy.uid, rule.label(), rule.kind)
            yield RuleCoverage(
                policy=policy.uid,
                rule=rule.label(),
                kind="permission" if rule.kind == "permission" else "prohibition",
                source=policy.source,
                line=rule.place.line,
                decided=tuple(decided.get(key, ())),
                matched=tuple(matched.get(key, ())),
            )
