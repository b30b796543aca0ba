import json
import re

import pytest
import rdflib
from pyld import jsonld
from reading import codes_of, outline, problems_of

from policy_engine.data.taxonomy import read_taxonomy

SKOS = "http://www.w3.org/2004/02/skos/core#"
PREFIXES = {"skos": SKOS, "ex": "http://example.com/"}
TREE = ("Europe", "Italy", "Greece")


def read(value):
    return outline(read_taxonomy(json.dumps(value).encode(), "x.jsonld"))


def found(value):
    problems = problems_of(json.dumps(value), "x.jsonld")
    return [(problem.code, problem.place.pointer) for problem in problems]


def graph(*resources, context=PREFIXES):
    return {"@context": context, "@graph": list(resources)}


@pytest.mark.parametrize(
    ("context", "key"),
    [
        (PREFIXES, "skos:broader"),
        (PREFIXES, f"{SKOS}broader"),
        (PREFIXES, "broader"),
        ({**PREFIXES, "up": "skos:broader"}, "up"),
        ({**PREFIXES, "up": {"@id": "skos:broader", "@type": "@id"}}, "up"),
        ({"ex": "http://example.com/", "@vocab": SKOS}, "broader"),
        (["http://www.w3.org/2004/02/skos/core", {"ex": "http://example.com/"}], "broader"),
        (["https://www.w3.org/2004/02/skos/core#", {"ex": "http://example.com/"}], "skos:broader"),
    ],
)
def test_a_property_in_every_form(context, key):
    resources = [{"@id": f"ex:{name}", key: {"@id": "ex:Europe"}} for name in ("Italy", "Greece")]
    assert read(graph({"@id": "ex:Europe"}, *resources, context=context)) == TREE


@pytest.mark.parametrize(
    "value",
    [
        [{"@id": "ex:Italy"}, {"@id": "ex:Greece"}],
        ["ex:Italy", "http://example.com/Greece"],
        {"@list": ["ex:Italy", {"@id": "ex:Greece"}]},
        [[{"@set": ["ex:Italy", None]}], "ex:Greece"],
    ],
)
def test_references_in_every_form(value):
    assert read({"@context": PREFIXES, "@id": "ex:Europe", "skos:narrower": value}) == TREE


def test_resources_in_each_other():
    inner = [{"skos:prefLabel": "Italy"}, {"skos:notation": "Greece"}]
    world = {"@context": PREFIXES, "@id": "ex:Europe", "skos:narrower": inner}
    assert read(world) == TREE
    scheme = {"@context": PREFIXES, "@type": "skos:ConceptScheme", "skos:prefLabel": "All"}
    del world["@context"]
    assert read({**scheme, "skos:hasTopConcept": world}) == TREE


def test_a_list_of_resources_with_their_own_contexts():
    other = {"s": SKOS, "e": "http://example.com/"}
    assert (
        read(
            [
                {"@context": PREFIXES, "@id": "ex:Italy", "skos:broader": "ex:Europe"},
                {"@context": other, "@id": "e:Greece", "s:broader": {"@id": "e:Europe"}},
            ]
        )
        == TREE
    )


def test_expanded_json_ld_needs_no_context():
    assert (
        read(
            [
                {
                    "@id": "http://example.com/a",
                    "@type": [f"{SKOS}Concept"],
                    f"{SKOS}prefLabel": [{"@value": "Europe", "@language": "en"}],
                }
            ]
        )
        == "Europe"
    )


def test_keywords_by_other_names():
    # The context of Skosmos, in short.
    context = {
        **PREFIXES,
        "uri": "@id",
        "type": "@type",
        "lang": "@language",
        "value": "@value",
        "graph": "@graph",
        "prefLabel": "skos:prefLabel",
        "broader": "skos:broader",
    }
    italy = {
        "uri": "ex:1",
        "type": "skos:Concept",
        "broader": {"uri": "ex:Europe"},
        "prefLabel": [{"lang": "it", "value": "Italia"}, {"lang": "en", "value": "Italy"}],
    }
    assert read({"@context": context, "graph": [italy]}) == ("Europe", "Italy")


def test_languages_from_maps_terms_and_defaults():
    terms = {
        "map": {"@id": "skos:prefLabel", "@container": "@language"},
        "de": {"@id": "skos:prefLabel", "@language": "de"},
    }
    context = {**PREFIXES, **terms, "@language": "en"}
    assert (
        read(graph({"@id": "ex:1", "map": {"fr": "Italie", "en": ["Italy"]}}, context=context))
        == "Italy"
    )
    assert (
        read(graph({"@id": "ex:1", "de": "Italien", "skos:prefLabel": "Italy"}, context=context))
        == "Italy"
    )
    assert (
        read(
            graph(
                {"@id": "ex:1", "map": {"fr": "Italie", "@none": "Italia", "en": "Italy"}},
                context=context,
            )
        )
        == "Italia"
    )


def test_names_relative_to_a_base_are_those_written_out():
    context = {"skos": SKOS, "@base": "http://example.com/"}
    assert (
        read(
            graph(
                {"@id": "Italy", "skos:broader": {"@id": "http://example.com/Europe"}},
                {"@id": "Greece", "skos:broader": "Europe"},
                context=context,
            )
        )
        == TREE
    )


def test_numbers_are_texts_as_they_are_written():
    text = '{"@context": {"skos": "%s"}, "@id": "a", "skos:notation": 1.50}' % SKOS  # noqa: UP031
    assert outline(read_taxonomy(text.encode(), "x.jsonld")) == "1.50"


