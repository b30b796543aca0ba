"""The members of a requested party or asset that a refined rule may mean."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from policy_engine import terms
from policy_engine.decision.closures import Closures
from policy_engine.decision.index import group_by_prefix
from policy_engine.policy import Condition
from policy_engine.policy.hierarchy import Part


class RefinedMembers:
    """The members of parties and assets that are known when a request is made.

    A refinement (ODRL Information Model 2.2, section 2.5.3) selects members of a collection. If a
    rule names `source` and a request `name`, it is evaluated for:

    - the narrower of the two, which both include, and everything known to be in it: put there by an
      edge, or named as a part of it by a rule, an edge, the request or the world's `candidates`;
    - between a name and a wider source, the dataset that the name is a column of, and everything
      with a stated value that the refinement asks for.

    A collection is represented by its members, and evaluated itself only if it has stated values.
    If the rule's own policy (or the caller) names no members of it, it is evaluated itself: members
    that only others name do not speak for all.
    """

    def __init__(
        self,
        stated_operands: Mapping[str, Collection[str]],
        request_assets: Callable[[], Iterable[str]] = tuple,
        known_assets: Callable[[], Mapping[str, Sequence[str]]] = dict,
    ) -> None:
        """Take the left operands with values stated in the world, by the name described.

        `request_assets` gives the assets known from the request, `known_assets` all others by the
        prefixes of their IRIs. Both are called only when needed.
        """
        self._stated_operands = stated_operands
        self._request_assets = request_assets
        self._known_assets = known_assets

    @cached_property
    def _assets_by_prefix(self) -> Mapping[str, Sequence[str]]:
        return group_by_prefix((*self._stated_operands, *self._request_assets()))

    def candidates(
        self,
        part: Part,
        name: str,
        source: str,
        refinements: Sequence[Condition],
        own_closures: Closures,
        closures: Closures,
    ) -> list[str]:
        """Return the members for which the refinements of `source` are evaluated.

        `name` is the one in the request, `own_closures` are the closures of the rule's policy, and
        `closures` those by which the rule was found.
        """
        operands = {leaf.left_operand for one in refinements for leaf in one.constraints()}
        lowest = [name] if source in closures.reach(part, name) else []
        lowest += [source] if name in closures.reach(part, source) and source != name else []
        below = dict.fromkeys(
            one for low in lowest for one in self._members_below(part, low, closures)
        )
        members = [
            one
            for one in below
            if not own_closures.has_members(part, one) or self._stated_operands.get(one)
        ]
        if name in lowest:
            members += (
                one for one in self._members_between(part, name, source, operands, closures)
            )
        return members

    def _members_below(self, part: Part, name: str, closures: Closures) -> Iterator[str]:
        below = closures.down(part, name)
        yield from below
        for one in below if part == "asset" else ():
            yield from self._known_assets().get(one, ())
            yield from self._assets_by_prefix.get(one, ())

    def _members_between(
        self, part: Part, name: str, source: str, operands: set[str], closures: Closures
    ) -> Iterator[str]:
        dataset = terms.dataset_of(name) if part == "asset" else ""
        wider = closures.reach(part, name) - {name, source}
        meant = [
            one
            for one in wider
            if one == dataset or not operands.isdisjoint(self._stated_operands.get(one, ()))
        ]
        within = closures.select_included(part, meant, source)
        yield from (one for one in meant if one in within)
