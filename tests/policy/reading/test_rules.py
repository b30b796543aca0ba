import json
import warnings

import pytest
from places import SHARED_DATA
from policy_texts import (
    CONTEXT,
    COUNT,
    DAY,
    RULE,
    ex,
    iris,
    odrl,
    permission,
    permission_problems,
    problems,
    read,
    refused,
    text,
)

from policy_engine import terms
from policy_engine.errors import PolicyError
from policy_engine.policy import read_hierarchy, read_policies, read_policy
from policy_engine.policy.structure import party_functions

INFORM = {"action": "inform"}
SHARED = SHARED_DATA / "mosaicrown-policies"


# -- compact policies (ODRL Information Model 2.2, section 2.7.1) -------------------------------


def test_what_a_policy_says_goes_for_all_its_rules():
    policy = read(
        target="ex:T",
        action="read",
        assigner="ex:owner",
        assignee={"source": "ex:staff", "refinement": COUNT},
        informedParty="ex:officer",
        permission={"purpose": "marketing"},
        prohibition={"action": "sell"},
        obligation={"uid": "ex:o", "constraint": DAY},
    )
    for rule in policy.rules:
        assert iris(rule.targets) == [ex("T")]
        assert (iris(rule.assigners), iris(rule.assignees)) == ([ex("owner")], [ex("staff")])
        assert iris(rule.functions[odrl("informedParty")]) == [ex("officer")]
    [prohibition] = policy.prohibitions
    assert iris(prohibition.actions) == [odrl("sell"), odrl("read")]
    assert iris(policy.shared.targets) == [ex("T")]


def test_what_rule_and_policy_both_say_is_joined_and_told_once():
    policy = read(
        target=["ex:T", "ex:U"], permission={"target": ["ex:S", "ex:T"], "action": "read"}
    )
    assert iris(policy.permissions[0].targets) == [ex("S"), ex("T"), ex("U")]


def test_what_a_policy_shares_does_not_enter_its_duties():
    rules = {"action": "read", "duty": INFORM}
    [duty] = read(target="ex:T", assignee="ex:a", permission=rules).permissions[0].duties
    assert (duty.targets, duty.assignees) == ((), ())


def test_target_that_neither_rule_nor_policy_has_is_lacking():
    assert problems(permission={"action": "read"}) == [("P004", "/permission")]
    assert problems(target="ex:T", permission={"purpose": "marketing"}) == [("P004", "/permission")]
    assert problems(prohibition={"action": "read"}) == [("P004", "/prohibition")]


@pytest.mark.parametrize("key", ["purpose", "output"])
def test_purpose_and_output_are_those_of_one_rule(key):
    [(code, pointer)] = problems(permission=RULE, **{key: "ex:x"})
    assert code in ("P005", "P006")
    assert pointer == f"/{key}"


# -- parties (section 2.3) ----------------------------------------------------------------------


@pytest.mark.parametrize("function", party_functions())
def test_every_function_of_a_party_is_read(function):
    found = permission(**{function: [{"@id": "ex:a"}, {"@id": "ex:b"}]}).functions
    assert {name: iris(parties) for name, parties in found.items()} == {
        function: [ex("a"), ex("b")]
    }


def test_party_in_a_function_says_what_it_belongs_to():
    policy = read(permission={**RULE, "informedParty": {"uid": "ex:a", "partOf": "ex:staff"}})
    assert policy.hierarchy.party == ((ex("a"), ex("staff")),)


def test_collection_by_its_source_has_no_refinements_unless_it_says_so():
    [found] = permission(target={"@type": "AssetCollection", "source": "ex:all"}).targets
    assert (found.iri, found.refinements) == (ex("all"), ())
    assert permission_problems(target={"@type": "AssetCollection"}) == [("P007", "/target")]


@pytest.mark.parametrize("target", ["_:b0", {"@id": "_:b0"}])
def test_party_or_asset_without_a_name_is_a_collection(target):
    assert permission_problems(target=target) == [("L006", "/target")]
    node = {"uid": "_:b0", "source": "ex:all"}
    assert iris(permission(node, target=target).targets) == [ex("all")]


# -- duties (sections 2.6.3 to 2.6.7) -----------------------------------------------------------


def test_duty_of_a_permission_has_parts_and_a_consequence():
    duty = {
        "uid": "ex:d",
        "action": {"rdf:value": {"@id": "odrl:compensate"}, "refinement": COUNT},
        "compensatedParty": "ex:owner",
        "constraint": DAY,
        "consequence": {"action": "uninstall", "target": "ex:T"},
    }
    [found] = permission(duty=duty).duties
    assert (found.kind, found.uid, len(found.constraints)) == ("duty", ex("d"), 1)
    assert iris(found.functions[odrl("compensatedParty")]) == [ex("owner")]
    [consequence] = found.consequences
    assert (consequence.kind, iris(consequence.targets)) == ("consequence", [ex("T")])


