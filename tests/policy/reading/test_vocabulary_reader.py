import json
from contextlib import suppress

import pytest
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_texts import CONTEXT, ex, odrl, text

from policy_engine import terms
from policy_engine.errors import PolicyError
from policy_engine.policy import Reading, read_policy
from policy_engine.policy.reading import vocabulary_reader
from policy_engine.policy.reading.vocabulary_reader import read_vocabulary
from policy_engine.policy.syntax.limits import MAX_PROBLEMS
from policy_engine.policy.vocabulary import joined

SCORE = {"uid": "ex:score", "@type": "Action", "includedIn": "use", "implies": "read"}
TRUST = {"uid": "ex:trust", "@type": "LeftOperand", "rdfs:range": {"@id": "xsd:integer"}}
TRIAL = {"uid": "ex:Trial", "@type": "skos:Concept", "skos:broader": {"@id": "ex:Research"}}
ANN = {"uid": "ex:Ann", "belongsTo": "ex:Staff"}
TURTLE = """
@prefix odrl: <http://www.w3.org/ns/odrl/2/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix mosaicrown: <https://www.mosaicrown.eu/ns/mosaicrown/1/> .
@prefix ex: <http://e.org/> .
ex:score a odrl:Action ; odrl:includedIn odrl:use ; odrl:implies odrl:read .
ex:trust a odrl:LeftOperand ; rdfs:range xsd:integer .
ex:Trial a skos:Concept ; skos:broader ex:Research .
ex:Ann mosaicrown:belongsTo ex:Staff .
"""


def vocabulary(*nodes):
    return read_vocabulary(json.dumps({"@context": CONTEXT, "@graph": [*nodes]}))


def mended(name):
    return f"{terms.MOSAICROWN}{name}"


def refusal(*nodes):
    """Return code and place of all that is wrong with a vocabulary."""
    with pytest.raises(PolicyError) as error:
        Reading(vocabularies=[{"@context": CONTEXT, "@graph": [*nodes]}]).vocabulary  # noqa: B018
    found = [(one.code, one.place.pointer) for one in error.value.problems]
    return [(code, pointer.removeprefix("/@graph/0")) for code, pointer in found]


def under(known, **keys):
    return read_policy(text(**keys), vocabulary=joined([known]))


def test_a_vocabulary_has_actions_operands_purposes_and_what_belongs_to_what():
    found = vocabulary(SCORE, TRUST, TRIAL, ANN)
    assert set(found.actions) == {ex("score")}
    assert found.operands[ex("trust")].iris("takes") == (f"{terms.XSD}integer",)
    assert set(found.purposes) == {ex("Trial")}
    assert found.hierarchy.action == ((ex("score"), odrl("use")),)
    assert found.hierarchy.implied == ((ex("score"), odrl("read")),)
    assert found.hierarchy.purpose == ((ex("Trial"), ex("Research")),)
    assert found.hierarchy.party == ((ex("Ann"), ex("Staff")),)


def test_turtle_says_the_same():
    found, same = read_vocabulary(TURTLE, syntax="turtle"), vocabulary(SCORE, TRUST, TRIAL, ANN)
    assert (found.defined.keys(), found.hierarchy) == (same.defined.keys(), same.hierarchy)


