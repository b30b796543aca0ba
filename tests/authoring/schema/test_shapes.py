"""The shapes of policies say what the validator says, on policies with one mistake each."""

from functools import cache

import pytest
from places import ROOT

from policy_engine import terms
from policy_engine.errors import CODES, PolicyEngineError
from policy_engine.plan.products import check_plannable
from policy_engine.policy import read_policy
from policy_engine.policy.syntax.rdf import convert_text

SHAPES = ROOT / "vocab" / "shapes.ttl"
POLICIES = SHAPES.parent.parent / "policies"
PREFIXES = f"""\
@prefix cc: <http://creativecommons.org/ns#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix mosaicrown: <{terms.MOSAICROWN}> .
@prefix odrl: <{terms.ODRL}> .
@prefix pe: <{terms.PE}> .
@prefix rdf: <{terms.RDF}> .
@prefix x: <http://x.org/> .
@prefix xsd: <{terms.XSD}> .
"""
RULE = "odrl:assignee x:me ; odrl:target x:data ; odrl:action odrl:read"
COUNT = "odrl:leftOperand odrl:count ; odrl:operator odrl:lt ; odrl:rightOperand 3"
DATE = (
    "odrl:leftOperand odrl:dateTime ; odrl:operator odrl:lt ; "
    'odrl:rightOperand "2030-01-01"^^xsd:date'
)
DUTY = "odrl:action odrl:inform"


def policy(more, kind="odrl:Set", uid="x:policy"):
    return f"{uid} a {kind} ; odrl:profile mosaicrown: ; {more} ."


def permission(more="", rule=RULE):
    return policy(f"odrl:permission [ {rule} ; {more} ]")


def constraint(parts):
    return permission(f"odrl:constraint [ {parts} ]")


def left(operand, right, operator="eq"):
    return constraint(
        f"odrl:leftOperand {operand} ; odrl:operator odrl:{operator} ; odrl:rightOperand {right}"
    )


def action(text):
    return permission(rule=f"odrl:target x:data ; odrl:action {text}")


FIGURE = "[ pe:function 'count-units' ]"
SPENT = "odrl:leftOperand pe:spentEpsilon ; odrl:operator odrl:lteq ; odrl:rightOperand 4"


def with_query(figures, more="", name="x:table"):
    aggregate = f"pe:aggregate ( {figures} )" if figures else ""
    return permission() + f" x:policy pe:queries {name} . {name} {more} {aggregate} ."


def with_budget(parts):
    return permission() + f" x:policy pe:budget [ {parts} ] ."


PARAMETERS = """
    [ odrl:leftOperand mosaicrown:method ; odrl:operator odrl:eq ;
      odrl:rightOperand "k-anonymity" ] ,
    [ odrl:leftOperand mosaicrown:k ; odrl:operator odrl:eq ; odrl:rightOperand 3 ] ,
    [ odrl:leftOperand mosaicrown:quasi-identifier ; odrl:operator odrl:isAllOf ;
      odrl:rightOperand <http://x.org/data/age>, <http://x.org/data/city> ]"""
ANONYMIZE = f"[ rdf:value odrl:anonymize ; odrl:refinement {PARAMETERS} ]"

