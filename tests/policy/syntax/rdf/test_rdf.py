import dataclasses
import json
import socket
import time
import warnings

import pytest
import rdflib
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from places import ROOT
from pyld import jsonld
from rdflib.compare import graph_diff, isomorphic

from policy_engine import terms
from policy_engine.data.rdf.statements import resolve
from policy_engine.errors import PolicyError
from policy_engine.policy.reading.reader import read_policies
from policy_engine.policy.syntax.detection import syntax_of
from policy_engine.policy.syntax.limits import Limits
from policy_engine.policy.syntax.rdf import convert_text, read_statements, to_json_ld

SUITE = ROOT.parent / "shared" / "data" / "odrl-test-suite" / "policies"
RDFLIB = {"turtle": "turtle", "n-triples": "nt", "rdf-xml": "xml"}
UID = rdflib.URIRef(f"{terms.ODRL}uid")
HEAD = """@prefix odrl: <http://www.w3.org/ns/odrl/2/> .
@prefix mc: <https://www.mosaicrown.eu/ns/mosaicrown/1/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix ex: <http://example.com/> .
"""
XML_HEAD = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:odrl="http://www.w3.org/ns/odrl/2/" xmlns:ex="http://example.com/">
"""


@pytest.fixture(autouse=True)
def literals_as_written(monkeypatch):
    monkeypatch.setattr(rdflib, "NORMALIZE_LITERALS", False)
    monkeypatch.setattr(rdflib.term.rdflib, "NORMALIZE_LITERALS", False)


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def parsed(text, syntax):
    graph = rdflib.Graph().parse(data=text, format=RDFLIB[syntax])
    return without_uids(graph)


def without_uids(graph):
    for one in list(graph.triples((None, UID, None))):
        graph.remove(one)
    return graph


def meant(value):
    """The graph of a JSON-LD value, by another implementation, with the contexts inlined."""
    given = value["@context"]
    known = terms.bundled_contexts()
    inlined = [
        known[entry]["@context"] if isinstance(entry, str) else entry
        for entry in (given if isinstance(given, list) else [given])
    ]
    quads = jsonld.to_rdf({**value, "@context": inlined}, {"format": "application/n-quads"})
    return rdflib.Graph().parse(data=quads, format="nt")


def assert_same(found, expected):
    if not isomorphic(found, expected):
        _, more, less = graph_diff(found, expected)
        raise AssertionError(f"not in the text: {list(more)}; lost: {list(less)}")


def assert_kept(text, syntax="turtle"):
    """What a text says is what every syntax says that it is written in, and read from again."""
    expected = parsed(text, syntax)
    assert_same(meant(to_json_ld(text, syntax).value), expected)
    for to in ("turtle", "n-triples", "rdf-xml", "json-ld"):
        written = convert_text(text, syntax, to)
        read = meant(json.loads(written)) if to == "json-ld" else parsed(written, to)
        assert_same(without_uids(read), expected)
        if to == "json-ld" and "[]" in written:
            continue  # an empty list is not a part of a policy in JSON-LD
        again = parsed(convert_text(written, to, "n-triples"), "n-triples")
        assert_same(again, expected)


def tree(text):
    return to_json_ld(HEAD + text, "turtle").value


def problem(text, syntax="turtle", source=""):
    with pytest.raises(PolicyError) as caught:
        to_json_ld(text, syntax, source)
    [found] = caught.value.problems
    return found


# -- nothing is lost -----------------------------------------------------------------------------


@pytest.mark.filterwarnings("default:SKIPPED")
def test_policies_of_the_odrl_test_suite_keep_every_statement():
    files = sorted(SUITE.glob("*.ttl"))
    if not files:
        warnings.warn("SKIPPED: the ODRL test suite is not beside the project", stacklevel=1)
        pytest.skip(f"the ODRL test suite is not in {SUITE}: nothing is proved on it")
    for file in files:
        text = file.read_text("utf-8")
        if len(text) < 20_000:
            assert_kept(text)
        else:
            assert_same(meant(to_json_ld(text, "turtle").value), parsed(text, "turtle"))


TEXTS = {
    "terms": "ex:p a odrl:Set ; odrl:permission [ odrl:action odrl:read ; odrl:target ex:t ] .",
    "purposes": "ex:r mc:purpose mc:marketing, ex:mine ; odrl:purpose odrl:purpose ; "
    "odrl:constraint [ odrl:leftOperand odrl:purpose ; odrl:operator odrl:isA ; "
    "odrl:rightOperand mc:purpose ], [ odrl:leftOperand mc:purpose ] .",
    "nested left operand": "ex:r odrl:leftOperand "
    "[ mc:purpose mc:marketing ; odrl:purpose ex:x ] .",
    "literals": 'ex:r odrl:rightOperand 5, 5.0, 5.0E0, true, "x", "x"@en, "5", '
    '"2024"^^ex:own, "1"^^<http://www.w3.org/2001/XMLSchema#boolean>, '
    '"05"^^<http://www.w3.org/2001/XMLSchema#integer>, 123456789012345678901 .',
    "literal for a name": 'ex:r odrl:target "x", "y"@en, 5, true ; odrl:action "read", 1.5 .',
    "list": "ex:c odrl:andSequence ( ex:a [ odrl:operator odrl:eq ] ( 1 ) () ) .",
    "two lists": "ex:c odrl:andSequence ( ex:a ), ( ex:b ) ; odrl:and ( 1 2 ), 3 .",
    "no list": "ex:c odrl:andSequence ex:a ; odrl:or () .",
    "shared list": "_:l rdf:first 1 ; rdf:rest () . ex:a ex:p _:l . ex:b ex:p _:l .",
    "list with more": "_:l rdf:first 1 ; rdf:rest ( 2 ) ; ex:p 1 . ex:a ex:p _:l .",
    "list without its end": "ex:a ex:p _:l . _:l rdf:first 1 ; rdf:rest _:m . _:m rdf:first 2 .",
    "list of itself": "_:l rdf:first _:l ; rdf:rest () .",
    "lists in a ring": "_:l rdf:first _:m ; rdf:rest () . _:m rdf:first _:l ; rdf:rest () .",
    "list as subject": "( 1 2 ) ex:p ex:o . () ex:p ex:o .",
    "ring": "ex:a odrl:partOf ex:b . ex:b odrl:partOf ex:a, ex:b .",
    "ring without names": "_:a ex:p _:b . _:b ex:p _:a . _:c ex:p _:c .",
    "shared node": "ex:p a odrl:Offer ; odrl:permission ex:r, ex:s . ex:r odrl:constraint _:c . "
    "ex:s odrl:constraint _:c . _:c odrl:operator odrl:eq .",
    "two policies": "ex:p a odrl:Set ; odrl:inheritFrom ex:q ; odrl:permission ex:r . "
    "ex:q a odrl:Set ; odrl:permission ex:r . ex:r odrl:action odrl:use .",
    "policy without a name": "ex:x ex:about [ a odrl:Set ; odrl:permission [] ] .",
    "types": "ex:a a ex:T, odrl:Party, _:b . _:b a rdf:Seq .",
    "empty node": "ex:a odrl:target [] ; ex:p [] .",
    "odd names": "ex:a\\,b ex:p ex:p%20, <urn:x:y>, <mailto:a@b.c>, "
    "<http://h>, <http://example.com/> .",
    "prefix like a scheme": "@prefix urn: <http://u.x/> . urn:a urn:p <urn:a:b> .",
    "prefix of the context": "@prefix schema: <http://other.x/> . schema:a schema:p 1 .",
    "controls": r'ex:a ex:p "\t\n\r\\\"\u00e9\U0001F600 <&>]]>" .',
}


@pytest.mark.one_in(9)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_text_in_turtle_keeps_every_statement(text):
    assert_kept(HEAD + text)


XML = {
    "typed node": '<odrl:Set rdf:about="http://e.x/p"><odrl:permission><odrl:Permission>'
    '<odrl:target rdf:resource="http://e.x/t"/></odrl:Permission></odrl:permission></odrl:Set>',
    "literals": '<rdf:Description rdf:nodeID="a" ex:q="attr"><ex:p>x &lt; <!-- c -->y</ex:p>'
    '<ex:p xml:lang="en">x</ex:p><ex:p/><ex:p rdf:datatype="http://e.x/d"> 5 </ex:p>'
    "<ex:p><![CDATA[<b>]]></ex:p></rdf:Description>",
    "base": '<ex:A xml:base="http://b.x/c/d" rdf:ID="i"><ex:p rdf:resource="../e"/>'
    '<ex:p rdf:resource="#f"/></ex:A>',
    "resource": '<ex:A><ex:p rdf:parseType="Resource"><ex:q>1</ex:q>'
    '<ex:q rdf:parseType="Resource"/></ex:p></ex:A>',
    "collection": '<ex:A><ex:p rdf:parseType="Collection"><ex:B/>'
    '<rdf:Description rdf:about="http://e.x/i"/></ex:p><ex:q rdf:parseType="Collection"/></ex:A>',
    "members": '<rdf:Seq><rdf:li>1</rdf:li><rdf:li rdf:nodeID="b"/></rdf:Seq>',
    "attributes": '<ex:A><ex:p ex:q="1" rdf:type="http://e.x/T"/>'
    '<ex:p rdf:resource="http://e.x/s" ex:q="2"/></ex:A>',
    "reified": '<ex:A xml:base="http://b.x/"><ex:p rdf:ID="r">1</ex:p></ex:A>',
    "language": '<ex:A xml:lang="de"><ex:p>x</ex:p><ex:p xml:lang="">y</ex:p></ex:A>',
}


@pytest.mark.parametrize("text", XML.values(), ids=XML.keys())
def test_text_in_rdf_xml_keeps_every_statement(text):
    assert_kept(f"{XML_HEAD}{text}</rdf:RDF>", "rdf-xml")


def test_text_in_n_triples_keeps_every_statement():
    text = (
        "# a comment\n<http://e.x/p> <http://www.w3.org/ns/odrl/2/permission> _:r1 . # more\n"
        '_:r1 <http://www.w3.org/ns/odrl/2/target> "\\u0041\\"b\\\\"@en .\n'
    )
    assert_kept(text, "n-triples")


NODES = [f"<http://e.x/{name}>" for name in "ab"] + ["_:x", "_:y", "_:z"]
PROPERTIES = [
    *(f"<{terms.ODRL}{name}>" for name in ("permission", "target", "action", "andSequence")),
    *(f"<{terms.ODRL}{name}>" for name in ("leftOperand", "purpose", "constraint")),
    *(f"<{terms.RDF}{name}>" for name in ("first", "first", "rest", "rest", "type", "value")),
    f"<{terms.MOSAICROWN}purpose>",
    "<http://purl.org/dc/terms/title>",
    "<http://e.x/p>",
]
VALUES = [
    *(f"<{terms.ODRL}{name}>" for name in ("read", "purpose", "Set")),
    f"<{terms.MOSAICROWN}purpose>",
    *(f"<{terms.RDF}nil>" for _ in range(3)),
    *('"x"', '"x"@en', f'"1"^^<{terms.XSD}integer>', f'"01"^^<{terms.XSD}integer>'),
]
TRIPLES = st.tuples(
    st.sampled_from(NODES), st.sampled_from(PROPERTIES), st.sampled_from(NODES + VALUES)
)


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(TRIPLES, min_size=1, max_size=9, unique=True))
def test_any_graph_keeps_every_statement(triples):
    again = [one for one in triples if "andSequence" not in one[1]]
    text = "".join(f"{' '.join(one)} .\n" for one in (*triples, *again))
    expected = parsed(text, "n-triples")
    assert_same(meant(to_json_ld(text, "n-triples").value), expected)
    turtle = convert_text(text, "n-triples", "turtle")
    assert_same(parsed(turtle, "turtle"), expected)
    xml = convert_text(turtle, "turtle", "rdf-xml")
    assert_same(parsed(convert_text(xml, "rdf-xml", "n-triples"), "n-triples"), expected)


@settings(max_examples=examples(60), deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
def test_any_literal_keeps_its_text(content):
    text = json.dumps({"@context": {"ex": "http://e.x/"}, "@id": "ex:a", "ex:p": content})
    for to in ("turtle", "n-triples", "json-ld"):
        again = convert_text(convert_text(text, "json-ld", to), to, "json-ld")
        assert json.loads(again).get("ex:p", json.loads(again).get("http://e.x/p")) == content


@pytest.mark.nightly
def test_shipped_policies_survive_every_syntax():
    for file in sorted((ROOT / "policies").glob("*.jsonld")):
        text = file.read_text("utf-8")
        expected = parsed(convert_text(text, "json-ld", "n-triples"), "n-triples")
        assert len(expected) > 20
        assert_same(meant(json.loads(text)), expected)
        for to in ("turtle", "rdf-xml"):
            again = convert_text(convert_text(text, "json-ld", to), to, "json-ld")
            assert_same(meant(json.loads(again)), expected)


def test_old_names_are_kept_as_they_are_and_read_as_those_of_today():
    text = (
        "<http://localhost:8000/ns/mosaicrown/x> <http://e.x/p> <http://www.w3.org/ns/odrl/2/neg> ."
    )
    found = to_json_ld(text, "turtle").value
    assert_same(meant(found), parsed(text, "turtle"))
    assert found["@context"][1] == "https://www.mosaicrown.eu/ns/mosaicrown.jsonld"
    again = convert_text(json.dumps(found), "json-ld", "n-triples")
    assert again == f"<{terms.MOSAICROWN}x> <http://e.x/p> <{terms.ODRL}neq> .\n"


def test_language_is_kept_as_it_is_written():
    found = tree('ex:a ex:p "x"@en-GB .')
    assert found["ex:p"] == {"@value": "x", "@language": "en-GB"}


def test_empty_list_is_kept_and_not_read_as_a_name():
    found = tree("ex:a odrl:rightOperand () ; odrl:andSequence () .")
    assert (found["rightOperand"], found["andSequence"]) == ({"@list": []}, [])


@pytest.mark.parametrize("prop", ["assignee", "rightOperand", "andSequence"])
def test_an_empty_list_is_refused_at_its_place(prop):
    text = f"{HEAD}ex:p a odrl:Set ; odrl:permission [ odrl:constraint [\n odrl:{prop} () ] ] ."
    with pytest.raises(PolicyError) as caught:
        read_policies(text, syntax="turtle")
    [found] = [one for one in caught.value.problems if "empty list" in one.message]
    line = text.splitlines()[found.place.line - 1]
    assert line[found.place.column - 1 :].startswith("()")
    assert "JSON-LD" not in found.message


def test_numbers_keep_their_digits():
    text = "<http://e.x/a> <http://e.x/p> 007, +5, .5, 1e0, -0, 1.50 ."
    written = convert_text(convert_text(text, "turtle", "json-ld"), "json-ld", "turtle")
    once = convert_text(text, "turtle", "n-triples")
    assert sorted(convert_text(written, "turtle", "n-triples")) == sorted(once)
    assert [one.split('"')[1] for one in once.splitlines()] == [
        *("007", "+5", ".5", "1e0", "-0", "1.50")
    ]


def test_numbers_of_json_become_what_json_ld_says():
    text = '{"@context": {"ex": "http://e.x/"}, "@id": "ex:a", "ex:p": [5, 1.5, 0.1, 1e30, true]}'
    lines = convert_text(text, "json-ld", "n-triples").splitlines()
    assert [one.split('"')[1] for one in lines] == ["5", "1.5E0", "1.0E-1", "1.0E30", "true"]


@pytest.mark.parametrize(
    ("number", "kind", "text"),
    [
        ("5.0", "integer", "5"),
        ("2E1", "unsignedByte", "20"),
        ("1e22", "decimal", "1" + "0" * 22),
        ("1e-7", "decimal", "0.0000001"),
        ("-2.50", "decimal", "-2.5"),
        ("5.0", "float", "5.0E0"),
        ("5", "decimal", "5"),
    ],
)
def test_number_of_json_is_written_as_its_type_is(number, kind, text):
    value = f'{{"@value": {number}, "@type": "{terms.XSD}{kind}"}}'
    whole = f'{{"@id": "http://e.x/a", "http://e.x/p": {value}}}'
    [line] = convert_text(whole, "json-ld", "n-triples").splitlines()
    assert line.split('"')[1] == text


@pytest.mark.parametrize(
    ("value", "kind"),
    [("5", "string"), ("true", "string"), ("5.5", "integer"), ("1", "boolean"), ("300", "byte")],
)
def test_value_of_json_that_is_none_of_its_type_does_not_become_one(value, kind):
    literal = f'{{"@value": {value}, "@type": "{terms.XSD}{kind}"}}'
    text = f'{{"@id": "http://e.x/a", "http://e.x/p": [{literal}]}}'
    with pytest.raises(PolicyError, match="P007"):
        convert_text(text, "json-ld", "turtle")


# -- as a person would write it ------------------------------------------------------------------


def test_policy_is_written_with_the_terms_of_its_context():
    assert tree(
        "ex:p a odrl:Set ; odrl:uid ex:p ; odrl:permission ex:r . ex:r odrl:assignee ex:bob ; "
        "odrl:action odrl:read ; odrl:target ex:t ; odrl:constraint [ odrl:leftOperand "
        "odrl:dateTime ; odrl:operator odrl:lt ; "
        'odrl:rightOperand "2024-01-01"^^<http://www.w3.org/2001/XMLSchema#date> ] .'
    ) == {
        "@context": "http://www.w3.org/ns/odrl.jsonld",
        "@type": "Set",
        "uid": "http://example.com/p",
        "permission": [
            {
                "uid": "http://example.com/r",
                "assignee": "http://example.com/bob",
                "action": "read",
                "target": "http://example.com/t",
                "constraint": {
                    "leftOperand": "dateTime",
                    "operator": "lt",
                    "rightOperand": {"@value": "2024-01-01", "@type": "xsd:date"},
                },
            }
        ],
    }


def test_purpose_is_a_left_operand_or_a_property_by_where_it_stands():
    found = tree("ex:r mc:purpose ex:x ; odrl:leftOperand odrl:purpose, mc:purpose .")
    assert found["leftOperand"] == ["purpose", "mosaicrown:purpose"]
    assert found["purpose"] == "ex:x"


def test_mosaicrown_context_is_named_only_where_its_names_are_used():
    assert tree("ex:p odrl:target ex:t .")["@context"] == "http://www.w3.org/ns/odrl.jsonld"
    assert tree("ex:p odrl:target mc:marketing .")["@context"] == [
        "http://www.w3.org/ns/odrl.jsonld",
        "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
    ]


def test_mosaicrown_context_brings_no_other_policy_under_the_profile():
    one = "ex:p a odrl:Set ; odrl:permission [ odrl:target ex:t ] ."
    beside = f"{one} ex:bob mc:belongsTo ex:team ."
    other = f"{one} ex:q a odrl:Set ; odrl:permission [ mc:purpose mc:marketing ] ."
    for text in (beside, other):
        assert tree(text)["@context"][0] == "http://www.w3.org/ns/odrl.jsonld"
        assert tree(text)["@context"][1].keys() <= {"mosaicrown", "mc"}
        assert_same(meant(tree(text)), parsed(HEAD + text, "turtle"))


def test_policy_in_the_profile_by_its_context_alone_names_the_profile():
    text = (
        '{"@context": ["http://www.w3.org/ns/odrl.jsonld", '
        '"https://www.mosaicrown.eu/ns/mosaicrown.jsonld"], "@type": "Set", '
        '"uid": "http://e.x/p", "permission": {"target": "http://e.x/t", "action": "read"}}'
    )
    profile = f"<http://e.x/p> <{terms.ODRL}profile> <{terms.MOSAICROWN}> .\n"
    assert convert_text(text, "json-ld", "n-triples").endswith(profile)
    named = text.replace('"@type"', f'"profile": "{terms.PE}", "@type"')
    assert profile not in convert_text(named, "json-ld", "n-triples")
    plain = text.replace(', "https://www.mosaicrown.eu/ns/mosaicrown.jsonld"', "")
    assert profile not in convert_text(plain, "json-ld", "n-triples")


def test_two_rules_with_one_uid_are_refused_rather_than_joined():
    text = (ROOT / "tests" / "policies" / "bad" / "two-rules-with-one-uid.jsonld").read_text(
        "utf-8"
    )
    with pytest.raises(PolicyError, match="P008"):
        convert_text(text, "json-ld", "turtle")


ALIKE = {
    "constraints": (
        "P007",
        (
            '"constraint": {"uid": "ex:c", "leftOperand": "spatial", "operator": "isAnyOf",'
            ' "rightOperand": {"@id": "ex:%s"}}'
        ),
    ),
    "logical constraints": (
        "P007",
        '"constraint": {"uid": "ex:c", "xone": [{"@id": "ex:%s"}, {"@id": "ex:D"}]}',
    ),
    "collections": (
        "P015",
        (
            '"assignee": {"uid": "_:c", "source": "ex:S", "refinement": {"leftOperand": "spatial",'
            ' "operator": "eq", "rightOperand": {"@id": "ex:%s"}}}'
        ),
    ),
    "collections without refinements": (
        "P015",
        '"assignee": {"uid": "_:c", "source": "ex:%s"}',
    ),
    "refined actions": (
        "P006",
        (
            '"action": {"uid": "_:c", "rdf:value": {"@id": "odrl:print"}, "refinement":'
            ' {"leftOperand": "spatial", "operator": "eq", "rightOperand": {"@id": "ex:%s"}}}'
        ),
    ),
    "duties": ("P008", '"duty": {"uid": "ex:c", "action": "inform", "target": "ex:%s"}'),
    "settings": (
        "F002",
        (
            '"action": {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": {"leftOperand":'
            ' "mosaicrown:quasi-identifier", "operator": "eq", "rightOperand": {"uid": "ex:c",'
            ' "pe:step": "%s"}}}'
        ),
    ),
}


def two_rules_with(part):
    rules = ", ".join(f'{{"target": "ex:{one}", {part.replace("%s", one)}}}' for one in "AB")
    urls = '"http://www.w3.org/ns/odrl.jsonld", "https://www.mosaicrown.eu/ns/mosaicrown.jsonld"'
    context = f'[{urls}, {{"ex": "http://e.x/", "dc": "http://purl.org/dc/terms/"}}]'
    return f'{{"@context": {context}, "@type": "Set", "uid": "ex:p", "permission": [{rules}]}}'


@pytest.mark.parametrize("kind", ALIKE)
def test_two_nodes_with_one_name_are_refused_rather_than_joined(kind):
    code, part = ALIKE[kind]
    with pytest.raises(PolicyError) as caught:
        convert_text(two_rules_with(part), "json-ld", "turtle")
    assert [one.code for one in caught.value.problems] == [code]
    assert convert_text(two_rules_with(part.replace(':c"', ':c%s"')), "json-ld", "turtle")


def test_a_policy_and_a_rule_described_twice_are_refused_wherever_they_stand():
    head = '{"@context": ["http://www.w3.org/ns/odrl.jsonld", {"ex": "http://e.x/"}], "@graph": '
    rule = '{"uid": "ex:r", "target": "ex:A"}'
    for code, nodes in (
        ("P008", f'[{{"uid": "ex:p", "permission": {rule}}}, {rule}]'),
        ("D002", '[{"uid": "ex:p", "permission": {}}, {"uid": "ex:p", "conflict": "perm"}]'),
    ):
        with pytest.raises(PolicyError, match=code):
            convert_text(f"{head}{nodes}}}", "json-ld", "turtle")


@pytest.mark.parametrize("operator", ["and", "or", "xone"])
@pytest.mark.parametrize("name", ["ex:c", "_:c"])
def test_logical_constraint_that_names_an_operand_twice_is_not_one_of_fewer(operator, name):
    condition = '"leftOperand": "spatial", "operator": "eq", "rightOperand": {"@id": "ex:%s"}'
    operands = f'{{"uid": "{name}%s", {condition}}}, {{"uid": "{name}%s"}}, {{{condition}}}'
    text = two_rules_with(f'"constraint": {{"{operator}": [{operands}]}}')
    for syntax in ("json-ld", "turtle"):
        with pytest.raises(PolicyError) as caught:
            convert_text(text, "json-ld", syntax)
        assert [one.code for one in caught.value.problems] == ["P014"]


@pytest.mark.parametrize(
    "operands",
    ["ex:c, ex:c", "_:c, _:c", "ex:c ; odrl:xone ex:c", "(ex:c), ex:c", "(ex:c), (ex:c)"],
)
def test_constraint_named_twice_in_turtle_is_refused_as_in_json_ld(operands):
    condition = "odrl:leftOperand odrl:count ; odrl:operator odrl:lt ; odrl:rightOperand 5"
    text = f"""{HEAD}ex:p a odrl:Set ; odrl:permission [ odrl:target ex:T ; odrl:action odrl:read ;
        odrl:constraint [ odrl:xone {operands} ] ] . ex:c {condition} . _:c {condition} ."""
    with pytest.raises(PolicyError) as caught:
        read_policies(text, syntax="turtle")
    assert caught.value.problems[0].code == "P014"
    assert caught.value.problems[0].place.line == text[: text.index("odrl:xone")].count("\n") + 1


@pytest.mark.parametrize("prop", ["odrl:xone", "<HTTP://www.w3.org/ns/odrl/2/xone>"])
def test_constraint_named_in_two_spellings_is_refused_in_turtle_too(prop):
    condition = "odrl:leftOperand odrl:spatial ; odrl:operator odrl:eq ; odrl:rightOperand"
    operands = "ex:c, <HTTP://example.com/c>, ex:d"
    text = f"""{HEAD}ex:p a odrl:Set ; odrl:permission [ odrl:target ex:T ; odrl:action odrl:read ;
        odrl:constraint [ {prop} {operands} ] ] .
        ex:c {condition} ex:IT . ex:d {condition} ex:DE ."""
    with pytest.raises(PolicyError, match="P014"):
        read_policies(text, syntax="turtle")


def test_what_adds_to_a_name_is_said_of_it_in_many_places():
    part = '"assignee": {"uid": "ex:c", "partOf": "ex:of%s", "dc:title": "%s"}'
    written = convert_text(two_rules_with(part), "json-ld", "turtle")
    assert "odrl:partOf ex:ofA, ex:ofB" in written
    same = ALIKE["settings"][1].replace("%s", "1")
    assert convert_text(two_rules_with(same), "json-ld", "turtle")


def told(policy):
    return dataclasses.replace(policy, digest="", source="")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("syntax", ["turtle", "n-triples", "rdf-xml", "json-ld"])
def test_shipped_policies_are_read_as_the_same_in_every_syntax(syntax):
    for file in sorted((ROOT / "policies").glob("*.jsonld")):
        text = file.read_text("utf-8")
        again = convert_text(text, "json-ld", syntax)
        [expected], [found] = read_policies(text), read_policies(again, syntax=syntax)
        assert told(found) == told(expected)


def test_prefixes_of_the_text_are_declared_where_they_are_used():
    found = tree("ex:p odrl:action ex:dance ; odrl:target ex:t .")
    assert found["@context"][1] == {"ex": "http://example.com/"}
    assert (found["action"], found["target"]) == ("ex:dance", "http://example.com/t")


def test_native_numbers_and_truths_stand_only_for_what_they_mean_exactly():
    found = tree("ex:r odrl:rightOperand 5, 05, 5.0, true, 1e0, 1234567890123456 .")
    native, *typed = found["rightOperand"]
    assert native == 5
    assert [one if one is True else one["@value"] for one in typed] == [
        *("05", "5.0", True, "1e0", "1234567890123456")
    ]


def test_policies_come_first_and_what_is_beside_them_follows():
    found = tree("ex:a odrl:partOf ex:t . ex:p a odrl:Set ; odrl:permission [ odrl:target ex:t ] .")
    assert [one["uid"][-1] for one in found["@graph"]] == ["p", "a"]


def test_node_is_described_once_and_then_named():
    found = tree("ex:p a odrl:Set ; odrl:permission ex:r ; odrl:prohibition ex:r . ex:r ex:p 1 .")
    assert found["permission"] == [{"uid": "http://example.com/r", "ex:p": 1}]
    assert found["prohibition"] == ["http://example.com/r"]


def test_membership_is_not_hidden_in_a_description():
    found = tree(
        "@prefix dct: <http://purl.org/dc/terms/> . ex:p a odrl:Set ; dct:creator ex:bob ; "
        "odrl:prohibition [ odrl:assignee ex:team ] . ex:bob odrl:partOf ex:team ."
    )
    policy, bob = found["@graph"]
    assert policy["dct:creator"] == {"@id": "http://example.com/bob"}
    assert bob == {"uid": "http://example.com/bob", "partOf": "http://example.com/team"}


def test_node_that_is_shared_and_has_no_name_gets_a_label():
    found = tree(
        "ex:r odrl:constraint _:c . ex:s odrl:constraint _:c . _:c odrl:operator odrl:eq ."
    )
    first, second = found["@graph"]
    assert first["constraint"]["uid"] == second["constraint"]
    assert second["constraint"].startswith("_:")


# -- places --------------------------------------------------------------------------------------

POLICY = """@prefix odrl: <http://www.w3.org/ns/odrl/2/> .
<http://e.x/p> a odrl:Set ;
  odrl:permission [
    odrl:action odrl:read ,
      odrl:play ; odrl:target "x" ] ,
    <http://e.x/r> .

