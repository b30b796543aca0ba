import socket

import pytest
import rdflib
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib.compare import isomorphic

from policy_engine.data.rdf import Bounds, Literal, read_rdf
from policy_engine.data.rdf.statements import NIL, STRING, is_blank
from policy_engine.errors import DataError, PolicyError
from policy_engine.terms import XSD

HEAD = "@prefix ex: <http://e.x/> . "
BOUNDS = Bounds(depth=64, statements=1_000)


@pytest.fixture(autouse=True)
def literals_as_written(monkeypatch):
    monkeypatch.setattr(rdflib, "NORMALIZE_LITERALS", False)
    monkeypatch.setattr(rdflib.term.rdflib, "NORMALIZE_LITERALS", False)


def said(text, base=""):
    return [tuple(one[:3]) for one in read_rdf(text, "turtle", "", BOUNDS, base=base).items]


def refused(text):
    with pytest.raises(DataError) as caught:
        read_rdf(text, "turtle", "x.ttl", BOUNDS)
    [problem] = caught.value.problems
    return problem.code, problem.place.line, problem.place.column


LAX = {
    "ex:a .": ("F001", 1, 34),
    "[] .": ("F001", 1, 32),
    "( 1 2 ) .": ("F001", 1, 37),
    "ex:a ; ex:b ex:c .": ("F001", 1, 34),
    "[ ; ex:b ex:c ] .": ("F001", 1, 31),
    "ex:a @a ex:c .": ("F001", 1, 34),
    "ex:a ex:b @true .": ("F001", 1, 39),
    "ex:a!ex:b ex:c ex:d .": ("F001", 1, 33),
    "ex:a ex:b ex:c^ex:d .": ("F001", 1, 43),
    '"x" ex:b ex:c .': ("F001", 1, 29),
    "5 ex:b ex:c .": ("F001", 1, 29),
    'ex:a "x" ex:c .': ("F001", 1, 34),
    "ex:a _:b ex:c .": ("F001", 1, 34),
    "ex:a [ ex:b ex:c ] ex:c .": ("F001", 1, 34),
    'ex:a ex:b "x"@en^^ex:d .': ("F001", 1, 45),
    'ex:a ex:b "x"^^_:d .': ("F001", 1, 44),
    'ex:a ex:b "\\a" .': ("F001", 1, 39),
    'ex:a ex:b "\\uZZZZ" .': ("F001", 1, 39),
    'ex:a ex:b "\\ud800" .': ("F001", 1, 39),
    'ex:a ex:b """a"""" .': ("F001", 1, 39),
    'ex:a ex:b "x"^^ex:d\u00d7 .': ("F001", 1, 44),
    "ex:a ex:b <http://e.x/a b> .": ("F001", 1, 39),
    "ex:a ex:b <http://e.x/\\U0000005Cu0041> .": ("F001", 1, 39),
    "ex:-a ex:b ex:c .": ("F001", 1, 29),
    "ex:\u00d7a ex:b ex:c .": ("F001", 1, 29),
    "ex:a ex:b 1.2.3 .": ("F001", 1, 43),
    "ex:a ex:b <relative> .": ("L006", 1, 39),
    "@prefix ex:foo <http://e.x/> . ex:a ex:b ex:c .": ("F001", 1, 37),
    "@prefix _: <http://e.x/> . _:a _:b _:c .": ("F001", 1, 37),
}


@pytest.mark.parametrize("text", LAX)
def test_what_rdflib_takes_and_turtle_does_not_have_is_refused_at_its_place(text):
    rdflib.Graph().parse(data=HEAD + text, format="turtle")
    assert refused(HEAD + text) == LAX[text]


def test_literals_are_kept_as_they_are_written():
    numbers = ("007", "+5", ".5", "1e0", "-0", "1.50")
    found = said(f"{HEAD}ex:a ex:b {', '.join(numbers)}, '01'^^<{XSD}integer>, 'x' @en-GB .")
    assert [value.text for *_, value in found] == [*numbers, "01", "x"]
    assert found[-1][2].language == "en-GB"


def test_statements_and_blank_nodes_come_in_the_order_of_the_text():
    found = said(f"{HEAD}ex:a ex:p [ ex:q ( 1 [] ) ], _:x ; ex:r ( _:x ) .")
    short = [(s, p.replace("#", "/").rpartition("/")[2], o) for s, p, o in found]
    assert short == [
        ("http://e.x/a", "p", "_:b0"),
        ("_:b1", "first", Literal("1", f"{XSD}integer")),
        ("_:b1", "rest", "_:b2"),
        ("_:b2", "first", "_:b3"),
        ("_:b2", "rest", NIL),
        ("_:b0", "q", "_:b1"),
        ("http://e.x/a", "p", "_:b4"),
        ("_:b5", "first", "_:b4"),
        ("_:b5", "rest", NIL),
        ("http://e.x/a", "r", "_:b5"),
    ]


