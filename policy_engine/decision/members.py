"""The members that a refined rule could mean of what is asked for."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from policy_engine import terms
from policy_engine.decision.closures import Closures
from policy_engine.decision.index import group_by_prefix
from policy_engine.policy import Condition
from policy_engine.policy.hierarchy import Part


class RefinedMembers:
    """The members of parties and assets, as far as they are known when a request is made.

    A refinement (ODRL Information Model 2.2, section 2.5.3) chooses among the members of a
    collection. What it is asked of, where a rule names `source` and a request `name`:

    - the lower of the two, which both mean, and all that is known to be in it: put there by an
      edge, or named by a rule, an edge, the request or the world's `of` as a part of it;
    - of what lies between a name and a wider source, the dataset that the name is a column of,
      and whatever something is said of that the refinement asks for.

    A collection is asked through its members, and itself only where something is said of it. One
    whose members no edge of the rule's own policy (or of the caller) names is asked itself: who
    belongs to it by the word of others does not speak for all.
    """

    def __init__(
        self,
        said: Mapping[str, Collection[str]],
        names: Callable[[], Iterable[str]] = tuple,
        named: Callable[[], Mapping[str, Sequence[str]]] = dict,
    ) -> None:
        """Take the left operands of which something is said, by what it is said of.

        `names` gives the assets that are known for one request, and `named` others by what their
        IRI goes on from; both are asked for where they are needed.
        """
        self._said = said
        self._names = names
        self._named = named

    @cached_property
    def _beside(self) -> Mapping[str, Sequence[str]]:
        return group_by_prefix((*self._said, *self._names()))

    def of(
        self,
        part: Part,
        name: str,
        source: str,
        refinements: Sequence[Condition],
        own: Closures,
        known: Closures,
    ) -> list[str]:
        """Return what the refinements of a source are asked of, where a request has a name.

        `own` are the closures of the rule's policy, and `known` those by which it is found.
        """
        asked = {leaf.left_operand for one in refinements for leaf in one.constraints()}
        lowest = [name] if source in known.reach(part, name) else []
        lowest += [source] if name in known.reach(part, source) and source != name else []
        within = dict.fromkeys(one for low in lowest for one in self._within(part, low, known))
        found = [
            one
            for one in within
            if not own.has_members(part, one) or not asked.isdisjoint(self._said.get(one, ()))
        ]
        if name in lowest:
            found += (one for one in self._between(part, name, source, asked, known))
        return found

    def _within(self, part: Part, name: str, known: Closures) -> Iterator[str]:
        below = known.down(part, name)
        yield from below
        for one in below if part == "asset" else ():
            yield from self._named().get(one, ())
            yield from self._beside.get(one, ())

    def _between(
        self, part: Part, name: str, source: str, asked: set[str], known: Closures
    ) -> Iterator[str]:
        dataset = terms.dataset_of(name) if part == "asset" else ""
        for one in known.reach(part, name) - {name, source}:
            is_said = not asked.isdisjoint(self._said.get(one, ()))
            if (is_said or one == dataset) and source in known.reach(part, one):
                yield one
