"""The duties to audit what a policy has made: by them its release is attacked beforehand."""

from collections.abc import Iterator

from policy_engine import terms
from policy_engine.policy import Action, Policy, Rule

AUDIT, MEMBERSHIP = f"{terms.PE}audit", f"{terms.PE}membershipInference"


def is_audit(action: Action) -> bool:
    """Tell whether an action is one that the engine carries out as an audit."""
    return action.iri in (AUDIT, MEMBERSHIP)


def audit_duties(policy: Policy) -> Iterator[tuple[Rule, Rule]]:
    """Yield every duty to audit, with its permission."""
    for rule in policy.permissions:
        yield from ((rule, duty) for duty in rule.duties if any(map(is_audit, duty.actions)))


def certified_duties(policy: Policy, asset: str) -> Iterator[Rule]:
    """Yield the duties to audit an output, which a valid certificate of it shows fulfilled."""
    for rule, duty in audit_duties(policy):
        if asset in [target.iri for target in rule.targets]:
            yield duty
