"""Owners' leaves in the coverage of policy tests."""

from owning import HOSPITAL, INSURER, OWNED, VISITS, decided, lets, makes

from policy_engine.authoring.policy_tests import RuleCoverage, TestReport
from policy_engine.authoring.policy_tests.running import _CoverageCounter
from policy_engine.cli.inspecting import report_lines


def test_a_leave_by_which_something_is_made_is_covered():
    given = lets(HOSPITAL, VISITS, INSURER, action="anonymize")
    making = makes("http://e.org/Made", VISITS, INSURER, purpose=None, assignee=INSURER)
    decision = decided([given, making], VISITS, assignee=INSURER, action="anonymize", owners=OWNED)
    seen = _CoverageCounter()
    seen.add("made", decision)
    assert decision.permitted
    assert seen.coverage(given, given.permissions[0], "permission").covered


def test_a_share_is_rounded_but_never_up_to_what_is_asked_for():
    one = {"policy": "p", "rule": "r", "kind": "permission", "source": "", "line": 0}
    rules = [RuleCoverage(**one, decided=("t",) if n < 2 else ()) for n in range(7)]
    report = TestReport(file="", tests=(), rules=tuple(rules))
    assert any("28.6 %" in line for line in report_lines(report, 0))
    assert any("28.5 %, less than the 28.6" in line for line in report_lines(report, 28.6))