GOOD = {
    "plain": permission(),
    "types": permission("a odrl:Permission"),
    "policy": policy(f"odrl:permission [ {RULE} ]", "odrl:Policy"),
    "shared parts": policy(
        "odrl:target x:data ; odrl:action odrl:use ; odrl:permission [ odrl:assignee x:me ]"
    ),
    "offer": policy(f"odrl:assigner x:owner ; odrl:permission [ {RULE} ]", "odrl:Offer"),
    "agreement": policy(f"odrl:permission [ {RULE} ; odrl:assigner x:owner ]", "odrl:Agreement"),
    "conflict": policy(f"odrl:conflict odrl:perm ; odrl:permission [ {RULE} ]"),
    "core profile": f"x:policy a odrl:Set ; odrl:profile odrl:core ; odrl:permission [ {RULE} ] .",
    "prohibition": policy(f"odrl:prohibition [ {RULE} ; odrl:remedy [ {DUTY} ] ]"),
    "obligation": policy(
        f"odrl:obligation [ {DUTY} ; odrl:assignee x:me ; odrl:consequence [ {DUTY} ] ]"
    ),
    "anonymizing as an obligation": policy(
        "odrl:obligation [ odrl:target x:data ; odrl:action odrl:anonymize ]"
    ),
    "leave to anonymize": policy(
        f"odrl:assigner x:owner ; odrl:permission [ odrl:target x:data ; odrl:action {ANONYMIZE} ]"
    ),
    "duty": permission(f"odrl:duty [ {DUTY} ; odrl:consequence [ {DUTY} ] ]"),
    "function": permission(f"odrl:duty [ {DUTY} ; odrl:informedParty x:you ]"),
    "constraint": constraint(COUNT),
    "reference": constraint(
        "odrl:leftOperand odrl:count ; odrl:operator odrl:lt ; odrl:rightOperandReference x:most"
    ),
    "several": left("odrl:spatial", "x:a, x:b", "isAnyOf"),
    "list": left("odrl:spatial", "( x:a x:b )", "isNoneOf"),
    "count by party": left("pe:countByParty", "3", "lteq"),
    "jointly": left("pe:jointly", "x:data, x:other", "isNoneOf"),
    "own operand": left("<http://x.org/data/age>", "18", "gteq"),
    "moment": left("odrl:dateTime", '"2030-01-01T00:00:00Z"^^xsd:dateTime', "lt"),
    "date as a text": left("odrl:dateTime", '"2030-01-01"', "lt"),
    "usage": left("odrl:event", "odrl:policyUsage", "lt"),
    "duration": left("odrl:elapsedTime", '"P1D"^^xsd:duration', "lt"),
    "amount": left("odrl:payAmount", "5.5"),
    "whole amount": left("odrl:payAmount", "5"),
    "and": constraint(f"odrl:and [ {COUNT} ] , [ {DATE} ]"),
    "or as a list": constraint(f"odrl:or ( [ {COUNT} ] [ {DATE} ] )"),
    "sequence": constraint(f"odrl:andSequence ( [ {COUNT} ] [ {DATE} ] )"),
    "nested": constraint(f"odrl:xone [ {COUNT} ] , [ odrl:and [ {COUNT} ] , [ {DATE} ] ]"),
    "refined action": action(f"[ rdf:value odrl:print ; odrl:refinement [ {COUNT} ] ]"),
    "own action": action("x:look") + " x:look odrl:includedIn odrl:read .",
    "own action by way of another": action("x:look")
    + " x:look odrl:includedIn x:see . x:see odrl:includedIn odrl:use .",
    "commons action": action("cc:Sharing"),
    "collection": permission(
        rule="odrl:target x:data ; odrl:action odrl:read ; odrl:assignee "
        "[ a odrl:PartyCollection ; odrl:source x:all ; odrl:refinement "
        "[ odrl:leftOperand x:age ; odrl:operator odrl:gt ; odrl:rightOperand 17 ] ]"
    ),
    "spent": constraint(f"{SPENT} ; odrl:unit pe:perDataset"),
    "query": with_query(FIGURE),
    "grouped query": with_query(
        f"{FIGURE} [ pe:function 'top-k' ; pe:of x:b ; pe:k 2 ; pe:candidates ( 1 2 ) ]",
        "pe:groupBy ( x:a x:b ) ; pe:keys x:keys ;",
    ),
    "budget": with_budget("pe:over x:data ; pe:epsilon 10 ; pe:scope 'allAssignees'"),
    "renewed budget": with_budget(
        "pe:over x:data ; pe:epsilon 10 ; pe:scope pe:allAssignees ; pe:renewal 'P1Y' ; "
        "pe:lifetimeEpsilon 30"
    ),
    "member": permission() + " x:me odrl:partOf x:all .",
    "anonymization": permission(
        "odrl:output x:result", f"odrl:target x:data ; odrl:action {ANONYMIZE}"
    ),
}