def test_a_term_may_be_defined_where_another_names_it():
    text = """@prefix odrl: <http://www.w3.org/ns/odrl/2/> . @prefix ex: <http://e.org/> .
    ex:look a odrl:Action ; odrl:includedIn ex:edit .
    ex:edit a odrl:Action ; odrl:includedIn odrl:use ."""
    found = read_vocabulary(text, syntax="turtle")
    nested = vocabulary({**SCORE, "includedIn": {**SCORE, "uid": "ex:edit"}})
    assert set(found.actions) == {ex("look"), ex("edit")}
    assert set(nested.actions) == {ex("score"), ex("edit")}
    assert nested.hierarchy.path("action", ex("score"), odrl("use"))


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({**SCORE, "odrl:includedin": {"@id": "odrl:use"}}, ("P005", "/odrl:includedin")),
        ({**SCORE, "skos:narrower": {"@id": "ex:x"}}, ("P005", "/skos:narrower")),
        ({**SCORE, "includedIn": "ex:scoer"}, ("P005", "/includedIn")),
        (
            {"uid": "odrl:read", "@type": "Action", "includedIn": "ex:score"},
            ("P018", "/includedIn"),
        ),
        ({"uid": "odrl:read", "@type": "Action", "implies": "use"}, ("P018", "/implies")),
        ({"uid": "odrl:read", "@type": "LeftOperand"}, ("P018", "/uid")),
        ({"uid": "odrl:raed", "@type": "Action"}, ("P005", "/uid")),
        ({"uid": "mosaicrown:k", "@type": "Action"}, ("P018", "/uid")),
        ({"uid": "mosaicrown:k", "@type": "mosaicrown:purpose"}, ("P018", "/uid")),
        ({"uid": "pe:train", "@type": "Action", "includedIn": "transfer"}, ("P018", "/includedIn")),
        (
            {"uid": "odrl:count", "@type": "LeftOperand", "rdfs:range": {"@id": "xsd:string"}},
            ("P018", "/rdfs:range"),
        ),
        ({**TRUST, "rdfs:range": {"@id": "xsd:integr"}}, ("P007", "/rdfs:range")),
        ({**TRUST, "@type": ["LeftOperand", "Action"]}, ("P007", "")),
        ({"uid": "ex:like", "@type": "Operator"}, ("P007", "/@type")),
        ({"uid": "dpv:AcademicReserch", "@type": "dpv:Purpose"}, ("P005", "/uid")),
        ({**TRIAL, "skos:broader": {"@id": "dpv:AcademicReserch"}}, ("P005", "/skos:broader")),
        ({"@type": "Action", "includedIn": "use"}, ("L006", "")),
    ],
)
def test_what_is_not_understood_or_changes_the_language_is_refused_at_its_place(wrong, expected):
    assert refusal(wrong) == [expected]


def test_every_action_that_nothing_defines_is_told():
    lost = [{**SCORE, "uid": f"ex:{name}", "includedIn": "ex:x"} for name in ("a", "b")]
    assert refusal(*lost) == [("P005", "/includedIn"), ("P005", "/@graph/1/includedIn")]


def test_a_policy_is_no_vocabulary():
    rule = {"target": "ex:T", "action": "read"}
    assert {code for code, _ in refusal({"@type": "Set", "uid": "ex:p", "permission": rule})} == {
        "P006",
        "P007",
    }


def test_what_says_nothing_is_no_vocabulary():
    assert refusal({"uid": "ex:a", "rdfs:label": "a"})[0][0] == "P018"


def test_terms_of_the_language_may_be_told_again():
    found = vocabulary(
        SCORE,
        {"uid": "odrl:read", "@type": "Action", "includedIn": "use", "rdfs:label": "Read"},
        {"uid": "odrl:print", "@type": "Action", "includedIn": "use"},
        {"uid": "mosaicrown:belongsTo", "@type": "owl:TransitiveProperty"},
    )
    assert ex("score") in found.actions


@pytest.mark.parametrize(
    ("narrow", "prop", "wide"),
    [
        ("mosaicrown:marketing", "declinationOf", "mosaicrown:statistical"),
        ("mosaicrown:marketing", "declinationOf", "ex:Trade"),
        ("mosaicrown:marketing", "declinationOf", "dpv:Marketing"),
        ("dpv:Marketing", "declinationOf", "dpv:AcademicResearch"),
        ("dpv:Marketing", "declinationOf", "ex:Trade"),
        ("dpv:Marketing", "skos:broader", "mosaicrown:statistical"),
    ],
)
def test_no_purpose_of_the_language_is_put_under_another(narrow, prop, wide):
    inner = {"@id": wide} if ":" in prop else wide
    assert refusal({"uid": narrow, prop: inner}) == [("P018", f"/{prop}")]