<http://e.x/r> odrl:target <http://e.x/t> .
"""


def line_and_column(document, pointer, *, of_key=False):
    place = document.place(pointer, of_key=of_key)
    assert place.pointer == pointer
    return place.line, place.column


def test_places_are_those_of_the_turtle():
    document = to_json_ld(POLICY, "turtle")
    assert line_and_column(document, "") == (2, 1)
    assert line_and_column(document, "/@type") == (2, 18)
    assert line_and_column(document, "/permission", of_key=True) == (3, 3)
    assert line_and_column(document, "/permission/0") == (3, 19)
    assert line_and_column(document, "/permission/0/action/1") == (5, 7)
    assert line_and_column(document, "/permission/0/target") == (5, 31)
    assert line_and_column(document, "/permission/0/target", of_key=True) == (5, 19)
    assert line_and_column(document, "/permission/1") == (8, 1)


def test_places_are_those_of_the_n_triples():
    text = convert_text(POLICY, "turtle", "n-triples")
    document = to_json_ld(text, "n-triples")
    line = 1 + next(n for n, one in enumerate(text.splitlines()) if "play" in one)
    assert document.place("/permission/0/action/1").line == line


def test_places_are_those_of_the_rdf_xml():
    text = f'{XML_HEAD}<odrl:Set rdf:about="http://e.x/p">\n <odrl:permission>\n  <ex:R\n/>'
    document = to_json_ld(f"{text}</odrl:permission></odrl:Set></rdf:RDF>", "rdf-xml")
    assert line_and_column(document, "") == (3, 1)
    assert line_and_column(document, "/permission", of_key=True) == (4, 2)
    assert line_and_column(document, "/permission/0") == (5, 3)


def test_place_of_what_the_text_does_not_hold_is_unknown():
    place = to_json_ld(POLICY, "turtle").place("/@context")
    assert (place.line, place.column) == (0, 0)


# -- what is refused -----------------------------------------------------------------------------

WRONG = {
    "<http://e.x/a> <http://e.x/b>": ("F001", 1, 30),
    "<http://e.x/a>\n <http://e.x/b> 'x\ny' .": ("F001", 2, 17),
    "<http://e.x/a> <http://e.x/b> ex:c .": ("F001", 1, 31),
    "<http://e.x/a> <http://e.x/b> <http://e.x/c d> .": ("F001", 1, 31),
    "<http://e.x/a> <http://e.x/b> <http://e.x/\\u0020> .": ("F001", 1, 31),
    "<http://e.x/a> <http://e.x/b> <http://e.x/\\n> .": ("F001", 1, 31),
    "<http://e.x/a> <http://e.x/b> '\\ud800' .": ("F001", 1, 31),
    "<http://e.x/a> <http://e.x/b> '\\UFFFFFFFF' .": ("F001", 1, 31),
    "<http://e.x/a> <http://e.x/b> '\\z' .": ("F001", 1, 31),
    "<http://e.x/a> 'b' <http://e.x/c> .": ("F001", 1, 16),
    "<http://e.x/a> _:b <http://e.x/c> .": ("F001", 1, 16),
    "'a' <http://e.x/b> <http://e.x/c> .": ("F001", 1, 1),
    "[] .": ("F001", 1, 4),
    "{ <http://e.x/a> <http://e.x/b> 1 } .": ("F001", 1, 1),
    "@PREFIX ex: <http://e.x/> .": ("F001", 1, 1),
    "<a> <http://e.x/b> 1 .": ("L006", 1, 1),
    "<> <http://e.x/b> 1 .": ("L006", 1, 1),
    "@base <a> .": ("L006", 1, 7),
    "@base <http://e.x/> . <a)b:c> <p> 1 .": ("F001", 1, 23),
    "": ("P001", 0, 0),
    "# nothing": ("P001", 0, 0),
}


@pytest.mark.parametrize("text", WRONG)
def test_text_that_is_no_turtle_is_refused_where_it_ends_to_be_one(text):
    found = problem(text)
    assert (found.code, found.place.line, found.place.column) == WRONG[text]


XML_WRONG = {
    "<ex:A>": "well-formed",
    "<ex:A>text</ex:A>": "No text",
    "<ex:A><ex:p>text<ex:B/></ex:p></ex:A>": "mixed with text",
    "<ex:A><ex:p><ex:B/>text</ex:p></ex:A>": "No text",
    "<ex:A><ex:p><ex:B/><ex:B/></ex:p></ex:A>": "one node",
    '<ex:A><ex:p rdf:resource="http://e.x/">t</ex:p></ex:A>': "No text",
    '<ex:A><ex:p rdf:datatype="http://e.x/"><ex:B/></ex:p></ex:A>': "No element",
    '<ex:A><ex:p rdf:parseType="Literal"><b/></ex:p></ex:A>': "parseType",
    '<ex:A rdf:about="http://e.x/" rdf:nodeID="a"/>': "one of",
    '<ex:A rdf:about="http://e.x/a b"/>': "is not allowed in an IRI",
    '<ex:A rdf:about="a"/>': "relative",
    '<ex:A rdf:nodeID="1"/>': "not a name",
    '<ex:A rdf:bagID="a"/>': "is not allowed here",
    '<ex:A unknown="a"/>': "no namespace",
    "<A/>": "no namespace",
    "<rdf:li/>": "not a type",
    "<ex:A><rdf:Description/></ex:A>": "not a property",
    '<ex:A xml:base="http://e.x/" rdf:ID="a"/><ex:A xml:base="http://e.x/" rdf:ID="a"/>': "twice",
}


@pytest.mark.parametrize("text", XML_WRONG)
def test_text_that_is_no_rdf_xml_is_refused(text):
    found = problem(f"{XML_HEAD}{text}</rdf:RDF>", "rdf-xml")
    assert XML_WRONG[text] in found.message
    assert found.place.line >= 3


@pytest.mark.parametrize("outer", ["", '<?xml version="1.0" encoding="UTF-8"?>'])
def test_document_type_and_entities_are_refused_unread(outer):
    laughs = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
    text = f'{outer}<!DOCTYPE r [<!ENTITY l0 "lol">{laughs}]><r>&l9;</r>'
    assert "document type" in problem(text, "rdf-xml").message
    assert "document type" in problem('<!DOCTYPE r SYSTEM "http://e.x/"><r/>', "rdf-xml").message


def test_rdf_xml_in_another_encoding_is_refused():
    assert "UTF-8" in problem('<?xml version="1.0" encoding="latin1"?><r/>', "rdf-xml").message
    assert problem("<!DOCTYPE r><r/>".encode("utf-16"), "rdf-xml").code == "J004"
    assert problem('<r a="\ud800"/>', "rdf-xml").code == "J004"


def test_uid_other_than_the_subject_is_refused_at_its_place():
    found = problem(f"{HEAD}ex:p odrl:uid ex:q .")
    assert (found.code, found.place.line, found.place.column) == ("P002", 5, 15)
    assert problem(f"{HEAD}[] odrl:uid ex:q .").code == "P002"
    assert problem(f'{HEAD}ex:p odrl:uid "http://example.com/p" .').code == "P002"


def test_name_that_json_ld_would_read_as_another_is_refused():
    found = problem("<odrl:read> <http://e.x/p> 1 .")
    assert found.code == "F002"


@pytest.mark.parametrize(
    "text",
    ["<http://e.x/a> <http://e.x/1> 1 .", '<http://e.x/a> <http://e.x/p> "\\u0001" .'],
)
def test_what_xml_cannot_say_is_refused(text):
    with pytest.raises(PolicyError, match="F002"):
        convert_text(text, "turtle", "rdf-xml")


HOSTILE = {
    "garbage": "qwe% " * 700_000,
    "brackets": HEAD + "ex:a ex:b " + "[ ex:p " * 100_000,
    "parentheses": HEAD + "ex:a ex:b " + "(" * 100_000,
    "quotes": '"' * 3_999_999,
    "no closing quote": HEAD + 'ex:a ex:b """' + 'a"\\n' * 900_000,
    "dots": HEAD + "ex:a" + "." * 300_000,
    "dots in a name": HEAD + "ex:a ex:b ex:" + "a." * 500_000 + "!",
    "too many statements": HEAD + "ex:a ex:b (" + "1 " * 125_001 + ") .",
    "too large": " " * 4_000_001,
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_ends_in_a_coded_error_soon(text):
    started = time.process_time()
    assert problem(text).code in ("F001", "J003")
    assert time.process_time() - started < 10


