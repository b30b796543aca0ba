import pytest
from generalizing import asked, cells, encoded, hold_laws, made, parted, price, prices, rungs
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.generalizations import covered_codes, generalizer
from policy_engine.errors import CertificateError, DataError, InternalError

#            World
#     Europe         Asia
#   Rome Oslo     Kyoto China
#                     Wuhan Xian
WORLD = Taxonomy(
    ("World", "Europe", "Rome", "Oslo", "Asia", "Kyoto", "China", "Wuhan", "Xian"),
    (-1, 0, 1, 1, 0, 4, 4, 6, 6),
)
CITIES = ["Oslo", "Rome", "Xian", "Kyoto", None, "Oslo"]
# Two nodes and a leaf are called Other, one of them over two leaves.
OTHERS = Taxonomy(
    ("*", "x", "Other", "a", "y", "Other", "b", "c", "Other", "d"), (-1, 0, 1, 2, 0, 4, 5, 5, 4, 0)
)


@pytest.mark.parametrize(
    ("rows", "cell"),
    [
        ([0, 1], "Europe"),
        ([0, 5], "Oslo"),
        ([2, 3], "Asia"),
        ([0, 2], "World"),
        ([4], None),
        ([2, 4], "Xian or missing"),
        ([1, 2, 4], "World or missing"),
    ],
)
def test_taxonomies_are_the_lowest_node_above_a_class(rows, cell):
    assert cells(CITIES, [rows], "taxonomy", WORLD) == [cell]


def test_codes_are_in_the_order_of_the_leaves():
    one = made(CITIES, "taxonomy", WORLD)
    assert one.column.labels.tolist() == ["", "Rome", "Oslo", "Kyoto", "Xian"]
    assert one.column.codes.tolist() == [2, 1, 4, 3, 0, 2]
    assert one.shape().leaf.tolist() == [0, 2, 3, 5, 8]


def test_a_node_costs_its_share_of_the_leaves():
    tree = made(CITIES, "taxonomy", WORLD).shape()
    assert tree.loss == pytest.approx([1, 0.4, 0, 0, 0.6, 0, 0.4, 0, 0])
    texts = ["World", "Europe", "Rome", "China", None, "Rome or missing"]
    assert prices(texts, "taxonomy", WORLD) == pytest.approx([1, 0.4, 0, 0.4, 0, 1])


def test_the_ladder_is_that_of_the_whole_taxonomy():
    assert rungs(CITIES, "taxonomy", WORLD) == [
        CITIES,
        ["Europe", "Europe", "China", "Kyoto", None, "Europe"],
        ["Europe", "Europe", "Asia", "Asia", None, "Europe"],
        ["World or missing"] * 6,
    ]
    ladder = made(["Oslo", "Xian"], "taxonomy", WORLD).ladder()
    assert [loss.tolist() for loss in ladder.loss] == [
        [0, 0, 0, 0, 0],
        [0.25, 0, 0.25],
        [0.25, 0.5],
        [1],
    ]


def test_values_that_the_taxonomy_lacks_are_refused_all_at_once():
    values = [f"v{number:02}" for number in range(25)]
    with pytest.raises(DataError, match="R007 The taxonomy of 'x' lacks 25") as error:
        made([*values, "Rome"], "taxonomy", WORLD)
    assert all(value in error.value.problems[0].values for value in values)


def test_an_unlisted_value_stands_below_the_root_where_asked():
    values = ["Rome", "Oslo", "Mars"]
    found = [[0, 1], [0, 2], [2]]
    settings = {"unlisted": "root"}
    assert cells(values, found, "taxonomy", WORLD, **settings) == ["Europe", "World", "Mars"]
    assert prices(["Europe", "World", "Mars"], "taxonomy", WORLD, **settings) == [0.4, 1, 0]
    assert rungs(values, "taxonomy", WORLD, **settings)[1:] == [
        ["Europe", "Europe", "Mars"],
        ["Europe", "Europe", "Mars"],
        ["World"] * 3,
    ]
    with pytest.raises(DataError, match="R007"):
        made(["Rome", "", "x"], "taxonomy", WORLD, **settings)


def test_a_taxonomy_of_one_value_gets_a_root_for_the_others():
    lone, settings = Taxonomy(("a",), (-1,)), {"unlisted": "root"}
    assert cells(["a", "b"], [[0, 1], [0]], "taxonomy", lone, **settings) == ["*", "a"]
    assert prices(["*", "a", "b"], "taxonomy", lone, **settings) == [1, 0, 0]
    assert rungs(["a", None], "taxonomy", lone)[-1] == ["a or missing"] * 2
    assert covered_codes(
        "*", asked("taxonomy", **settings), encoded(["a", "b"]), lone
    ).tolist() == [0, 1]


def test_a_label_of_several_nodes_costs_what_the_widest_does():
    found = cells(["b", "c", "a", "Other"], [[0, 1], [2], [3]], "taxonomy", OTHERS)
    assert found == ["Other", "a", "Other"]
    assert prices(["Other", "a"], "taxonomy", OTHERS) == [0.4, 0]


def test_a_label_of_several_nodes_covers_what_is_below_any():
    column = encoded(["b", "c", "a", "Other", "d"])
    labels = column.labels[covered_codes("Other", asked("taxonomy"), column, OTHERS)]
    assert sorted(labels) == ["Other", "a", "b", "c"]


def test_cells_that_the_taxonomy_lacks_are_refused():
    with pytest.raises(CertificateError, match="V002 The column 'x' holds a cell that its tax"):
        prices(["Mars"], "taxonomy", WORLD)


def test_a_taxonomy_that_was_not_read_is_a_bug():
    with pytest.raises(InternalError, match="X001 The taxonomy of 'x' was not read"):
        generalizer("x", encoded(["a"]), asked("taxonomy"), None)


@pytest.mark.parametrize(
    ("cell", "codes"),
    [("Europe", [2, 3]), ("Xian", [4]), ("China or missing", [0, 4]), ("World", [1, 2, 3, 4])],
)
def test_a_node_covers_the_values_below_it(cell, codes):
    found = covered_codes(cell, asked("taxonomy"), encoded(CITIES), WORLD)
    assert found.tolist() == codes


@settings(deadline=None)
@given(
    parted(st.sampled_from([*WORLD.leaf_labels, "Mars", "Europe"])),
)
def test_taxonomies_obey_the_laws(drawn):
    rows, parts = drawn
    hold_laws(rows, parts, "taxonomy", WORLD, unlisted="root")


@settings(deadline=None)
@given(parted(st.sampled_from(OTHERS.leaf_labels)))
def test_ambiguous_taxonomies_obey_the_laws(drawn):
    hold_laws(*drawn, "taxonomy", OTHERS)


@settings(deadline=None)
@given(parted(st.sampled_from([*WORLD.leaf_labels, "Mars"])))
def test_a_node_costs_what_the_partitioner_took_it_for(drawn):
    rows, parts = drawn
    settings = {"unlisted": "root"}
    one = made(rows, "taxonomy", WORLD, **settings)
    full = [part for part in parts if all(rows[row] is not None for row in part)]
    if full:
        expected = [price(one.shape(), one.column.codes[part]) for part in full]
        written = cells(rows, full, "taxonomy", WORLD, **settings)
        assert prices(written, "taxonomy", WORLD, **settings) == pytest.approx(expected)
