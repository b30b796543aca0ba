"""Whose rules count for a request, if it is known who owns what."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from policy_engine.decision.clauses import Clause
from policy_engine.decision.closures import Closures
from policy_engine.decision.compliance.model import PartReport, RuleReport
from policy_engine.decision.compliance.requested_rules import RequestedRule
from policy_engine.decision.inclusion import overlaps_targets
from policy_engine.decision.ownership import OwnerConsent, Ownership
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.model import GRANT_USE, OFFER, Policy, Rule
from policy_engine.policy.owners import Owners, Standing

if TYPE_CHECKING:
    from policy_engine.decision.compliance.judging import ComplianceCase


class Speaking:
    """Who speaks for which asset, according to the owners and the parts stated in the world.

    It answers as `Ownership` does, which decides requests; whether consent to grant the use of an
    asset is given depends on the reports on the policies' own rules.
    """

    def __init__(
        self, owners: Owners, policies: Sequence[Policy], caller_hierarchy: Hierarchy
    ) -> None:
        stated = Hierarchy(asset=tuple(owners.edges))
        self._policies = policies
        self._trusted = Closures(caller_hierarchy.joined([stated]))
        self._standing = Standing(owners.known_by(policies), self._trusted.hierarchy.asset)

    def report(
        self, case: "ComplianceCase", rule: Rule, node: str, closures: Closures
    ) -> PartReport:
        """Return whether the issuers of a rule speak for the requested asset."""
        if not case.asked.targets:
            return PartReport(node, "Party", "unknown", "The request names no target.")
        why = self._fails(case, rule, closures)
        reason = f"The rule does not count: {why}." if why else ""
        return PartReport(node, "Party", "unsatisfied" if why else "satisfied", reason)

    def _fails(self, case: "ComplianceCase", rule: Rule, closures: Closures) -> str:
        clause = Clause.of(0, case.policy, rule, closures)
        # Sorted, so that the reason does not depend on the order in which they are asked for.
        targets = sorted(case.asked.targets)
        ownership = Ownership(self._standing, self._trusted, lambda *of: self._leave(case, *of[:2]))
        if rule.kind == "permission":
            return ownership.permission_refusal(clause, targets, closures)
        is_met = overlaps_targets(clause, targets, closures)
        return ownership.prohibition_refusal(clause, targets, closures) if is_met else ""

    def _leave(self, case: "ComplianceCase", party: str, asset: str) -> OwnerConsent:
        """Return whether the owner of an asset lets a party grant its use."""
        request = replace(case.asked, parties=(party,), actions=(GRANT_USE,), targets=(asset,))
        reports = [*self._reports(case, request)]
        consents = [
            report
            for rule, report in reports
            if self._is_leave(rule) and self._is_owners(rule, asset)
        ]
        is_prohibited = any(
            report.active and self._standing.of(asset).prohibit(rule.issued_by)
            for rule, report in reports
            if rule.kind == "prohibition"
        )
        is_given = any(
            one.active and all(duty.deontic == "Fulfilled" for duty in one.conditions)
            for one in consents
        )
        may_be = any(all(p.state != "unsatisfied" for p in one.premises) for one in consents)
        return OwnerConsent(is_given=is_given and not is_prohibited, may_be=may_be)

    def _reports(
        self, case: "ComplianceCase", request: RequestedRule
    ) -> Iterator[tuple[Rule, RuleReport]]:
        """Yield the rules of all policies except offers, with their results for a request.

        The issuers are not considered yet, so no rule yields to another.
        """
        for other in (case.of(policy, request) for policy in self._policies):
            if other.policy.type != OFFER:
                reports = other.unresolved()
                yield from (
                    one for one in reports if not (self._is_leave(one[0]) and other.is_void)
                )

    def _is_leave(self, rule: Rule) -> bool:
        return rule.kind == "permission" and any(one.iri == GRANT_USE for one in rule.actions)

    def _is_owners(self, rule: Rule, asset: str) -> bool:
        return self._standing.of(asset).own(rule.issued_by)