BAD = {
    "nameless query": ("P023", with_query(FIGURE, name="_:table")),
    "query without figures": ("P023", with_query("", "pe:groupBy ( x:a ) ;")),
    "grouped by a text": ("P007", with_query(FIGURE, "pe:groupBy ( 'a' ) ;")),
    "keys in words": ("P007", with_query(FIGURE, "pe:keys 'keys.csv' ; pe:groupBy ( x:a ) ;")),
    "figure without a function": ("P023", with_query("[ pe:name 'total' ]")),
    "unknown function": ("P005", with_query("[ pe:function 'average' ; pe:of x:a ]")),
    "sum of a text": ("P007", with_query("[ pe:function 'sum' ; pe:of 'a' ]")),
    "candidates without order": (
        "P007",
        with_query("[ pe:function 'histogram' ; pe:of x:a ; pe:candidates 1, 2 ]"),
    ),
    "budget over nothing": ("P023", with_budget("pe:epsilon 10 ; pe:scope 'allAssignees'")),
    "budget over a text": (
        "P007",
        with_budget("pe:over 'data' ; pe:epsilon 10 ; pe:scope 'allAssignees'"),
    ),
    "budget without epsilon": ("P023", with_budget("pe:over x:data ; pe:scope 'allAssignees'")),
    "budget of somebody": (
        "P005",
        with_budget("pe:over x:data ; pe:epsilon 10 ; pe:scope 'somebody'"),
    ),
    "budget renewed for ever": (
        "P023",
        with_budget("pe:over x:data ; pe:epsilon 10 ; pe:scope 'allAssignees' ; pe:renewal 'P1Y'"),
    ),
    "spent on no account": ("P023", constraint(SPENT)),
    "spent on another account": ("P005", constraint(f"{SPENT} ; odrl:unit x:euro")),
    "spent exactly": (
        "P007",
        constraint(f"{SPENT.replace('lteq', 'eq')} ; odrl:unit pe:perDataset"),
    ),
    "epsilon exactly": (
        "P007",
        permission(
            "odrl:output x:out",
            "odrl:target x:data ; odrl:action [ rdf:value odrl:anonymize ; odrl:refinement "
            "[ odrl:leftOperand pe:epsilon ; odrl:operator odrl:eq ; odrl:rightOperand 1 ] ]",
        ),
    ),
    "blank policy": ("P002", policy(f"odrl:permission [ {RULE} ]", uid="_:policy")),
    "no rule": ("P003", policy("dct:title 'A'")),
    "ticket": ("P001", policy(f"odrl:permission [ {RULE} ]", "odrl:Ticket")),
    "two types": ("P001", policy(f"odrl:permission [ {RULE} ]", "odrl:Set, odrl:Policy")),
    "no type": ("P001", f"x:policy odrl:permission [ {RULE} ] ."),
    "unknown profile": (
        "P009",
        f"x:policy a odrl:Set ; odrl:profile x:profile ; odrl:permission [ {RULE} ] .",
    ),
    "offer of nobody": ("P004", policy(f"odrl:permission [ {RULE} ]", "odrl:Offer")),
    "obligation of an offer of nobody": (
        "P004",
        policy(f"odrl:obligation [ {DUTY} ; odrl:assignee x:me ]", "odrl:Offer"),
    ),
    "agreement with nobody": (
        "P004",
        policy(
            "odrl:assigner x:owner ; odrl:prohibition "
            "[ odrl:target x:data ; odrl:action odrl:read ]",
            "odrl:Agreement",
        ),
    ),
    "two strategies": (
        "P007",
        policy(f"odrl:conflict odrl:perm, odrl:prohibit ; odrl:permission [ {RULE} ]"),
    ),
    "unknown strategy": (
        "P007",
        policy(f"odrl:conflict odrl:first ; odrl:permission [ {RULE} ]"),
    ),
    "replaced": ("P012", policy(f"dct:isReplacedBy x:new ; odrl:permission [ {RULE} ]")),
    "constraint of a policy": (
        "P006",
        policy(f"odrl:permission [ {RULE} ] ; odrl:constraint [ {COUNT} ]"),
    ),
    "duty of a policy": ("P006", policy(f"odrl:permission [ {RULE} ] ; odrl:duty [ {DUTY} ]")),
    "refinement of a rule": ("P006", permission(f"odrl:refinement [ {COUNT} ]")),
    "output of a duty": ("P006", permission(f"odrl:duty [ {DUTY} ; odrl:output x:a ]")),
    "constraint of a constraint": (
        "P006",
        constraint(f"{COUNT} ; odrl:constraint [ {COUNT} ]"),
    ),
    "constraint of another type": ("P007", constraint(f"a odrl:Duty ; {COUNT}")),
    "blank operand": ("P007", left("odrl:spatial", "_:here")),
    "no action": ("P004", permission(rule="odrl:target x:data")),
    "no target": ("P004", permission(rule="odrl:action odrl:read")),
    "prohibition without target": ("P004", policy("odrl:prohibition [ odrl:action odrl:read ]")),
    "obligation without action": ("P004", policy("odrl:obligation [ odrl:assignee x:me ]")),
    "duty without action": ("P004", permission("odrl:duty [ odrl:target x:data ]")),
    "rule of another type": ("P007", permission("a odrl:Prohibition")),
    "duty of another type": ("P007", permission(f"odrl:duty [ a odrl:Permission ; {DUTY} ]")),
    "duty of a prohibition": (
        "P013",
        policy(f"odrl:prohibition [ {RULE} ; odrl:duty [ {DUTY} ] ]"),
    ),
    "remedy of a permission": ("P013", permission(f"odrl:remedy [ {DUTY} ]")),
    "consequence of a permission": ("P013", permission(f"odrl:consequence [ {DUTY} ]")),
    "nested consequence": (
        "P013",
        permission(
            f"odrl:duty [ {DUTY} ; odrl:consequence [ {DUTY} ; odrl:consequence [ {DUTY} ] ] ]"
        ),
    ),
    "consequence of a remedy": (
        "P013",
        policy(
            f"odrl:prohibition [ {RULE} ; odrl:remedy [ {DUTY} ; odrl:consequence [ {DUTY} ] ] ]"
        ),
    ),
    "obligation of nobody": ("P017", policy(f"odrl:obligation [ {DUTY} ]")),
    "two outputs": ("P007", permission("odrl:output x:a, x:b")),
    "output in words": ("P007", permission("odrl:output 'x'")),
    "output equal to the target": (
        "M007",
        permission("odrl:output x:data", f"odrl:target x:data ; odrl:action {ANONYMIZE}"),
    ),
    "anonymization without an output": (
        "M007",
        permission(rule=f"odrl:target x:data ; odrl:action {ANONYMIZE}"),
    ),
    "target in words": ("P007", permission(rule="odrl:target 'data' ; odrl:action odrl:read")),
    "no left operand": ("P004", constraint("odrl:operator odrl:lt ; odrl:rightOperand 3")),
    "two left operands": ("P004", left("odrl:count, odrl:percentage", "3")),
    "no operator": ("P004", constraint("odrl:leftOperand odrl:count ; odrl:rightOperand 3")),
    "no right operand": ("P004", constraint("odrl:leftOperand odrl:count ; odrl:operator odrl:lt")),
    "right operand and reference": (
        "P007",
        constraint(f"{COUNT} ; odrl:rightOperandReference x:most"),
    ),
    "several": ("P007", left("odrl:count", "3, 4")),
    "several in a list": ("P007", left("odrl:spatial", "( x:a x:b )")),
    "several references": (
        "P007",
        constraint(
            "odrl:leftOperand odrl:count ; odrl:operator odrl:lt ; "
            "odrl:rightOperandReference x:a, x:b"
        ),
    ),
    "unknown operand": ("P005", left("odrl:cuont", "3")),
    "parameter in a constraint": ("P005", left("mosaicrown:k", "3")),
    "unknown operator": ("P005", left("odrl:count", "3", "less")),
    "no integer": ("P007", left("odrl:version", '"ten"^^xsd:integer')),
    "no type of XML Schema": ("P007", left("odrl:version", '"ten"^^x:type')),
    "no date": ("P007", left("odrl:dateTime", '"tomorrow"', "lt")),
    "number for a date": ("P007", left("odrl:dateTime", "3", "lt")),
    "no duration": ("P007", left("odrl:elapsedTime", '"1 day"', "lt")),
    "fraction for a count": ("P007", left("odrl:count", "3.5")),
    "no decimal": ("P007", left("odrl:percentage", '"half"')),
    "one operand": ("P014", constraint(f"odrl:and [ {COUNT} ]")),
    "list of one operand": ("P014", constraint(f"odrl:or ( [ {COUNT} ] )")),
    "sequence without a list": ("P014", constraint(f"odrl:andSequence [ {COUNT} ] , [ {DATE} ]")),
    "and beside or": (
        "P014",
        constraint(f"odrl:and [ {COUNT} ] , [ {DATE} ] ; odrl:or [ {COUNT} ] , [ {DATE} ]"),
    ),
    "left operand beside and": (
        "P014",
        constraint(f"odrl:and [ {COUNT} ] , [ {DATE} ] ; odrl:leftOperand odrl:count"),
    ),
    "mistake deep down": (
        "P004",
        constraint(
            f"odrl:andSequence ( [ {COUNT} ] [ odrl:or ( [ {DATE} ] [ odrl:leftOperand "
            "odrl:count ; odrl:operator odrl:lt ] ) ] )"
        ),
    ),
    "unknown action": ("P005", action("odrl:raed")),
    "own action of no kind": ("P016", action("x:look")),
    "deprecated kind": ("P016", action("x:look") + " x:look odrl:includedIn odrl:lend ."),
    "refined action without a value": ("P004", action(f"[ odrl:refinement [ {COUNT} ] ]")),
    "refined action of two": (
        "P004",
        action(f"[ rdf:value odrl:print, odrl:read ; odrl:refinement [ {COUNT} ] ]"),
    ),
    "refined action with a uid": (
        "P004",
        action("odrl:print") + f" odrl:print odrl:refinement [ {COUNT} ] .",
    ),
    "refined action with a value and a uid": (
        "P006",
        action("x:look") + " x:look odrl:includedIn odrl:read ; rdf:value odrl:print ;"
        f" odrl:refinement [ {COUNT} ] .",
    ),
    "unknown refined action": (
        "P005",
        action(f"[ rdf:value odrl:raed ; odrl:refinement [ {COUNT} ] ]"),
    ),
    "collection with a uid": (
        "P015",
        permission() + f" x:me odrl:source x:all ; odrl:refinement [ {COUNT} ] .",
    ),
    "collection without a source": (
        "P015",
        permission(rule=f"odrl:action odrl:read ; odrl:target [ odrl:refinement [ {COUNT} ] ]"),
    ),
}


