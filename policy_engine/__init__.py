"""One ODRL policy from text to a verified, anonymised release and the decisions about it."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from policy_engine.api import (
        VerifiedRelease,
        apply_all,
        apply_policy,
        attest_output,
        certify_output,
        check_policy,
        compare_release,
        decide_request,
        decider,
        estimate_policy,
        estimate_search,
        explore_policy,
        fulfil_duty,
        list_duties,
        load_policies,
        load_policy,
        plan_all,
        plan_policy,
        query_data,
        read_request,
        read_world,
        suggest_hierarchy,
    )
    from policy_engine.architecture import CentralPrivacy, Estimator, Layer, Network
    from policy_engine.auditing import audit_membership, audit_predictions_file, audit_tradeoff
    from policy_engine.audits.membership.fitted.target import FittedModel
    from policy_engine.audits.membership.learners.keras_function import KerasLearner
    from policy_engine.audits.privacy.one_run import audit_in_one_run
    from policy_engine.compliance import compliance_report
    from policy_engine.decision import Decider, Decision, Request, World
    from policy_engine.decision_log import DecisionLog, verify_log
    from policy_engine.difference import compare_policies
    from policy_engine.drawing import draw_policy
    from policy_engine.engines.spark.engine import SparkEngine
    from policy_engine.errors import PolicyEngineError
    from policy_engine.policy import Limits
    from policy_engine.policy.agreeing import agree
    from policy_engine.policy_tests import run_policy_tests
    from policy_engine.schema import policy_schema

_HOMES = {
    "DecisionLog": "decision_log",
    "Limits": "policy",
    "PolicyEngineError": "errors",
    "SparkEngine": "engines.spark.engine",
    "agree": "policy.agreeing",
    "compare_policies": "difference",
    "compliance_report": "compliance",
    "draw_policy": "drawing",
    "policy_schema": "schema",
    "run_policy_tests": "policy_tests",
    "verify_log": "decision_log",
    "FittedModel": "audits.membership.fitted.target",
    "KerasLearner": "audits.membership.learners.keras_function",
    "audit_in_one_run": "audits.privacy.one_run",
    **dict.fromkeys(("CentralPrivacy", "Estimator", "Layer", "Network"), "architecture"),
    **dict.fromkeys(("audit_membership", "audit_predictions_file", "audit_tradeoff"), "auditing"),
    **dict.fromkeys(("Decider", "Decision", "Request", "World"), "decision"),
}

__all__ = [
    "CentralPrivacy",
    "Decider",
    "Decision",
    "DecisionLog",
    "Estimator",
    "FittedModel",
    "KerasLearner",
    "Layer",
    "Limits",
    "Network",
    "PolicyEngineError",
    "Request",
    "SparkEngine",
    "VerifiedRelease",
    "World",
    "agree",
    "apply_all",
    "apply_policy",
    "attest_output",
    "audit_in_one_run",
    "audit_membership",
    "audit_predictions_file",
    "audit_tradeoff",
    "certify_output",
    "check_policy",
    "compare_policies",
    "compare_release",
    "compliance_report",
    "decide_request",
    "decider",
    "draw_policy",
    "estimate_policy",
    "estimate_search",
    "explore_policy",
    "fulfil_duty",
    "list_duties",
    "load_policies",
    "load_policy",
    "plan_all",
    "plan_policy",
    "policy_schema",
    "query_data",
    "read_request",
    "read_world",
    "run_policy_tests",
    "suggest_hierarchy",
    "verify_log",
]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    """Import the public names when they are first used: the package itself loads at once.

    Functions are handed out with their arguments checked: a wrong one is an ArgumentError.
    """
    from importlib import import_module  # noqa: PLC0415
    from inspect import isfunction  # noqa: PLC0415

    from policy_engine.arguments import checked  # noqa: PLC0415

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "SparkEngine":
        from policy_engine.engines.spark.session import check_pyspark  # noqa: PLC0415

        check_pyspark()
    found = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'api')}"), name)
    return checked(found) if isfunction(found) else found
