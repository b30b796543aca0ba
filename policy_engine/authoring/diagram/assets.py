"""The assets that policies speak of: datasets, their columns and the roles of these."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from policy_engine import terms
from policy_engine.policy.model import Action, Policy, Rule
from policy_engine.policy.wording import column_of


@dataclass(frozen=True)
class AssetColumns:
    """The columns by the dataset they are of, and each column's roles in transformations."""

    of: Mapping[str, tuple[str, ...]]
    roles: Mapping[str, tuple[str, ...]]

    @property
    def every(self) -> frozenset[str]:
        """All columns."""
        return frozenset(column for columns in self.of.values() for column in columns)


def columns_of(policies: Iterable[Policy]) -> AssetColumns:
    """Return the columns that policies speak of.

    An asset is drawn as a column of the one that its IRI says it is of, where that one or
    another column of it is spoken of too.
    """
    policies = tuple(policies)
    roles = _roles(policies)
    named = tuple(dict.fromkeys((*(a for p in policies for a in assets(p)), *roles)))
    below: dict[str, list[str]] = {}
    for asset in named:
        if dataset := terms.dataset_of(asset):
            below.setdefault(dataset, []).append(asset)
    # A dataset that has columns of its own stands for itself, not in a line of another one.
    flat = {head: [one for one in found if one not in below] for head, found in below.items()}
    kept = {
        head: tuple(found)
        for head, found in flat.items()
        if found and (head in named or len(found) > 1 or found[0] in roles)
    }
    return AssetColumns(kept, roles)


def assets(policy: Policy) -> Iterator[str]:
    """Yield the assets that a policy names as targets, outputs and in its hierarchy."""
    for rule in policy.rules:
        yield from (target.iri for target in rule.targets)
        yield from filter(None, [rule.output])
    for edge in policy.hierarchy.asset:
        yield from edge


def _roles(policies: Iterable[Policy]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for policy in policies:
        for rule in policy.rules:
            for column, role in _roles_in(rule):
                found.setdefault(column, {})[role] = None
    return {column: tuple(roles) for column, roles in found.items()}


def _roles_in(rule: Rule) -> Iterator[tuple[str, str]]:
    for action in rule.actions:
        yield from _roles_of(action)


def _roles_of(action: Action) -> Iterator[tuple[str, str]]:
    for refinement in action.refinements:
        for one in refinement.constraints():
            if terms.names_columns(one.left_operand):
                role = terms.local_name(one.left_operand)
                yield from ((column_of(value), role) for value in one.right_operands)