def test_what_is_so_of_purposes_may_be_told_again_and_own_ones_be_put_under_them():
    found = vocabulary(
        {"uid": "dpv:AcademicResearch", "skos:broader": {"@id": "dpv:ResearchAndDevelopment"}},
        {"uid": "mosaicrown:marketing", "@type": ["mosaicrown:purpose", "skos:Concept"]},
        {"uid": "ex:Ads", "declinationOf": "mosaicrown:marketing"},
        {"uid": "ex:Mail", "skos:broader": {"@id": "dpv:Marketing"}},
    )
    assert found.hierarchy.path("purpose", ex("Ads"), mended("marketing"))


@pytest.mark.parametrize("prop", ["rdfs:seeAlso", "skos:note", "skos:member", "rdfs:isDefinedBy"])
def test_what_stands_inside_a_description_counts_as_in_turtle(prop):
    found = vocabulary({**SCORE, prop: {**ANN, "rdfs:seeAlso": TRUST}})
    assert found.hierarchy.party == ((ex("Ann"), ex("Staff")),)
    assert set(found.operands) == {ex("trust")}
    assert refusal({**SCORE, prop: {**ANN, "odrl:assigner": {"@id": "ex:A"}}})[0][0] == "P006"


@pytest.mark.parametrize(
    ("again", "expected"),
    [
        ({**TRUST, "rdfs:range": {"@id": "xsd:string"}}, ("P018", "/@graph/1/rdfs:range")),
        ({"uid": "ex:trust", "@type": "LeftOperand"}, ("P018", "/@graph/1")),
        ({**SCORE, "uid": "ex:trust"}, ("P007", "/@graph/1")),
        ({"uid": "ex:trust", "belongsTo": "ex:Staff"}, ("P007", "/@graph/1")),
    ],
)
def test_a_term_that_is_described_twice_is_one_thing(again, expected):
    assert refusal(TRUST, again) == [expected]
    first = {"uid": "ex:x", "@type": "Action", "includedIn": "use"}
    assert vocabulary(TRUST, TRUST, first, {**first, "rdfs:label": "x"}).actions[ex("x")].definition


def test_many_misspelt_wider_actions_are_refused_in_no_time():
    many = [{**SCORE, "uid": f"ex:long{n}", "includedIn": f"ex:lost{n}"} for n in range(800)]
    asked = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary_reader, "did_you_mean", lambda *_: asked.append(1))
        assert len(refusal(*many)) == MAX_PROBLEMS
    assert len(asked) == MAX_PROBLEMS


def test_two_vocabularies_that_define_one_term_must_agree():
    other = {**TRUST, "rdfs:range": {"@id": "xsd:string"}}
    with pytest.raises(PolicyError, match=r"P018 Two vocabularies define 'http://e.org/trust'"):
        joined([vocabulary(TRUST), vocabulary(other)])
    assert joined([vocabulary(TRUST), vocabulary(TRUST)]).operands


def test_an_action_may_be_defined_in_another_vocabulary():
    one = {"@context": CONTEXT, "@graph": [{**SCORE, "includedIn": "ex:analyse"}]}
    two = {"@context": CONTEXT, "@graph": [{**SCORE, "uid": "ex:analyse"}]}
    known = Reading(vocabularies=[one, two]).vocabulary
    assert known.hierarchy.path("action", ex("score"), odrl("use"))


def test_a_long_chain_of_actions_is_read_in_no_time():
    chain = [
        {"uid": f"ex:a{n}", "@type": "Action", "includedIn": f"ex:a{n + 1}"} for n in range(1_000)
    ]
    known = joined([vocabulary(*chain, {"uid": "ex:a1000", "@type": "Action"})])
    assert len(known.hierarchy.perhaps) == 2 * 1_001


PARTS = st.sampled_from([SCORE, TRUST, TRIAL, ANN, {"uid": "ex:profile", "@type": "owl:Ontology"}])
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "ex:a", "@id", "_:b", "read"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["uid", "@type", "@value", "@list", "includedIn", "rdfs:range"]),
            inner,
            max_size=2,
        )
    ),
    max_leaves=4,
)


@given(part=PARTS, key=st.sampled_from([*SCORE, *TRUST, "skos:broader", "belongsTo"]), odd=ODD)
@settings(max_examples=examples(80))
def test_whatever_stands_in_a_vocabulary_it_is_read_or_refused(part, key, odd):
    text = json.dumps({"@context": CONTEXT, "@graph": [SCORE, {**part, key: odd}]})
    with suppress(PolicyError):
        assert read_vocabulary(text).digests


