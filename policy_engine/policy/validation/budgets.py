"""Budgets that bound no release that their policy lets anybody make."""

from collections.abc import Iterator

from policy_engine import terms
from policy_engine.errors import Problem, did_you_mean, join_names
from policy_engine.policy.model import MAKING, Policy


def unmatched_budgets(policy: Policy) -> Iterator[Problem]:
    """Yield the budgets over something that no permission of the policy is about (W010).

    What a target is part of is charged as well, and so may a part of it be by other policies. An
    output is charged only by what makes something else of it.
    """
    if not policy.budgets:
        return
    targets = _targets(policy)
    charged = targets.union(*(policy.hierarchy.wider("asset", one) for one in targets))
    for budget in policy.budgets:
        if budget.over not in charged and targets.isdisjoint(_wholes(policy, budget.over)):
            message = f"No permission of the policy is about {budget.over!r}: nothing that it lets "
            message += "anybody make is charged to the budget over it."
            hint = _hint(policy, budget.over, charged)
            yield Problem("W010", message, hint, budget.place)


def _targets(policy: Policy) -> set[str]:
    """Return the targets of permissions, but for the outputs that they only let be used."""
    made_from = {
        target.iri
        for rule in policy.permissions
        if any(action.iri in MAKING for action in rule.actions)
        for target in rule.targets
    }
    used = {target.iri for rule in policy.permissions for target in rule.targets}
    return made_from | (used - {rule.output for rule in policy.permissions})


def _wholes(policy: Policy, iri: str) -> set[str]:
    """Return what an asset is said to be part of; a column is no part in this sense."""
    wholes = [iri]
    for one in wholes:
        wholes += [up for up in policy.hierarchy.above("asset", one) if up not in wholes]
    return {*wholes}


def _hint(policy: Policy, over: str, charged: set[str]) -> str:
    """Return what was probably meant: the dataset of a column, the input of an output, a name."""
    inputs = {
        target.iri for rule in policy.permissions if rule.output == over for target in rule.targets
    }
    if inputs:
        return f"It is an output. Name what that is made of: {join_names(sorted(inputs), 'or')}."
    dataset = terms.dataset_of(over)
    if dataset in charged:
        return f"A budget is over a whole dataset: {dataset!r}."
    return did_you_mean(over, charged) or "Leave it, if it is for the rules of other policies."
