"""Decisions the slow way, straight from the definitions of docs/policy-language.md.

Every rule is walked, every name is asked of, and nothing is kept. The oracle of the decider's
tests and the other side of its benchmark. Of the product it takes what an operator comes to, one
value beside another; who includes whom, whose word counts for which rule, and of what a refinement
is asked, it works out by itself. Certificates and outputs are left out.
"""

from collections import Counter
from datetime import UTC
from functools import cache, cached_property
from itertools import chain, combinations

from policy_engine import terms
from policy_engine.decision.conditions import evaluate
from policy_engine.policy import Constraint

ODRL = terms.ODRL
ACTIONS = [
    (action.iri, up)
    for action in terms.instances(f"{ODRL}Action").values()
    for up in (*action.iris("includedIn"), *action.iris("replacedBy"))
]
IMPLIED = [
    (action.iri, other)
    for action in terms.instances(f"{ODRL}Action").values()
    for other in action.iris("implies")
]
KINDS = ("party", "asset", "action", "purpose")


class Word:
    """What some hierarchies say together of what is included in what."""

    def __init__(self, *hierarchies):
        self.edges = {
            kind: {edge for one in hierarchies for edge in getattr(one, kind)} for kind in KINDS
        }
        self.edges["action"] |= set(ACTIONS)
        self.upward = {kind: steps(edges) for kind, edges in self.edges.items()}
        self.downward = {
            kind: steps((wide, narrow) for narrow, wide in edges)
            for kind, edges in self.edges.items()
        }
        self.implied = steps({edge for one in hierarchies for edge in one.implied} | set(IMPLIED))
        self.above = cache(self.above)

    def above(self, kind, name):
        """Return all that includes a name: itself, its dataset, and up the edges from these."""
        dataset = terms.dataset_of(name) if kind == "asset" else ""
        return grown({name, dataset} - {""}, self.upward[kind])

    def includes(self, kind, wide, narrow):
        return wide in self.above(kind, narrow)

    def may_include(self, kind, wide, narrow):
        """Tell whether one includes another, or of assets may, since its IRI goes on from it."""
        return self.includes(kind, wide, narrow) or (kind == "asset" and goes_on(wide, narrow))

    def meet(self, kind, one, other):
        return self.may_include(kind, one, other) or self.may_include(kind, other, one)

    def needed(self, action):
        """Return an action, and all that it or something it is included in implies."""
        ways = self.upward["action"]
        every = {
            one: {*self.implied.get(one, ()), *ways.get(one, ())} for one in (*self.implied, *ways)
        }
        done = grown({action}, every)
        return {action}.union(*(self.implied.get(one, ()) for one in done))

    def under(self, kind, name):
        """Return what the edges put into a name, itself too."""
        return grown({name}, self.downward[kind])


def steps(edges):
    found = {}
    for one, other in edges:
        found.setdefault(one, set()).add(other)
    return found


def grown(found, step):
    while more := {other for one in found for other in step.get(one, ())} - found:
        found = found | more
    return found


def goes_on(short, long):
    is_start = len(long) > len(short) > 0 and long.startswith(short)
    return is_start and (long[len(short)] in "/?#" or short[-1] in "/?#")


class Facts:
    """What one policy's rule is held against, where some word counts."""

    zone = UTC

    def __init__(self, case, policy, rule, word, about=None, *, is_act=False):
        self.case, self.policy, self.rule, self.word = case, policy, rule, word
        self.about, self.is_act = about, is_act

    def values(self, left):
        world, request = self.case.world, self.case.request
        if left == f"{ODRL}dateTime":
            return (world.time,)
        if left == f"{ODRL}purpose":
            return (request.purpose,) if request.purpose else None
        return None if self.case.is_of_rows(left) else self.said(left)

    def said(self, left):
        world = self.case.world
        if self.about is not None and left in world.of.get(self.about, {}):
            return world.of[self.about][left]
        if self.about is not None and not self.is_act:
            return None
        if left == f"{ODRL}count":
            count = self.case.said(world.counts, self.policy, self.rule)
            return None if count is None else (count + 1,)
        return world.values.get(left)

    def referenced(self, iri):
        return None if self.case.is_of_rows(iri) else self.case.world.values.get(iri)

    def includes(self, left, narrow, wide):
        kinds = ("purpose",) if left == f"{ODRL}purpose" else KINDS
        return any(self.word.includes(kind, wide, narrow) for kind in kinds)


