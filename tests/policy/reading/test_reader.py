import hashlib
import json

import pytest
from places import POLICIES, TESTS

from policy_engine import terms
from policy_engine.errors import NOWHERE, DataError, PolicyError
from policy_engine.policy import (
    Hierarchy,
    Value,
    load_policy,
    read_hierarchy,
    read_policies,
    read_policy,
)
from policy_engine.policy.canonical import canonical_text

CUSTOMER = (POLICIES / "customer.jsonld").read_bytes()
ODRL_ONLY = "http://www.w3.org/ns/odrl.jsonld"
CONTEXT = [ODRL_ONLY, "https://www.mosaicrown.eu/ns/mosaicrown.jsonld"]
RULE = {"target": "http://e.org/T", "action": "read"}
GRAPH = {"@context": CONTEXT}


def odrl(name):
    return f"{terms.ODRL}{name}"


def mosaicrown(name):
    return f"{terms.MOSAICROWN}{name}"


def text(**keys):
    head = {"@context": CONTEXT, "@type": "Set", "uid": "http://e.org/policy"}
    return json.dumps({**head, "permission": RULE, **keys})


def read(**keys):
    return read_policy(text(**keys))


def rule(**keys):
    [found] = read(permission={**RULE, **keys}).permissions
    return found


def refined(*refinements):
    parts = [
        dict(zip(("leftOperand", "operator", "rightOperand"), r, strict=True)) for r in refinements
    ]
    action = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": parts}
    return rule(action=action).actions[0].refinements


def iris(members):
    return [member.iri for member in members]


def problems(**keys):
    with pytest.raises(PolicyError) as error:
        read(**keys)
    return [(found.code, found.place.pointer) for found in error.value.problems]


def rule_problems(**keys):
    found = problems(permission={**RULE, **keys})
    return [(code, pointer.removeprefix("/permission")) for code, pointer in found]


# -- the policy ----------------------------------------------------------------------------------


def test_customer_policy_is_read_in_full():
    policy = read_policy(CUSTOMER)
    [permission] = policy.permissions
    assert (policy.uid, policy.type) == ("http://example.com/policy/customer", odrl("Set"))
    assert policy.profiles == (terms.MOSAICROWN,)
    assert iris(permission.assignees) == ["http://org/user"]
    assert iris(permission.targets) == ["http://example.com/Customer"]
    assert permission.purposes == (mosaicrown("marketing"),)
    assert permission.output == "http://example/anonCustomer"
    assert policy.prohibitions == policy.hints == ()


def test_customer_policy_has_its_parameters_in_order():
    [action] = read_policy(CUSTOMER).permissions[0].actions
    found = {
        terms.local_name(part.left_operand): part.right_operands for part in action.refinements
    }
    assert list(found) == ["method", "k", "l", "identifier", "quasi-identifier", "sensitive"]
    assert (found["method"], found["k"], found["l"]) == (
        (Value("l-diversity"),),
        (Value(10),),
        (Value(3),),
    )
    assert found["sensitive"][1] == Value("http://example.com/Customer/StoreCategory")


def test_figure_as_printed_lacks_only_a_uid_once_its_brace_is_gone():
    printed = (TESTS / "policies" / "bad" / "figure-2-6-as-printed.json").read_text("utf-8")
    mended = printed.replace('\n},\n  "output"', ',\n  "output"')
    with pytest.raises(PolicyError, match=r"^1:1: P002 The policy has no uid"):
        read_policy(mended)
    policy = read_policy(mended.replace('"@type": "Set"', '"@type": "Set", "uid": "urn:x:y"'))
    assert policy.permissions[0].actions == read_policy(CUSTOMER).permissions[0].actions


def test_digest_is_that_of_the_canonical_text():
    found = read_policy(CUSTOMER)
    assert found.digest == hashlib.sha256(canonical_text(found).encode()).hexdigest()
    assert read_policy(CUSTOMER.decode()).digest == found.digest
    assert read_policy(CUSTOMER + b"\n").digest == found.digest