def test_prohibition_has_remedies_and_an_obligation_consequences():
    policy = read(
        prohibition={**RULE, "remedy": [INFORM, {"action": "delete"}]},
        obligation={"action": "delete", "assignee": "ex:a", "consequence": INFORM},
    )
    assert [one.kind for one in policy.prohibitions[0].remedies] == ["remedy", "remedy"]
    assert [one.kind for one in policy.obligations[0].consequences] == ["consequence"]
    assert policy.obligations[0].nested_rules == policy.obligations[0].consequences


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("permission", "remedy"),
        ("permission", "consequence"),
        ("prohibition", "duty"),
        ("prohibition", "consequence"),
        ("obligation", "duty"),
        ("obligation", "remedy"),
    ],
)
def test_duty_where_none_may_stand_is_refused_once(kind, key):
    rule = {**RULE, "assignee": "ex:a", key: {"action": "raed"}}
    assert problems(**{kind: rule}) == [("P013", f"/{kind}/{key}")]


@pytest.mark.parametrize("outer", ["duty", "remedy"])
@pytest.mark.parametrize("inner", ["duty", "remedy"])
def test_duty_of_a_duty_is_refused(outer, inner):
    kind = "permission" if outer == "duty" else "prohibition"
    rule = {**RULE, outer: {**INFORM, inner: INFORM}}
    assert problems(**{kind: rule}) == [("P013", f"/{kind}/{outer}/{inner}")]


def test_consequence_has_no_consequence():
    duty = {**INFORM, "consequence": {**INFORM, "consequence": INFORM}}
    pointer = "/duty/consequence/consequence"
    assert permission_problems(duty=duty) == [("P013", pointer)]


@pytest.mark.parametrize(
    ("duty", "expected"),
    [
        ({"target": "ex:T"}, ("P004", "")),
        ({**INFORM, "@type": "Permission"}, ("P007", "/@type")),
        ({**INFORM, "purpose": "marketing"}, ("P005", "/purpose")),
        ({**INFORM, "output": "ex:O"}, ("P006", "/output")),
        ({**INFORM, "refinement": COUNT}, ("P006", "/refinement")),
        ({**INFORM, "uid": "d"}, ("L006", "/uid")),
        ({**INFORM, "constraint": {**COUNT, "operator": "=="}}, ("P005", "/constraint/operator")),
        ("inform", ("P007", "")),
    ],
)
def test_duty_that_is_not_well_formed_is_refused_once(duty, expected):
    code, pointer = expected
    assert permission_problems(duty=duty) == [(code, f"/duty{pointer}")]


# -- by name ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ex:r", "_:b0"])
def test_rule_may_stand_elsewhere_under_its_name(name):
    [found] = read({"uid": name, **RULE}, permission=name).permissions
    assert found.place.pointer == "/@graph/1"
    assert found.uid == ("" if name == "_:b0" else ex("r"))


def test_duty_is_read_wherever_it_is_referenced():
    rules = [{**RULE, "duty": "ex:d"}, {**RULE, "action": "print", "duty": {"@id": "ex:d"}}]
    one, two = read({"uid": "ex:d", **INFORM}, permission=rules).permissions
    assert one.duties == two.duties
    assert one.duties[0].uid == ex("d")


def test_rule_is_not_both_permission_and_prohibition():
    found = problems({"uid": "ex:r", **RULE}, permission="ex:r", prohibition="ex:r")
    assert found == [("P008", "/@graph/1")]


def test_rules_of_two_policies_have_names_of_their_own():
    one = {
        "@context": CONTEXT,
        "@type": "Set",
        "uid": "ex:1",
        "permission": {**RULE, "uid": "ex:r"},
    }
    other = {**one, "uid": "ex:2", "permission": {**RULE, "uid": "ex:r", "action": "use"}}
    assert refused(json.dumps([one, other])) == [("P008", "/1/permission")]


@pytest.mark.parametrize("name", ["ex:r", "ex:policy"])
def test_rule_that_leads_to_itself_or_its_policy_is_refused(name):
    rule = {"uid": "ex:r", **RULE, "duty": name}
    found = {code for code, _ in problems(rule, permission="ex:r")}
    assert found == ({"P013"} if name == "ex:r" else {"P004", "P006", "P007"})


def test_what_says_something_is_read_or_refused_wherever_it_stands():
    hidden = {"uid": "ex:T", "partOf": "ex:lake"}
    assert permission_problems(**{"dct:creator": hidden}) == [("P006", "/dct:creator")]
    assert permission(**{"dct:creator": {"uid": "ex:a", "foaf:name": "A"}})