class Case:
    """One request under some policies, in a world."""

    def __init__(self, policies, request, world, given=()):
        self.policies, self.request, self.world = policies, request, world
        self.given = [*given, world.memberships]
        self.joint = Word(*self.given, *(one.hierarchy for one in policies))
        self.labels = Counter(
            label
            for policy in policies
            for label in {one.label() for rule in policy.rules for one in (rule, *rule.duties)}
        )
        self.own, self.readings = cache(self.own), cache(self.readings)

    @cached_property
    def names(self):
        """Return the assets that anybody names."""
        targets = {one.iri for p in self.policies for rule in p.rules for one in rule.targets}
        outputs = {rule.output for policy in self.policies for rule in policy.rules} - {""}
        edges = set(chain(*self.joint.edges["asset"]))
        return targets | outputs | edges | {*self.world.of} | {*self.request.targets}

    def said(self, known, policy, rule):
        """Return what stands under the label of a rule, which is one in its policy alone."""
        own = known.get(policy.uid)
        if isinstance(own, dict):
            return own.get(rule.label())
        return known.get(rule.label()) if self.labels[rule.label()] == 1 else None

    def is_of_rows(self, name):
        """Tell whether a name could be that of a column of something asked for."""
        dataset = terms.dataset_of(name)
        return bool(dataset) and any(
            self.joint.includes("asset", dataset, target)
            or self.joint.may_include("asset", target, dataset)
            for target in self.request.targets
        )

    def own(self, uid):
        return Word(*self.given, *(one.hierarchy for one in self.policies if one.uid == uid))

    def readings(self, uid):
        """Return what is so by a policy's own word and that of any of the other policies."""
        own = [one.hierarchy for one in self.policies if one.uid == uid]
        others = [one.hierarchy for one in self.policies if one.uid != uid]
        chosen = (combinations(others, n) for n in range(len(others) + 1))
        return [Word(*self.given, *own, *some) for some in chain(*chosen)]

    # -- refinements --------------------------------------------------------------------------

    def asked_of(self, kind, name, member, own, known):
        """Return what the refinements of a member are asked of where a request has a name."""
        source = member.iri
        lower = {name} if known.may_include(kind, source, name) else set()
        lower |= {source} if known.may_include(kind, name, source) else set()
        if kind == "action":
            return lower
        inside = set(chain(*(known.under(kind, low) for low in lower)))
        if kind == "asset":
            inside |= {one for one in self.names for low in inside if goes_on(low, one)}
        found = {one for one in inside if self.world.of.get(one) or not has_members(own, kind, one)}
        if name in lower:
            dataset = terms.dataset_of(name) if kind == "asset" else ""
            anything = {dataset, *chain(*known.edges[kind]), *self.names, *self.world.of}
            found |= {
                one
                for one in anything - {"", name, source}
                if (one == dataset or self.is_said(one, member))
                and known.may_include(kind, one, name)
                and known.may_include(kind, source, one)
            }
        return found

    def is_said(self, name, member):
        leaves = (leaf for one in member.refinements for leaf in one.constraints())
        return any(leaf.left_operand in self.world.of.get(name, {}) for leaf in leaves)

    # -- rules --------------------------------------------------------------------------------

    def permits(self, policy, rule):
        word, request = self.own(policy.uid), self.request

        def meets(condition, about=None, *, is_act=False):
            facts = Facts(self, policy, rule, word, about, is_act=is_act)
            return evaluate(condition, facts).state == "satisfied"

        def covers(members, kind, name):
            return not members or any(
                word.includes(kind, member.iri, name)
                and all(
                    meets(one, about, is_act=(kind, about) == ("action", request.action))
                    for one in member.refinements
                    for about in self.asked_of(kind, name, member, word, word)
                )
                for member in members
                if not (member.iri == f"{ODRL}anonymize" and member.refinements)
            )

        return (
            covers(rule.assignees, "party", request.assignee)
            and bool(rule.actions)
            and covers(rule.actions, "action", request.action)
            and all(covers(rule.targets, "asset", target) for target in request.targets)
            and (
                not rule.purposes
                or any(word.includes("purpose", one, request.purpose) for one in rule.purposes)
            )
            and all(map(meets, rule.constraints))
            and all(
                self.said(self.world.duties, policy, duty) == "fulfilled" for duty in rule.duties
            )
        )

    def prohibits(self, policy, rule):
        request, joint, own = self.request, self.joint, self.own(policy.uid)
        readings = self.readings(policy.uid)

        def is_lifted(condition, about=None, *, is_act=False):
            """Tell whether a condition is unsatisfied, whoever of the other policies is heard."""
            return all(
                evaluate(condition, Facts(self, policy, rule, word, about, is_act=is_act)).state
                == "unsatisfied"
                for word in readings
            )

        def meets(members, kind, names):
            return not members or any(
                joint.meet(kind, member.iri, name)
                and (
                    not member.refinements
                    or any(
                        not any(
                            is_lifted(
                                one, about, is_act=(kind, about) == ("action", request.action)
                            )
                            for one in member.refinements
                        )
                        for about in self.asked_of(kind, name, member, own, joint)
                    )
                )
                for member in members
                for name in names
            )

        return (
            meets(rule.assignees, "party", [request.assignee])
            and bool(rule.actions)
            and meets(rule.actions, "action", joint.needed(request.action))
            and meets(rule.targets, "asset", request.targets)
            and (
                not rule.purposes
                or not request.purpose
                or any(joint.meet("purpose", request.purpose, one) for one in rule.purposes)
            )
            and not any(map(is_lifted, rule.constraints))
        )

    def is_void(self, policy):
        """Tell whether some permission and some prohibition of a policy overlap."""

        def meet(kind, some, others):
            pairs = ((a, b) for a in some for b in others)
            return not some or not others or any(self.joint.meet(kind, *pair) for pair in pairs)

        def names(members):
            return [member.iri for member in members]

        return policy.conflict == "invalid" and any(
            meet("asset", names(one.targets), names(other.targets))
            and meet("party", names(one.assignees), names(other.assignees))
            and meet(
                "action",
                set(chain(*map(self.joint.needed, names(one.actions)))),
                names(other.actions),
            )
            and meet("purpose", one.purposes, other.purposes)
            for one in policy.permissions
            for other in policy.prohibitions
        )


