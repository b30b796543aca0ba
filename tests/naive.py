"""Decisions the slow way, straight from the definitions: every rule is walked, nothing is kept.

The oracle of the decider's tests and the other side of its benchmark. Certificates and outputs
are left out.
"""

from datetime import UTC

from policy_engine import terms
from policy_engine.decision.conditions import evaluate
from policy_engine.policy import Hierarchy

ANONYMIZE = f"{terms.ODRL}anonymize"


class Facts:
    zone = UTC

    def __init__(self, request, world, hierarchy, rule, about=""):
        self.request, self.world, self.hierarchy = request, world, hierarchy
        self.rule, self.about = rule, about

    def values(self, left):
        own = self.world.of.get(self.about, {})
        if left in own:
            return own[left]
        if left == f"{terms.ODRL}dateTime":
            return (self.world.time,)
        if left == f"{terms.ODRL}purpose" and self.request.purpose:
            return (self.request.purpose,)
        if left == f"{terms.ODRL}count" and self.rule.label() in self.world.counts:
            return (self.world.counts[self.rule.label()],)
        return self.world.values.get(left)

    def referenced(self, iri):
        return self.world.values.get(iri)

    def includes(self, left, narrow, wide):
        parts = (
            ("purpose",) if left.endswith("purpose") else ("party", "asset", "action", "purpose")
        )
        return any(self.hierarchy.path(part, narrow, wide) for part in parts)


def decide(policies, request, world, given=None):
    """Return the effect, and the labels of the rules that permit and that prohibit."""
    given = (given or Hierarchy()).joined([world.memberships])
    joint = given.joined(policy.hierarchy for policy in policies)
    whole = [one for one in policies if one.conflict != "invalid" or not is_void(one, joint)]
    permits = [
        (policy, rule)
        for policy, own in ((one, given.joined([one.hierarchy])) for one in whole)
        for rule in policy.permissions
        if permitted(rule, request, world, own, joint)
    ]
    prohibits = [
        (policy, rule)
        for policy in policies
        for rule in policy.prohibitions
        if prohibited(rule, request, world, joint)
    ]
    able = {policy.uid for policy, _ in permits}
    denied = any(policy.conflict != "perm" or policy.uid not in able for policy, _ in prohibits)
    effect = "permit" if permits and not denied else "deny"
    return effect, [r.label() for _, r in permits], [r.label() for _, r in prohibits]


def is_void(policy, hierarchy):
    return any(
        overlaps(one.targets, other.targets, "asset", hierarchy)
        and overlaps(one.assignees, other.assignees, "party", hierarchy)
        and overlaps(one.actions, other.actions, "action", hierarchy)
        and (
            not one.purposes
            or not other.purposes
            or any(
                hierarchy.overlaps("purpose", a, b) for a in one.purposes for b in other.purposes
            )
        )
        for one in policy.permissions
        for other in policy.prohibitions
    )


def overlaps(some, others, part, hierarchy):
    if not some or not others:
        return True
    return any(hierarchy.overlaps(part, one.iri, other.iri) for one in some for other in others)


def permitted(rule, request, world, own, joint):
    def state(condition, about=""):
        return evaluate(condition, Facts(request, world, joint, rule, about)).state

    def matches(members, part, name):
        return not members or any(
            own.path(part, name, member.iri)
            and all(state(one, name) == "satisfied" for one in member.refinements)
            for member in members
            if not (member.iri == ANONYMIZE and member.refinements)
        )

    return (
        matches(rule.assignees, "party", request.assignee)
        and bool(rule.actions)
        and matches(rule.actions, "action", request.action)
        and all(matches(rule.targets, "asset", target) for target in request.targets)
        and (
            not rule.purposes
            or any(own.path("purpose", request.purpose, purpose) for purpose in rule.purposes)
        )
        and all(state(one) == "satisfied" for one in rule.constraints)
        and all(world.duties.get(duty.label()) == "fulfilled" for duty in rule.duties)
    )


def prohibited(rule, request, world, joint):
    def state(condition, about=""):
        return evaluate(condition, Facts(request, world, joint, rule, about)).state

    def meets(members, part, name):
        return not members or any(
            joint.overlaps(part, name, member.iri)
            and all(state(one, name) != "unsatisfied" for one in member.refinements)
            for member in members
        )

    return (
        meets(rule.assignees, "party", request.assignee)
        and any(
            meets(rule.actions, "action", verb)
            for verb in (request.action, *joint.needs(request.action))
        )
        and any(meets(rule.targets, "asset", target) for target in request.targets)
        and (
            not rule.purposes
            or not request.purpose
            or any(joint.overlaps("purpose", request.purpose, one) for one in rule.purposes)
        )
        and all(state(one) != "unsatisfied" for one in rule.constraints)
    )
