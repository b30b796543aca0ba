"""The rules in one state of the world, based on what was compiled before."""

from collections.abc import Iterator

from policy_engine import terms
from policy_engine.decision.clauses import Clause
from policy_engine.decision.closures import Closures
from policy_engine.decision.inclusion import ExpandedRequest
from policy_engine.decision.index import Index, RuleOutput, inclusion_key
from policy_engine.policy.hierarchy import Edge, Hierarchy, Part
from policy_engine.policy.owners import Owners, Standing

_MOST_ASSETS = 4_096
"""Of so many assets it is remembered which outputs they touch."""


class View:
    """An index with the memberships of a state of the world, at the cost of these alone.

    Memberships added by the world count for every rule. The index is keyed by what is known without
    them: what a new edge adds to a request is under that edge's lower end, and what it adds a
    request to is found by the request's own closures.
    """

    def __init__(self, index: Index, more: Hierarchy, owners: Owners = Owners()) -> None:  # noqa: B008 (frozen)
        """Take an index, additional memberships, and who owns what."""
        self.index = index
        self.memberships = more
        self.is_bare = more == Hierarchy()
        self.closures = index.closures if self.is_bare else index.closures.extended(more)
        self.void = index.void
        self._lower_ends: dict[Part, tuple[frozenset[str], dict[str, list[str]]]] = {}
        self._touched: dict[str, tuple[int, ...]] = {}
        self._part_keys: dict[tuple[Part, str], list[str]] = {}
        self._purpose_keys: dict[str, list[str]] = {}
        self._own = {id(index.closures): self.closures}
        self.trusted = index.trusted if self.is_bare else index.trusted.extended(more)
        self.standing = Standing(owners, self._stated_parts()) if owners else None
        if not self.is_bare:
            extended = {id(index.closures): self.closures}
            for one in index.voidable:
                closures = extended.setdefault(id(one.closures), one.closures.extended(more))
                self.void |= {one.policy.uid} if one.is_voided(more, closures) else set()

    def _stated_parts(self) -> tuple[Edge, ...]:
        """Return what the caller says about parts of assets."""
        return (*self.index.trusted.hierarchy.asset, *self.memberships.asset)

    def own_closures(self, clause: Clause) -> Closures:
        """Return the closures of a rule's own policy."""
        if self.is_bare:
            return clause.closures
        closures = self._own.get(id(clause.closures))
        if closures is None:
            closures = self._own[id(clause.closures)] = clause.closures.extended(self.memberships)
        return closures

    def makers_closures(self, output: str) -> list[Closures]:
        """Return the closures of the policies that name an output, each once; where nobody owns
        anything, those of all policies."""
        if self.standing is None:
            return [self.closures]
        clauses = (one.clause for one in self.index.outputs if one.asset == output)
        return list({id(own): own for own in map(self.own_closures, clauses)}.values())

    def permissions(self, expanded: ExpandedRequest) -> list[Clause]:
        """Return the permissions that may cover a request, in the order of the policies."""
        candidates = self.index.permissions.candidates(
            expanded.targets[0], expanded.party, expanded.action, expanded.purpose
        )
        return candidates if self.void == self.index.void else [*self._without_void(candidates)]

    def near_permissions(self, expanded: ExpandedRequest, most: int) -> list[Clause]:
        """Return permissions that lack some part of a request."""
        candidates = self.index.permissions.near_candidates(
            expanded.targets[0], expanded.party, most
        )
        return candidates if self.void == self.index.void else [*self._without_void(candidates)]

    def prohibitions(self, expanded: ExpandedRequest) -> list[Clause]:
        """Return the prohibitions that may overlap a request, in the order of the policies."""
        request, rules = expanded.request, self.index.prohibitions
        targets = [key for target in request.targets for key in self._keys("asset", target)]
        assignees = self._keys("party", request.assignee)
        return rules.candidates(targets, assignees, self._purposes(request.purpose))

    def touched_outputs(self, expanded: ExpandedRequest) -> list[int]:
        """Return the numbers of the outputs that targets are, belong to or contain, or may."""
        if not self.index.outputs:
            return []
        return sorted({one for target in expanded.request.targets for one in self._outputs(target)})

    def outputs(self, asset: str) -> Iterator[str]:
        """Yield the outputs that an asset is, belongs to or contains, or may."""
        yield from (self.index.outputs[number].asset for number in self._outputs(asset))

    def output_rules(self, asset: str) -> Iterator[RuleOutput]:
        """Yield the rules of the outputs that an asset is, belongs to or contains, or may."""
        yield from (self.index.outputs[number] for number in sorted({*self._outputs(asset)}))

    def _outputs(self, asset: str) -> tuple[int, ...]:
        """Return the numbers of the outputs that an asset is, belongs to or contains, or may."""
        touched = self._touched.get(asset)
        if touched is None:
            if len(self._touched) >= _MOST_ASSETS:
                self._touched.clear()
            touched = self._touched[asset] = (*self._found_outputs(asset),)
        return touched

    def _found_outputs(self, asset: str) -> Iterator[int]:
        outputs = self.index.outputs
        for key in self._keys("asset", asset):
            numbers = self.index.output_index.get(key, ())
            yield from (number for number in numbers if outputs[number].policy.uid not in self.void)

    def _keys(self, part: Part, name: str) -> list[str]:
        """Return the keys of everything that a name includes, or is included in."""
        keys = self._part_keys.get((part, name))
        if keys is None:
            if len(self._part_keys) >= _MOST_ASSETS:
                self._part_keys.clear()
            lower = [name] if self.is_bare else self._lower_names(part, name)
            keys = [*map(inclusion_key, lower), *self.closures.reach(part, name)]
            self._part_keys[part, name] = keys
        return keys

    def _lower_names(self, part: Part, name: str) -> Iterator[str]:
        """Yield a name, and the starts of edges in the world that put something into it."""
        yield name
        starts, columns = self._edge_starts(part)
        for one in self.closures.down(part, name):
            if one in starts and one != name:
                yield one
            yield from (column for column in columns.get(one, ()) if column != name)

    def _edge_starts(self, part: Part) -> tuple[frozenset[str], dict[str, list[str]]]:
        """Return the starts of edges in the world, with those that are columns by dataset."""
        edges = self._lower_ends.get(part)
        if edges is None:
            starts = frozenset(narrow for narrow, _ in getattr(self.memberships, part))
            columns: dict[str, list[str]] = {}
            for one in sorted(starts) if part == "asset" else ():
                columns.setdefault(terms.dataset_of(one), []).append(one)
            edges = self._lower_ends[part] = starts, columns
        return edges

    def _purposes(self, purpose: str) -> list[str] | None:
        """Return the purposes that a purpose includes, or is included in; None means any."""
        if not purpose:
            return None
        prohibited = self.index.prohibitions.purposes
        if not prohibited:
            return []
        keys = self._purpose_keys.get(purpose)
        if keys is None:
            if len(self._purpose_keys) >= _MOST_ASSETS:
                self._purpose_keys.clear()
            lower = [
                one
                for name in self._lower_names("purpose", purpose)
                for one in prohibited.get(name, ())
            ]
            keys = [*lower, *self.closures.reach("purpose", purpose)]
            self._purpose_keys[purpose] = keys
        return keys

    def _without_void(self, clauses: list[Clause]) -> Iterator[Clause]:
        return (one for one in clauses if one.policy.uid not in self.void)