def test_object_that_nothing_refers_to_is_refused_once():
    assert problems({"uid": "ex:c", **COUNT}, permission=RULE) == [("P006", "/@graph/1")]
    assert problems({"uid": "_:r", **RULE}, permission=RULE) == [("P006", "/@graph/1")]
    assert read({"uid": "ex:alice", "foaf:name": "Alice"}, permission=RULE).rules


def test_what_is_said_twice_of_the_wider_thing_is_known_once():
    alice = {"uid": "ex:alice", "belongsTo": "ex:staff"}
    rules = [{**RULE, "assignee": alice}, {**RULE, "assignee": alice}]
    assert read(permission=rules).hierarchy.party == ((ex("alice"), ex("staff")),)


# -- several policies ---------------------------------------------------------------------------


def test_policies_of_one_text_have_contexts_of_their_own():
    plain = {"@context": CONTEXT[0], "@type": "Set", "uid": "http://e.org/1"}
    other = {"@context": [*CONTEXT[:2], {"ex": "http://other.org/"}], "@type": "Set", "uid": "ex:2"}
    rules = [{"permission": {**RULE, "target": "http://e.org/T"}}, {"permission": RULE}]
    one, two = read_policies(json.dumps([{**plain, **rules[0]}, {**other, **rules[1]}]))
    assert (one.conflict, two.conflict) == ("invalid", "prohibit")
    assert iris(two.permissions[0].targets) == ["http://other.org/T"]
    assert two.place.pointer == "/1"


def test_prefix_of_one_policy_is_none_of_the_other():
    one = {"@context": CONTEXT, "@type": "Set", "uid": "ex:1", "permission": RULE}
    other = {**one, "@context": CONTEXT[:2], "uid": "http://e.org/2"}
    assert refused(json.dumps([one, other])) == [("L007", "/1/permission/target")]


@pytest.mark.parametrize(
    ("keys", "pointer"),
    [
        ({"target": "dcat:T"}, "/target"),
        ({"target": {"@id": "exx:T"}}, "/target/@id"),
        ({"target": {"@set": ["urn:x:T", "dcat:T"]}}, "/target/@set/1"),
        ({"action": "odlr:read"}, "/action"),
        ({"dcterms:title": "x"}, "/dcterms:title"),
        ({"@type": "orl:Permission"}, "/@type"),
        ({"purpose": "dpvs:Marketing"}, "/purpose"),
    ],
)
def test_prefix_that_is_not_declared_is_told_from_a_scheme(keys, pointer):
    assert permission_problems(**keys) == [("L007", pointer)]


@pytest.mark.parametrize("iri", ["urn:x:y", "tag:e.org,2026:T", "did:web:e.org", "doi:10.1/2"])
def test_scheme_is_no_prefix(iri):
    assert iris(permission(target=iri).targets) == [iri]


@pytest.mark.parametrize("iri", ["table:T", "hosp:Patients/Name", "h:Ben"])
def test_word_that_is_no_known_scheme_is_an_undeclared_prefix(iri):
    assert permission_problems(target=iri) == [("L007", "/target")]
    assert iris(permission(target=iri.replace(":", "://")).targets)


# -- the policies of the original ---------------------------------------------------------------


def original(name):
    path = SHARED / name
    if not path.exists():
        warnings.warn(f"SKIPPED: {name} is not beside the project", stacklevel=2)
        pytest.skip(f"{name} is not in {SHARED}: nothing is proved on it")
    return path.read_bytes()


@pytest.mark.filterwarnings("default:SKIPPED")
@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("constraints/policy.jsonld", [1]),
        ("demo/p1.jsonld", [1]),
        ("demo/p2.jsonld", [1]),
        ("demo/p3.jsonld", [2]),
        ("scripts/assets.jsonld", [2, 2]),
        ("scripts/movies.jsonld", [2]),
        ("tests-files/policies/policy.jsonld", [3]),
    ],
)
def test_policy_of_the_original_is_read_unchanged(name, rules):
    assert [len(policy.rules) for policy in read_policies(original(name))] == rules


@pytest.mark.filterwarnings("default:SKIPPED")
def test_constraints_of_the_original_are_read():
    policy = read_policy(original("tests-files/policies/policy.jsonld"))
    [student, professor, secretary] = [rule.constraints[0] for rule in policy.permissions]
    assert (student.operator, secretary.operator) == (odrl("and"), odrl("or"))
    assert professor.left_operand == "http://unibg.it/engineering/professor/sex"
    assert [one.operator for one in secretary.operands] == [odrl("neq"), odrl("lteq")]
    assert policy.conflict == "prohibit"


