"""Policies for the tests of reading, built from the parts in question."""

import json

import pytest

from policy_engine import terms
from policy_engine.errors import PolicyError
from policy_engine.policy import read_policies, read_policy

CONTEXT = [
    "http://www.w3.org/ns/odrl.jsonld",
    "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
    {"ex": "http://e.org/"},
]
RULE = {"target": "ex:T", "action": "read"}
COUNT = {"leftOperand": "count", "operator": "lt", "rightOperand": 5}
DAY = {"leftOperand": "dateTime", "operator": "lt", "rightOperand": "2030-01-01"}


def odrl(name):
    return f"{terms.ODRL}{name}"


def ex(name):
    return f"http://e.org/{name}"


def iris(members):
    return [member.iri for member in members]


def text(*nodes, **keys):
    """Return a policy, with other nodes beside it in its graph."""
    policy = {"@type": "Set", "uid": "ex:policy", **keys}
    return json.dumps({"@context": CONTEXT, "@graph": [policy, *nodes]})


def read(*nodes, **keys):
    return read_policy(text(*nodes, **keys))


def permission(*nodes, **keys):
    """Return the one permission of a policy."""
    [found] = read(*nodes, permission={**RULE, **keys}).permissions
    return found


def refused(whole):
    """Return code and place of all that is wrong with a text, in its order."""
    with pytest.raises(PolicyError) as error:
        read_policies(whole)
    return [(found.code, found.place.pointer) for found in error.value.problems]


def problems(*nodes, **keys):
    """Return what is wrong with a policy; places in it have no `/@graph/0` before them."""
    found = refused(text(*nodes, **keys))
    return [(code, pointer.removeprefix("/@graph/0")) for code, pointer in found]


def permission_problems(*nodes, **keys):
    found = problems(*nodes, permission={**RULE, **keys})
    return [(code, pointer.removeprefix("/permission")) for code, pointer in found]


def constraint(*nodes, **keys):
    [found] = permission(*nodes, constraint={**COUNT, **keys}).constraints
    return found


def constraint_problems(*nodes, **keys):
    found = permission_problems(*nodes, constraint={**COUNT, **keys})
    return [(code, pointer.removeprefix("/constraint")) for code, pointer in found]


def xsd(name):
    return f"{terms.XSD}{name}"