def test_limits_are_those_given():
    deep = "<http://e.x/a> <http://e.x/p> ((())) ."
    assert to_json_ld(deep, "turtle", "", Limits(depth=3)).value["http://e.x/p"]
    for limits in (Limits(depth=2), Limits(values=4), Limits(bytes=9)):
        with pytest.raises(PolicyError, match="J003"):
            to_json_ld(deep, "turtle", "", limits)


LONG = f"http://e.x/{'a' * 1_990}/"
LONG_NAMES = {
    "prefix": f"@prefix z: <{LONG}> . z:a z:p 1 .",
    "PREFIX": f"PREFIX z: <{LONG}> z:a z:p 1 .",
    "base": f"@base <{LONG}> . <a> <p> 1 .",
    "context": f'{{"@context": {{"z": "{LONG}"}}, "@id": "z:a", "z:p": 1}}',
    "term": f'{{"@context": {{"z": "{LONG}"}}, "@id": "http://e.x/a", "z": 1}}',
    "xmlns": f'<rdf:RDF xmlns:rdf="{terms.RDF}" xmlns:z="{LONG}"><z:a z:p="1"/></rdf:RDF>',
    "xml:base": f'<rdf:RDF xmlns:rdf="{terms.RDF}" xmlns:z="http://e.x/" xml:base="{LONG}">'
    '<z:a rdf:about="a" z:p="1"/></rdf:RDF>',
}