def test_policy_is_the_same_wherever_it_was_read():
    assert read_policy(CUSTOMER, source="a") == read_policy(CUSTOMER, source="b")


@pytest.mark.parametrize("name", ["Set", "Policy", "odrl:Set"])
def test_type_of_a_policy_is_read(name):
    assert read(**{"@type": name}).type == odrl(name.removeprefix("odrl:"))


@pytest.mark.parametrize("name", ["Privacy", "Sett", ["Set", "Offer"], "http://e.org/Set"])
def test_type_other_than_the_known_is_refused(name):
    [(code, pointer)] = problems(**{"@type": name})
    assert code == "P001"
    assert pointer.startswith("/@type")


def test_offer_names_its_assigner_and_agreement_both_parties():
    parties = {"assigner": "http://e.org/owner", "assignee": "http://e.org/alice"}
    assert problems(**{"@type": "Offer"}) == [("P004", "/permission")]
    assert problems(**{"@type": "Agreement"}) == [("P004", "/permission")] * 2
    found = read(**{"@type": "Agreement"}, permission={**RULE, **parties}).permissions[0]
    assert iris(found.assigners) == ["http://e.org/owner"]


@pytest.mark.parametrize("uid", ["policy", "", "/policy", "#policy"])
def test_uid_that_is_relative_or_empty_is_refused(uid):
    assert [code for code, _ in problems(uid=uid)] in (["L006"], ["P002"])


@pytest.mark.parametrize("value", ["http://e.org/rule", 5, {"@value": "x"}, [["x"]]])
def test_rule_that_is_no_object_is_refused(value):
    assert [code for code, _ in problems(permission=value)] == ["P007"]


def test_rules_of_both_kinds_are_read_in_their_order():
    rules = [{**RULE, "uid": f"http://e.org/{n}"} for n in (1, 2)]
    policy = read(permission=rules, prohibition={**RULE, "action": "sell"})
    assert [found.uid for found in policy.permissions] == ["http://e.org/1", "http://e.org/2"]
    assert [found.kind for found in policy.prohibitions] == ["prohibition"]


def test_two_rules_with_one_uid_are_refused_though_of_different_kinds():
    same = {**RULE, "uid": "http://e.org/same"}
    assert problems(permission=same, prohibition=same) == [("P008", "/prohibition")]


def test_two_rules_without_uid_are_allowed():
    policy = read(permission=[RULE, RULE])
    one, other = (found.label() for found in policy.permissions)
    assert other == f"{one}-2"
    assert [found.where() for found in policy.permissions] == [
        "permission /permission/0",
        "permission /permission/1",
    ]


@pytest.mark.parametrize("key", ["constraint", "duty", "output", "relation", "hasPolicy", "unit"])
def test_part_of_odrl_that_means_nothing_there_is_refused_on_a_policy(key):
    assert problems(**{key: "http://e.org/x"}) == [("P006", f"/{key}")]


def test_unknown_property_is_refused_on_a_policy():
    assert problems(**{"http://e.org/until": "2030"}) == [("P005", "/http:~1~1e.org~1until")]


def test_descriptions_are_allowed_on_policies_and_rules():
    described = {"dct:title": "Example", "rdfs:comment": "note", "skos:prefLabel": "x"}
    assert read(**described, permission={**RULE, **described}).permissions == read().permissions


def test_two_policies_are_read_where_one_is_not_asked_for():
    two = json.dumps([json.loads(text()), json.loads(text(uid="http://e.org/other"))])
    with pytest.raises(PolicyError, match=r"P001 One policy is expected\. The text has 2\."):
        read_policy(two)
    found = read_policies(two)
    assert [policy.uid for policy in found] == ["http://e.org/policy", "http://e.org/other"]