@pytest.mark.filterwarnings("default:SKIPPED")
@pytest.mark.parametrize(
    ("name", "read_within"), [("constraints", "write"), ("tests-files", "write"), ("demo", "use")]
)
def test_vocabulary_of_the_original_is_a_hierarchy(name, read_within):
    found = read_hierarchy(original(f"{name}/ns/mosaicrown/vocabulary.json"))
    assert (odrl("read"), odrl(read_within)) in found.action
    assert (f"{terms.MOSAICROWN}sellreport", odrl("sell")) in found.action
    assert (found.party, found.asset, found.purpose) == ((), (), ())


def test_context_of_the_original_may_be_named_by_where_it_lies():
    rule = {**RULE, "target": "http://e.org/T", "purpose": "statistical"}
    whole = {"@type": "Set", "uid": "http://e.org/p", "permission": rule}
    contexts = [
        "../ns/mosaicrown/namespace.jsonld",
        "http://localhost:8000/ns/mosaicrown/namespace.jsonld",
    ]
    one, other = (
        read_policy(json.dumps({"@context": [CONTEXT[0], url], **whole})) for url in contexts
    )
    assert one.permissions == other.permissions
    assert one.permissions[0].purposes == (f"{terms.MOSAICROWN}statistical",)


def test_hierarchy_needs_no_context_where_it_is_expanded():
    node = {"@id": "urn:a:x", f"{terms.SKOS}broader": [{"@id": "urn:a:y"}], "@type": ["urn:a:t"]}
    assert read_hierarchy(json.dumps([node])).purpose == (("urn:a:x", "urn:a:y"),)


def test_policy_needs_no_context_where_it_is_expanded():
    rule = {odrl("target"): [{"@id": ex("T")}], odrl("action"): [{"@id": odrl("read")}]}
    policy = {"@id": ex("p"), "@type": [odrl("Set")], odrl("permission"): [rule]}
    assert iris(read_policy(json.dumps([policy])).permissions[0].targets) == [ex("T")]
    assert refused(json.dumps({**policy, "permission": rule})) == [("L001", "")]
    assert refused(json.dumps({**policy, odrl("permission"): RULE}))[0][0] == "L002"


# -- the profile (section 3) --------------------------------------------------------------------


PLAIN = {"@context": [CONTEXT[0], CONTEXT[2]]}
K = {"leftOperand": {"@id": f"{terms.MOSAICROWN}k"}, "operator": "eq", "rightOperand": 2}
ANONYMIZE = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": "_:k"}


def strategies(*nodes):
    return [one.conflict for one in read_policies(json.dumps({**PLAIN, "@graph": nodes}))]


def test_policy_is_under_the_profile_whose_terms_it_leads_to():
    rule = {"target": "ex:T", "action": "_:a", "output": "ex:O"}
    nodes = [{"uid": "_:a", **ANONYMIZE}, {"uid": "_:k", **K}]
    one = {"@type": "Set", "uid": "ex:1", "permission": RULE}
    two = {"@type": "Set", "uid": "ex:2", "permission": rule}
    three = {"@type": "Set", "uid": "ex:3", "permission": "_:r"}
    assert strategies(one, two, {"uid": "_:r", **rule}, three, *nodes) == [
        *("invalid", "prohibit", "prohibit")
    ]


def test_policy_is_not_under_a_profile_that_a_text_in_it_mentions():
    described = {"@type": "Set", "uid": "ex:1", "dct:source": terms.MOSAICROWN, "permission": RULE}
    assert strategies(described) == ["invalid"]


@pytest.mark.parametrize(
    "keys",
    [
        {"constraint": {**COUNT, "leftOperand": "ex:T/sex", "unit": f"{terms.MOSAICROWN}purpose"}},
        {"assignee": {"uid": "ex:a", f"{terms.MOSAICROWN}belongsTo": {"@id": "ex:b"}}},
        {"action": {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": K}},
    ],
)
def test_policy_is_under_the_profile_whose_terms_it_uses_anywhere(keys):
    policy = {**PLAIN, "@type": "Set", "uid": "ex:1", "permission": {**RULE, **keys}}
    assert read_policy(json.dumps(policy)).conflict == "prohibit"


@pytest.mark.parametrize("name", ["odrl:target", "odrl:read", "odrl:eq", "odrl:count"])
@pytest.mark.parametrize("node", ["ex:T", "ex:elsewhere"])
def test_a_term_that_is_not_a_class_is_refused_as_one_in_every_syntax(node, name):
    rule = "[ odrl:target ex:T ; odrl:action odrl:read ]"
    turtle = f"@prefix odrl: <{terms.ODRL}> . @prefix ex: <http://e.org/> . {node} a {name} . "
    turtle += f"ex:policy a odrl:Set ; odrl:permission {rule} ."
    with pytest.raises(PolicyError) as caught:
        read_policies(turtle, syntax="turtle")
    found = refused(text({"@id": node, "@type": name}, permission=RULE))
    assert [one.code for one in caught.value.problems] == [code for code, _ in found] == ["P007"]
