from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from policy_engine.decision.closures import Closures
from policy_engine.policy.hierarchy import Hierarchy

NAMES = [f"http://e.org/{name}" for name in ("t", "t/a", "t/b", "s", "s/a", "s/a#x")]
EDGES = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=8)
COLLECTIONS = st.sampled_from(["party", "asset"])


class Counted(Hierarchy):
    """A hierarchy that counts the names whose edges are asked for."""

    def above(self, part, iri):
        self.__dict__["steps"] = self.__dict__.get("steps", 0) + 1
        return super().above(part, iri)


@given(COLLECTIONS, EDGES)
def test_a_name_has_members_unless_all_that_is_put_into_it_includes_it(part, edges):
    closures = Closures(Hierarchy(**{part: tuple(edges)}))
    for name in NAMES:
        below = {one for one, wide in edges if wide == name}
        assert closures.has_members(part, name) == bool(below - closures.up(part, name).keys())


@given(COLLECTIONS, EDGES, st.sets(st.sampled_from(NAMES)), st.sampled_from(NAMES))
def test_names_are_within_another_as_their_reach_tells(part, edges, names, wide):
    closures = Closures(Hierarchy(**{part: tuple(edges)}))
    expected = {one for one in names if wide in closures.reach(part, one)}
    assert closures.select_included(part, names, wide) == expected


def steps_of(ask, links):
    """Return how many names a question about a chain takes a look at."""
    names = [f"http://e.org/lake/{at}" for at in range(links + 1)]
    hierarchy = Counted(asset=tuple(pairwise(names)))
    ask(Closures(hierarchy), names)
    return hierarchy.steps


def test_members_of_every_name_of_a_chain_take_steps_by_its_links():
    def ask(closures, names):
        assert [closures.has_members("asset", one) for one in names[:2]] == [False, True]
        assert all(closures.has_members("asset", one) for one in names[1:])

    assert steps_of(ask, 200) <= 2.1 * steps_of(ask, 100)


def test_what_is_within_the_end_of_a_chain_takes_steps_by_its_links():
    def ask(closures, names):
        assert closures.select_included("asset", names, names[-1]) == {*names}

    assert steps_of(ask, 200) <= 2.1 * steps_of(ask, 100)
