"""The rules as they are in one state of the world, laid over what was compiled before."""

from collections.abc import Iterator

from policy_engine import terms
from policy_engine.decision.closures import Closures
from policy_engine.decision.holding import ExpandedRequest
from policy_engine.decision.index import Clause, Index, RuleOutput, inclusion_key
from policy_engine.policy.hierarchy import Edge, Hierarchy, Part
from policy_engine.policy.owners import Owners, Standing


class View:
    """An index under the memberships of a state of the world, at the cost of these alone.

    What the world adds to who and what belongs to what counts for every rule. The index is keyed
    by what is known without it: what a new edge puts into a request stands under that edge's
    lower end, and what it puts a request into is found by the request's own closures.
    """

    def __init__(self, index: Index, more: Hierarchy, owners: Owners = Owners()) -> None:  # noqa: B008 (frozen)
        """Take an index, what is known besides, and who owns what."""
        self.index = index
        self.more = more
        self.is_bare = more == Hierarchy()
        self.closures = index.closures if self.is_bare else index.closures.under(more)
        self.void = index.void
        self._lower_ends: dict[Part, tuple[frozenset[str], dict[str, list[str]]]] = {}
        self._own = {id(index.closures): self.closures}
        self.trusted = index.trusted if self.is_bare else index.trusted.under(more)
        self.standing = Standing(owners, self._said_of_parts()) if owners else None
        if not self.is_bare:
            under = {id(index.closures): self.closures}
            for one in index.voidable:
                known = under.setdefault(id(one.closures), one.closures.under(more))
                self.void |= {one.policy.uid} if one.is_voided(more, known) else set()

    def _said_of_parts(self) -> tuple[Edge, ...]:
        """Return what the caller says of which asset is a part of which."""
        return (*self.index.trusted.hierarchy.asset, *self.more.asset)

    def own(self, clause: Clause) -> Closures:
        """Return the closures of a rule's own policy."""
        if self.is_bare:
            return clause.closures
        found = self._own.get(id(clause.closures))
        if found is None:
            found = self._own[id(clause.closures)] = clause.closures.under(self.more)
        return found

    def permissions(self, asked: ExpandedRequest) -> list[Clause]:
        """Return the permissions that may cover a request, in the order of the policies."""
        near = self.index.permissions.near(
            asked.targets[0], asked.party, asked.action, asked.purpose
        )
        return near if self.void == self.index.void else [*self._valid(near)]

    def nearly(self, asked: ExpandedRequest, most: int) -> list[Clause]:
        """Return permissions that lack some part of a request."""
        near = self.index.permissions.nearly(asked.targets[0], asked.party, most)
        return near if self.void == self.index.void else [*self._valid(near)]

    def prohibitions(self, asked: ExpandedRequest) -> list[Clause]:
        """Return the prohibitions that may overlap a request, in the order of the policies."""
        request, rules = asked.request, self.index.prohibitions
        targets = [key for target in request.targets for key in self._keys("asset", target)]
        assignees = self._keys("party", request.assignee)
        return rules.near(targets, assignees, self._purposes(request.purpose))

    def touched(self, asked: ExpandedRequest) -> list[int]:
        """Return the numbers of the outputs that targets are, belong to or hold, or might."""
        if not self.index.outputs:
            return []
        return sorted({one for target in asked.request.targets for one in self._outputs(target)})

    def outputs(self, asset: str) -> Iterator[str]:
        """Yield the outputs that an asset is, belongs to or holds, or might."""
        yield from (self.index.outputs[number].asset for number in self._outputs(asset))

    def made(self, asset: str) -> Iterator[RuleOutput]:
        """Yield who makes the outputs that an asset is, belongs to or holds, or might."""
        yield from (self.index.outputs[number] for number in sorted({*self._outputs(asset)}))

    def _outputs(self, asset: str) -> Iterator[int]:
        every = self.index.outputs
        for key in self._keys("asset", asset):
            found = self.index.by_output.get(key, ())
            yield from (number for number in found if every[number].policy.uid not in self.void)

    def _keys(self, part: Part, name: str) -> list[str]:
        """Return the keys under which stands what a name includes, or is included in."""
        lower = [name] if self.is_bare else self._lower(part, name)
        return [*map(inclusion_key, lower), *self.closures.reach(part, name)]

    def _lower(self, part: Part, name: str) -> Iterator[str]:
        """Yield a name, and where edges of the world start by which something is put into it."""
        yield name
        starts, columns = self._starts(part)
        for one in self.closures.down(part, name):
            if one in starts and one != name:
                yield one
            yield from (column for column in columns.get(one, ()) if column != name)

    def _starts(self, part: Part) -> tuple[frozenset[str], dict[str, list[str]]]:
        """Return where edges of the world start, and of these the columns by their dataset."""
        found = self._lower_ends.get(part)
        if found is None:
            starts = frozenset(narrow for narrow, _ in getattr(self.more, part))
            columns: dict[str, list[str]] = {}
            for one in sorted(starts) if part == "asset" else ():
                columns.setdefault(terms.dataset_of(one), []).append(one)
            found = self._lower_ends[part] = starts, columns
        return found

    def _purposes(self, purpose: str) -> list[str] | None:
        """Return the purposes that a purpose includes, or is included in; None: any."""
        if not purpose:
            return None
        named = self.index.prohibitions.purposes
        if not named:
            return []
        lower = [one for name in self._lower("purpose", purpose) for one in named.get(name, ())]
        return [*lower, *self.closures.reach("purpose", purpose)]

    def _valid(self, clauses: list[Clause]) -> Iterator[Clause]:
        return (one for one in clauses if one.policy.uid not in self.void)
