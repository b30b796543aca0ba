"""The decider against Cedar, another engine by other hands, on what both can say.

A policy here is a list of rules with a hierarchy of its own. It is written twice: as ODRL, which
the engine reads, and as Cedar (https://docs.cedarpolicy.com), from the definitions of
docs/policy-language.md. Cedar has one graph of entities for all its policies; so each name stands
in it several times, once for each closure that counts: `0|ex:Ann` in what policy 0 says (and what
is given), `all|ex:Ann` in what all of them say.
"""

import json
import random
from itertools import chain

import pytest
from everyday import examples

from policy_engine.decision import Decider, World, read_request
from policy_engine.policy import Hierarchy, read_policies

cedarpy = pytest.importorskip("cedarpy")

E = "http://e.org/"
NAMES = {
    "party": ["Ann", "Bob", "Team", "Staff"],
    "asset": ["T/a", "T/b", "T", "Lake"],
    "purpose": ["Mail", "Marketing", "Any"],
}
"""By part, the narrow before the wide, so that what is drawn has no circles: Cedar allows none."""
ACTIONS = {"display": ["play"], "play": ["use"], "read": ["use"], "print": ["use"], "use": []}
"""Actions of ODRL with what they are included in (ODRL Vocabulary, section 4.3)."""
KINDS = {"party": "Party", "asset": "Asset", "purpose": "Purpose", "action": "Action"}
WORDS = {"party": "belongsTo", "asset": "partOf", "purpose": "declinationOf"}


CONDITIONS = [
    *(("purpose", operator, name) for operator in ("isA", "neq") for name in NAMES["purpose"]),
    *(("recipient", operator, name) for operator in ("isPartOf", "neq") for name in NAMES["party"]),
    *(("percentage", operator, bound) for operator in ("lteq", "gt") for bound in (4, 5)),
]


def draw_graph(rng):
    return {
        part: [
            (narrow, wide)
            for at, narrow in enumerate(names)
            for wide in names[at + 1 :]
            if rng.random() < 0.15
        ]
        for part, names in NAMES.items()
    }


def draw_rule(rng):
    def some(part, chance):
        return rng.sample(NAMES[part], rng.randint(1, 2)) if rng.random() < chance else []

    return {
        "kind": rng.choice(["permission", "permission", "prohibition"]),
        "target": some("asset", 1),
        "assignee": some("party", 0.5),
        "action": rng.choice(sorted(ACTIONS)),
        "purpose": some("purpose", 0.3),
        "conditions": rng.sample(CONDITIONS, rng.choice([0, 1, 1, 2])),
    }


def draw_policy(rng):
    return {"rules": [draw_rule(rng) for _ in range(rng.randint(1, 3))], "graph": draw_graph(rng)}


def draw_request(rng):
    return {
        "assignee": rng.choice(NAMES["party"]),
        "action": rng.choice(sorted(ACTIONS)),
        "target": rng.sample(NAMES["asset"], rng.choice([1, 1, 2])),
        "purpose": rng.choice([None, *NAMES["purpose"]]),
        "recipient": rng.choice([None, *NAMES["party"]]),
        "percentage": rng.choice([None, 4, 5, 6]),
    }


def answers(rng):
    """Decide what is drawn on both sides; yield both effects, and what was drawn."""
    known, made = draw_graph(rng), [draw_policy(rng) for _ in range(rng.randint(2, 3))]
    read = [as_odrl(number, policy) for number, policy in enumerate(made)]
    decider = Decider(read, hierarchy=as_hierarchy(known))
    for _ in range(8):
        request = draw_request(rng)
        found = decider.decide(*as_request(request))
        yield found.permitted, cedar_permits(made, request, known), (made, request, known)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 200))]
)
def test_decisions_are_those_of_cedar(seed):
    rng = random.Random(seed)
    every = [one for _ in range(examples(100, times=1)) for one in answers(rng)]
    assert [json.dumps(drawn) for ours, theirs, drawn in every if ours != theirs] == []
    assert len(every) / 20 < sum(ours for ours, _, _ in every) < len(every) / 2


# -- in the words of ODRL ------------------------------------------------------------------------


def as_odrl(number, policy):
    uid = f"{E}policy{number}"
    nodes = [
        {"uid": E + narrow, WORDS[part]: E + wide}
        for part, pairs in policy["graph"].items()
        for narrow, wide in pairs
    ]
    every = [as_rule(f"{uid}/{at}", rule) for at, rule in enumerate(policy["rules"])]
    context = ["http://www.w3.org/ns/odrl.jsonld", "https://www.mosaicrown.eu/ns/mosaicrown.jsonld"]
    whole = {
        "@type": "Set",
        "uid": uid,
        "profile": "https://www.mosaicrown.eu/ns/mosaicrown/1/",
        "conflict": "prohibit",
        **{
            kind: [
                rule
                for rule, one in zip(every, policy["rules"], strict=True)
                if one["kind"] == kind
            ]
            for kind in ("permission", "prohibition")
        },
    }
    whole = {key: value for key, value in whole.items() if value}
    [read] = read_policies(json.dumps({"@context": context, "@graph": [whole, *nodes]}))
    return read


def as_rule(uid, rule):
    parts = {name: [E + one for one in rule[name]] for name in ("target", "assignee", "purpose")}
    constraints = [
        {
            "leftOperand": left,
            "operator": operator,
            "rightOperand": right if left == "percentage" else {"@id": E + right},
        }
        for left, operator, right in rule["conditions"]
    ]
    whole = {"uid": uid, "action": rule["action"], **parts, "constraint": constraints}
    return {key: value for key, value in whole.items() if value}


def as_hierarchy(graph):
    return Hierarchy(
        **{part: tuple((E + a, E + b) for a, b in pairs) for part, pairs in graph.items()}
    )