def has_members(word, kind, name):
    """Tell whether an edge puts something into a name that does not include it in turn."""
    return any(
        wide == name and not word.includes(kind, narrow, name) for narrow, wide in word.edges[kind]
    )


def decide(policies, request, world, given=None):
    """Return the effect, and the labels of the rules that permit and that prohibit."""
    case = Case(policies, request, world, [given] if given else [])
    permits = [
        (policy, rule)
        for policy in policies
        if not case.is_void(policy)
        for rule in policy.permissions
        if case.permits(policy, rule)
    ]
    prohibits = [
        (policy, rule)
        for policy in policies
        for rule in policy.prohibitions
        if case.prohibits(policy, rule)
    ]
    able = {policy.uid for policy, _ in permits}
    denied = any(policy.conflict != "perm" or policy.uid not in able for policy, _ in prohibits)
    effect = "permit" if permits and not denied else "deny"
    return effect, [r.label() for _, r in permits], [r.label() for _, r in prohibits]


def is_single(rule):
    """Tell whether all conditions of a rule are constraints, joined by nothing."""
    parts = (rule.targets, rule.assignees, rule.actions)
    refined = (one for part in parts for member in part for one in member.refinements)
    return all(isinstance(one, Constraint) for one in (*rule.constraints, *refined))
