"""Policies of several owners and what is decided under them, for the tests of ownership."""

from datetime import UTC, datetime
from functools import cache

from building import anonymize, permission
from building import policy as text_of
from certifying import sha256

from policy_engine import terms
from policy_engine.certificate.attestation import Attestation
from policy_engine.decision import Decider, Request, World
from policy_engine.policy import Action, Asset, Hierarchy, Party, Policy, Rule, read_policy
from policy_engine.policy.owners import read_owners

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
ODRL = terms.ODRL
HOSPITAL, INSURER, REGULATOR = (f"http://e.org/{name}" for name in ("H", "I", "R"))
VISITS, CLAIMS, ANN = "http://e.org/Visits", "http://e.org/Claims", "http://e.org/Ann"
STAFF = "http://e.org/Staff"
OWNED = {VISITS: HOSPITAL, CLAIMS: INSURER}


def rule(kind, *targets, action="use", **parts):
    """Return a rule on assets by their IRIs; parties are IRIs, too."""
    for key in ("assigners", "assignees"):
        if key in parts:
            parts[key] = tuple(Party(one) for one in parts[key])
    uid = parts.pop("uid", f"urn:{kind}")
    return Rule(kind, tuple(map(Asset, targets)), (Action(f"{ODRL}{action}"),), uid, **parts)


def policy(assigner, *rules, uid="", conflict="prohibit", kind="Set", **edges):
    """Return a policy that a party issued, or nobody in particular where that is ''."""
    mine = [
        Rule(**{**vars(one), "assigners": one.assigners or _parties(assigner)}) for one in rules
    ]
    parts = {
        f"{name}s": tuple(one for one in mine if one.kind == name)
        for name in ("permission", "prohibition", "obligation")
    }
    uid = uid or f"urn:policy:{assigner}"
    return Policy(uid, f"{ODRL}{kind}", conflict, "d", hierarchy=Hierarchy(**edges), **parts)


def makes(output, source, maker, **parts):
    """Return the policy by which a party makes an output, for the staff."""
    action = anonymize(method="k-anonymity", k=2, quasi=["x"])
    action["refinement"][-1]["rightOperand"] = [f"{source}/x"]
    made = permission(
        **{
            "action": action,
            "target": source,
            "output": output,
            "assigner": maker,
            "assignee": STAFF,
            "purpose": None,
            **parts,
        }
    )
    return _read(text_of([made], uid=f"{output}/policy", profile=None))


def lets(owner, asset, party, **parts):
    """Return the policy by which an owner lets a party grant the use of an asset."""
    parts = {"action": "grantUse", "assignees": [party], "uid": f"{asset}#{party}", **parts}
    grants = rule("permission", asset, **parts)
    return policy(owner, grants, uid=f"urn:{owner}:{asset}:{party}")


def derives(output, source, maker, **parts):
    """Return the policy by which a party derives an output, which is attested, for the staff."""
    made = rule("permission", source, action="derive", output=output, assignees=[STAFF], **parts)
    return policy(maker, made, uid=f"{output}/policy")


def attested(made, **changes):
    """Return the word for the output of a policy of whoever it is issued by."""
    [one] = made.permissions
    word = Attestation(
        policy=made.uid,
        policy_digest=made.digest,
        asset=one.output,
        actions=[action.iri for action in one.actions],
        output_digest=sha256(one.output),
        by=next(iter(made.issued_by)),
        time=datetime(2026, 1, 1, tzinfo=UTC),
    )
    return word.model_copy(update=changes)


@cache
def _read(text):
    return read_policy(text)


def _parties(assigner):
    return (Party(assigner),) if assigner else ()


def decided(policies, *targets, owners=OWNED, assignee=ANN, action="read", given=None, **world):
    """Return what is decided of a request under some owners; none where they are None."""
    known = None if owners is None else read_owners(owners)
    purpose = world.pop("purpose", "")
    decider = Decider(policies, hierarchy=given, owners=known)
    asked = Request(
        assignee=assignee, action=f"{ODRL}{action}", targets=targets or (VISITS,), purpose=purpose
    )
    return decider.decide(asked, World(time=NOON, **world))


def is_permitted(*args, **parts):
    """Tell whether a request is permitted under some owners."""
    return decided(*args, **parts).permitted
