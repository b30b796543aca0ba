"""A comparison as one HTML page that needs nothing else."""

from policy_engine.report.page import report_page, write_report

__all__ = ["report_page", "write_report"]
