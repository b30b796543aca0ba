"""A compliance report and a decision agree about which rules apply, and on what comes of it."""

import json

from compliance_texts import PREFIXES
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.decision.compliance import compliance_report
from policy_engine.decision.decider import Decider
from policy_engine.decision.model import Request, World
from policy_engine.errors import PolicyError
from policy_engine.policy import Hierarchy, read_policy

EX = "http://example.com/"
ODRL = "http://www.w3.org/ns/odrl/2/"
NOW = "2031-05-06T07:08:09Z"
ANN, STAFF = f"{EX}ann", f"{EX}staff"
WARD, AGE = f"{EX}data/ward", f"{EX}data/ward/age"
AUDIT = f"{EX}audit"
PARTIES = st.sampled_from([ANN, STAFF])
ASSETS = st.sampled_from([WARD, AGE, f"{EX}data"])
ACTIONS = st.sampled_from([f"{ODRL}read", f"{ODRL}use", f"{ODRL}display", AUDIT])
PURPOSES = st.sampled_from([f"{EX}care", f"{EX}research"])


def condition(left, operator, right):
    return {"leftOperand": left, "operator": operator, "rightOperand": right}


def day(text):
    return {"@value": text, "@type": "xsd:date"}


def condition_of(left, operators, rights):
    return st.builds(condition, st.just(left), st.sampled_from(operators), rights)


def named(iris):
    return iris.map(lambda iri: {"@id": iri})


SIMPLE = st.one_of(
    condition_of(
        "dateTime", ["lt", "gteq"], st.sampled_from([day("2031-01-01"), day("2032-01-01")])
    ),
    condition_of("spatial", ["eq", "neq"], named(ASSETS)),
    condition_of("purpose", ["eq", "isA"], named(PURPOSES)),
)
JOINED = st.builds(
    lambda how, parts: {how: {"@list": parts}},
    st.sampled_from(["and", "or", "xone"]),
    st.lists(SIMPLE, min_size=2, max_size=2),
)
AGED = condition_of("unitOfCount", ["lt", "gt"], st.just(18))
MEMBERS = st.builds(lambda of, how: {"source": of, "refinement": how}, PARTIES, AGED)
BARE = st.fixed_dictionaries({"target": ASSETS, "action": ACTIONS})
BOUND = st.fixed_dictionaries(
    {"target": ASSETS, "action": ACTIONS},
    optional={"assignee": st.one_of(PARTIES, MEMBERS), "constraint": st.one_of(SIMPLE, JOINED)},
)
RULES = st.one_of(BARE, BOUND)
STRATEGIES = st.sampled_from(["perm", "prohibit", "invalid", ""])
EDGES = st.lists(st.tuples(PARTIES, PARTIES), max_size=2)


def policy_of(permissions, prohibitions, conflict, edges):
    kinds = {"permission": permissions, "prohibition": prohibitions}
    rules = {
        kind: [{"uid": f"{EX}{kind}{n}", **rule} for n, rule in enumerate(of)]
        for kind, of in kinds.items()
        if of
    }
    head = {"@type": "Set", "uid": f"{EX}policy", **({"conflict": conflict} if conflict else {})}
    head["profile"] = "https://www.mosaicrown.eu/ns/mosaicrown/1/"
    known = [{"uid": one, "partOf": other} for one, other in edges if one != other]
    known.append({"uid": AUDIT, "includedIn": "use", "implies": "read"})
    return json.dumps(
        {"@context": "http://www.w3.org/ns/odrl.jsonld", "@graph": [{**head, **rules}, *known]}
    )


def requested(asked):
    parts = f"odrl:assignee <{asked.assignee}> ; odrl:action <{asked.action}>"
    parts += f" ; odrl:target {', '.join(f'<{one}>' for one in asked.targets)}"
    if asked.purpose:
        left = "odrl:leftOperand odrl:purpose"
        parts += f" ; sotw:context [ {left} ; odrl:rightOperand <{asked.purpose}> ]"
    return f"{PREFIXES}:request a odrl:Request ; odrl:permission :asked . :asked {parts} ."


def reported(text, asked, world):
    """Return which rules apply by a report, and whether it permits."""
    told = [f'{PREFIXES}:w a sotw:SotW ; sotw:currentTime "{NOW}"^^xsd:dateTime .']
    told += [f":w odrl:spatial <{one}> ." for of in world.values.values() for one in of]
    told += [
        f"<{one}> odrl:unitOfCount {age} ." for one, of in world.of.items() for [age] in of.values()
    ]
    told += [f"<{one}> odrl:partOf <{other}> ." for one, other in world.memberships.party]
    [report] = compliance_report(text, requested(asked), "\n".join(told)).policies
    applying = {
        one.rule
        for one in report.rules
        if "it is void" not in one.reason and (one.active or one.reason)
    }
    return applying, any(one.active for one in report.rules if one.kind == "Permission")


def is_valid(text):
    """Tell whether a policy is not void by what it says itself."""
    try:
        return bool(read_policy(text))
    except PolicyError as error:
        if {one.code for one in error.problems} != {"P010"}:
            raise
        return False


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(RULES, max_size=3),
    st.lists(RULES, max_size=2),
    STRATEGIES,
    EDGES,
    st.builds(
        Request,
        assignee=PARTIES,
        action=ACTIONS,
        targets=st.lists(ASSETS, min_size=1, max_size=2, unique=True).map(tuple),
        purpose=st.one_of(st.just(""), PURPOSES),
    ),
    st.one_of(st.none(), ASSETS),
    st.dictionaries(PARTIES, st.integers(17, 19), max_size=2),
    EDGES,
)
def test_a_report_and_a_decision_agree_on_rules(
    permissions, prohibitions, conflict, edges, asked, place, ages, members
):
    if not permissions and not prohibitions:
        return
    text = policy_of(permissions, prohibitions, conflict, edges)
    world = World(
        time=NOW,
        values={f"{ODRL}spatial": place} if place else {},
        of={one: {f"{ODRL}unitOfCount": age} for one, age in ages.items()},
        memberships=Hierarchy(party=tuple(edge for edge in members if edge[0] != edge[1])),
    )
    applying, is_permitted = reported(text, asked, world)
    if not is_valid(text):
        assert not is_permitted
        return
    decision = Decider([read_policy(text)]).decide(asked, world)
    assert applying == {one.rule for one in decision.matches if one.applies}
    assert is_permitted == decision.permitted