@pytest.mark.parametrize("form", LONG_NAMES)
def test_what_every_name_repeats_is_not_long(form):
    text = LONG_NAMES[form]
    syntax = {"{": "json-ld", "<": "rdf-xml"}.get(text[0], "turtle")
    with pytest.raises(PolicyError) as caught:
        convert_text(text, syntax, "n-triples")
    assert [(one.code, one.place.line) for one in caught.value.problems] == [("J003", 1)]
    limits = Limits(namespace_characters=len(LONG))
    assert len(convert_text(text, syntax, "n-triples", limits=limits)) > len(LONG)


@pytest.mark.parametrize("name", ["ex:name", "<http://example.com/name>"])
def test_a_name_is_held_once_however_often_it_is_written(name):
    statements = read_statements(f"{HEAD}{name} {name} {name} .", "turtle", "", {}, Limits())
    [one] = statements.items
    assert one.subject is one.predicate is one.value


def test_a_name_in_full_may_be_long():
    text = f"<{LONG}a> <http://e.x/p> <data:,{LONG}> ."
    assert convert_text(text, "turtle", "n-triples") == f"{text}\n"


def test_hostile_rdf_xml_ends_in_a_coded_error():
    assert problem(XML_HEAD + "<ex:a>" * 100_000, "rdf-xml").code == "J003"
    assert problem("\0<a/>", "rdf-xml").code == "F001"


