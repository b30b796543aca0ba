import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.policy.gathering import Circles, gather_bits

NODES = "abcdef"
EDGES = st.dictionaries(
    st.sampled_from(NODES), st.lists(st.sampled_from(NODES), max_size=3), max_size=6
)


def slowly(start, edges, own):
    seen, queue = {start}, [start]
    for node in queue:
        queue += [other for other in edges.get(node, []) if other not in seen]
        seen |= set(edges.get(node, []))
    return sum(own.get(node, 0) for node in seen)


@given(EDGES, st.lists(st.sampled_from(NODES), max_size=4))
def test_a_node_has_the_bits_of_all_that_it_leads_to(edges, starts):
    own = {node: 1 << number for number, node in enumerate(NODES)}
    found = gather_bits(starts, lambda node: edges.get(node, ()), own)
    assert {node: found[node] for node in starts} == {
        node: slowly(node, edges, own) for node in starts
    }


@pytest.mark.nightly
def test_a_long_way_is_walked_without_recursion():
    found = gather_bits(
        ["0"], lambda node: [str(int(node) + 1)][: int(node) < 50_000], {"50000": 1}
    )
    assert found["0"] == 1


@given(EDGES)
def test_nodes_are_joined_where_each_leads_to_the_other(edges):
    own = {node: 1 << number for number, node in enumerate(NODES)}
    leads_to = {node: slowly(node, edges, own) for node in NODES}
    circles = Circles(lambda node: edges.get(node, ()))
    for one in NODES:
        for other in NODES:
            both = bool(leads_to[one] & own[other] and leads_to[other] & own[one])
            assert circles.are_joined(one, other) == both
