"""The assets that policies name: datasets, their columns, and the roles of these."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from policy_engine import terms
from policy_engine.policy.model import Action, Policy, Rule
from policy_engine.policy.wording import column_iri


@dataclass(frozen=True)
class AssetColumns:
    """The columns by dataset, and each column's roles in transformations."""

    by_dataset: Mapping[str, tuple[str, ...]]
    roles: Mapping[str, tuple[str, ...]]

    @property
    def all_columns(self) -> frozenset[str]:
        """All columns."""
        return frozenset(column for columns in self.by_dataset.values() for column in columns)


def columns_of(policies: Iterable[Policy]) -> AssetColumns:
    """Return the columns that policies name.

    An asset is drawn as a column of the asset in its IRI if that one, or another column of it, is
    named too.
    """
    policies = tuple(policies)
    roles = _roles(policies)
    named_assets = tuple(dict.fromkeys((*(a for p in policies for a in assets(p)), *roles)))
    columns_below: dict[str, list[str]] = {}
    for asset in named_assets:
        if dataset := terms.dataset_of(asset):
            columns_below.setdefault(dataset, []).append(asset)
    # A dataset with columns of its own is drawn by itself, not as a line of another one.
    leaves = {
        head: [column for column in columns if column not in columns_below]
        for head, columns in columns_below.items()
    }
    grouped = {
        head: tuple(columns)
        for head, columns in leaves.items()
        if columns and (head in named_assets or len(columns) > 1 or columns[0] in roles)
    }
    return AssetColumns(grouped, roles)


def assets(policy: Policy) -> Iterator[str]:
    """Yield the assets that a policy names as targets, outputs and in its hierarchy."""
    for rule in policy.rules:
        yield from (target.iri for target in rule.targets)
        yield from filter(None, [rule.output])
    for edge in policy.hierarchy.asset:
        yield from edge


def _roles(policies: Iterable[Policy]) -> dict[str, tuple[str, ...]]:
    roles_by_column: dict[str, dict[str, None]] = {}
    for policy in policies:
        for rule in policy.rules:
            for column, role in _roles_in(rule):
                roles_by_column.setdefault(column, {})[role] = None
    return {column: tuple(roles) for column, roles in roles_by_column.items()}


def _roles_in(rule: Rule) -> Iterator[tuple[str, str]]:
    for action in rule.actions:
        yield from _roles_of(action)


def _roles_of(action: Action) -> Iterator[tuple[str, str]]:
    for refinement in action.refinements:
        for one in refinement.constraints():
            if terms.names_columns(one.left_operand):
                role = terms.local_name(one.left_operand)
                yield from ((column_iri(value), role) for value in one.right_operands)
