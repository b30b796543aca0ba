"""A comparison or an audit as one HTML page that needs nothing else."""

from policy_engine.report.audit import audit_page, write_audit_report
from policy_engine.report.comparison import check_report, report_page, write_report

__all__ = ["audit_page", "check_report", "report_page", "write_audit_report", "write_report"]
