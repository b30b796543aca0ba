"""Small policies, worlds and requests for the decider's tests."""

from datetime import UTC, datetime

from policy_engine import terms
from policy_engine.decision import Decider, Request, World
from policy_engine.policy import Action, Asset, Constraint, Hierarchy, Policy, Rule, Value

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
ODRL = terms.ODRL
USE, READ = f"{ODRL}use", f"{ODRL}read"
LAKE, TABLE = "http://e.org/lake", "http://e.org/T"
ANN, STAFF = "http://org/ann", "http://org/staff"


def where(left, operator, *rights, prefix=ODRL):
    """Return a constraint; what has a colon on the right is a name."""
    values = tuple(Value(one, type="@id" if ":" in str(one) else "") for one in rights)
    return Constraint(f"{prefix}{left}", f"{ODRL}{operator}", values)


def rule(kind, target=TABLE, action=USE, **parts):
    """Return a rule on an asset, which is one by itself or its IRI."""
    asset = Asset(target) if isinstance(target, str) else target
    return Rule(kind, (asset,), (Action(action),), **{"uid": f"urn:r:{kind}", **parts})


def policy(*rules, uid="urn:p:0", conflict="prohibit", **edges):
    """Return a policy of some rules, with edges of its own by the part that they are of."""
    parts = {
        f"{kind}s": tuple(one for one in rules if one.kind == kind)
        for kind in ("permission", "prohibition", "obligation")
    }
    return Policy(uid, f"{ODRL}Set", conflict, "d", hierarchy=Hierarchy(**edges), **parts)


def is_permitted(
    policies, target=TABLE, *, assignee=ANN, action=READ, purpose="", given=None, **world
):
    """Tell whether a request is permitted in a state of the world."""
    targets = (target,) if isinstance(target, str) else target
    asked = Request(assignee=assignee, action=action, targets=targets, purpose=purpose)
    decider = Decider(policies, hierarchy=given)
    return decider.decide(asked, World(time=NOON, **world)).permitted
