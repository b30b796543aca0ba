import json
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import POLICIES

from policy_engine.policy.syntax.contexts import read_contexts
from policy_engine.policy.syntax.expanded_values import POINTER, expanded_node
from policy_engine.policy.syntax.expansion_checks import object_problems
from policy_engine.policy.syntax.json_text import read_json
from policy_engine.policy.syntax.plain_nodes import plain_nodes

POLICY = json.loads((POLICIES / "customer.jsonld").read_text("utf-8"))
CONTEXT = ["http://www.w3.org/ns/odrl.jsonld", "https://www.mosaicrown.eu/ns/mosaicrown.jsonld"]
PARTS = [
    *(None, [], {}, "", "read", "odrl:read", "xx:read", "http://e.org/a b", "http://e.org/a", 5),
    *(["a", ["b"]], {"@value": "5", "@type": "xsd:integer"}, {"@value": None}, {"@value": []}),
    *({"@value": "a", "@language": "en"}, {"@list": ["http://e.org/a", {"@id": "http://e.org/b"}]}),
    *({"@set": ["http://e.org/a"]}, {"@id": "http://e.org/a"}, {"uid": "_:a", "@id": "_:b"}),
    *({"@type": []}, {"@type": ["odrl:Set", 5]}, {"constrant": 1}, {"@graph": []}, {"@list": []}),
    *({"@value": 1.5, "@type": ""}, [{"@list": ["odrl:use"]}], [{"@value": True}, "x"]),
    {"leftOperand": "purpose", "operator": "eq", "rightOperand": "dpv:Marketing"},
    {"leftOperand": "spatial", "dataType": "xsd:string", "rightOperand": "ex:a"},
    {"leftOperand": {"@id": "spatial"}, "rightOperand": ["ex:a", {"@value": "ex:a"}]},
]
KEYS = ["target", "action", "constraint", "permission", "uid", "@type", "rightOperand", "zz", "a:b"]


def both(value):
    """Return what the two ways make of an object: nodes, or None where something is wrong."""
    document = read_json(json.dumps(value))
    context, problems = read_contexts(document, value, "", {})
    assert not problems
    if any(object_problems(document, value, "", context, None)):
        return None, plain_nodes(document, value, "", context)
    return expanded_node(value, "", context), plain_nodes(document, value, "", context)


@pytest.mark.one_in(90)
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("key", KEYS)
def test_nodes_are_those_of_the_checked_expansion_or_none(key, part):
    checked, plain = both({"@context": CONTEXT, "target": "http://e.org/t", key: part})
    assert plain is None or plain.tops == [checked]


@given(st.data())
def test_no_change_of_a_policy_is_let_through(data):
    value = deepcopy(POLICY)
    objects = [value["permission"][0] if isinstance(value["permission"], list) else value]
    for one in objects:
        objects += [inner for inner in one.values() if isinstance(inner, dict)]
    place = data.draw(st.sampled_from(objects))
    key = data.draw(st.sampled_from([*place, *KEYS]))
    place[key] = data.draw(st.sampled_from(PARTS)) if key != "@context" else place[key]
    checked, plain = both(value)
    assert plain is None or plain.tops == [checked]


def test_usual_policies_are_plain_and_their_nodes_are_listed_outer_ones_first():
    _, plain = both(POLICY)
    pointers = [node[POINTER] for node in plain.all]
    assert plain.tops[0] is plain.all[0]
    assert len(pointers) > 5
    assert pointers[0] == ""
    assert all(pointers[1:])
    assert len({*pointers}) == len(pointers)
