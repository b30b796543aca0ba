"""Policies that ask for output checks."""

import json

from policy_engine.policy import read_policy

TABLE, RESEARCHER = "http://example.com/T", "http://example.com/researcher"


def policy_with(*refinements, target=TABLE, assignee=RESEARCHER):
    """Return a policy that lets a researcher read what passes a check.

    Each refinement is a left operand, an operator and a right operand.
    """
    parts = [
        {"leftOperand": name, "operator": operator, "rightOperand": value}
        for name, operator, value in refinements
    ]
    rule = {
        "uid": "http://example.com/rule",
        "assignee": assignee,
        "target": target,
        "action": [{"rdf:value": {"@id": "odrl:read"}, **({"refinement": parts} if parts else {})}],
    }
    contexts = [
        "http://www.w3.org/ns/odrl.jsonld",
        "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
    ]
    whole = {"@context": contexts, "@type": "Set", "uid": "http://example.com/policy"}
    return read_policy(json.dumps({**whole, "permission": [rule]}))
