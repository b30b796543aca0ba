"""A report depends neither on the order of statements nor on the names of blank nodes."""

import re
from functools import cache
from typing import Any

import pytest
import rdflib
from compliance_texts import PREFIXES, limit
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.decision.compliance import compliance_report

MC, PE = "https://www.mosaicrown.eu/ns/mosaicrown/1/", "https://w3id.org/policy-engine/ns#"
JOINTLY = limit(f"<{PE}jointly>", "isAnyOf", ":ward, :beds")
POLICY = f"""
:policy a odrl:Set ; odrl:conflict odrl:prohibit ; odrl:assigner :owner ;
    odrl:permission :read, [ odrl:action odrl:use ; odrl:target :files ] ;
    odrl:prohibition :ban, [ odrl:action odrl:read ; odrl:assignee :visitor ] ;
    odrl:obligation :tell .
:read odrl:action odrl:read ; odrl:target :ward, :beds ; odrl:constraint [ odrl:or
    [ {limit(":age", "gt", "18")} ], [ {limit("odrl:purpose", "isA", ":care")} ] ] .
:ban odrl:action odrl:read ; odrl:assignee [ a odrl:PartyCollection ; odrl:source :staff ;
    odrl:refinement [ {limit(":age", "lt", "18")} ] ] .
:tell odrl:action odrl:inform ; odrl:constraint [ {JOINTLY} ] .
:child a odrl:Set ; odrl:inheritFrom :policy ; odrl:conflict odrl:prohibit .
:policy dct:isReplacedBy :newer, :newest .
"""
REQUEST = f"""
:request a odrl:Request ; odrl:permission :a, :b .
:a odrl:assignee :nurse, :visitor ; odrl:action odrl:read ; odrl:target :ward, :beds ;
    <{MC}purpose> :mine, :other .
:b odrl:assignee :nurse ; odrl:action odrl:read ; odrl:target :files .
:mine a :care .
"""
WORLD = """
:now a sotw:SotW ; sotw:currentTime "2031-05-06T07:08:09Z"^^xsd:dateTime ; :age 17, 19 .
:nurse odrl:partOf :staff . :visitor odrl:partOf :staff .
[] a report:DutyReport ; report:rule :tell ; report:performanceState report:Unperformed .
[] a report:DutyReport ; report:rule :tell ; report:performanceState report:Performed .
"""
OWNERS = {
    f"http://example.com/{name}": f"http://example.com/{of}"
    for name, of in (("ward", "owner"), ("files", "other"))
}


def statements(text):
    graph = rdflib.Graph().parse(data=PREFIXES + text, format="turtle")
    return sorted(graph.serialize(format="nt").splitlines())


TEXTS = [statements(text) for text in (POLICY, REQUEST, WORLD)]


def shuffled(lines, random):
    """Return lines in another order, with other names for blank nodes."""
    names = sorted(set(re.findall(r"_:\w+", " ".join(lines))))
    others = dict(zip(names, random.sample(names, len(names)), strict=True))
    renamed = [re.sub(r"_:\w+", lambda found: others[found[0]], line) for line in lines]
    return random.sample(renamed, len(renamed))


def said(value: Any) -> Any:
    """Return what a report says, without the names of its own and of blank nodes."""
    if isinstance(value, dict):
        return {key: said(one) for key, one in value.items() if key != "report"}
    if isinstance(value, list):
        return sorted(map(said, value), key=repr)
    return re.sub(r"_:[\w-]+", "_:", value) if isinstance(value, str) else value


def reported(texts, owned):
    owners = OWNERS if owned else None
    return said(compliance_report(*map("\n".join, texts), owners=owners).to_json())


@cache
def as_written(owned):
    return reported(TEXTS, owned)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("owned", [False, True])
@settings(max_examples=examples(30, times=35))
@given(random=st.randoms(use_true_random=False))
def test_report_does_not_depend_on_the_order_of_statements(owned, random):
    assert reported([shuffled(lines, random) for lines in TEXTS], owned) == as_written(owned)
