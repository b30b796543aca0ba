"""The digest of a policy is of what it means: one for all ways to write it, another for another."""

import copy
import dataclasses
import datetime as dt
import json
from decimal import Decimal

import pytest
from everyday import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from places import POLICIES
from policy_texts import CONTEXT, COUNT, RULE, ex, odrl, permission, read, text

from policy_engine import terms
from policy_engine.authoring.diff import compare_policies
from policy_engine.decision import Decider, Request, World
from policy_engine.errors import PolicyEngineError
from policy_engine.plan.making import make_plan
from policy_engine.policy import Vocabulary, read_drafts, read_policy
from policy_engine.policy.canonical import canonical_text, digest_of
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.model import (
    Action,
    Asset,
    Constraint,
    LogicalConstraint,
    Party,
    Policy,
    Rule,
    Value,
)
from policy_engine.policy.queries import Aggregate, Budget, GroupColumn, Query
from policy_engine.policy.reading.vocabulary_reader import read_vocabulary
from policy_engine.policy.syntax.rdf import convert_text

XSD = "http://www.w3.org/2001/XMLSchema#"
WHOLE = {
    "@context": [*CONTEXT[:2], {"ex": "http://e.org/", "xsd": XSD}],
    "@graph": [
        {
            "@type": "Set",
            "uid": "ex:policy",
            "profile": "https://www.mosaicrown.eu/ns/mosaicrown/1/",
            "assigner": "ex:Hospital",
            "permission": [
                {
                    "uid": "ex:rule/anonymize",
                    "assignee": ["ex:Ann", "ex:Research"],
                    "target": "ex:T",
                    "output": "ex:Safe",
                    "purpose": ["statistical", "dpv:ResearchAndDevelopment"],
                    "action": {
                        "rdf:value": {"@id": "odrl:anonymize"},
                        "refinement": [
                            {
                                "leftOperand": "mosaicrown:method",
                                "operator": "eq",
                                "rightOperand": "k-anonymity",
                            },
                            {
                                "leftOperand": "mosaicrown:k",
                                "operator": "eq",
                                "rightOperand": 5,
                            },
                            {
                                "leftOperand": "mosaicrown:quasi-identifier",
                                "operator": "isAllOf",
                                "rightOperand": [
                                    {"@id": "ex:T/Age", "pe:weight": 2},
                                    {"@id": "ex:T/Zip"},
                                ],
                            },
                        ],
                    },
                },
                {
                    "assignee": {
                        "@type": "PartyCollection",
                        "source": "ex:Hospital",
                        "refinement": [
                            {"leftOperand": "ex:trained", "operator": "eq", "rightOperand": True}
                        ],
                    },
                    "target": ["ex:U", "ex:V"],
                    "action": ["read", "print"],
                    "constraint": [
                        {"leftOperand": "count", "operator": "lteq", "rightOperand": 3},
                        {
                            "or": [
                                {
                                    "leftOperand": "dateTime",
                                    "operator": "lt",
                                    "rightOperand": "2027-01-01T00:00:00Z",
                                },
                                {
                                    "leftOperand": "spatial",
                                    "operator": "isAnyOf",
                                    "rightOperand": [{"@id": "ex:EU"}, {"@id": "ex:CH"}],
                                },
                            ]
                        },
                    ],
                    "duty": [
                        {
                            "action": "inform",
                            "informedParty": "ex:Office",
                            "consequence": [{"action": "delete", "target": "ex:U"}],
                        },
                        {
                            "action": "compensate",
                            "constraint": {
                                "leftOperand": "payAmount",
                                "operator": "eq",
                                "rightOperand": 2.5,
                                "unit": "ex:EUR",
                            },
                        },
                    ],
                },
            ],
            "prohibition": {
                "target": "ex:V",
                "assignee": "ex:Press",
                "action": "use",
                "remedy": {"action": "anonymize", "target": "ex:V"},
            },
            "obligation": {"assignee": "ex:Research", "action": "delete", "target": "ex:U"},
        },
        {"uid": "ex:Ann", "belongsTo": "ex:Hospital"},
        {"uid": "ex:Press", "belongsTo": "ex:Public"},
        {"uid": "ex:U", "partOf": "ex:Archive"},
    ],
}
REQUESTS = [
    Request(assignee=ex(who), action=odrl(act), targets=(ex(what),), purpose=purpose)
    for who in ("Ann", "Press", "Nurse")
    for act in ("read", "print", "use")
    for what in ("U", "V", "Safe", "T")
    for purpose in ("", f"{terms.MOSAICROWN}statistical")
]
WORLD = World(
    time=dt.datetime(2026, 5, 1, tzinfo=dt.UTC),
    counts={"ex:other": 1},
    of={ex("Nurse"): {ex("trained"): (True,)}},
    values={odrl("spatial"): (ex("EU"),), odrl("count"): (1,)},
    memberships=Hierarchy(party=((ex("Nurse"), ex("Hospital")),)),
)