@cache
def shapes():
    from rdflib import Graph

    return Graph().parse(SHAPES)


def told_by_shapes(text):
    """Return the codes of the shapes that a policy breaks."""
    from pyshacl import validate
    from rdflib import Graph, URIRef
    from rdflib.namespace import SH

    data = Graph().parse(data=PREFIXES + text, format="turtle")
    conforms, report, _ = validate(data, shacl_graph=shapes(), inference="none", advanced=False)
    broken = set(report.objects(None, SH.sourceShape))
    codes = {str(shapes().value(one, URIRef(f"{terms.PE}code"))) for one in broken}
    assert conforms == (not codes)
    return codes


def told_by_the_validator(text):
    """Return the codes of the problems that the validator finds in a policy."""
    try:
        check_plannable(read_policy(PREFIXES + text, syntax="turtle"))
    except PolicyEngineError as error:
        return {problem.code for problem in error.problems}
    return set()


@pytest.mark.one_in(18)
@pytest.mark.parametrize("name", GOOD)
def test_a_good_policy_conforms(name):
    assert told_by_the_validator(GOOD[name]) == set()
    assert told_by_shapes(GOOD[name]) == set()


@pytest.mark.one_in(30)
@pytest.mark.parametrize("name", BAD)
def test_a_mistake_breaks_a_shape_of_the_same_code(name):
    code, text = BAD[name]
    assert told_by_the_validator(text) == {code}
    assert told_by_shapes(text) == {code}