def test_two_policies_with_one_uid_are_refused():
    with pytest.raises(PolicyError, match="D002 Two policies have the uid") as error:
        read_policies(json.dumps([json.loads(text())] * 2))
    assert [found.place.pointer for found in error.value.problems] == ["/1"]


def test_empty_text_holds_no_policy():
    with pytest.raises(PolicyError, match=r"P001 .* This one has none\."):
        read_policy("[]")


def test_policy_in_a_graph_is_read_with_the_hierarchy_beside_it():
    policy = {key: value for key, value in json.loads(text()).items() if key != "@context"}
    alice = {"uid": "http://e.org/alice", "belongsTo": "http://e.org/staff"}
    found = read_policy(json.dumps({**GRAPH, "@graph": [alice, policy]}))
    assert found.hierarchy == Hierarchy(party=(("http://e.org/alice", "http://e.org/staff"),))
    assert found.place.pointer == "/@graph/1"


def test_every_problem_is_reported_in_the_order_of_the_text():
    rules = [{**RULE, "action": "raed"}, {"target": "T", "action": "read", "purpose": "sales"}]
    assert problems(permission=rules, uid="policy") == [
        ("L006", "/uid"),
        ("P005", "/permission/0/action"),
        ("L006", "/permission/1/target"),
        ("L006", "/permission/1/purpose"),
    ]


def test_policy_with_a_duplicate_key_is_refused():
    with pytest.raises(PolicyError, match="J002"):
        read_policy(text().replace('"uid"', '"@type": "Set", "uid"', 1))


# -- profile and conflict ------------------------------------------------------------------------


@pytest.mark.parametrize("profile", [terms.MOSAICROWN, "mosaicrown:", terms.PE])
def test_known_profile_gives_no_hint(profile):
    assert read(profile=profile).hints == ()


def test_unknown_profile_stops_the_reading_of_its_policy():
    assert problems(profile="http://e.org/p", permission={"action": "raed"}) == [
        ("P009", "/profile")
    ]


def test_unknown_profile_is_refused_at_its_place():
    assert problems(profile=[terms.MOSAICROWN, "http://e.org/p"]) == [("P009", "/profile/1")]


def test_profile_that_is_used_but_not_named_gives_a_hint():
    [hint] = read().hints
    assert (hint.code, hint.place.line) == ("H001", 1)
    assert hint.hint == f'Add "profile": "{terms.MOSAICROWN}".'


def test_plain_odrl_gives_no_hint():
    assert read(**{"@context": ODRL_ONLY}).hints == ()


@pytest.mark.parametrize(
    ("keys", "strategy"),
    [
        ({"@context": ODRL_ONLY}, "invalid"),
        ({}, "prohibit"),
        ({"@context": ODRL_ONLY, "profile": terms.MOSAICROWN}, "prohibit"),
        ({"conflict": "perm"}, "perm"),
        ({"conflict": "odrl:invalid"}, "invalid"),
        ({"@context": ODRL_ONLY, "conflict": {"@id": "odrl:prohibit"}}, "prohibit"),
    ],
)
def test_conflict_strategy_is_the_one_named_or_that_of_the_profile(keys, strategy):
    assert read(**keys).conflict == strategy


@pytest.mark.parametrize("conflict", ["http://e.org/mine", ["perm", "prohibit"], "read", 1])
def test_conflict_strategy_other_than_one_of_the_known_is_refused(conflict):
    assert problems(conflict=conflict)[0][0] == "P007"


def test_conflict_voids_a_policy_under_the_strategy_invalid():
    conflict = {"prohibition": {**RULE, "action": "use"}}
    assert problems(conflict="invalid", **conflict) == [("P010", "/prohibition")]
    assert read(conflict="prohibit", **conflict).prohibitions
    assert read(conflict="perm", **conflict).prohibitions


# -- rules ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["target", "action"])
def test_rule_without_target_or_action_is_refused(part):
    permission = {key: value for key, value in RULE.items() if key != part}
    assert problems(permission=permission) == [("P004", "/permission")]