def digest(value):
    return read_policy(json.dumps(value)).digest


# -- the same meaning ---------------------------------------------------------------------------


def kept(key):
    """Whether the order of the values of a key has a meaning, at least inside an action."""
    return key in ("@context", "rightOperand", "@list", "andSequence")


@st.composite
def rewritten(draw, value, key=""):
    """Draw another way to write a value of JSON-LD."""
    if isinstance(value, dict):
        names = draw(st.permutations(list(value)))
        inner = {name: draw(rewritten(value[name], name)) for name in names}
        if key in ("permission", "duty", "prohibition") and draw(st.booleans()):
            inner["dct:title"] = "What this is about"
        alone = inner
    elif isinstance(value, list):
        members = [draw(rewritten(one, key)) for one in value]
        return members if kept(key) else draw(st.permutations(members))
    elif isinstance(value, bool) or key == "@context":
        return value
    elif isinstance(value, int):
        plain = [value, {"@value": value, "@type": "xsd:integer"}]
        alone = draw(st.sampled_from([*plain, {"@value": f"+0{value}", "@type": "xsd:integer"}]))
        return alone if key == "pe:weight" else draw(st.sampled_from([alone, [alone]]))
    elif isinstance(value, float):
        alone = draw(st.sampled_from([value, {"@value": f"{value}0", "@type": "xsd:decimal"}]))
    elif value == "2027-01-01T00:00:00Z":
        other = {"@value": "2027-01-01T01:00:00.0+01:00", "@type": "xsd:dateTime"}
        alone = draw(st.sampled_from([value, other]))
    elif value.startswith("ex:"):
        ways = [value, f"other:{value[3:]}", ex(value[3:])]
        alone = draw(st.sampled_from(ways))
    else:
        alone = value
    wraps = key in ("permission", "assignee", "target", "purpose", "constraint", "remedy")
    return [alone] if wraps and draw(st.booleans()) else alone


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_however_a_policy_is_written_its_digest_is_the_same(data):
    written = {name: data.draw(rewritten(value, name)) for name, value in WHOLE.items()}
    names = {"other": "http://e.org/", "dct": "http://purl.org/dc/terms/"}
    written["@context"] = [*WHOLE["@context"], names]
    spaces = data.draw(st.sampled_from([None, 2, 7]))
    found = read_policy(json.dumps(written, indent=spaces))
    assert found.digest == digest(WHOLE)
    assert compare_policies(read_policy(json.dumps(WHOLE)), found).is_empty


@pytest.mark.one_in(3)
@pytest.mark.parametrize("syntax", ["turtle", "n-triples", "rdf-xml"])
def test_digest_is_the_same_in_every_syntax(syntax):
    for file in sorted((POLICIES).glob("*.jsonld")):
        given_ = file.read_text("utf-8")
        converted = convert_text(given_, "json-ld", syntax)
        assert read_policy(converted, syntax=syntax).digest == read_policy(given_).digest, file


