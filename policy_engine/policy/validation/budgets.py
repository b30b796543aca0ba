"""Budgets that bound no release of their policy, or forbid one, and releases that none bounds."""

from collections.abc import Iterator
from decimal import Decimal

from policy_engine import terms
from policy_engine.errors import Problem, did_you_mean, join_names
from policy_engine.policy.model import (
    ANONYMIZE,
    MAKING,
    Action,
    Constraint,
    Policy,
    Rule,
    conjuncts,
)
from policy_engine.policy.queries import Budget
from policy_engine.policy.xsd.literals import lexical
from policy_engine.policy.xsd.values import exact_number


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


def unbounded_statistics(policy: Policy) -> Iterator[Problem]:
    """Yield the permissions of which each release loses an epsilon, and all together any (W011).

    What bounds them is a budget over what is charged, or a constraint on what was spent.
    """
    for rule in policy.permissions:
        if any(_is_spent(one) for one in conjuncts(rule.constraints)):
            continue
        asking = [action for action in rule.actions if _asks_for_statistics(action)]
        unbounded = [] if not asking else [*_without_budget(policy, rule)]
        if unbounded:
            message = "Each release, or answer to a query, loses its epsilon, and nothing bounds "
            message += f"what all of {join_names(unbounded)} lose together."
            hint = f"Give the policy a pe:budget over {join_names(unbounded, 'and')}, or the "
            hint += "permission a constraint on pe:spentEpsilon."
            yield Problem("W011", message, hint, asking[0].place)


def unreleasable_statistics(policy: Policy) -> Iterator[Problem]:
    """Yield the permissions whose releases lose more than a budget ever has (W012).

    A budget without a delta has none for keys that are selected, and for Gaussian noise.
    """
    for rule in policy.permissions:
        targets = [target.iri for target in rule.targets]
        budgets = [
            one
            for one in policy.budgets
            if any(_is_charged(policy, iri, one.over) for iri in targets)
        ]
        for action in filter(_asks_for_statistics, rule.actions):
            for budget in budgets:
                for message in _exceeded(policy, action, budget):
                    hint = "Ask for less, or give the budget more."
                    yield Problem("W012", message, hint, action.place)


def _exceeded(policy: Policy, action: Action, budget: Budget) -> Iterator[str]:
    """Yield what of a budget a release always, or perhaps, exceeds."""
    most, most_delta = budget.epsilon, budget.delta
    if budget.lifetime_epsilon is not None:
        most = min(most, budget.lifetime_epsilon)
    if budget.lifetime_delta is not None:
        most_delta = min(most_delta, budget.lifetime_delta)
    epsilon, delta = (_number(action, name) for name in ("epsilon", "delta"))
    has = f"and the budget over {budget.over!r} has"
    if epsilon is not None and epsilon > most:
        yield f"A release loses an epsilon of {epsilon:f}, {has} {most:f}: it is never made."
    if delta is not None and delta > most_delta:
        loses = f"a delta of {delta:f}, {has} {most_delta:f}"
        if _needs_delta(policy, action):
            yield f"A release loses {loses}: it is never made."
        else:
            yield f"A release may lose {loses}: it is made only where its noise needs none."


def _needs_delta(policy: Policy, action: Action) -> bool:
    """Tell whether a release loses a delta, whatever its figures are."""
    named = [terms.local_name(one) for one in _given(action, f"{terms.PE}mechanism")]
    if named == ["discrete-gaussian"]:
        return True
    released = [*_given(action, f"{terms.PE}release")]
    return any(
        bool(query.group_by) and not query.keys and not any(one.keys for one in query.group_by)
        for query in policy.queries
        if query.uid in released
    )


def _number(action: Action, name: str) -> Decimal | None:
    """Return the number that an action gives for a parameter, None without one."""
    for text in _given(action, f"{terms.PE}{name}"):
        try:
            return exact_number(text)
        except ValueError:  # said where it is read
            return None
    return None


def _given(action: Action, parameter: str) -> Iterator[str]:
    """Yield the values of a parameter of an action, as texts."""
    for part in action.refinements:
        if isinstance(part, Constraint) and part.left_operand == parameter:
            yield from (lexical(value.value) for value in part.right_operands)


def _without_budget(policy: Policy, rule: Rule) -> Iterator[str]:
    """Yield the targets of a rule that are charged to no budget of the policy."""
    for target in rule.targets:
        if not any(_is_charged(policy, target.iri, one.over) for one in policy.budgets):
            yield target.iri


def _is_charged(policy: Policy, iri: str, over: str) -> bool:
    """Tell whether statistics of an asset are charged to what a budget is over."""
    return over in _charged(policy, iri) or iri in _wholes(policy, over)


def _charged(policy: Policy, iri: str) -> list[str]:
    """Return what statistics of an asset are charged to: all that it is part of or made from."""
    charged = [iri]
    for one in charged:
        made_from = [
            target.iri
            for rule in policy.permissions
            if rule.output == one
            for target in rule.targets
        ]
        some = (*policy.hierarchy.above("asset", one), *made_from)
        charged += [wider for wider in dict.fromkeys(some) if wider not in charged]
    return charged


def _is_spent(condition: object) -> bool:
    return isinstance(condition, Constraint) and condition.left_operand == _SPENT


def _asks_for_statistics(action: Action) -> bool:
    """Tell whether an action asks for statistics under differential privacy."""
    if action.iri != ANONYMIZE:
        return False
    names = (terms.methods()[_STATISTICS].iri, _STATISTICS)
    return any(
        str(value.value) in names
        for part in action.refinements
        if isinstance(part, Constraint) and part.left_operand == _METHOD
        for value in part.right_operands
    )


_SPENT = f"{terms.PE}spentEpsilon"
_STATISTICS = "differential-privacy"
_METHOD = f"{terms.MOSAICROWN}method"


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
