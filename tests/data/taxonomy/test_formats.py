import csv
import json
import time
import warnings

import pytest
from everyday import everyday
from hypothesis import given
from hypothesis import strategies as st
from places import SHARED_DATA
from reading import codes_of, problems_of

from policy_engine.data.taxonomy import Taxonomy, problems, read_taxonomy
from policy_engine.errors import DataError

DATA = SHARED_DATA
NAMES = st.sampled_from(["x.csv", "x.json", "x.jsonld"])


def real(name):
    path = DATA / name
    if not path.exists():
        warnings.warn(f"SKIPPED: the taxonomy {name} is not beside the project", stacklevel=2)
        pytest.skip(f"the taxonomy {name} is not in {DATA}: nothing is proved on it")
    return path.read_bytes()


@pytest.mark.parametrize("name", ["x.txt", "csv", "x.ttl.gz", ""])
def test_an_unknown_ending_is_refused(name):
    with pytest.raises(DataError) as error:
        read_taxonomy(b"a;*", name)
    assert error.value.problems[0].code == "C004"


@pytest.mark.parametrize("name", ["x.csv", "x.json", "x.jsonld", "x.ttl"])
@pytest.mark.parametrize("data", [b"", b" \n\n", b"\xef\xbb\xbf"])
def test_nothing_is_no_taxonomy(name, data):
    assert codes_of(data, name) == ["T002"]


@pytest.mark.parametrize("name", ["x.csv", "x.json", "x.jsonld", "x.ttl"])
def test_bytes_that_are_not_utf_8_are_placed(name):
    [problem] = problems_of(b"a;*\nb\xff;*", name)
    assert (problem.code, problem.place.line, problem.place.column) == ("C008", 2, 2)
    assert "0xff" in problem.message


def test_too_many_bytes_are_refused():
    assert codes_of(b" " * (problems.MAX_BYTES + 1), "x.csv") == ["T003"]


# Levels, values and nodes counted in the files of arx-deidentifier/arx (data/adult_hierarchy_*).
ADULT = [
    ("age", 5, 100, 136),
    ("education", 4, 16, 25),
    ("marital-status", 3, 7, 10),
    ("native-country", 3, 41, 47),
    ("occupation", 3, 14, 18),
    ("race", 2, 5, 6),
    ("salary-class", 2, 2, 3),
    ("sex", 2, 2, 3),
    ("workclass", 3, 8, 12),
]


@pytest.mark.filterwarnings("default:SKIPPED")
@pytest.mark.parametrize(("name", "levels", "values", "nodes"), ADULT)
def test_hierarchies_of_adult_give_their_columns_as_levels(name, levels, values, nodes):
    data = real(f"hierarchies/adult/adult_hierarchy_{name}.csv")
    tree = read_taxonomy(data, name + ".csv")
    assert (len(tree.levels()), len(tree.leaves), len(tree.labels)) == (levels, values, nodes)
    rows = [tuple(row) for row in csv.reader(data.decode().splitlines(), delimiter=";")]
    assert sorted(zip(*tree.levels(), strict=True)) == sorted(rows)


# Nodes, leaves and heights counted in the files of mosaicrown/mondrian (taxonomy/*.json).
MOSAICROWN = [("category_example", 7, 3, 3), ("countries", 47, 42, 2), ("us", 70, 53, 4)]


@pytest.mark.filterwarnings("default:SKIPPED")
@pytest.mark.parametrize(("name", "nodes", "leaves", "height"), MOSAICROWN)
def test_trees_of_mosaicrown_are_read(name, nodes, leaves, height):
    tree = read_taxonomy(real(f"taxonomies/{name}.json"), f"{name}.json")
    assert (len(tree.labels), len(tree.leaves), tree.height[0]) == (nodes, leaves, height)


