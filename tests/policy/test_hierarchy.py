from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine import terms
from policy_engine.policy import Hierarchy

FAMILY = Hierarchy(
    party=(("alice", "sales"), ("sales", "staff"), ("bob", "staff")),
    purpose=(("mail", "marketing"), ("mail", "contact"), ("contact", "service")),
)
NAMES = st.sampled_from("abcde")
EDGES = st.lists(st.tuples(NAMES, NAMES), max_size=8).map(tuple)


def odrl(*names):
    return tuple(f"{terms.ODRL}{name}" for name in names)


def test_path_is_the_thing_itself_where_both_are_the_same():
    assert FAMILY.path("party", "anybody", "anybody") == ("anybody",)


def test_path_leads_from_narrow_to_wide():
    assert FAMILY.path("party", "alice", "staff") == ("alice", "sales", "staff")


@pytest.mark.parametrize(
    ("narrow", "wide"), [("staff", "alice"), ("alice", "bob"), ("carol", "staff")]
)
def test_path_is_empty_where_the_one_does_not_include_the_other(narrow, wide):
    assert FAMILY.path("party", narrow, wide) == ()


def test_path_is_empty_in_another_part_of_the_rule():
    assert FAMILY.path("purpose", "alice", "staff") == ()


def test_path_is_the_shortest_where_there_are_several():
    long_and_short = Hierarchy(purpose=(("a", "b"), ("b", "c"), ("c", "d"), ("a", "c")))
    assert long_and_short.path("purpose", "a", "d") == ("a", "c", "d")


def test_path_goes_up_by_every_parent():
    assert FAMILY.path("purpose", "mail", "service") == ("mail", "contact", "service")
    assert FAMILY.path("purpose", "mail", "marketing") == ("mail", "marketing")


def test_path_ends_where_the_graph_has_a_circle():
    circle = Hierarchy(party=(("a", "b"), ("b", "a"), ("a", "a")))
    assert circle.path("party", "a", "c") == ()
    assert circle.path("party", "b", "a") == ("b", "a")


def test_column_is_part_of_its_dataset_without_being_said_so():
    path = Hierarchy().path("asset", "http://e.org/T/ZIP", "http://e.org/T")
    assert path == ("http://e.org/T/ZIP", "http://e.org/T")


def test_column_is_part_of_what_its_dataset_is_part_of():
    market = Hierarchy(asset=(("http://e.org/T", "http://market"),))
    assert market.path("asset", "http://e.org/T/ZIP", "http://market")[-1] == "http://market"


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ("http://e.org/Tables", "http://e.org/T"),
        ("http://e.org/T", "http://e.org"),
        ("http://e.org/T", "http:/"),
        ("http://e.org/T", "http://e.org/T/ZIP"),
        ("urn:T", "urn"),
    ],
)
def test_asset_is_no_part_of_what_only_looks_like_its_dataset(narrow, wide):
    assert Hierarchy().path("asset", narrow, wide) == ()


def test_action_is_included_as_the_odrl_vocabulary_says():
    narrow, middle, wide = odrl("display", "play", "use")
    assert Hierarchy().path("action", narrow, wide) == (narrow, middle, wide)
    assert Hierarchy().path("action", *odrl("read", "transfer")) == ()


def test_action_of_ones_own_is_included_where_it_says_so():
    mine = Hierarchy(action=(("http://e.org/glance", odrl("read")[0]),))
    path = mine.path("action", "http://e.org/glance", odrl("use")[0])
    assert path == ("http://e.org/glance", *odrl("read", "use"))


def test_overlaps_is_true_either_way_up_but_not_across():
    assert FAMILY.overlaps("party", "alice", "staff")
    assert FAMILY.overlaps("party", "staff", "alice")
    assert not FAMILY.overlaps("party", "alice", "bob")


def test_joined_keeps_each_edge_once():
    one, other = Hierarchy(party=(("a", "b"),)), Hierarchy(party=(("a", "b"), ("b", "c")))
    assert one.joined([other, one]) == Hierarchy(party=(("a", "b"), ("b", "c")))
    assert one.joined([other]).path("party", "a", "c") == ("a", "b", "c")


def test_joined_with_nothing_is_the_same():
    assert FAMILY.joined([]) == FAMILY


@given(EDGES, NAMES, NAMES)
def test_path_is_made_of_edges_and_stands_no_name_twice(edges, narrow, wide):
    path = Hierarchy(party=edges).path("party", narrow, wide)
    assert all(step in edges for step in pairwise(path))
    assert len(set(path)) == len(path)
    assert path == () or (path[0], path[-1]) == (narrow, wide)


@given(EDGES, NAMES, NAMES, NAMES)
def test_inclusion_is_transitive(edges, low, middle, high):
    tree = Hierarchy(party=edges)
    if tree.path("party", low, middle) and tree.path("party", middle, high):
        assert tree.path("party", low, high)


@given(EDGES, EDGES, NAMES, NAMES)
def test_joining_takes_no_inclusion_away(edges, more, narrow, wide):
    alone, joined = Hierarchy(party=edges), Hierarchy(party=edges).joined([Hierarchy(party=more)])
    assert joined.path("party", narrow, wide) or not alone.path("party", narrow, wide)
