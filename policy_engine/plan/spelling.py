"""The columns that policies name, against those that the data has."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from urllib.parse import unquote

from policy_engine import terms
from policy_engine.data.catalog import Catalog, Dataset
from policy_engine.data.column_names import column_iri, column_name, fold_name, missing_column
from policy_engine.errors import NOWHERE, DataError, Place, Problem, place_order
from policy_engine.plan.model_descriptions import names_column
from policy_engine.policy import Action, Condition, Hierarchy, Party, Policy, Rule

_RELEASE, _GUIDE = f"{terms.PE}release", f"{terms.PE}guide"
_CUTS = re.compile("[/?#]")


class Named(NamedTuple):
    """An asset that a text names, and where.

    One that `is_exact` is a column of what is made, and has its name from there: no other case
    of it will do.
    """

    iri: str
    place: Place = NOWHERE
    is_exact: bool = False


@dataclass(frozen=True)
class Spelling:
    """Which column of the data an asset's IRI names.

    Names are matched as SQL matches them: in any case, and else letter by letter, whatever form
    of Unicode the data writes these in.
    """

    datasets: Mapping[str, Dataset]
    outputs: frozenset[str] = frozenset()

    @classmethod
    def of(cls, catalog: Catalog, policies: Iterable[Policy] = ()) -> "Spelling":
        """Return the spelling of a catalog; what policies make is not a column of it."""
        outputs = frozenset(rule.output for policy in policies for rule in policy.rules)
        return cls({one.iri: one for one in catalog.datasets}, outputs - {""})

    @cached_property
    def _folded(self) -> Mapping[str, str]:
        return {fold_name(iri): iri for iri in self.datasets}

    def column(self, iri: str) -> tuple[Dataset, str] | None:
        """Return the dataset and the column that an IRI names, None where it names none."""
        dataset = self.datasets.get(terms.dataset_of(iri))
        name = dataset and dataset.find_column(column_name(dataset.iri, iri) or "")
        return (dataset, name) if dataset and name else None

    def problems(self, assets: Iterable["Named"]) -> list[Problem]:
        """Return what is wrong with the names of assets, in the order of their places."""
        problems = map(self.problem, assets)
        return sorted(dict.fromkeys(filter(None, problems)), key=place_order)

    def problem(self, asset: Named) -> Problem | None:
        """Return what is wrong with the name of an asset: None where it names a dataset or column
        of the data, or is not about them."""
        column = self.column(asset.iri)
        if column and (not asset.is_exact or column_name(column[0].iri, asset.iri) == column[1]):
            return None
        for above in _prefixes(asset.iri):
            if above in self.outputs:
                return None
            if above in self.datasets:
                return self._no_column(asset, self.datasets[above], above)
        near = next(
            (one for one in map(fold_name, _prefixes(asset.iri)) if one in self._folded), ""
        )
        if not near:
            return None
        message = f"No data is given for {asset.iri!r}. IRIs are compared letter by letter."
        hint = f"Did you mean {self._folded[near]!r}, or something in it?"
        return Problem("C001", message, hint, asset.place)

    def _no_column(self, asset: Named, dataset: Dataset, above: str) -> Problem | None:
        rest = asset.iri[len(above) + 1 :]
        if asset.iri == above:
            return None
        if asset.iri[len(above)] == "/" and rest and not _CUTS.search(rest):
            return missing_column(unquote(rest), dataset, asset.place)
        message = f"{asset.iri!r} is not a column of {dataset.iri}. Its columns are {above}/..."
        hint = "In a name, / ? # and a blank are written as %2F, %3F, %23 and %20."
        return Problem("C005", message, hint, asset.place)


def column_problems(
    policy: Policy, catalog: Catalog, policies: Iterable[Policy] = ()
) -> list[Problem]:
    """Return a problem (C005, C001) for every column that a policy names and the data lacks.

    Each has its place. The outputs of `policies` are not columns of the data.
    """
    return Spelling.of(catalog, [policy, *policies]).problems(assets_of(policy))


def respell_hierarchies(
    catalog: Catalog,
    policies: Sequence[Policy],
    hierarchies: Iterable[Hierarchy] = (),
    targets: Iterable[str] = (),
) -> Hierarchy:
    """Return hierarchies joined, with every other case of a column's name made one with it.

    `targets` are those of a request. Raises DataError where a policy, a hierarchy or a
    target names a column that the data lacks (C005), or a dataset in another spelling (C001).
    """
    spelling = Spelling.of(catalog, policies)
    for policy in policies:
        problems = spelling.problems(assets_of(policy))
        if problems:
            raise DataError(*problems, source=policy.source)
    hierarchy = Hierarchy().joined(hierarchies)
    requested = [
        *_edge_assets(hierarchy, NOWHERE),
        *(Named(terms.canonical(target)) for target in targets),
    ]
    if problems := list(dict.fromkeys(filter(None, map(spelling.problem, requested)))):
        raise DataError(*problems)
    assets = [*requested, *(one for policy in policies for one in assets_of(policy))]
    return hierarchy.joined([Hierarchy(asset=tuple(dict.fromkeys(_respelt(assets, spelling))))])


def assets_of(policy: Policy) -> Iterator[Named]:
    """Yield every asset that a policy names, in its rules and in what it says of assets."""
    for rule in (policy.shared, *policy.rules):
        yield from _rule_assets(rule)
    for query in policy.queries:
        columns = [(one.iri, one.place) for one in query.group_by]
        columns += [(one.of, one.place) for one in query.aggregates if one.of]
        yield from (Named(terms.canonical(iri), place, is_exact=True) for iri, place in columns)
    yield from _edge_assets(policy.hierarchy, policy.place)


def _rule_assets(rule: Rule) -> Iterator[Named]:
    for target in rule.targets:
        yield Named(terms.canonical(target.iri), target.place)
        yield from _condition_assets(target.refinements)
    parties = [party for several in rule.functions.values() for party in several]
    members: tuple[Action | Party, ...] = (*rule.actions, *rule.assigners, *rule.assignees)
    for member in (*members, *parties):
        yield from _condition_assets(member.refinements)
    yield from _condition_assets(rule.constraints)
    for other in rule.nested_rules:
        yield from _rule_assets(other)


def _condition_assets(conditions: Iterable[Condition]) -> Iterator[Named]:
    for leaf in (leaf for condition in conditions for leaf in condition.constraints()):
        yield Named(terms.canonical(leaf.left_operand), leaf.place)
        if leaf.left_operand == _RELEASE:
            continue  # it names a query of the policy
        is_role = terms.names_columns(leaf.left_operand)
        for value in leaf.right_operands:
            is_column = is_role or (leaf.left_operand == _GUIDE and names_column(value))
            if is_column or value.is_iri:
                yield Named(terms.canonical(str(value.value)), value.place, is_exact=is_column)


def _edge_assets(hierarchy: Hierarchy, place: Place) -> Iterator[Named]:
    for iri in dict.fromkeys(end for edge in hierarchy.asset for end in edge):
        yield Named(terms.canonical(iri), place)


def _respelt(assets: Iterable[Named], spelling: Spelling) -> Iterator[tuple[str, str]]:
    """Yield that a name in another case is part of the column, and the column part of it."""
    for one in assets:
        column = spelling.column(one.iri)
        iri = terms.canonical(column_iri(column[0].iri, column[1])) if column else one.iri
        if iri != one.iri:
            yield from ((iri, one.iri), (one.iri, iri))


def _prefixes(iri: str) -> Iterator[str]:
    """Yield an IRI, and each that it goes on from, the longest first."""
    yield iri
    for cut in reversed([match.start() for match in _CUTS.finditer(iri)]):
        yield iri[:cut]
