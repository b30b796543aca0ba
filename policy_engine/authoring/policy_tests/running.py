"""Runs policy tests on their policies."""

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from policy_engine.certificate.beside import load_proofs
from policy_engine.certificate.sources import Proof
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
    read_certificates: Callable[[Sequence[Path]], Sequence[Proof]] | None = None,
) -> TestReport:
    """Return the results of the policy tests in a YAML file; paths in it are relative to it.

    `contexts`, `limits` and `vocabularies` are as in `Reading`; the file itself names the parents
    of policies, and may name more vocabularies. `owners`, if given, replace those in the file (see
    `load_owners`). Certificates that it names are believed as they are, unless something else
    reads them: `read_certificates` is given their paths (see `trusted_proofs`). Short names in it
    mean what they do in the policies. Raises RequestError if the
    file cannot be understood, and what reading the policies, vocabularies, certificates and
    hierarchies raises.
    """
    path = Path(path)
    run = _Run(path.parent, Reading(contexts, limits=limits, vocabularies=vocabularies))
    suite = read_suite(read_file(path), str(path), run.names)
    decider = run.decider(suite, owners, read_certificates or _load_all)
    names = Names(decider.policies)
    with _name_file_in_errors(path):
        decisions = [_decide(decider, test) for test in suite.tests]
    pairs = [(test, outcome[0]) for test, outcome in zip(suite.tests, decisions, strict=True)]
    results = tuple(
        _result(test, *outcome, names) for test, outcome in zip(suite.tests, decisions, strict=True)
    )
    passed = [pair for pair, result in zip(pairs, results, strict=True) if result.passed]
    return TestReport(
        file=str(path),
        tests=results,
        rules=tuple(_coverage(decider.policies, passed)),
    )


def _load_all(paths: Sequence[Path]) -> list[Proof]:
    return [proof for path in paths for proof in load_proofs(path)]


def _decide(decider: Decider, test: PolicyTest) -> tuple[Decision, tuple[str, ...]]:
    """Return the answer to the request of a test, and the mismatches in its log."""
    if test.log is None:
        return decider.decide(test.request, test.world), ()
    history, failures = history_of(decider, test.log)
    try:
        return decider.decide(test.request, test.world, history), failures
    except RequestError as error:
        problems = (replace(one, place=test.place) for one in error.problems)
        raise RequestError(*problems) from None


@contextmanager
def _name_file_in_errors(path: Path) -> Iterator[None]:
    """Add the file's name to errors in its tests."""
    try:
        yield
    except RequestError as error:
        raise RequestError(*error.problems, source=str(path)) from None


class _Run:
    """The files that tests use, read relative to the test file."""

    def __init__(self, folder: Path, reading: Reading) -> None:
        self.folder = folder
        self.reading = reading
        self.policies: tuple[Policy, ...] = ()

    def names(self, suite: Suite) -> Names:
        """Read the policies of a suite, and return the meanings of short names."""
        self.reading = replace(
            self.reading,
            parents=self._paths(suite.parents),
            vocabularies=(*self.reading.vocabularies, *self._paths(suite.vocabularies)),
        )
        self.policies = self.reading.policies_in_force(*self._paths(suite.policies))
        return Names(self.policies)

    def decider(
        self,
        suite: Suite,
        owners: OwnersSource | None,
        read_certificates: Callable[[Sequence[Path]], Sequence[Proof]],
    ) -> Decider:
        """Return the Decider for the requests of a suite."""
        proofs = read_certificates(self._paths(suite.certificates))
        hierarchy = self.reading.hierarchy(self._paths(suite.hierarchies))
        suite_owners = suite.owners
        owners_file = (
            self.folder / suite_owners
            if suite_owners and isinstance(suite_owners, str)
            else suite_owners or None
        )
        known_owners = load_owners(owners or owners_file, self.policies, self.reading.contexts)
        return Decider(self.policies, proofs, hierarchy, known_owners)

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
    if expect.rule is not None and decision.rule not in _possible_names(expect.rule, names):
        yield f"expected the rule {expect.rule}, got {decision.rule or 'none'}"
    if expect.duties is not None:
        yield from _duties(expect.duties, decision, names)


def _possible_names(name: str, names: Names) -> tuple[str, ...]:
    """Return the possible uids of a rule or duty: as written, and in full."""
    try:
        return name, names.full(name, "target")
    except RequestError:
        return (name,)


def _duties(expected: Sequence[str], decision: Decision, full_names: Names) -> Iterator[str]:
    """Yield duties that were expected and not outstanding, and the other way round."""
    outstanding = list(decision.duties)
    for name in expected:
        names = (full_names.full(name, "action"), *_possible_names(name, full_names))
        matches = [one for one in outstanding if one.duty in names or set(names) & set(one.actions)]
        if matches:
            outstanding.remove(matches[0])
        else:
            yield f"expected the duty {name}, which is not outstanding"
    for one in outstanding:
        actions = " and ".join(map(terms.compact, one.actions))
        yield f"got the duty {one.duty} ({actions}), which was not expected"


def _coverage(
    policies: Sequence[Policy], pairs: Sequence[tuple[PolicyTest, Decision]]
) -> Iterator[RuleCoverage]:
    """Yield the tests in which each rule counted: permissions with their duties, then others."""
    counter = _CoverageCounter()
    for test, decision in pairs:
        counter.add(test.name, decision)
    for policy in policies:
        for rule in policy.permissions:
            yield counter.coverage(policy, rule, "permission")
            for duty in rule.duties:
                yield counter.coverage(policy, duty, "duty", rule)
        for rule in policy.prohibitions:
            yield counter.coverage(policy, rule, "prohibition")
        for rule in policy.obligations:
            yield counter.coverage(policy, rule, "obligation")


class _CoverageCounter:
    """The names of tests in which rules decided, were outstanding, or covered the request."""

    def __init__(self) -> None:
        self.decided: dict[_Rule, dict[str, None]] = {}
        self.matched: dict[_Rule, dict[str, None]] = {}
        self.applied: dict[_Rule, dict[str, None]] = {}

    def add(self, name: str, decision: Decision) -> None:
        """Add the decision of a test."""
        for match in decision.matches:
            decides = (match.policy, match.rule) == (decision.policy, decision.rule)
            key = match.policy, match.rule, match.kind
            (self.decided if decides else self.matched).setdefault(key, {})[name] = None
            if match.applies:
                self.applied.setdefault(key, {})[name] = None
        for rule in decision.counted or ():  # an owner's consent, which permits making something
            key = rule.policy, rule.rule, "permission"
            for names_by_rule in (self.matched, self.applied):
                names_by_rule.setdefault(key, {})[name] = None
        for duty in decision.duties:
            for kind in ("duty", "obligation"):
                self.decided.setdefault((duty.policy, duty.duty, kind), {})[name] = None

    def coverage(
        self, policy: Policy, rule: Rule, kind: _Kind, of: Rule | None = None
    ) -> RuleCoverage:
        """Return the tests in which a rule counted, or the duty `of` a permission."""
        key = policy.uid, rule.label(), kind
        matched = self.matched.get(key, {})
        if of is not None:  # a permission applies if its duties are fulfilled
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