def as_request(request):
    asked = read_request(
        E + request["assignee"],
        request["action"],
        [E + one for one in request["target"]],
        E + request["purpose"] if request["purpose"] else "",
    )
    values = {}
    if request["recipient"]:
        values["recipient"] = E + request["recipient"]
    if request["percentage"]:
        values["percentage"] = request["percentage"]
    return asked, World(time="2026-06-01T12:00:00Z", values=values)


# -- in the words of Cedar -----------------------------------------------------------------------


def cedar_permits(made, request, known):
    texts = "\n".join(
        as_cedar(number, rule, len(request["target"]))
        for number, policy in enumerate(made)
        for rule in policy["rules"]
    )
    closures = {
        **{str(number): [known, policy["graph"]] for number, policy in enumerate(made)},
        "all": [known, *(policy["graph"] for policy in made)],
    }
    asked = {
        "principal": 'Party::"anybody"',
        "action": 'Action::"anything"',
        "resource": 'Asset::"anything"',
        "context": as_context(request, closures),
    }
    entities = list(chain.from_iterable(as_entities(name, of) for name, of in closures.items()))
    result = cedarpy.is_authorized(asked, texts, entities)
    assert not result.diagnostics.errors
    return result.allowed


def as_entities(closure, graphs_of_it):
    """Yield each name as an entity, with the wider ones as its parents."""
    above = {("asset", "T/a"): {"T"}, ("asset", "T/b"): {"T"}}
    above |= {("action", narrow): set(wide) for narrow, wide in ACTIONS.items()}
    for graph in graphs_of_it:
        for part, pairs in graph.items():
            for narrow, wide in pairs:
                above.setdefault((part, narrow), set()).add(wide)
    for part, names in {**NAMES, "action": sorted(ACTIONS)}.items():
        for name in names:
            parents = [ref(part, closure, wide) for wide in sorted(above.get((part, name), ()))]
            yield {"uid": ref(part, closure, name), "attrs": {}, "parents": parents}


def ref(part, closure, name):
    return {"type": KINDS[part], "id": f"{closure}|{name}"}


def as_context(request, closures):
    context = {}
    for closure in closures:
        given_names = {
            f"action_{closure}": ("action", request["action"]),
            f"assignee_{closure}": ("party", request["assignee"]),
            f"purpose_{closure}": ("purpose", request["purpose"]),
            f"recipient_{closure}": ("party", request["recipient"]),
            **{f"target{at}_{closure}": ("asset", one) for at, one in enumerate(request["target"])},
        }
        for key, (part, name) in given_names.items():
            if name is not None:
                context[key] = {"__entity": ref(part, closure, name)}
    if request["percentage"] is not None:
        context["percentage"] = request["percentage"]
    return context


def as_cedar(number, rule, targets):
    """Return a rule: a permission by its policy's own closures, a prohibition by all."""
    if rule["kind"] == "permission":
        parts = [within(f"target{at}", "asset", rule["target"], number) for at in range(targets)]
        parts += [within("action", "action", [rule["action"]], number)]
        parts += [within("assignee", "party", rule["assignee"], number)] * bool(rule["assignee"])
        if rule["purpose"]:
            parts += [
                known("purpose", number),
                within("purpose", "purpose", rule["purpose"], number),
            ]
        parts += [satisfied(number, *one) for one in rule["conditions"]]
        return f"permit (principal, action, resource) when {{ {' && '.join(parts)} }};"
    parts = [any_of(overlap(f"target{at}", "asset", rule["target"]) for at in range(targets))]
    parts += [overlap("action", "action", [rule["action"]])]
    parts += [overlap("assignee", "party", rule["assignee"])] * bool(rule["assignee"])
    if rule["purpose"]:
        parts += [
            any_of([unknown("purpose", "all"), overlap("purpose", "purpose", rule["purpose"])])
        ]
    parts += [not_unsatisfied(number, *one) for one in rule["conditions"]]
    return f"forbid (principal, action, resource) when {{ {' && '.join(parts)} }};"


def satisfied(number, left, operator, right):
    """Return when a condition is known to hold, by the closures of its own policy."""
    if left == "percentage":
        return f"(context has percentage && {compared(operator, right)})"
    part = "purpose" if left == "purpose" else "party"
    inside = within(left, part, [right], number)
    if operator == "neq":
        # A wider value than the one named may or may not be meant: that is unknown.
        return f"({known(left, number)} && !{inside} && !{around(left, part, [right], number)})"
    return f"({known(left, number)} && {inside})"


def not_unsatisfied(number, left, operator, right):
    """Return when a condition is not known to fail, whatever other policies add."""
    if left == "percentage":
        return f"(!(context has percentage) || {compared(operator, right)})"
    part = "purpose" if left == "purpose" else "party"
    if operator == "neq":
        return any_of([unknown(left, number), f"!{within(left, part, [right], number)}"])
    return any_of([unknown(left, "all"), overlap(left, part, [right])])


def compared(operator, right):
    return f"context.percentage {'<=' if operator == 'lteq' else '>'} {right}"


def overlap(key, part, names):
    return any_of([within(key, part, names, "all"), around(key, part, names, "all")])


def within(key, part, names, closure):
    return any_of(f"context.{key}_{closure} in {entity(part, closure, name)}" for name in names)


def around(key, part, names, closure):
    return any_of(f"{entity(part, closure, name)} in context.{key}_{closure}" for name in names)


def known(key, closure):
    return f"(context has {key}_{closure})"


def unknown(key, closure):
    return f"!{known(key, closure)}"


def entity(part, closure, name):
    return f'{KINDS[part]}::"{closure}|{name}"'


def any_of(parts):
    return f"({' || '.join(parts)})"