def test_rule_may_have_several_parties_targets_actions_and_purposes():
    found = rule(
        assignee=["http://e.org/a", {"uid": "http://e.org/b"}],
        target={"@set": ["http://e.org/T", "http://e.org/U"]},
        action=["read", {"@id": "odrl:display"}],
        purpose=["marketing", "dpv:Marketing"],
    )
    assert iris(found.assignees) == ["http://e.org/a", "http://e.org/b"]
    assert iris(found.targets) == ["http://e.org/T", "http://e.org/U"]
    assert [action.iri for action in found.actions] == [odrl("read"), odrl("display")]
    assert found.purposes == (mosaicrown("marketing"), f"{terms.DPV}Marketing")


@pytest.mark.parametrize("part", ["assignee", "assigner", "target", "output", "purpose"])
@pytest.mark.parametrize(
    ("value", "code"), [("x", "L006"), (5, "P007"), ({}, "P007"), ("_:b", "L006")]
)
def test_part_that_is_no_absolute_iri_is_refused(part, value, code):
    assert rule_problems(**{part: value}) == [(code, f"/{part}")]


def test_part_that_is_no_absolute_iri_is_refused_at_its_place_among_others():
    assert rule_problems(target=["http://e.org/T", "T"]) == [("L006", "/target/1")]


def test_two_outputs_are_refused():
    assert rule_problems(output=["http://e.org/a", "http://e.org/b"]) == [("P007", "/output/0")]


@pytest.mark.parametrize("key", ["function", "relation", "rightOperand", "refinement", "profile"])
def test_part_of_odrl_that_means_nothing_there_is_refused_on_a_rule(key):
    assert rule_problems(**{key: "http://e.org/x"}) == [("P006", f"/{key}")]


def test_purpose_of_odrl_is_refused_on_a_rule():
    assert rule_problems(**{"odrl:purpose": "marketing"}) == [("P006", "/odrl:purpose")]


def test_asset_with_refinements_is_named_by_its_source():
    count = {"leftOperand": "count", "operator": "lt", "rightOperand": 5}
    target = {"uid": "http://e.org/T", "refinement": count}
    assert rule_problems(target=target) == [("P015", "/target/uid")]
    [found] = rule(target={"source": "http://e.org/T", "refinement": count}).targets
    assert (found.iri, len(found.refinements)) == ("http://e.org/T", 1)


def test_old_namespace_is_read_as_the_new_one():
    old = {"http://localhost:8000/ns/mosaicrown/purpose": "http://localhost:8000/ns/mosaicrown/x"}
    found = rule(purpose="http://localhost:8000/ns/mosaicrown/marketing")
    assert found.purposes == (mosaicrown("marketing"),)
    assert rule_problems(**old) == [("P007", "/http:~1~1localhost:8000~1ns~1mosaicrown~1purpose")]


# -- actions and refinements ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "action",
    ["read", "odrl:read", odrl("read"), {"@id": "odrl:read"}, {"rdf:value": {"uid": "odrl:read"}}],
)
def test_action_is_read_in_each_of_its_spellings(action):
    [found] = rule(action=action).actions
    assert (found.iri, found.refinements) == (odrl("read"), ())


@pytest.mark.parametrize("name", ["use", "read", "write", "sell"])
def test_action_of_the_mosaicrown_namespace_is_that_of_odrl(name):
    assert rule(action=f"mosaicrown:{name}").actions[0].iri == odrl(name)


@pytest.mark.parametrize("action", ["raed", "odrl:raed", "mosaicrown:play", "pe:read", "Set"])
def test_action_that_is_unknown_is_refused(action):
    assert rule_problems(action=action) == [("P005", "/action")]


