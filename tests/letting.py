"""Owners who let others make something of their tables, and what comes of asking them."""

import json

import pytest
from building import permission, policy
from matched import (
    CLAIMS,
    EX,
    HOSPITAL,
    INSURER,
    MATCHED,
    OWNERS,
    UNIVERSITY,
    VISITS,
    anonymizing,
    matching,
    tables,
)

from policy_engine import apply_policy, decide_request, read_request
from policy_engine.decision import World
from policy_engine.errors import PolicyEngineError

NOON = World(time="2026-06-01T12:00:00Z")
OF_VISITS = {
    "joinOn": [f"{VISITS}/Patient"],
    "quasi": [f"{VISITS}/Age"],
    "sensitive": [f"{VISITS}/Diagnosis"],
}
OF_CLAIMS = {
    "joinOn": [f"{CLAIMS}/Insured"],
    "quasi": [f"{CLAIMS}/Zip"],
    "sensitive": [f"{CLAIMS}/Amount"],
}
SHARED = {"method": "l-diversity", "k": 2, "l": 2}


def letting(owner, target, who=UNIVERSITY, how=None, more=(), **rule):
    """Return the policy by which an owner lets a party anonymise a table, under bounds."""
    name = owner.removeprefix(EX).lower()
    action = "anonymize" if how is None else anonymizing(**how)
    usual = {"assignee": who, "target": target, "purpose": None}
    made = permission(uid=f"{EX}{name}#lets", action=action, **{**usual, **rule})
    return json.loads(policy([made, *more], uid=f"{EX}{name}", assigner=owner))


def hospital(**parts):
    how = {**SHARED, **OF_VISITS, **parts.pop("how", {})}
    return letting(HOSPITAL, VISITS, how=how, **parts)


def insurer(**parts):
    how = {**SHARED, **OF_CLAIMS, **parts.pop("how", {})}
    return letting(INSURER, CLAIMS, how=how, **parts)


def joint(**parts):
    return matching(issuer=UNIVERSITY, **parts)


def made(folder, *others, source=None, **parts):
    given = {"owners": OWNERS, "world": NOON, "party": UNIVERSITY, **parts}
    source, data = source or joint(), given.pop("data", None) or tables(folder)
    return apply_policy(source, data, folder / "out" / "m.csv", policies=others, **given)


def refusal(folder, *others, **parts):
    """Return the codes and the text of what keeps something from being made; nothing is there."""
    with pytest.raises(PolicyEngineError) as error:
        made(folder, *others, **parts)
    assert not (folder / "out").exists()
    return [one.code for one in error.value.problems], str(error.value)


def reads(release, *others, who=UNIVERSITY, purpose="", world=NOON, source=None, **parts):
    request = read_request(who, "read", [MATCHED], purpose)
    given = [source or joint(), *others]
    return decide_request(
        given, [release.certificate], request, owners=OWNERS, world=world, **parts
    )


def prohibiting(owner, target, **rule):
    """Return the policy by which a party prohibits something of an asset."""
    never = {"uid": f"{EX}never", "target": target, "action": "anonymize", **rule}
    return json.loads(policy([], [never], uid=f"{EX}never-policy", assigner=owner))


def jointly(assets, operator="isAnyOf"):
    return {"leftOperand": "pe:jointly", "operator": operator, "rightOperand": list(assets)}
