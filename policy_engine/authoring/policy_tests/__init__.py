"""Policy tests, written in YAML: requests with the expected decisions."""

from policy_engine.authoring.policy_tests.model import RuleCoverage, TestReport, TestResult
from policy_engine.authoring.policy_tests.reading import read_suite
from policy_engine.authoring.policy_tests.running import run_policy_tests

__all__ = ["RuleCoverage", "TestReport", "TestResult", "read_suite", "run_policy_tests"]