def test_action_of_ones_own_is_a_way_to_use_or_to_transfer():
    assert rule_problems(action="http://e.org/glance") == [("P016", "/action")]
    glance = {"uid": "http://e.org/glance", "includedIn": "odrl:display"}
    assert rule(action=glance).actions[0].iri == "http://e.org/glance"


def test_term_of_ones_own_needs_a_profile_that_has_it():
    glance = {"uid": "http://e.org/glance", "includedIn": "read"}
    rules = {"permission": {**RULE, "action": glance}}
    assert problems(**{"@context": ODRL_ONLY}, **rules) == [("P009", "/permission/action")]
    assert read(**{"@context": ODRL_ONLY, "profile": terms.MOSAICROWN}, **rules).permissions
    core = {"@context": ODRL_ONLY, "profile": odrl("core")}
    assert problems(**core, **rules) == [("P009", "/permission/action")]


def test_action_that_says_what_it_is_included_in_enters_the_hierarchy():
    action = {"uid": "http://e.org/glance", "includedIn": "read"}
    policy = read(permission={**RULE, "action": action})
    assert policy.hierarchy.action == (("http://e.org/glance", odrl("read")),)


def test_action_that_is_a_literal_is_refused():
    assert rule_problems(action=5) == [("P007", "/action")]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, ("P004", "/action")),
        ({"rdf:value": []}, ("P007", "/action/rdf:value")),
        ({"rdf:value": ["odrl:read"]}, ("P007", "/action/rdf:value/0")),
        ({"rdf:value": [{"@id": "odrl:read"}, {"@id": "odrl:play"}]}, ("P004", "/action")),
    ],
)
def test_refined_action_without_its_value_is_refused(values, expected):
    count = {"leftOperand": "count", "operator": "lt", "rightOperand": 5}
    assert rule_problems(action={"refinement": count, **values}) == [expected]


def test_parameter_of_anonymize_refines_no_other_action():
    k = {"leftOperand": "mosaicrown:k", "operator": "eq", "rightOperand": 2}
    action = {"rdf:value": {"@id": "odrl:read"}, "refinement": k}
    assert rule_problems(action=action) == [("P005", "/action/refinement/leftOperand")]


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (10, 10),
        ("10", "10"),
        (2.5, 2.5),
        ({"@value": "10", "@type": "xsd:integer"}, 10),
        ({"@value": 10, "@type": "xsd:integer"}, 10),
        ({"@value": " 10 ", "@type": "xsd:int"}, 10),
        ({"@value": "2.50", "@type": "xsd:decimal"}, 2.5),
        ({"@value": "1e1", "@type": "xsd:double"}, 10.0),
        ({"@value": "true", "@type": "xsd:boolean"}, True),
        ({"@value": "0", "@type": "xsd:boolean"}, False),
        ({"@value": "10", "@type": "xsd:string"}, "10"),
        ({"@id": "pe:k-anonymity"}, f"{terms.PE}k-anonymity"),
        ({"@list": [3]}, 3),
        ([4], 4),
    ],
)
def test_right_operand_is_read_in_each_of_its_spellings(given, value):
    [found] = refined(("mosaicrown:k", "eq", given))
    assert found.right_operands == (Value(value),)
    assert type(found.right_operands[0].value) is type(value)


def test_right_operand_takes_its_type_from_the_data_type_beside_it():
    k = {"leftOperand": "mosaicrown:k", "operator": "eq", "rightOperand": "10"}
    action = {
        "rdf:value": {"@id": "odrl:anonymize"},
        "refinement": {**k, "dataType": "xsd:integer"},
    }
    assert rule(action=action).actions[0].refinements[0].right_operands == (Value(10),)


def test_right_operand_keeps_the_order_of_its_values():
    [found] = refined(("mosaicrown:sensitive", "isAllOf", {"@list": ["urn:b", "urn:a"]}))
    assert [value.value for value in found.right_operands] == ["urn:b", "urn:a"]
    assert found.place != NOWHERE