def test_a_policy_under_a_profile_by_its_terms_is_as_if_it_named_it():
    profile = f"{terms.MOSAICROWN}"
    assert read(permission=RULE, profile=profile).digest == read(permission=RULE).digest


def test_parts_that_a_policy_shares_are_as_if_each_rule_had_them():
    shared = read(
        assigner="ex:A", target="ex:T", permission=[{"action": "read"}, {"action": "use"}]
    )
    rules = [{"assigner": "ex:A", "target": "ex:T", "action": act} for act in ("use", "read")]
    assert read(permission=rules).digest == shared.digest


def test_conditions_that_stand_side_by_side_are_as_if_joined_by_and():
    day = {"leftOperand": "dateTime", "operator": "lt", "rightOperand": "2030-01-01"}
    both = read(permission={**RULE, "constraint": {"and": [day, COUNT]}})
    assert read(permission={**RULE, "constraint": [COUNT, day]}).digest == both.digest


@pytest.mark.parametrize(
    ("name", "value"),
    [*RULE.items(), ("assignee", "ex:A"), ("assigner", "ex:O"), ("purpose", "ex:study")],
)
def test_names_that_are_repeated_are_there_once(name, value):
    once = read(permission={**RULE, name: value})
    assert read(permission={**RULE, name: [value, value]}).digest == once.digest


def test_right_operands_are_a_set():
    limit = {"leftOperand": "language", "operator": "isAnyOf"}
    rules = (
        {**RULE, "constraint": {**limit, "rightOperand": of}}
        for of in (["de", "it"], ["de", "it", "it"], {"@list": ["it", "de", "it"]})
    )
    texts = [text(permission=one) for one in rules]
    assert len({read_policy(one).digest for one in texts}) == 1
    assert '"de", "it"' in convert_text(texts[1], "json-ld", "turtle")


# -- another meaning ----------------------------------------------------------------------------

RULES = "@graph", 0, "permission"
REFINED = (*RULES, 0, "action", "refinement")
CHANGES = {
    "type": (("@graph", 0, "@type"), "Policy"),
    "uid": (("@graph", 0, "uid"), "ex:policy-2"),
    "conflict": (("@graph", 0, "conflict"), "perm"),
    "assigner": (("@graph", 0, "assigner"), "ex:Clinic"),
    "rule": ((*RULES, 0, "uid"), "ex:rule/other"),
    "assignee": ((*RULES, 0, "assignee"), ["ex:Ann"]),
    "output": ((*RULES, 0, "output"), "ex:Safer"),
    "purpose": ((*RULES, 0, "purpose"), ["statistical"]),
    "k": ((*REFINED, 1, "rightOperand"), 6),
    "columns": ((*REFINED, 2, "rightOperand"), [{"@id": "ex:T/Age", "pe:weight": 2}]),
    "order of columns": (
        (*REFINED, 2, "rightOperand"),
        [{"@id": "ex:T/Zip"}, {"@id": "ex:T/Age", "pe:weight": 2}],
    ),
    "setting": ((*REFINED, 2, "rightOperand", 0, "pe:weight"), 3),
    "target": ((*RULES, 1, "target"), ["ex:U"]),
    "action": ((*RULES, 1, "action"), "read"),
    "refinement": ((*RULES, 1, "assignee", "refinement", 0, "rightOperand"), False),
    "bound": ((*RULES, 1, "constraint", 0, "rightOperand"), 4),
    "operator": ((*RULES, 1, "constraint", 0, "operator"), "lt"),
    "logic": (
        (*RULES, 1, "constraint", 1),
        {"xone": WHOLE["@graph"][0]["permission"][1]["constraint"][1]["or"]},
    ),
    "time": (
        (*RULES, 1, "constraint", 1, "or", 0, "rightOperand"),
        "2027-01-01T00:00:01Z",
    ),
    "names": ((*RULES, 1, "constraint", 1, "or", 1, "rightOperand"), [{"@id": "ex:EU"}]),
    "unit": ((*RULES, 1, "duty", 1, "constraint", "unit"), "ex:USD"),
    "amount": ((*RULES, 1, "duty", 1, "constraint", "rightOperand"), 2.51),
    "party": ((*RULES, 1, "duty", 0, "informedParty"), "ex:Board"),
    "duty": ((*RULES, 1, "duty"), [{"action": "inform"}]),
    "consequence": ((*RULES, 1, "duty", 0, "consequence", 0, "target"), "ex:V"),
    "prohibition": (("@graph", 0, "prohibition", "assignee"), "ex:Public"),
    "remedy": (("@graph", 0, "prohibition", "remedy", "target"), "ex:U"),
    "obligation": (("@graph", 0, "obligation", "action"), "inform"),
    "membership": (("@graph", 1, "belongsTo"), "ex:Public"),
    "part": (("@graph", 3, "partOf"), "ex:Store"),
}


