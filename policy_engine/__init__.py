"""One ODRL policy from text to a verified, anonymised release and the decisions about it."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from policy_engine.api.applying import apply_all, apply_policy
    from policy_engine.api.audit_trails import pack_audit_trail, verify_audit_trail
    from policy_engine.api.auditing import audit_membership, audit_predictions_file, audit_tradeoff
    from policy_engine.api.auditing_generators import audit_generative
    from policy_engine.api.auditing_secrets import audit_attribute
    from policy_engine.api.bundling import bundle_policies, load_bundle
    from policy_engine.api.catalogs import fetch_data, open_catalog
    from policy_engine.api.certifying import certify_output
    from policy_engine.api.checking_outputs import TableRecipe, check_tables
    from policy_engine.api.comparing import compare_release
    from policy_engine.api.converting import convert_policy
    from policy_engine.api.deciding import (
        attest_output,
        decide_request,
        decider,
        fulfil_duty,
        list_duties,
        query_data,
    )
    from policy_engine.api.disclosing import audit_disclosure
    from policy_engine.api.drafting import draft_policy
    from policy_engine.api.estimating import estimate_answers
    from policy_engine.api.exploring import explore_policy
    from policy_engine.api.loading_generators import load_generator
    from policy_engine.api.looking_back import look_back
    from policy_engine.api.output_sessions import output_session
    from policy_engine.api.planning import (
        check_policy,
        count_left_out_rows,
        count_unique_rows,
        estimate_policy,
        estimate_search,
        plan_all,
        plan_policy,
    )
    from policy_engine.api.reviewing_answers import accept_answer, give_answer, submit_answer
    from policy_engine.api.short_policies import override_policy, short_policy
    from policy_engine.api.signing import sign_policy_files
    from policy_engine.api.suggesting import suggest_hierarchy
    from policy_engine.api.trusting import trusted_proofs
    from policy_engine.api.verified_release import VerifiedRelease
    from policy_engine.api.withdrawing import withdraw_release
    from policy_engine.audits.membership.fitted.target import FittedModel
    from policy_engine.audits.membership.learners.keras_function import KerasLearner
    from policy_engine.audits.membership.one_run import audit_in_one_run
    from policy_engine.authoring.diagram import draw_policy
    from policy_engine.authoring.diff import compare_policies
    from policy_engine.authoring.policy_tests import run_policy_tests
    from policy_engine.authoring.schema import policy_schema, short_policy_schema
    from policy_engine.certificate.verifying import verify_certificate
    from policy_engine.data.csv_format import CsvFormat, csv_files_as
    from policy_engine.decision import Decider, Decision, Request, World, read_request, read_world
    from policy_engine.decision.audit_trail import TrailReport
    from policy_engine.decision.bundle import Bundle
    from policy_engine.decision.compliance import compliance_report
    from policy_engine.decision.log import DecisionLog, verify_log
    from policy_engine.decision.query.checking.reviewed_cells import AnswerReview
    from policy_engine.decision.query.query_limits import QueryStop, query_limits
    from policy_engine.engines.spark.engine import SparkEngine
    from policy_engine.errors import PolicyEngineError
    from policy_engine.methods.audits.classifier import CentralPrivacy, Estimator, Layer, Network
    from policy_engine.policy import Limits, load_policies, load_policy
    from policy_engine.policy.agreeing import agree

_HOMES = {
    name: home
    for home, names in {
        "api.applying": ("apply_all", "apply_policy"),
        "api.audit_trails": ("pack_audit_trail", "verify_audit_trail"),
        "api.auditing": ("audit_membership", "audit_predictions_file", "audit_tradeoff"),
        "api.auditing_generators": ("audit_generative",),
        "api.auditing_secrets": ("audit_attribute",),
        "api.bundling": ("bundle_policies", "load_bundle"),
        "api.certifying": ("certify_output",),
        "api.checking_outputs": ("TableRecipe", "check_tables"),
        "api.comparing": ("compare_release",),
        "api.converting": ("convert_policy",),
        "api.disclosing": ("audit_disclosure",),
        "api.deciding": (
            "attest_output",
            "decide_request",
            "decider",
            "fulfil_duty",
            "list_duties",
            "query_data",
        ),
        "api.drafting": ("draft_policy",),
        "api.estimating": ("estimate_answers",),
        "api.catalogs": ("fetch_data", "open_catalog"),
        "api.exploring": ("explore_policy",),
        "api.loading_generators": ("load_generator",),
        "api.looking_back": ("look_back",),
        "api.output_sessions": ("output_session",),
        "api.planning": (
            "check_policy",
            "count_left_out_rows",
            "count_unique_rows",
            "estimate_policy",
            "estimate_search",
            "plan_all",
            "plan_policy",
        ),
        "api.reviewing_answers": ("accept_answer", "give_answer", "submit_answer"),
        "api.verified_release": ("VerifiedRelease",),
        "api.withdrawing": ("withdraw_release",),
        "api.short_policies": ("override_policy", "short_policy"),
        "api.signing": ("sign_policy_files",),
        "api.suggesting": ("suggest_hierarchy",),
        "api.trusting": ("trusted_proofs",),
        "audits.membership.fitted.target": ("FittedModel",),
        "audits.membership.learners.keras_function": ("KerasLearner",),
        "audits.membership.one_run": ("audit_in_one_run",),
        "authoring.diagram": ("draw_policy",),
        "authoring.diff": ("compare_policies",),
        "authoring.policy_tests": ("run_policy_tests",),
        "authoring.schema": ("policy_schema", "short_policy_schema"),
        "certificate.verifying": ("verify_certificate",),
        "data.csv_format": ("CsvFormat", "csv_files_as"),
        "decision": ("Decider", "Decision", "Request", "World", "read_request", "read_world"),
        "decision.audit_trail": ("TrailReport",),
        "decision.bundle": ("Bundle",),
        "decision.compliance": ("compliance_report",),
        "decision.log": ("DecisionLog", "verify_log"),
        "decision.query.checking.reviewed_cells": ("AnswerReview",),
        "decision.query.query_limits": ("QueryStop", "query_limits"),
        "engines.spark.engine": ("SparkEngine",),
        "errors": ("PolicyEngineError",),
        "methods.audits.classifier": ("CentralPrivacy", "Estimator", "Layer", "Network"),
        "policy": ("Limits", "load_policies", "load_policy"),
        "policy.agreeing": ("agree",),
    }.items()
    for name in names
}

__all__ = [
    "AnswerReview",
    "Bundle",
    "CentralPrivacy",
    "CsvFormat",
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
    "QueryStop",
    "Request",
    "SparkEngine",
    "TableRecipe",
    "TrailReport",
    "VerifiedRelease",
    "World",
    "accept_answer",
    "agree",
    "apply_all",
    "apply_policy",
    "attest_output",
    "audit_attribute",
    "audit_disclosure",
    "audit_generative",
    "audit_in_one_run",
    "audit_membership",
    "audit_predictions_file",
    "audit_tradeoff",
    "bundle_policies",
    "certify_output",
    "check_policy",
    "check_tables",
    "compare_policies",
    "compare_release",
    "compliance_report",
    "convert_policy",
    "count_left_out_rows",
    "count_unique_rows",
    "csv_files_as",
    "decide_request",
    "decider",
    "draft_policy",
    "draw_policy",
    "estimate_answers",
    "estimate_policy",
    "estimate_search",
    "explore_policy",
    "fetch_data",
    "fulfil_duty",
    "give_answer",
    "list_duties",
    "load_bundle",
    "load_generator",
    "load_policies",
    "load_policy",
    "look_back",
    "open_catalog",
    "output_session",
    "override_policy",
    "pack_audit_trail",
    "plan_all",
    "plan_policy",
    "policy_schema",
    "query_data",
    "query_limits",
    "read_request",
    "read_world",
    "run_policy_tests",
    "short_policy",
    "short_policy_schema",
    "sign_policy_files",
    "submit_answer",
    "suggest_hierarchy",
    "trusted_proofs",
    "verify_audit_trail",
    "verify_certificate",
    "verify_log",
    "withdraw_release",
]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    """Import the public names when they are first used: the package itself loads at once.

    Functions are handed out with their arguments checked: a wrong one is an ArgumentError.
    """
    # A submodule is asked for here, too, before it is imported: nothing may be loaded for that.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415
    from inspect import isfunction  # noqa: PLC0415

    from policy_engine.api.arguments import check_arguments  # noqa: PLC0415

    if name == "SparkEngine":
        from policy_engine.engines.spark.session import check_pyspark  # noqa: PLC0415

        check_pyspark()
    member = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return check_arguments(member) if isfunction(member) else member