@pytest.mark.parametrize(
    ("refinement", "expected"),
    [
        (("mosaicrown:q", "eq", 2), [("P005", "/leftOperand")]),
        (("k", "eq", 2), [("P005", "/leftOperand")]),
        (("purpose", "eq", 2), [("P005", "/leftOperand")]),
        (("dateTime", "eq", 2), [("P005", "/leftOperand")]),
        (("mosaicrown:k", "==", 2), [("P005", "/operator")]),
        (("mosaicrown:k", "isAllOf", [2]), [("P007", "/operator")]),
        (("mosaicrown:k", "odrl:neg", 2), [("P007", "/operator")]),
        (("mosaicrown:sensitive", "eq", "urn:a"), [("P007", "/operator")]),
        (("mosaicrown:k", "eq", [2, 3]), [("P007", "")]),
        (("mosaicrown:k", ["eq", "eq"], 2), [("P004", "/operator/1")]),
        (("mosaicrown:k", "eq", {"@value": "x", "@type": "xsd:int"}), [("P007", "/rightOperand")]),
        (
            ("mosaicrown:k", "eq", {"@value": "2.5", "@type": "xsd:int"}),
            [("P007", "/rightOperand")],
        ),
        (("mosaicrown:k", "eq", {"rdf:value": 1}), [("P007", "/rightOperand")]),
        (
            ("mosaicrown:q", "equals", {}),
            [("P005", "/leftOperand"), ("P005", "/operator"), ("P007", "/rightOperand")],
        ),
    ],
)
def test_refinement_that_is_not_well_formed_is_refused(refinement, expected):
    with pytest.raises(PolicyError) as error:
        refined(refinement)
    found = error.value.problems
    at = "/permission/action/refinement/0"
    assert sorted((one.code, one.place.pointer.removeprefix(at)) for one in found) == sorted(
        expected
    )


def test_parameter_given_twice_is_refused_though_it_is_spelt_differently():
    old = "http://localhost:8000/ns/mosaicrown/k"
    with pytest.raises(PolicyError, match=r"P007 mosaicrown:k is given twice, first in line 1\."):
        refined(("mosaicrown:k", "eq", 2), (old, "eq", 3))


@pytest.mark.parametrize("key", ["unit", "rightOperandReference", "constraint"])
def test_part_of_odrl_that_is_not_evaluated_is_refused_on_a_refinement(key):
    k = {"leftOperand": "mosaicrown:k", "operator": "eq", "rightOperand": 2, key: "urn:a:b"}
    action = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": k}
    assert rule_problems(action=action) == [("P006", f"/action/refinement/{key}")]


# -- what is part of what ------------------------------------------------------------------------


def test_parts_say_what_they_are_part_of_in_their_place():
    policy = read(
        permission={
            "assignee": {
                "uid": "urn:a:alice",
                "belongsTo": {"uid": "urn:a:sales", "partOf": "urn:a:all"},
            },
            "target": {"uid": "urn:a:T", "partOf": "urn:a:lake"},
            "action": "read",
            "purpose": {
                "uid": "urn:a:mail",
                "declinationOf": "marketing",
                "skos:broader": {"@id": "urn:a:b"},
            },
        }
    )
    found = policy.hierarchy
    assert set(found.party) == {("urn:a:alice", "urn:a:sales"), ("urn:a:sales", "urn:a:all")}
    assert found.asset == (("urn:a:T", "urn:a:lake"),)
    assert set(found.purpose) == {
        ("urn:a:mail", mosaicrown("marketing")),
        ("urn:a:mail", "urn:a:b"),
    }


def test_party_that_says_what_only_a_purpose_can_is_refused():
    assignee = {"uid": "urn:a:alice", "declinationOf": "marketing"}
    assert rule_problems(assignee=assignee) == [("P005", "/assignee/declinationOf")]


def test_wider_thing_that_is_relative_is_refused():
    assignee = {"uid": "urn:a:alice", "belongsTo": "sales"}
    assert rule_problems(assignee=assignee) == [("L006", "/assignee/belongsTo")]