CHAINS = {
    "nodes with names": "ex:n{0} odrl:partOf ex:n{1} .\n",
    "nodes without": "_:n{0} odrl:partOf _:n{1} .\n",
    "a ring": "_:n{0} ex:p _:n{1} . _:n{1} ex:q _:n0 .\n",
    "cells": "_:n{0} rdf:first {0} ; rdf:rest _:n{1} .\n",
    "lists of lists": "_:n{0} rdf:first _:n{1} ; rdf:rest ( {0} ) .\n",
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("step", CHAINS.values(), ids=CHAINS.keys())
def test_long_chain_is_not_nested_deeper_than_can_be_read(step):
    text = HEAD + "".join(step.format(n, n + 1) for n in range(300)) + "_:n300 ex:end 1 ."
    found = json.dumps(to_json_ld(text, "turtle").value)
    depth = deepest = 0
    for mark in found:
        depth += (mark in "{[") - (mark in "}]")
        deepest = max(deepest, depth)
    assert deepest <= 64
    again = parsed(convert_text(found, "json-ld", "n-triples"), "n-triples")
    assert len(again) == len(parsed(text, "turtle"))


@pytest.mark.nightly
def test_ten_thousand_statements_take_seconds():
    rule = "[ odrl:assignee ex:a{0} ; odrl:target ex:t{0} ; odrl:action odrl:read ; ex:p ({0}) ]"
    rules = ", ".join(rule.format(n) for n in range(1_500))
    started = time.process_time()
    found = tree(f"ex:p a odrl:Set ; odrl:permission {rules} .")
    assert len(found["permission"]) == 1_500
    assert time.process_time() - started < 5


# -- which syntax --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "syntax"),
    [
        ("a.ttl", b"{}", "turtle"),
        ("a.NT", b"", "n-triples"),
        ("a.owl", b"", "rdf-xml"),
        ("a.json", b"@prefix", "json-ld"),
        ("a", b'\xef\xbb\xbf\n {"@context": 1}', "json-ld"),
        ("a", b'[ {"@context": 1} ]', "json-ld"),
        ("a", b"# note\n@prefix a: <b> .", "turtle"),
        ("a", b"PREFIX a: <b>", "turtle"),
        ("a", b"<http://e.x/a> <http://e.x/b> 1 .", "turtle"),
        ("a.txt", b"[ a <b> ] .", "turtle"),
        ("a.txt", b"_:a <b> 1 .", "turtle"),
        ("a", b"<?xml version='1.0'?><r/>", "rdf-xml"),
        ("a", b"<rdf:RDF xmlns:rdf='x'/>", "rdf-xml"),
        ("a", b"hello", "json-ld"),
        ("a", b"", "json-ld"),
    ],
)
def test_syntax_is_told_by_the_name_or_by_how_the_text_begins(name, text, syntax):
    assert syntax_of(name, text) == syntax


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y#s", "http://a/b/c/g?y#s"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../../../g", "http://a/g"),
        ("g;x=1/../y", "http://a/b/c/y"),
    ],
)
def test_relative_reference_is_resolved_as_rfc_3986_section_5_4_says(reference, found):
    assert resolve("http://a/b/c/d;p?q", reference) == found


@pytest.mark.parametrize("iri", ["x:", "x:y"])
def test_an_iri_of_a_scheme_that_is_not_known_is_not_blamed_on_a_context(iri):
    text = (
        f"{HEAD}ex:p a odrl:Set ; odrl:permission [ odrl:target <{iri}> ; odrl:action odrl:read ] ."
    )
    with pytest.raises(PolicyError) as caught:
        read_policies(text, syntax="turtle")
    [problem] = caught.value.problems
    assert (problem.code, problem.place.line) == ("L007", 5)
    assert problem.message.startswith(f"The IRI {iri!r} has the scheme 'x', which is not known")
    assert "context" not in problem.message + problem.hint
