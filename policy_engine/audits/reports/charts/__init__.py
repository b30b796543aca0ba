"""Pictures, drawn with matplotlib, a module for what they show."""

from policy_engine.audits.reports.charts.canvas import need_matplotlib
from policy_engine.audits.reports.charts.lines import line_chart

__all__ = ["line_chart", "need_matplotlib"]