def changed(path, value):
    whole = copy.deepcopy(WHOLE)
    here = whole
    for step in path[:-1]:
        here = here[step]
    here[path[-1]] = value
    return whole


def test_whatever_else_a_policy_says_its_digest_is_another():
    digests = {name: digest(changed(*change)) for name, change in CHANGES.items()}
    assert len({digest(WHOLE), *digests.values()}) == len(digests) + 1, digests


def leaves(value, path=()):
    if not isinstance(value, dict | list):
        yield path
        return
    for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield from leaves(inner, (*path, step))


LEAVES = [path for path in leaves(WHOLE) if path[0] == "@graph"]
ODD = ["ex:U", "ex:Ann", "read", "use", "eq", "lt", "10", 2, 2.5, True, "2026-01-01", "statistical"]


@settings(max_examples=examples(80), suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(LEAVES), st.sampled_from(ODD))
def test_policies_of_one_digest_decide_and_plan_alike(path, value):
    try:
        found = read_policy(json.dumps(changed(path, value)))
    except PolicyEngineError:
        return
    first = read_policy(json.dumps(WHOLE))
    if found.digest != first.digest:
        return
    assert dataclasses.replace(found) == first
    assert make_plan(found) == make_plan(first)
    one, other = Decider([first]), Decider([found])
    for request in REQUESTS:
        assert one.decide(request, WORLD).effect == other.decide(request, WORLD).effect


# -- every part of the model --------------------------------------------------------------------

EDGE = Hierarchy(party=((ex("Ann"), ex("Hospital")),))
TERM = {ex("score"): terms.Term(ex("score"), (odrl("Action"),), "", {})}
LEAF = Constraint(odrl("count"), odrl("lt"), (Value(5),))
DUTY = Rule("duty", actions=(Action(odrl("inform")),))
BASE = Rule(
    "permission",
    targets=(Asset(ex("T")),),
    actions=(Action(odrl("read"), (LEAF,)),),
    constraints=(LEAF, LogicalConstraint(odrl("or"), (LEAF, LEAF))),
)
COLUMN, FIGURE = GroupColumn(ex("T/a")), Aggregate("sum", ex("T/a"))
TABLE = Query(ex("Table"), (COLUMN,), "", (FIGURE,))
CAP = Budget(ex("T"), Decimal(1))