@pytest.mark.one_in(16)
@pytest.mark.parametrize("path", sorted(POLICIES.glob("*.jsonld")), ids=lambda path: path.stem)
def test_a_shipped_policy_conforms(path):
    assert told_by_shapes(convert_text(path.read_text(), "json-ld", "turtle")) == set()


# -- the vocabulary -------------------------------------------------------------------------------


def listed(shape):
    """Return the terms that a shape allows, list by list."""
    from rdflib import URIRef
    from rdflib.collection import Collection
    from rdflib.namespace import SH

    graph = shapes()
    around = [URIRef(terms.PE + shape)]
    around += [
        part for one in graph.objects(around[0], SH["or"]) for part in Collection(graph, one)
    ]
    lists = [one for node in around for one in graph.objects(node, SH["in"])]
    return [{str(iri) for iri in Collection(graph, one)} for one in lists]


def test_the_shapes_list_the_terms_of_the_vocabulary():
    actions, operators, operands = (
        set(terms.instances(f"{terms.ODRL}{kind}"))
        for kind in ("Action", "Operator", "LeftOperand")
    )
    deprecated = {iri for iri in actions if terms.vocabulary()[iri].facts.get("deprecated")}
    assert listed("ActionShape") == [actions]
    assert listed("UseOrTransferShape") == [actions - deprecated]
    assert listed("OperatorShape") == [operators]
    assert listed("LeftOperandShape") == [operands]


