"""Tests of policies, and their results."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from policy_engine.decision.model import Effect, Performance, Request, World
from policy_engine.errors import Place


@dataclass(frozen=True)
class Expectation:
    """The expected decision; parts that are None are not checked."""

    effect: Effect
    rule: str | None = None
    duties: tuple[str, ...] | None = None


@dataclass(frozen=True)
class EarlierRequest:
    """A request logged before a test, some number of `times`, with its answer."""

    request: Request
    world: World
    place: Place
    effect: Effect = "permit"
    times: int = 1


@dataclass(frozen=True)
class EarlierDuty:
    """A duty that was fulfilled or violated before a test, as `fulfil` logs it.

    `policy` is the uid of its policy, empty if only one has it.
    """

    state: Performance
    duty: str
    by: str
    time: datetime | None
    place: Place
    policy: str = ""


EarlierEntry = EarlierRequest | EarlierDuty
"""An entry in the log before a test."""


@dataclass(frozen=True)
class PolicyTest:
    """A request in a state of the world, after the entries in `log`, and the expected answer.

    Without a log (None), nothing is known about the past except what the world says.
    """

    name: str
    request: Request
    world: World
    expect: Expectation
    place: Place
    log: tuple[EarlierEntry, ...] | None = None


@dataclass(frozen=True)
class Suite:
    """The tests of a file, and the files that they use, as named in it.

    `owners` are a file as well, or given in the text; empty if nobody says who owns what.
    """

    policies: tuple[str, ...]
    parents: tuple[str, ...] = ()
    certificates: tuple[str, ...] = ()
    hierarchies: tuple[str, ...] = ()
    vocabularies: tuple[str, ...] = ()
    owners: str | Mapping[str, Any] = ""
    tests: tuple[PolicyTest, ...] = ()


class TestResult(BaseModel):
    """The result of one test: the decision, and a sentence for each unexpected thing.

    `by_clock` says that it has no time, so that its result may change tomorrow.
    """

    __test__: ClassVar[bool] = False
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str
    line: int
    expected: Effect
    effect: Effect
    rule: str
    reason: str
    failures: tuple[str, ...] = ()
    by_clock: bool = False

    @property
    def passed(self) -> bool:
        """Whether everything was as expected."""
        return not self.failures


class RuleCoverage(BaseModel):
    """The tests in which a rule decided, and those in which it only covered the request.

    A duty or an obligation decides if it is outstanding; a duty matches if it was fulfilled. Failed
    tests do not count: what they say about a rule is not true.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    policy: str
    rule: str
    kind: Literal["permission", "prohibition", "duty", "obligation"]
    source: str
    line: int
    decided: tuple[str, ...] = ()
    matched: tuple[str, ...] = ()

    @property
    def covered(self) -> bool:
        """Whether any test concerns the rule."""
        return bool(self.decided or self.matched)


class TestReport(BaseModel):
    """The results of the tests in a file, and the rules of its policies that they concern."""

    __test__: ClassVar[bool] = False
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    file: str
    tests: tuple[TestResult, ...]
    rules: tuple[RuleCoverage, ...]

    @property
    def failed(self) -> tuple[TestResult, ...]:
        """The tests that were not as expected."""
        return tuple(test for test in self.tests if not test.passed)

    @property
    def passed(self) -> bool:
        """Whether every test was as expected."""
        return not self.failed

    @property
    def coverage(self) -> float:
        """The share of the rules that some test concerns, from 0 to 1."""
        covered = sum(rule.covered for rule in self.rules)
        return covered / len(self.rules) if self.rules else 1.0