OTHER = {
    Policy: {
        "uid": "ex:other",
        "type": odrl("Offer"),
        "conflict": "perm",
        "inherits": ("ex:parent",),
        "ends_with": ("ex:offer",),
        "accepted": "0" * 64,
        "queries": (TABLE,),
        "budgets": (CAP,),
        "permissions": (),
        "prohibitions": (BASE,),
        "obligations": (DUTY,),
        "hierarchy": EDGE,
        "vocabulary": Vocabulary(TERM, digests=("0",)),
    },
    Rule: {
        "targets": (),
        "actions": (),
        "uid": "ex:rule",
        "assigners": (Party(ex("A")),),
        "assignees": (Party(ex("A")),),
        "purposes": (ex("p"),),
        "output": ex("O"),
        "constraints": (),
        "duties": (DUTY,),
        "remedies": (DUTY,),
        "consequences": (DUTY,),
        "functions": {odrl("informedParty"): (Party(ex("A")),)},
    },
    Action: {"iri": odrl("use"), "refinements": ()},
    Asset: {"iri": ex("U"), "refinements": (LEAF,)},
    Constraint: {
        "left_operand": odrl("dateTime"),
        "operator": odrl("gt"),
        "right_operands": (Value(6),),
        "references": ("ex:there",),
        "unit": "ex:EUR",
        "status": Value(1),
    },
    LogicalConstraint: {"operator": odrl("xone"), "operands": (LEAF,)},
    Value: {"value": 6, "settings": {"weight": Value(2)}, "more": (Value(6),)},
    Query: {
        "uid": ex("Other"),
        "group_by": (COLUMN, COLUMN),
        "keys": ex("keys.csv"),
        "aggregates": (FIGURE, FIGURE),
        "rows": Value(5),
    },
    GroupColumn: {"iri": ex("T/b"), "keys": (Value("F"),)},
    Aggregate: {
        "function": "mean",
        "of": ex("T/b"),
        "name": "total",
        "settings": {"lower": Value(Decimal(1))},
        "candidates": (Value(Decimal(1)),),
    },
    Budget: {
        "over": ex("U"),
        "epsilon": Decimal("1.5"),
        "delta": Decimal("1e-6"),
        "scope": "each",
        "renewal": "P1Y",
        "lifetime_epsilon": Decimal(3),
        "lifetime_delta": Decimal(0),
    },
    Hierarchy: {
        part: ((ex("a"), ex("b")),)
        for part in ("party", "asset", "action", "purpose", "implied", "perhaps")
    },
    Vocabulary: {
        "defined": {ex("score"): terms.Term(ex("score"), (odrl("LeftOperand"),), "", {})},
        "profiles": frozenset({ex("profile")}),
    },
}
OF_THE_TEXT = {
    # `shared` is in the rules, `names_conflict` in what the conflict strategy is. Whatever is
    # replaced, or older than another one, is not looked at.
    Policy: {"digest", "shared", "names_conflict", "context", "source", "hints", "place", "text"}
    # What a profile does is the default of the conflict strategy.
    | {"replaced_by", "dated", "profiles"},
    Rule: {
        "kind",
        "place",
        "name",
        "issuers",
    },  # who issued it follows from its own text's assigners
    Action: {"place"},
    Asset: {"place"},
    # The type of what is on the right is in its value, but for a reference's.
    Constraint: {"uid", "place", "data_type"},
    LogicalConstraint: {"uid", "place"},
    # A number is what it is whatever type it is said to be of; that of a duration counts.
    Value: {"type", "place"},
    **{kind: {"place"} for kind in (Query, GroupColumn, Aggregate, Budget)},
    # The edges of a vocabulary are in the hierarchy of the policy.
    Vocabulary: {"hierarchy", "digests", "wider"},
}


def held(part, kind):
    """Return a policy that holds a part in the place of the one of its kind."""
    policy = Policy(ex("policy"), odrl("Set"), "prohibit", "", permissions=(BASE,))
    if kind is Policy:
        return part
    if kind in (Hierarchy, Vocabulary):
        name = {Hierarchy: "hierarchy", Vocabulary: "vocabulary"}[kind]
        return dataclasses.replace(policy, **{name: part})
    if kind in (Query, GroupColumn, Aggregate):
        query = {
            Query: lambda: part,
            GroupColumn: lambda: dataclasses.replace(TABLE, group_by=(part,)),
            Aggregate: lambda: dataclasses.replace(TABLE, aggregates=(part,)),
        }[kind]()
        return dataclasses.replace(policy, queries=(query,))
    if kind is Budget:
        return dataclasses.replace(policy, budgets=(part,))
    rule = {
        Rule: lambda: part,
        Action: lambda: dataclasses.replace(BASE, actions=(part,)),
        Asset: lambda: dataclasses.replace(BASE, targets=(part,)),
        Constraint: lambda: dataclasses.replace(BASE, constraints=(part,)),
        LogicalConstraint: lambda: dataclasses.replace(BASE, constraints=(part,)),
        Value: lambda: dataclasses.replace(
            BASE, constraints=(dataclasses.replace(LEAF, right_operands=(part,)),)
        ),
    }[kind]()
    return dataclasses.replace(policy, permissions=(rule,))


