"""The duties to audit what a policy has made: by them its release is attacked beforehand."""

from collections.abc import Iterator, Mapping

from policy_engine import terms
from policy_engine.policy import Action, Constraint, Policy, Rule

AUDIT, MEMBERSHIP = f"{terms.PE}audit", f"{terms.PE}membershipInference"
RECORD_LINKAGE = f"{terms.PE}recordLinkage"
POPULATION_RISK = f"{terms.PE}populationRisk"
ATTRIBUTE_INFERENCE = f"{terms.PE}attributeInference"
METHODS: Mapping[str, str] = {
    MEMBERSHIP: "membership-inference",
    RECORD_LINKAGE: "record-linkage",
    POPULATION_RISK: "population-risk",
    ATTRIBUTE_INFERENCE: "attribute-inference",
}
"""The methods of audits by the actions that name them."""


def is_audit(action: Action) -> bool:
    """Tell whether an action is one that the engine carries out as an audit."""
    return action.iri == AUDIT or action.iri in METHODS


def method_of(action: Action) -> str:
    """Return the notation of the method by which an action audits, as it is named; empty where an
    audit names none."""
    if action.iri in METHODS:
        return METHODS[action.iri]
    named = (
        str(part.right_operands[0].value)
        for part in action.refinements
        if isinstance(part, Constraint) and part.right_operands
        if part.left_operand == f"{terms.MOSAICROWN}method"
    )
    return next(named, "").removeprefix(terms.PE)


def audit_duties(policy: Policy) -> Iterator[tuple[Rule, Rule]]:
    """Yield every duty to audit, with its permission."""
    for rule in policy.permissions:
        yield from ((rule, duty) for duty in rule.duties if any(map(is_audit, duty.actions)))


def certified_duties(policy: Policy, asset: str) -> Iterator[Rule]:
    """Yield the duties to audit an output, which a valid certificate of it shows fulfilled."""
    for rule, duty in audit_duties(policy):
        if asset in [target.iri for target in rule.targets]:
            yield duty