@pytest.mark.filterwarnings("default:SKIPPED")
def test_us_states_that_stand_higher_wait_for_the_others():
    levels = read_taxonomy(real("taxonomies/us.json"), "us.json").levels()
    ohio, puerto_rico = levels[0].index("Ohio"), levels[0].index("Puerto Rico")
    assert [level[ohio] for level in levels] == [
        "Ohio",
        "East North Central",
        "Midwest",
        "{Northeast, Midwest}",
        "US",
    ]
    assert [level[puerto_rico] for level in levels] == [
        "Puerto Rico",
        "Unknown",
        "Unknown",
        "Unknown",
        "US",
    ]


def big(ending, count):
    values = range(count)
    if ending == "csv":
        return "".join(f"{n:05};{n // 10:04}*;{n // 100:03}**;*\n" for n in values)
    if ending == "json":
        groups = [
            {"cat": f"g{low}", "subcats": [{"cat": n} for n in range(low, low + 100)]}
            for low in values[::100]
        ]
        return json.dumps({"cat": "*", "subcats": groups})
    context = {"skos": "http://www.w3.org/2004/02/skos/core#"}
    graph = [{"@id": f"{n}", "skos:broader": {"@id": f"g{n // 100}"}} for n in values]
    return json.dumps({"@context": context, "@graph": graph})


@pytest.mark.one_in(3)
@pytest.mark.parametrize("count", everyday((40_000, 100_000), 40_000))
@pytest.mark.parametrize("ending", ["csv", "json", "jsonld"])
def test_many_values_are_read_in_seconds(ending, count):
    data = big(ending, count).encode()
    start = time.process_time()
    assert len(read_taxonomy(data, f"x.{ending}").leaves) == count
    assert time.process_time() - start < count / 10_000  # quadratic code takes a minute, or several


def valid_or_refused(data, name):
    tree, refused = None, None
    try:
        tree = read_taxonomy(data, name)
    except DataError as error:
        refused = error
    if tree:
        assert Taxonomy(tree.labels, tree.parents).digest == tree.digest
        assert len(tree.levels()) == tree.height[0] + 1
    else:
        assert refused.problems
        assert str(refused).startswith(name)


@given(st.binary(max_size=80), NAMES)
def test_any_bytes_are_read_or_refused(data, name):
    valid_or_refused(data, name)


@given(st.text(alphabet='ab;,\t"\n\r* ', max_size=60))
def test_any_table_is_read_or_refused(text):
    valid_or_refused(text.encode(), "x.csv")


LABELS = st.sampled_from(["a", "b", "", "*"]) | st.text(max_size=3)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | LABELS


def members(keys, inner):
    return st.dictionaries(st.sampled_from(keys) | st.text(max_size=2), inner, max_size=4)


CATEGORIES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | members(["cat", "subcats"], inner)
        | st.fixed_dictionaries({"cat": LABELS, "subcats": inner | st.lists(inner, max_size=3)})
    ),
    max_leaves=15,
)


@given(CATEGORIES)
def test_any_categories_are_read_or_refused(value):
    valid_or_refused(json.dumps(value).encode(), "x.json")


KEYS = [
    "@id",
    "@type",
    "@graph",
    "@context",
    "@value",
    "@language",
    "@list",
    "@container",
    "skos",
    "skos:broader",
    "narrower",
    "skos:prefLabel",
    "notation",
    "@base",
    "@vocab",
    "@reverse",
]
CONCEPTS = st.recursive(
    SCALARS | st.sampled_from(["@id", "skos:Concept", "http://www.w3.org/2004/02/skos/core#"]),
    lambda inner: st.lists(inner, max_size=3) | members(KEYS, inner),
    max_leaves=15,
)
CONTEXT = {"skos": "http://www.w3.org/2004/02/skos/core#"}


@given(CONCEPTS, st.booleans())
def test_any_concepts_are_read_or_refused(value, with_context):
    whole = {"@context": CONTEXT, "@graph": value} if with_context else value
    valid_or_refused(json.dumps(whole).encode(), "x.jsonld")


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), max_size=5))
def test_any_edges_make_a_tree_or_are_refused(edges):
    graph = [{"@id": narrow, "skos:broader": {"@id": wide}} for narrow, wide in edges]
    valid_or_refused(json.dumps({"@context": CONTEXT, "@graph": graph}).encode(), "x.jsonld")