# -- policies under a vocabulary ------------------------------------------------------------------


def test_an_action_of_a_vocabulary_needs_no_words_of_the_policy():
    rule = {"target": "ex:T", "action": "ex:score"}
    found = under(vocabulary(SCORE), permission=rule)
    assert found.permissions[0].actions[0].iri == ex("score")
    with pytest.raises(PolicyError, match="P016"):
        read_policy(text(permission=rule))


def test_a_left_operand_takes_its_own_types():
    def rule(value):
        trust = {"leftOperand": "ex:trust", "operator": "gteq", "rightOperand": value}
        return {"target": "ex:T", "action": "read", "constraint": trust}

    known = vocabulary(TRUST)
    assert (
        under(known, permission=rule("3")).permissions[0].constraints[0].right_operands[0].value
        == 3
    )
    with pytest.raises(PolicyError, match=r"P007 .*takes xsd:integer"):
        under(known, permission=rule("high"))


def test_a_profile_is_known_by_what_is_defined_under_it():
    own = {**SCORE, "rdfs:isDefinedBy": {"@id": "ex:profile"}}
    keys = {"permission": {"target": "ex:T", "action": "ex:score"}, "profile": ["ex:profile"]}
    assert under(vocabulary(own), **keys).profiles == (ex("profile"),)
    with pytest.raises(PolicyError, match="P009"):
        under(vocabulary(SCORE), **keys)


def test_the_digest_of_a_policy_is_of_its_vocabularies_too_in_any_order():
    keys = {"permission": {"target": "ex:T", "action": "read"}}
    one, two = vocabulary(SCORE), vocabulary(TRUST)
    bare = read_policy(text(**keys)).digest
    both = [
        read_policy(text(**keys), vocabulary=joined(some)).digest
        for some in ([one, two], [two, one])
    ]
    assert both[0] == both[1]
    assert len({bare, both[0], under(one, **keys).digest}) == 3


def test_a_policy_that_was_read_without_a_vocabulary_is_refused_with_it():
    policy = read_policy(text(permission={"target": "ex:T", "action": "read"}))
    reading = Reading(vocabularies=[vocabulary(SCORE)])
    with pytest.raises(PolicyError, match=r"P018 .* was read without the vocabularies"):
        reading.policies(policy)
    assert Reading().policies(policy) == (policy,)


# -- the namespace of MOSAICrOWN ------------------------------------------------------------------

WRITE = {"uid": "mosaicrown:write", "@type": "odrl:action"}
READ = {"uid": "mosaicrown:read", "@type": "odrl:action", "includedIn": "mosaicrown:write"}
SELL = {"uid": "mosaicrown:sell", "@type": "odrl:action"}
REPORT = {"uid": "mosaicrown:sellreport", "@type": "odrl:action", "includedIn": "mosaicrown:sell"}


def action_under(known, name):
    rule = {"target": "ex:T", "action": name}
    return under(known, permission=rule).permissions[0].actions[0].iri


@pytest.mark.parametrize("name", ["read", "sellreport"])
def test_a_defined_name_of_mosaicrown_is_meant_by_its_context(name):
    assert action_under(vocabulary(WRITE, READ, SELL, REPORT), name) == mended(name)
    assert action_under(vocabulary(WRITE, READ, SELL, REPORT), f"mosaicrown:{name}") == mended(name)


def test_what_no_vocabulary_defines_of_mosaicrown_is_odrls():
    assert action_under(vocabulary(SCORE), "mosaicrown:read") == odrl("read")
    assert action_under(vocabulary(SCORE), "read") == odrl("read")


