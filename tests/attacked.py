"""Policies that bound what attacks on their table reach."""

from building import DATASET, OUTPUT, anonymize, column, permission, policy

NOISY = [column("pay", masking="noise", sdShare=1)]


def bounded(asked, operator="lteq", operand="pe:linked"):
    return {"leftOperand": operand, "operator": operator, "rightOperand": asked}


def known(*names, table=DATASET):
    columns = [f"{table}/{name}" for name in names]
    return {"leftOperand": "pe:known", "operator": "isAllOf", "rightOperand": columns}


def by(*attacks):
    return {"leftOperand": "pe:attack", "operator": "isAnyOf", "rightOperand": [*attacks]}


def attacked(*refinements, action="pe:recordLinkage", **parts):
    """Return a policy that masks, or makes what `parts` say, and has the output attacked."""
    parts = parts or {"method": "masking", "masked": NOISY, "insensitive": ["id"]}
    made = permission(uid="http://x.org/policy/1", action=anonymize(**parts), output=OUTPUT)
    attack = {"rdf:value": {"@id": action}, "refinement": [*refinements]}
    duty = {"uid": "http://x.org/attack", "action": attack}
    used = permission(uid="http://x.org/use", target=OUTPUT, action="use", duty=duty)
    return policy([made, used])
