"""The outputs that no engine can certify, and persons may vouch for."""

from policy_engine.policy.model import ANONYMIZE, MAKING, Policy, Rule


def attestable(policy: Policy) -> dict[str, Rule]:
    """Return the rules of a policy whose outputs no engine can certify, by output.

    An output that any rule anonymises or trains is never one of them, nor that of an action that
    to anonymise is a kind of.
    """
    producing = [rule for rule in policy.permissions if rule.output]
    certified = {rule.output for rule in producing if _may_certify(policy, rule)}
    rules: dict[str, Rule] = {}
    for rule in producing:
        if rule.output not in certified:
            rules.setdefault(rule.output, rule)
    return rules


def _may_certify(policy: Policy, rule: Rule) -> bool:
    """Tell whether a rule anonymises or trains, or may do so by what its actions include."""
    kinds = policy.hierarchy.wider
    above = kinds("action", ANONYMIZE)
    return any(
        action.iri in above or any(one in MAKING for one in kinds("action", action.iri))
        for action in rule.actions
    )
