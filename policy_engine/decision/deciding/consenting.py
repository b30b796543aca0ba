"""The consent that owners give: to grant the use of their assets, and to make something of them."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from policy_engine.decision.clauses import Clause
from policy_engine.decision.consents import rule_inputs, without_counts
from policy_engine.decision.deciding import prohibiting
from policy_engine.decision.inclusion import count_uncovered
from policy_engine.decision.matching import RuleMatch, match_permission
from policy_engine.decision.ownership import AssetUse, OwnerConsent, consent_rank
from policy_engine.policy.model import ANONYMIZE, GRANT_USE, OFFER

if TYPE_CHECKING:
    from policy_engine.decision.deciding.case import Case

_NEAR = 16


def making_consent(
    case: "Case", making: Clause, party: str, asset: str, was_done: bool
) -> OwnerConsent:
    """Return whether an asset's owner lets a party make of it what a rule makes, or made."""
    parts = {"assignee": party, "action": ANONYMIZE, "targets": (asset,)}
    request = case.request.model_copy(update=parts)
    # A consent for a single table does not cover joining it with others.
    together = tuple(dict.fromkeys((asset, *rule_inputs(making))))
    other = case.with_request(request, is_delegation=True, together=together)
    other.facts.was_done = was_done
    return _anonymize_consent(other, making)


def _anonymize_consent(case: "Case", making: Clause) -> OwnerConsent:
    """Return whether an owner's own permission to anonymise lets a rule be carried out.

    Limits on how often count for a new output, but not for one that was already made.
    """
    nearest = OwnerConsent()
    for clause in case.view.permissions(case.expanded):
        if not _is_leave(case, clause):
            continue
        for match in case.match_clause(without_counts(clause) if case.facts.was_done else clause):
            missing, inputs = _missing_for_consent(case, match), _consented_inputs(case, making)
            shortfalls = () if missing else case.decider.consent_shortfalls(clause, making, inputs)
            is_given = not missing and not shortfalls
            consent = OwnerConsent(is_given, clause=clause, shortfalls=shortfalls, missing=missing)
            nearest = max(nearest, consent, key=consent_rank)
    return nearest if nearest.clause else _other_purpose_consent(case)


def _missing_for_consent(case: "Case", match: RuleMatch) -> str:
    """Return what keeps a permission from giving consent, empty if nothing does."""
    denying = None if match.missing else prohibiting.denying_prohibition(case)
    return f"{denying.clause.name} prohibits it" if denying else " and ".join(match.missing)


def _other_purpose_consent(case: "Case") -> OwnerConsent:
    """Return the consent that would exist for another purpose."""
    for clause in case.view.near_permissions(case.expanded, _NEAR):
        expanded = case.expand_for(clause)
        differs_in_purpose = count_uncovered(clause, expanded) == 1 and clause.purposes.isdisjoint(
            expanded.purpose
        )
        if differs_in_purpose and clause.purposes and _is_leave(case, clause):
            return OwnerConsent(
                clause=clause,
                missing=_missing_for_consent(case, match_permission(clause, expanded, case.facts)),
            )
    return OwnerConsent()


def _is_leave(case: "Case", clause: Clause) -> bool:
    is_one = ANONYMIZE in clause.actions and not clause.written_rule.output
    return is_one and clause.policy.type != OFFER and _is_of_owner(case, clause)


def _consented_inputs(case: "Case", making: Clause) -> tuple[str, ...]:
    """Return the inputs of a rule that the requested asset is, or is a part of."""
    [asset], inputs = case.request.targets, rule_inputs(making)
    standing = case.view.standing
    if asset in inputs or standing is None:
        return (asset,)
    return tuple(one for one in inputs if asset in standing.known_parts(one)) or inputs


def _is_of_owner(case: "Case", clause: Clause) -> bool:
    return bool(case.ownership and case.ownership.owns(clause, case.request.targets[0]))


def making_consents(case: "Case", clause: Clause) -> Iterator[tuple[str, OwnerConsent]]:
    """Yield the inputs that a rule's issuer does not speak for, with their owners' consent."""
    return case.ownership.required_consents(clause) if case.ownership else iter(())


def use_consent(
    case: "Case", party: str, asset: str, was_done: bool, use: AssetUse
) -> OwnerConsent:
    """Return whether an asset's owner lets a party grant its use, and make what it is used for.

    A past use by consent counts as making: its output is valid as long as the consent is.
    """
    parts = {"assignee": party, "action": GRANT_USE, "targets": (asset,)}
    request = case.request.model_copy(update=parts)
    together = tuple(dict.fromkeys((asset, *use.beside)))
    other = case.with_request(request, is_delegation=True, together=together)
    other.facts.was_done, other.facts.making = was_done, was_done or case.facts.making
    consent = _grant_use_consent(other)
    is_prohibited = consent.is_given and any(
        map(partial(_is_prohibited, other), sorted(use.making))
    )
    return replace(consent, is_given=False) if is_prohibited else consent


def _is_prohibited(case: "Case", action: str) -> bool:
    """Return whether another action on the requested assets is prohibited."""
    request = case.request.model_copy(update={"action": action})
    other = case.with_request(
        request,
        is_delegation=True,
        together=case.facts.together,
    )
    other.facts.was_done = case.facts.was_done
    return prohibiting.denying_prohibition(other) is not None


def _grant_use_consent(case: "Case") -> OwnerConsent:
    """Return whether an owner's own permission names granting this use."""
    matches = [
        one
        for clause in case.view.permissions(case.expanded)
        if GRANT_USE in clause.actions and clause.policy.type != OFFER
        if _is_of_owner(case, clause)
        for one in case.match_clause(clause)
    ]
    may_be = any(all(v.state != "unsatisfied" for v in one.verdicts) for one in matches)
    granting = next((one.clause for one in matches if not one.missing), None)
    is_given = granting is not None and prohibiting.denying_prohibition(case) is None
    return OwnerConsent(is_given, may_be, granting, counted_prohibitions=tuple(case.counting))