def test_places_are_those_of_the_words():
    found = read_rdf("@prefix e: <x:> .\ne:a e:b [\n e:c (\n 5 ) ] .", "turtle", "", BOUNDS)
    assert [(one.key, one.spot) for one in found.items] == [
        ((2, 5), (2, 9)),
        ((4, 2), (4, 2)),
        ((4, 4), (4, 4)),
        ((3, 2), (3, 6)),
    ]
    assert (found.spots["_:b0"], found.spots["_:b1"]) == ((2, 9), (3, 6))


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("g", "http://a/b/c/g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("", "http://a/b/c/d;p?q"),
        ("../../../g", "http://a/g"),
        ("g;x=1/../y", "http://a/b/c/y"),
    ],
)
def test_names_are_relative_to_the_base_as_rfc_3986_says(reference, found):
    text = f"@base <http://a/b/c/d;p?q> . <{reference}> <#p> 1 ."
    assert said(text)[0][0] == found
    assert said(f"<{reference}> <#p> 1 .", "http://a/b/c/d;p?q")[0][0] == found


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("ex:a ex:b ((())) .", Bounds(2, 100)),
        ("ex:a ex:b [ ex:c [ ex:d [] ] ] .", Bounds(2, 100)),
        ("ex:a ex:b 1, 2, 3 .", Bounds(9, 2)),
        ("ex:a ex:b " + "[ ex:c " * 5_000, Bounds(100_000, 100_000)),
    ],
)
def test_what_is_too_deep_or_too_much_is_refused(text, bounds):
    with pytest.raises(PolicyError, match="J003"):
        read_rdf(HEAD + text, "turtle", "", bounds, PolicyError)


@pytest.mark.parametrize(
    "text",
    [
        "@base <http://127.0.0.1:9/> . <a> <b> <c> .",
        "<http://127.0.0.1:9/a> <http://www.w3.org/2002/07/owl#imports> <http://127.0.0.1:9/b> .",
        "@prefix a: <http://127.0.0.1:9/x.ttl#> . a:a a:b a:c .",
    ],
)
def test_nothing_is_fetched(text, monkeypatch):
    def refuse(*_):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    assert len(said(text)) == 1


WORDS = (
    *("ex:a", "ex:b", "<http://e.x/c>", "_:x", "a", "1", "1.50", "true", '"x"', "'y'", "@en"),
    *("^^ex:d", "^^<http://e.x/d>", "[", "]", "(", ")", ".", ".", ";", ",", "#\n", "ex:", "@base"),
)
PARTS = st.recursive(
    st.sampled_from(("ex:a", "_:x", "2", '"x"@en', '"""\n"x"""', "'1'^^ex:d", "[]", "()")),
    lambda inner: st.one_of(
        inner.map("[ ex:p {} ]".format),
        st.lists(inner, max_size=2).map(lambda items: f"( {' '.join(items)} )"),
        st.lists(inner, min_size=2, max_size=2).map("[ ex:p {0[0]} ; a {0[1]} ; ]".format),
    ),
    max_leaves=5,
)


def as_graph(items):
    graph = rdflib.Graph()
    node = {True: lambda one: rdflib.BNode(one[2:]), False: rdflib.URIRef}
    for one in items:
        value = one.value
        if isinstance(value, Literal):
            is_plain = value.language or value.type == STRING
            kind = None if is_plain else rdflib.URIRef(value.type)
            found = rdflib.Literal(value.text, value.language or None, kind, normalize=False)
        else:
            found = node[is_blank(value)](value)
        graph.add((node[is_blank(one.subject)](one.subject), rdflib.URIRef(one.predicate), found))
    return graph


@settings(max_examples=examples(50), deadline=None)
@given(PARTS, st.lists(st.tuples(st.integers(0, 40), st.sampled_from(WORDS)), max_size=2))
def test_what_is_taken_means_what_rdflib_says(part, mutations):
    words = f"{HEAD}ex:a ex:p {part}, ex:b .".split(" ")
    for place, word in mutations:
        words.insert(3 + place % (len(words) - 2), word)
    text = " ".join(words)
    try:
        found = read_rdf(text, "turtle", "", BOUNDS).items
    except DataError:
        return
    # Turtle has blanks between a string and its language, rdflib has none.
    close = text.replace('" @', '"@')
    assert isomorphic(as_graph(found), rdflib.Graph().parse(data=close, format="turtle"))
