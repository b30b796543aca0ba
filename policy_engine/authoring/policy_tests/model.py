"""Tests of policies, and what came of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from policy_engine.decision.model import Effect, Performance, Request, World
from policy_engine.errors import Place


@dataclass(frozen=True)
class Expectation:
    """What is expected of a decision; what is None is not looked at."""

    effect: Effect
    rule: str | None = None
    duties: tuple[str, ...] | None = None


@dataclass(frozen=True)
class LoggedRequest:
    """A request that was logged before a test, some `times`, with the answer that it has then."""

    request: Request
    world: World
    place: Place
    effect: Effect = "permit"
    times: int = 1


@dataclass(frozen=True)
class LoggedDuty:
    """That a duty was fulfilled or violated before a test, as `fulfil` logs it.

    `policy` is the uid of its policy, empty where only one has it.
    """

    state: Performance
    duty: str
    by: str
    time: datetime | None
    place: Place
    policy: str = ""


LoggedEntry = LoggedRequest | LoggedDuty
"""What stands in the log before a test."""


@dataclass(frozen=True)
class PolicyTest:
    """A request in a state of the world, after what was `log`; what is expected of the answer.

    Without a log nothing is known of what was done but by the world; it is None then.
    """

    name: str
    request: Request
    world: World
    expect: Expectation
    place: Place
    log: tuple[LoggedEntry, ...] | None = None


@dataclass(frozen=True)
class Suite:
    """The tests of a file, and the files that they are about, as the file names them.

    `owners` are a file as well, or stand in the text; empty where nobody says who owns what.
    """

    policies: tuple[str, ...]
    parents: tuple[str, ...] = ()
    certificates: tuple[str, ...] = ()
    hierarchies: tuple[str, ...] = ()
    vocabularies: tuple[str, ...] = ()
    owners: str | Mapping[str, Any] = ""
    tests: tuple[PolicyTest, ...] = ()


class TestResult(BaseModel):
    """What came of one test: what was decided, and a sentence for each thing not as expected.

    `by_clock` tells that it names no time, so that tomorrow something else may come of it.
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
        """Whether all was as expected."""
        return not self.failures


class RuleCoverage(BaseModel):
    """In which tests a rule decided, and in which it covered the request without deciding.

    A duty or an obligation decides where it is owed; a duty matches where it was fulfilled. Tests
    that fail count for nothing: what they say of a rule is not so.
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
        """Whether a test concerns the rule at all."""
        return bool(self.decided or self.matched)


class TestReport(BaseModel):
    """What came of the tests of a file, and which rules of its policies they concern."""

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