def test_the_own_context_of_a_caller_names_them_as_well():
    url = "http://localhost:8000/ns/mosaicrown/namespace.jsonld"
    own = {"@context": {"mosaicrown": f"{terms.MOSAICROWN}", "salereport": "mosaicrown:sellreport"}}
    whole = {
        "@context": ["http://www.w3.org/ns/odrl.jsonld", "../ns/mosaicrown/namespace.jsonld"],
        "@type": "Set",
        "uid": "http://e.org/p",
        "permission": {"target": "http://e.org/T", "action": "salereport"},
    }
    known = joined([vocabulary(SELL, REPORT)])
    found = read_policy(json.dumps(whole), contexts={url: own}, vocabulary=known)
    assert found.permissions[0].actions[0].iri == mended("sellreport")


@pytest.mark.parametrize("name", ["permission", "distribute", "dpv", "mosaicrown"])
def test_a_name_that_the_contexts_have_is_never_given_to_an_action(name):
    known = joined([vocabulary({"uid": f"mosaicrown:{name}", "@type": "Action"})])
    assert not known.names


@pytest.mark.parametrize("name", ["distribute", "print", "use", "read", "write", "sell"])
def test_a_vocabulary_lifts_no_prohibition_by_the_name_of_an_action(name):
    named = {"uid": f"mosaicrown:{name}", "@type": "Action", "includedIn": "odrl:transfer"}
    known = joined([vocabulary(named)])
    rule = {"target": "ex:T", "action": name}
    (found,) = under(vocabulary(named), prohibition=rule).prohibitions
    assert known.hierarchy.overlaps("action", found.actions[0].iri, odrl(name))


@pytest.mark.parametrize("name", ["copy", "distribute", "read"])
def test_prohibitions_take_an_action_for_odrls_of_the_same_name(name):
    known = joined([vocabulary({"uid": f"mosaicrown:{name}", "@type": "Action"})]).hierarchy
    assert known.overlaps("action", mended(name), odrl(name))
    assert not known.path("action", mended(name), odrl(name))
    assert {odrl("use"), odrl("transfer")} & known.may_be(mended(name))


def test_a_name_that_a_policy_declares_stays_what_it_declares():
    known = joined([vocabulary({"uid": "mosaicrown:data", "@type": "Action"}, REPORT, SELL)])
    own = {"data": "http://e.org/", "sellreport": "http://www.w3.org/ns/odrl/2/sell"}
    whole = {
        "@context": [own, *CONTEXT],
        "@type": "Set",
        "uid": "http://e.org/p",
        "prohibition": {"target": "data:T", "action": "sellreport"},
    }
    (found,) = read_policy(json.dumps(whole), vocabulary=known).prohibitions
    assert (found.targets[0].iri, found.actions[0].iri) == (ex("T"), odrl("sell"))


# -- the Data Privacy Vocabulary ------------------------------------------------------------------


def test_purposes_and_operations_of_the_dpv_are_known():
    rule = {"target": "ex:T", "action": "dpv:Consult", "purpose": "dpv:AcademicResearch"}
    found = read_policy(text(permission=rule)).permissions[0]
    assert found.purposes == (f"{terms.DPV}AcademicResearch",)
    assert found.actions[0].iri == f"{terms.DPV}Consult"


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"purpose": "dpv:AcademicReserch"}, "Did you mean 'AcademicResearch'"),
        ({"purpose": "dpv:Consult"}, "is not a purpose of the Data Privacy Vocabulary"),
        ({"action": "dpv:Consutl"}, "Did you mean 'Consult'"),
        (
            {
                "constraint": {
                    "leftOperand": "purpose",
                    "operator": "isA",
                    "rightOperand": {"@id": "dpv:AcademicReserch"},
                }
            },
            "Did you mean 'AcademicResearch'",
        ),
        (
            {
                "constraint": {
                    "leftOperand": "purpose",
                    "operator": "isA",
                    "rightOperand": "https://w3id.org/dpv#AcademicReserch",
                }
            },
            "Did you mean 'AcademicResearch'",
        ),
        ({"purpose": {"uid": "ex:X", "skos:broader": {"@id": "dpv:Reserch"}}}, "dpv:Reserch"),
    ],
)
def test_a_misspelt_term_of_the_dpv_is_refused_with_the_nearest(part, expected):
    with pytest.raises(PolicyError, match="P005") as error:
        read_policy(text(permission={"target": "ex:T", "action": "read", **part}))
    assert expected in str(error.value)