def test_the_shapes_list_the_functions_the_scopes_and_the_accounts_of_the_vocabulary():
    from rdflib.collection import Collection
    from rdflib.namespace import SH

    graph = shapes()
    told = [{str(one) for one in Collection(graph, head)} for head in graph.objects(None, SH["in"])]
    for kind in ("AggregateFunction", "BudgetScope"):
        known = terms.instances(f"{terms.PE}{kind}")
        assert {*known, *(str(term.facts["notation"]) for term in known.values())} in told
    assert {*terms.instances(f"{terms.PE}SpendingUnit")} in told


def test_the_shapes_let_constraints_have_the_operands_of_ours_that_they_take():
    from policy_engine.policy.reading.operands import operands

    ours = {iri for iri in operands() if iri.startswith(terms.PE)}
    for iri in ours - {f"{terms.PE}spentEpsilon", f"{terms.PE}spentDelta"}:
        assert "P005" not in told_by_shapes(left(f"pe:{terms.local_name(iri)}", "3", "lteq"))


@pytest.mark.parametrize("shape", ["MemberShape", "CollectionShape"])
def test_every_function_of_a_party_is_a_target(shape):
    from rdflib import URIRef
    from rdflib.namespace import SH

    told = {str(one) for one in shapes().objects(URIRef(terms.PE + shape), SH.targetObjectsOf)}
    functions = set(terms.instances(f"{terms.PE}PartyFunction"))
    assert told == functions | {f"{terms.ODRL}target"}


def test_every_shape_that_is_broken_by_itself_has_a_code_of_the_validator():
    from rdflib import URIRef
    from rdflib.namespace import SH

    coded = set(shapes().subjects(SH.message))
    assert len(coded) > 40
    for one in coded:
        assert str(shapes().value(one, URIRef(f"{terms.PE}code"))) in CODES
