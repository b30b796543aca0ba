"""What owners consent to of what a policy makes of their data, and what consent is missing."""

from collections.abc import Iterator

from policy_engine.decision.consents import MissingConsent, given_consent
from policy_engine.decision.decider import Decider
from policy_engine.decision.deciding.case import Case
from policy_engine.decision.deciding.consenting import making_consents
from policy_engine.decision.deciding.making import consent_refusal, making_refusal
from policy_engine.decision.history import History
from policy_engine.decision.index import RuleOutput
from policy_engine.decision.model import Request, World
from policy_engine.decision.ownership import OwnerConsent
from policy_engine.decision.purposes import rule_purposes
from policy_engine.plan.lineage import Consented
from policy_engine.policy import Policy


def missing_consents(
    decider: Decider,
    policy: Policy,
    world: World | None = None,
    history: History | None = None,
    purpose: str = "",
    *,
    with_prohibitions: bool = True,
) -> Iterator[MissingConsent]:
    """Yield the rules of a policy that make something of others' assets without consent.

    Each comes with the reason. None if all policies have one owner. Without a `purpose`,
    outputs are made for the purposes of the rules.
    """
    for case, output in _making_cases(decider, policy, world, history, purpose):
        refusal = consent_refusal(case, output.clause, was_done=False)
        if not refusal and with_prohibitions:
            refusal = making_refusal(case, output.clause, was_done=False)
        if refusal:
            consents = (one for _, one in making_consents(case, output.clause))
            nearest = [one for one in consents if one.shortfalls]
            reported = nearest or [OwnerConsent()]
            for one in reported:
                source = one.clause.policy.source if one.clause else ""
                yield MissingConsent(output.clause.rule, refusal, one.shortfalls, one.rule, source)


def given_consents(
    decider: Decider,
    policy: Policy,
    output: str,
    world: World | None = None,
    history: History | None = None,
    purpose: str = "",
) -> tuple[Consented, ...]:
    """Return the owners' rules that let a policy make an output of their assets."""
    consents = (
        given_consent(asset, consent.clause, decider.transformations)
        for case, output_rule in _making_cases(decider, policy, world, history, purpose)
        if output_rule.asset == output
        for asset, consent in making_consents(case, output_rule.clause)
        if consent.is_given and consent.clause
    )
    return tuple(dict.fromkeys(consents))


def _making_cases(
    decider: Decider, policy: Policy, world: World | None, history: History | None, purpose: str
) -> Iterator[tuple[Case, RuleOutput]]:
    """Yield the rules of a policy that make something, each with its case for a purpose."""
    for output in decider.index.outputs:
        rule, targets = output.clause.rule, tuple(sorted(output.clause.targets))
        if output.policy.uid != policy.uid or not targets:
            continue
        view = decider.view((world or World()).memberships)
        purposes = rule_purposes(rule, view.own_closures(output.clause), view.closures)
        for one in (purpose,) if purpose else purposes:
            action = rule.actions[0].iri
            request = Request(assignee="", action=action, targets=targets, purpose=one)
            yield Case(decider, request, world or World(), history), output