def test_descriptions_are_no_concepts():
    title = {"dct:title": {"@value": "T"}, "skos:altLabel": {"en": ["I"]}, "dct:x": None}
    alt = {"@id": "skos:altLabel", "@container": "@language"}
    context = {**PREFIXES, "dct": "http://purl.org/dc/terms/", "skos:altLabel": alt, "no": None}
    resource = {"@id": "ex:Italy", "skos:broader": "ex:Europe", "no": {"a": 1}, **title}
    assert read(graph(resource, context=context)) == ("Europe", "Italy")


@pytest.mark.parametrize("url", ["https://example.com/context", "", "x", "http://www.w3.org/"])
def test_no_context_is_ever_fetched(url):
    assert found(graph({"@id": "ex:a", "broader": "ex:b"}, context=url)) == [("L001", "/@context")]
    assert found({"@context": [PREFIXES, url]}) == [("L001", "/@context/1")]


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ({"broadr": "ex:b"}, ("L002", "/@graph/1/broadr")),
        ({"skos:broadr": "ex:b"}, ("P005", "/@graph/1/skos:broadr")),
        ({"skos:broader": {"@value": "b"}}, ("T001", "/@graph/1/skos:broader")),
        ({"skos:broader": [True]}, ("T001", "/@graph/1/skos:broader/0")),
        ({"skos:prefLabel": {"x": "b"}}, ("T001", "/@graph/1/skos:prefLabel")),
        ({"skos:prefLabel": True}, ("T001", "/@graph/1/skos:prefLabel")),
        ({"skos:notation": ["\ud800"]}, ("T001", "/@graph/1/skos:notation/0")),
        ({"skos:broader": ["ex:a", "ex:b"]}, ("T007", "/@graph/1/skos:broader/0")),
        ({"@reverse": {"skos:broader": "ex:b"}}, ("T001", "/@graph/1/@reverse")),
        ({"ex:p": {"@context": {}, "@id": "ex:q"}}, ("T001", "/@graph/1/ex:p/@context")),
        ({"@graph": [3]}, ("T001", "/@graph/1/@graph/0")),
    ],
)
def test_what_cannot_be_read_is_placed(resource, expected):
    assert (
        found(graph({"@id": "ex:top", "@type": "Concept"}, {"@id": "ex:z", **resource}))[0]
        == expected
    )


def test_a_resource_whose_name_is_no_iri_is_placed():
    assert found(graph({"@id": 3, "skos:broader": "ex:a"}))[0] == ("T001", "/@graph/0")


def test_a_key_that_stands_twice_is_placed():
    text = '{"@graph": [{"@id": "a", "%sbroader": "b", "@id": "c"}]}'.replace("%s", SKOS)
    [problem] = problems_of(text, "x.jsonld")
    assert (problem.code, problem.place.pointer) == ("J002", "/@graph/0")


def test_a_plain_term_without_the_prefix_of_skos_has_a_hint():
    [problem] = problems_of('{"@id": "a", "broader": "b"}', "x.jsonld")[:1]
    assert problem.code == "L002"
    assert problem.hint.startswith("Declare the prefix of SKOS")


@pytest.mark.parametrize("text", ["3", '"a"', "[[3]]", "null", "[]", "{}"])
def test_what_holds_no_concept_is_refused(text):
    assert codes_of(text, "x.jsonld")[0] in ("T001", "T002")


def pairs_by_pyld(value):
    """The pairs of a label and the label above it, by another implementation of JSON-LD."""
    options = {"format": "application/n-quads", "base": "http://b.x/"}
    said = rdflib.Graph().parse(data=jsonld.to_rdf(value, options), format="nt")
    skos = rdflib.Namespace(SKOS)

    def name(node):
        known = said.value(node, skos.notation) or said.value(node, skos.prefLabel)
        return str(known or re.split("[/:]", node)[-1])

    below = {(name(one), name(other)) for one, other in said.subject_objects(skos.broader)}
    return below | {(name(other), name(one)) for one, other in said.subject_objects(skos.narrower)}


UP = {"@id": "skos:broader", "@type": "@id"}

NAMED = {"name": {"@id": "skos:prefLabel", "@container": "@language"}}


@pytest.mark.parametrize(
    "value",
    [
        graph({"@id": "ex:a", "up": "ex:b"}, context=PREFIXES | {"up": UP}),
        graph({"@id": "a", "up": "/b"}, context={"skos": SKOS, "up": UP, "@base": "http://e.x/c/"}),
        graph({"@id": "ex:a", "up": {"@id": "ex:b"}}, context=[PREFIXES, {"up": "skos:broader"}]),
        {"@context": {"@vocab": SKOS}, "@id": "x:a", "broader": {"@id": "x:b", "notation": "B"}},
        graph({"id": "ex:a", "up": {"id": "ex:b"}}, context=PREFIXES | {"up": UP, "id": "@id"}),
        graph(
            {"@id": "http://example.com/a", "up": "b", "skos:notation": "A"},
            {"@id": "http://example.com/b", "skos:notation": "B"},
            context=PREFIXES | {"@vocab": "http://example.com/", "up": UP | {"@type": "@vocab"}},
        ),
        {
            "@context": PREFIXES | NAMED,
            "@id": "ex:a",
            "skos:narrower": [{"@id": "ex:b", "name": {"en": "B"}}, {"@id": "ex:c"}],
        },
    ],
)
def test_concepts_are_those_of_another_implementation(value):
    tree = read_taxonomy(json.dumps(value).encode(), "x.jsonld")
    pairs = {
        (tree.labels[node], tree.labels[up])
        for node, up in enumerate(tree.parents)
        if up >= 0 and tree.labels[up] != "*"
    }
    assert pairs == pairs_by_pyld(value) != set()
