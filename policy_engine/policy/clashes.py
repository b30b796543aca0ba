"""Rules that clash: a permission and a prohibition that both match some request."""

from collections.abc import Iterator

from policy_engine.errors import Problem
from policy_engine.policy.hierarchy import Hierarchy, Part
from policy_engine.policy.model import Policy, Rule


def clashes(policy: Policy) -> Iterator[Problem]:
    """Yield each pair of rules that voids a policy whose conflict strategy is `invalid`.

    ODRL Information Model 2.2, section 2.10.
    """
    for permission in policy.permissions:
        for prohibition in policy.prohibitions:
            if overlap(permission, prohibition, policy.hierarchy):
                yield _problem(permission, prohibition)


def overlap(one: Rule, other: Rule, hierarchy: Hierarchy) -> bool:
    """Tell whether a request can match both rules. A part left open matches everything."""
    return (
        _meet("party", one.assignees, other.assignees, hierarchy)
        and _meet("asset", one.targets, other.targets, hierarchy)
        and _meet("action", _actions(one), _actions(other), hierarchy)
        and _meet("purpose", one.purposes, other.purposes, hierarchy)
    )


def _actions(rule: Rule) -> tuple[str, ...]:
    return tuple(action.iri for action in rule.actions)


def _meet(part: Part, some: tuple[str, ...], others: tuple[str, ...], within: Hierarchy) -> bool:
    if not some or not others:
        return True
    return any(within.overlaps(part, one, other) for one in some for other in others)


def _problem(permission: Rule, prohibition: Rule) -> Problem:
    message = (
        f"{permission.label()} permits what {prohibition.label()} prohibits, and the conflict "
        f"strategy is 'invalid': the policy is void. The permission is in line "
        f"{permission.place.line}."
    )
    hint = 'Separate the rules, or say which wins with "conflict": "prohibit" or "perm".'
    return Problem("P010", message, hint, prohibition.place)
