"""Policy tests against the policies that they are about."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from policy_engine import terms
from policy_engine.authoring.policy_tests.before import history_of
from policy_engine.authoring.policy_tests.model import (
    Expectation,
    PolicyTest,
    RuleCoverage,
    Suite,
    TestReport,
    TestResult,
)
from policy_engine.authoring.policy_tests.reading import read_suite
from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.beside import load_proofs
from policy_engine.certificate.certificate import Certificate
from policy_engine.decision import Decider, Decision
from policy_engine.errors import RequestError
from policy_engine.policy import (
    DEFAULT_LIMITS,
    Limits,
    Policy,
    Reading,
    Rule,
    VocabularySource,
    read_file,
)
from policy_engine.policy.naming import Names
from policy_engine.policy.owners import OwnersSource, load_owners

_Rule = tuple[str, str, str]
_Kind = Literal["permission", "prohibition", "duty", "obligation"]


def run_policy_tests(
    path: str | Path,
    contexts: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    vocabularies: Sequence[VocabularySource] = (),
    owners: OwnersSource | None = None,
) -> TestReport:
    """Return what came of the policy tests in a YAML file; paths in it are relative to it.

    `contexts`, `limits` and `vocabularies` are as in `Reading`; the file itself names the parents
    of policies, and may name more vocabularies. `owners`, where they are given, take the place of
    those that it states (see `load_owners`). Short names in it stand for what they do in the
    policies. Raises RequestError where the file cannot be understood, and what reading the
    policies, vocabularies, certificates and hierarchies raises.
    """
    path = Path(path)
    run = _Run(path.parent, Reading(contexts, limits=limits, vocabularies=vocabularies))
    suite = read_suite(read_file(path), str(path), run.names)
    decider = run.decider(suite, owners)
    names = Names(decider.policies)
    with _in_file(path):
        decided = [_decided(decider, test) for test in suite.tests]
    pairs = [(test, one[0]) for test, one in zip(suite.tests, decided, strict=True)]
    results = tuple(
        _result(test, *one, names) for test, one in zip(suite.tests, decided, strict=True)
    )
    passed = [pair for pair, came in zip(pairs, results, strict=True) if came.passed]
    return TestReport(
        file=str(path),
        tests=results,
        rules=tuple(_coverage(decider.policies, passed)),
    )


def _decided(decider: Decider, test: PolicyTest) -> tuple[Decision, tuple[str, ...]]:
    """Return the answer to the request of a test, and what of its log did not come to be."""
    if test.logged is None:
        return decider.decide(test.request, test.world), ()
    history, failures = history_of(decider, test.logged)
    try:
        return decider.decide(test.request, test.world, history), failures
    except RequestError as error:
        problems = (replace(one, place=test.place) for one in error.problems)
        raise RequestError(*problems) from None


@contextmanager
def _in_file(path: Path) -> Iterator[None]:
    """Name the file in what is wrong with the tests that it holds."""
    try:
        yield
    except RequestError as error:
        raise RequestError(*error.problems, source=str(path)) from None


class _Run:
    """What the tests of a file are about, read from where the file lies."""

    def __init__(self, folder: Path, reading: Reading) -> None:
        self.folder = folder
        self.reading = reading
        self.policies: tuple[Policy, ...] = ()

    def names(self, suite: Suite) -> Names:
        """Read the policies of a suite, and return what short names stand for in them."""
        self.reading = replace(
            self.reading,
            parents=self._paths(suite.parents),
            vocabularies=(*self.reading.vocabularies, *self._paths(suite.vocabularies)),
        )
        self.policies = self.reading.in_force(*self._paths(suite.policies))
        return Names(self.policies)

    def decider(self, suite: Suite, owners: OwnersSource | None) -> Decider:
        """Return what decides the requests of a suite."""
        proofs: list[Certificate | Attestation] = []
        for path in self._paths(suite.certificates):
            proofs += load_proofs(path)
        hierarchy = self.reading.hierarchy(self._paths(suite.hierarchies))
        given = suite.owners
        stated = self.folder / given if given and isinstance(given, str) else given or None
        found = load_owners(owners or stated, self.policies, self.reading.contexts)
        return Decider(self.policies, proofs, hierarchy, found)

    def _paths(self, names: Sequence[str]) -> list[Path]:
        return [self.folder / name for name in names]


def _result(
    test: PolicyTest, decision: Decision, before: Sequence[str], names: Names
) -> TestResult:
    return TestResult(
        name=test.name,
        line=test.place.line,
        expected=test.expect.effect,
        effect=decision.effect,
        rule=decision.rule,
        reason=decision.reason,
        failures=(*before, *_failures(test.expect, decision, names)),
        by_clock=decision.time_by == "clock",
    )


def _failures(expect: Expectation, decision: Decision, names: Names) -> Iterator[str]:
    if decision.effect != expect.effect:
        yield f"expected {expect.effect}, got {decision.effect}: {decision.reason}"
    if expect.rule is not None and decision.rule not in _known_as(expect.rule, names):
        yield f"expected the rule {expect.rule}, got {decision.rule or 'none'}"
    if expect.duties is not None:
        yield from _duties(expect.duties, decision, names)


def _known_as(name: str, names: Names) -> tuple[str, ...]:
    """Return the uids that a rule or a duty is meant by: as written, and in full."""
    try:
        return name, names.full(name, "target")
    except RequestError:
        return (name,)


def _duties(expected: Sequence[str], decision: Decision, named: Names) -> Iterator[str]:
    """Yield the duties expected and not owed, and those owed and not expected."""
    owed = list(decision.duties)
    for name in expected:
        names = (named.full(name, "action"), *_known_as(name, named))
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
    """Yield in which tests each rule counted: permissions with their duties, and the others."""
    seen = _Seen()
    for test, decision in pairs:
        seen.add(test.name, decision)
    for policy in policies:
        for rule in policy.permissions:
            yield seen.coverage(policy, rule, "permission")
            for duty in rule.duties:
                yield seen.coverage(policy, duty, "duty", rule)
        for rule in policy.prohibitions:
            yield seen.coverage(policy, rule, "prohibition")
        for rule in policy.obligations:
            yield seen.coverage(policy, rule, "obligation")


class _Seen:
    """The names of the tests in which rules decided, were owed, or covered the request."""

    def __init__(self) -> None:
        self.decided: dict[_Rule, dict[str, None]] = {}
        self.matched: dict[_Rule, dict[str, None]] = {}
        self.applied: dict[_Rule, dict[str, None]] = {}

    def add(self, name: str, decision: Decision) -> None:
        """Take up what was decided in a test."""
        for match in decision.matches:
            decides = (match.policy, match.rule) == (decision.policy, decision.rule)
            key = match.policy, match.rule, match.kind
            (self.decided if decides else self.matched).setdefault(key, {})[name] = None
            if match.applies:
                self.applied.setdefault(key, {})[name] = None
        for used in decision.counted or ():  # an owner's leave, by which something is made
            key = used.policy, used.rule, "permission"
            for seen in (self.matched, self.applied):
                seen.setdefault(key, {})[name] = None
        for owed in decision.duties:
            for kind in ("duty", "obligation"):
                self.decided.setdefault((owed.policy, owed.duty, kind), {})[name] = None

    def coverage(
        self, policy: Policy, rule: Rule, kind: _Kind, of: Rule | None = None
    ) -> RuleCoverage:
        """Return in which tests a rule counted, or the duty `of` a permission."""
        key = policy.uid, rule.label(), kind
        matched = self.matched.get(key, {})
        if of is not None:  # a permission holds where its duties are fulfilled
            matched = self.applied.get((policy.uid, of.label(), "permission"), {})
        return RuleCoverage(
            policy=policy.uid,
            rule=rule.label(),
            kind=kind,
            source=policy.source,
            line=rule.place.line,
            decided=tuple(self.decided.get(key, ())),
            matched=tuple(matched),
        )
