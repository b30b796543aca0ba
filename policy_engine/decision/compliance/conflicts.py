"""The effect of a policy's conflict strategy on its reports (ODRL IM 2.2, section 2.10)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from policy_engine.data.rdf.statements import is_blank
from policy_engine.decision.compliance.model import RuleReport
from policy_engine.decision.voiding import yields_to
from policy_engine.policy.model import Policy, Rule

Reported = tuple[Rule, RuleReport]
"""A rule and its report."""


def resolved(
    policy: Policy, reports: Sequence[Reported], *, is_void: bool, has_owners: bool
) -> Iterator[RuleReport]:
    """Yield the reports on the permissions and prohibitions of a policy, with conflicts resolved.

    Under `perm`, an active permission deactivates prohibitions; otherwise an active prohibition
    deactivates permissions. A void policy permits nothing, but its prohibitions remain, as in
    decisions. If it `has_owners`, nobody lifts another owner's prohibition.
    """
    permitting = _active(reports, "permission") if not is_void else []
    issuers = [rule.issued_by for rule, _ in permitting] if has_owners else []
    standing, lifted = [], {}
    for rule, report in _active(reports, "prohibition"):
        if permitting and yields_to(policy.conflict, rule.issued_by, lambda: issuers):
            lifted[report.node] = f"{_name(permitting)} permits the request"
        else:
            standing.append((rule, report))
    why = "a permission and a prohibition of the policy conflict: it is void" if is_void else ""
    why = why or (f"{_name(standing)} prohibits the request" if standing else "")
    barred = {report.node: why for _, report in _active(reports, "permission") if why}
    for _, report in reports:
        reason = {**lifted, **barred}.get(report.node, "")
        explanation = f"The conflict strategy {policy.conflict!r} overrides it: {reason}."
        yield replace(report, active=False, reason=explanation) if reason else report


def _active(reports: Sequence[Reported], kind: str) -> list[Reported]:
    return [one for one in reports if one[1].active and one[0].kind == kind]


def _name(reports: Sequence[Reported]) -> str:
    """Return the name of one of the rules, the same in whatever order they are written."""
    return min((report.rule for _, report in reports), key=lambda one: (is_blank(one), one))