FIRST = {
    Policy: held(BASE, Rule),
    Rule: BASE,
    Action: BASE.actions[0],
    Asset: BASE.targets[0],
    Constraint: LEAF,
    LogicalConstraint: BASE.constraints[1],
    Value: LEAF.right_operands[0],
    Hierarchy: Hierarchy(),
    Vocabulary: Vocabulary(TERM),
    Query: TABLE,
    GroupColumn: COLUMN,
    Aggregate: FIGURE,
    Budget: CAP,
}


@pytest.mark.parametrize("kind", OTHER, ids=lambda kind: kind.__name__)
def test_every_part_of_the_model_is_in_the_digest_or_known_to_bear_on_nothing(kind):
    names = {field.name for field in dataclasses.fields(kind)}
    assert names == OTHER[kind].keys() | OF_THE_TEXT.get(kind, set())
    first = digest_of(held(FIRST[kind], kind))
    for name, value in OTHER[kind].items():
        other = dataclasses.replace(FIRST[kind], **{name: value})
        assert digest_of(held(other, kind)) != first, name


def test_type_counts_where_it_tells_how_others_are_read():
    durations = [
        {"@value": "P1D", "@type": f"{XSD}{kind}"} for kind in ("duration", "dayTimeDuration")
    ]
    found = {
        read(
            permission={
                **RULE,
                "constraint": {"leftOperand": "ex:a", "operator": "eq", "rightOperand": one},
            }
        ).digest
        for one in durations
    }
    assert len(found) == 2


# -- what is read with it -----------------------------------------------------------------------


def test_digest_of_a_child_is_of_what_its_parents_mean():
    child = text(uid="ex:child", inheritFrom="ex:parent", permission=RULE)

    def under(**keys):
        [parent] = read_drafts(text(uid="ex:parent", permission=RULE, **keys))
        return read_policy(child, parents=[parent]).digest

    spaced = read_drafts(json.dumps(json.loads(text(uid="ex:parent", permission=RULE)), indent=4))
    assert read_policy(child, parents=spaced).digest == under()
    assert len({under(), under(target="ex:U"), under(conflict="perm")}) == 3


def test_digest_is_of_what_a_vocabulary_defines_and_not_of_its_text():
    def under(*nodes, indent=None):
        whole = json.dumps({"@context": CONTEXT, "@graph": list(nodes)}, indent=indent)
        return read_policy(text(permission=RULE), vocabulary=read_vocabulary(whole)).digest

    score = {"uid": "ex:score", "@type": "Action", "includedIn": "use"}
    said = {**score, "rdfs:label": "Score"}
    assert under(score) == under(said, indent=3)
    others = {under({**score, "includedIn": "transfer"}), under({**score, "uid": "ex:rate"})}
    assert len({under(score), read(permission=RULE).digest, *others}) == 4


def test_canonical_text_is_versioned_and_says_what_it_is_of():
    said = json.loads(canonical_text(read(permission={**RULE, "constraint": COUNT})))
    assert said == {
        "canonical": 1,
        "uid": ex("policy"),
        "type": odrl("Set"),
        "conflict": "prohibit",
        "permission": [
            {
                "target": [ex("T")],
                "action": [odrl("read")],
                "constraint": [
                    {"left": odrl("count"), "operator": odrl("lt"), "right": [["number", "5"]]}
                ],
            }
        ],
    }
    assert permission(constraint=COUNT).constraints[0].right_operands[0].value == 5
