"""Whose rules count for what is asked, where it is said who owns what."""

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
    """Who speaks for which asset, by the owners and by what the world says of parts.

    The answers are those of `Ownership`, by which requests are decided; leave to grant the use of
    an asset is what the reports on the policies' own rules evaluate to.
    """

    def __init__(self, owners: Owners, policies: Sequence[Policy], said: Hierarchy) -> None:
        stated = Hierarchy(asset=tuple(owners.edges))
        self._policies = policies
        self._trusted = Closures(said.joined([stated]))
        self._standing = Standing(owners.known_by(policies), self._trusted.hierarchy.asset)

    def report(self, case: "ComplianceCase", rule: Rule, node: str, known: Closures) -> PartReport:
        """Return whether those who issued a rule speak for what is asked."""
        if not case.asked.targets:
            return PartReport(node, "Party", "unknown", "The request names no target.")
        why = self._fails(case, rule, known)
        reason = f"The rule does not count: {why}." if why else ""
        return PartReport(node, "Party", "unsatisfied" if why else "satisfied", reason)

    def _fails(self, case: "ComplianceCase", rule: Rule, known: Closures) -> str:
        targets, clause = case.asked.targets, Clause.of(0, case.policy, rule, known)
        ownership = Ownership(self._standing, self._trusted, lambda *of: self._leave(case, *of[:2]))
        if rule.kind == "permission":
            return ownership.permission_refusal(clause, targets, known)
        is_met = overlaps_targets(clause, targets, known)
        return ownership.prohibition_refusal(clause, targets, known) if is_met else ""

    def _leave(self, case: "ComplianceCase", party: str, asset: str) -> OwnerConsent:
        """Tell whether the owner of an asset lets a party grant its use."""
        asked = replace(case.asked, parties=(party,), actions=(GRANT_USE,), targets=(asset,))
        found = [*self._reports(case, asked)]
        granted = [
            report
            for rule, report in found
            if self._is_leave(rule) and self._is_owners(rule, asset)
        ]
        barred = any(
            report.active and self._standing.of(asset).prohibit(rule.issued_by)
            for rule, report in found
            if rule.kind == "prohibition"
        )
        given = any(
            one.active and all(duty.deontic == "Fulfilled" for duty in one.conditions)
            for one in granted
        )
        may_be = any(all(p.state != "unsatisfied" for p in one.premises) for one in granted)
        return OwnerConsent(is_given=given and not barred, may_be=may_be)

    def _reports(
        self, case: "ComplianceCase", asked: RequestedRule
    ) -> Iterator[tuple[Rule, RuleReport]]:
        """Yield the rules of all policies but offers, with what they evaluate to for a request.

        Whoever issued them: what of them counts is not told yet, so that none yields to another.
        """
        for other in (case.of(policy, asked) for policy in self._policies):
            if other.policy.type != OFFER:
                found = other.unresolved()
                yield from (one for one in found if not (self._is_leave(one[0]) and other.is_void))

    def _is_leave(self, rule: Rule) -> bool:
        return rule.kind == "permission" and any(one.iri == GRANT_USE for one in rule.actions)

    def _is_owners(self, rule: Rule, asset: str) -> bool:
        return self._standing.of(asset).own(rule.issued_by)
