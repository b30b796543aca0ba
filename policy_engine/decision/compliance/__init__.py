"""Compliance reports: what a policy evaluates to for a request and a state of the world."""

from policy_engine.decision.compliance.evaluating import compliance_report
from policy_engine.decision.compliance.model import (
    ConstraintReport,
    DutyReport,
    PartReport,
    PolicyReport,
    Premise,
    RuleReport,
)
from policy_engine.decision.compliance.writing import Report

__all__ = [
    "ConstraintReport",
    "DutyReport",
    "PartReport",
    "PolicyReport",
    "Premise",
    "Report",
    "RuleReport",
    "compliance_report",
]