def hierarchy(*nodes):
    return read_hierarchy(json.dumps({**GRAPH, "@graph": nodes}))


def test_read_hierarchy_takes_up_every_kind_of_edge():
    found = hierarchy(
        {"uid": "urn:a:alice", "belongsTo": ["urn:a:sales", "urn:a:staff"]},
        {"uid": "urn:a:glance", "includedIn": "read"},
        {"uid": "urn:a:mail", "declinationOf": "marketing"},
    )
    assert found == Hierarchy(
        party=(("urn:a:alice", "urn:a:sales"), ("urn:a:alice", "urn:a:staff")),
        action=(("urn:a:glance", odrl("read")),),
        purpose=(("urn:a:mail", mosaicrown("marketing")),),
    )


def test_read_hierarchy_takes_part_of_for_parties_and_assets():
    edge = (("urn:a:T", "urn:a:lake"),)
    assert hierarchy({"uid": "urn:a:T", "partOf": "urn:a:lake"}) == Hierarchy(
        party=edge, asset=edge
    )


def test_read_hierarchy_takes_a_single_node_and_its_descriptions():
    one = {**GRAPH, "uid": "urn:a:x", "skos:broader": {"@id": "urn:a:y"}, "skos:prefLabel": "X"}
    assert read_hierarchy(json.dumps(one)).purpose == (("urn:a:x", "urn:a:y"),)


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        ({"belongsTo": "staff"}, "L006"),
        ({"belongsTo": 5}, "P007"),
        ({"belongsTo": None}, "P007"),
        ({"belongTo": "urn:a:staff"}, "L002"),
        ({"narrower": "urn:a:staff"}, "L002"),
        ({"permission": "urn:a:r"}, "P006"),
        ({"http://e.org/in": "urn:a:staff"}, "P005"),
    ],
)
def test_read_hierarchy_is_as_strict_as_a_policy(keys, code):
    with pytest.raises(PolicyError, match=rf"^h\.jsonld:1:\d+: {code} "):
        read_hierarchy(json.dumps({**GRAPH, "uid": "urn:a:alice", **keys}), source="h.jsonld")


# -- sources and contexts ------------------------------------------------------------------------


def test_error_names_the_source():
    with pytest.raises(PolicyError, match=r"^p\.jsonld:1:\d+: P002 "):
        read_policy(
            text(uid="http://e.org/p").replace('"uid": "http://e.org/p", ', ""), source="p.jsonld"
        )


def test_given_context_is_used_where_the_policy_names_it():
    mine = {"http://mine/": {"@context": {"ex": "http://e.org/"}}}
    policy = text(
        **{"@context": [*CONTEXT, "http://mine/"], "permission": {**RULE, "target": "ex:U"}}
    )
    assert iris(read_policy(policy, contexts=mine).permissions[0].targets) == ["http://e.org/U"]


def test_load_policy_reads_a_file_and_leaves_a_policy_as_it_is():
    policy = load_policy(POLICIES / "customer.jsonld")
    assert policy.source.endswith("customer.jsonld")
    assert load_policy(policy) is policy


def test_load_policy_refuses_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="C002 There is no file"):
        load_policy(tmp_path / "nowhere.jsonld")


def test_load_policy_refuses_a_folder_without_policies(tmp_path):
    with pytest.raises(DataError, match="C002 The folder holds no file of policies"):
        load_policy(tmp_path)


@pytest.mark.parametrize("path", sorted(POLICIES.glob("*.jsonld")), ids=lambda path: path.stem)
def test_shipped_policy_is_read_with_no_hint_but_on_what_it_does_not_protect_from(path):
    expected = {"census-masked": ["W005"], "diabetes-buckets": ["W007"]}
    assert [one.code for one in load_policy(path).hints] == expected.get(path.stem, [])
