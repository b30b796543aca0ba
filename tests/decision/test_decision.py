import pytest
from building import ANALYST, DATASET, OUTPUT, anonymize, people_policy, permission, policy

from policy_engine import terms
from policy_engine.api.applying import apply_policy
from policy_engine.api.deciding import decide_request
from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.sources import as_upstream
from policy_engine.decision import Decider, Request, World, decide, read_request
from policy_engine.errors import PolicyError, RequestError
from policy_engine.methods import Measurement
from policy_engine.plan.making import make_plan
from policy_engine.policy import Hierarchy, read_policy


def answer(text, *targets, who=ANALYST, action="read", purpose="marketing", **more):
    texts = [text] if isinstance(text, str) else text
    policies = [read_policy(one) for one in texts]
    request = read_request(who, action, targets or (DATASET,), purpose)
    return decide(policies, more.get("certificates", ()), request, more.get("hierarchy"))


@pytest.fixture
def certificates(released):
    return [load_certificate(released / "release")]


TWO = Measurement(bound="k", asked=2, achieved=2)
READS = policy([permission(uid="http://x.org/policy/r", action="read")])


def test_a_rule_permits_what_it_covers():
    decision = answer(READS)
    assert decision.permitted
    assert decision.rule == "http://x.org/policy/r"


@pytest.mark.parametrize(
    "asked",
    [
        {"who": "http://x.org/other"},
        {"action": "use"},
        {"action": "sell"},
        {"purpose": "statistical"},
        {"purpose": ""},
    ],
    ids=str,
)
def test_what_no_rule_covers_is_denied(asked):
    decision = answer(READS, **asked)
    assert not decision.permitted
    assert "No rule permits it" in decision.reason


def test_an_unmentioned_target_is_denied_with_the_nearest_rule():
    decision = answer(READS, "http://x.org/Other")
    assert "it does not cover http://x.org/Other" in decision.reason


def test_a_rule_without_purpose_or_assignee_is_for_all():
    open_rule = policy([permission(action="read", assignee=None, purpose=None)])
    assert answer(open_rule, who="http://x.org/anybody", purpose="").permitted


def test_an_action_includes_those_within_it():
    assert answer(policy([permission(action="use")]), action="read").permitted


@pytest.mark.parametrize(
    ("target", "permitted"),
    [
        (f"{DATASET}/age", True),
        (f"{DATASET}/a/b", False),
        (f"{DATASET}x/age", False),
        (f"{DATASET}/", False),
        (f"{DATASET}/../Secret", False),
        ("http://x.org", False),
    ],
)
def test_a_column_is_part_of_its_dataset_and_nothing_else_is(target, permitted):
    assert answer(READS, target).permitted is permitted


@pytest.mark.parametrize("column", ["%61ge", "age?", "age#", "%61%67%65", "a%67e"])
def test_no_spelling_of_a_column_slips_past_a_prohibition(column):
    ban = permission(action="read", target=f"{DATASET}/age")
    text = policy([permission(action="read")], [ban])
    assert not answer(text, f"{DATASET}/{column}").permitted
    assert not answer(text, f"HTTP://X.org/People/{column}").permitted


@pytest.mark.parametrize(
    ("asked", "banned"),
    [
        ("http://e.com/a/../X", "http://e.com/X"),
        ("http://e.com/./X", "http://e.com/X"),
        ("URN:data:X", "urn:data:X"),
        ("http://e.com:80/X", "http://e.com/X"),
        ("http://e.com/X#", "http://e.com/X"),
        ("http://e.com/X?", "http://e.com/X"),
        ("http://e.com/e\u0301", "http://e.com/\u00e9"),
        ("urn:d:D/ZIP", "urn:d:D"),
        ("http://e.com/data#D/ZIP", "http://e.com/data#D"),
        ("http://e.com/q?d=D/ZIP", "http://e.com/q?d=D"),
        ("http://e.com/D/a/b", "http://e.com/D"),
        ("http://e.com/ZIP", "http://e.com"),
    ],
)
def test_a_prohibition_holds_however_its_target_is_written_or_parted(asked, banned):
    permit = permission(action="read", target=asked)
    ban = permission(action="read", target=banned)
    assert answer(policy([permit]), asked).permitted
    assert not answer(policy([permit], [ban]), asked).permitted


@pytest.mark.parametrize(
    "host", ["ex\u00e4mple.com", "EX\u00c4MPLE.com", "ex%c3%a4mple.com", "a%3db"]
)
def test_a_prohibition_holds_however_the_host_of_its_party_is_written(host):
    who = f"http://{host}/G"
    ban = permission(action="read", assignee=who, purpose=None)
    permit = permission(action="read", assignee=None, purpose=None)
    decider = Decider([read_policy(policy([permit], [ban]))])
    asked = {"action": f"{terms.ODRL}read", "targets": (DATASET,)}
    world = World(memberships=Hierarchy(party=(("urn:ann", who),)))
    assert not decider.decide(Request(assignee=who, **asked)).permitted
    assert not decider.decide(Request(assignee="urn:ann", **asked), world).permitted
    assert decider.decide(Request(assignee="urn:ann", **asked)).permitted


@pytest.mark.parametrize("dataset", ["urn:d:D", "http://e.com/data#D", "http://e.com/D"])
def test_columns_of_datasets_of_every_scheme_are_granted_with_them(dataset):
    assert answer(policy([permission(action="read", target=dataset)]), f"{dataset}/ZIP").permitted


def test_a_policy_whose_rules_clash_is_void_altogether():
    group = permission(action="read", assignee="http://x.org/group")
    other = permission(action="read", target="http://x.org/More")
    text = policy([permission(action="read"), other], [group], conflict="invalid")
    member = Hierarchy(party=((ANALYST, "http://x.org/group"),))
    assert answer(text, "http://x.org/More").permitted
    decision = answer(text, "http://x.org/More", hierarchy=member)
    assert not decision.permitted
    assert "is void" in decision.reason


def test_one_spelling_of_an_iri_is_as_good_as_another():
    assert answer(READS, f"{DATASET}/%61ge").permitted
    spaced = policy([permission(action="read", target=f"{DATASET}/my%20age")])
    assert answer(spaced, f"{DATASET}/my%20%61ge").permitted
    with pytest.raises(RequestError, match="D001 White space is not allowed in an IRI"):
        answer(spaced, f"{DATASET}/my age")


def test_white_space_in_a_name_of_a_policy_is_refused_and_not_trimmed():
    for name in (" http://e.com/X", f"{DATASET}/my age"):
        with pytest.raises(
            PolicyError, match="F001 White space is not allowed in an IRI: a blank is %20"
        ):
            read_policy(policy([permission(action="read", target=name)]))


def test_a_grant_on_a_host_is_none_on_its_datasets():
    assert not answer(policy([permission(action="read", target="http://x.org")])).permitted


def test_columns_read_together_are_granted_together():
    age, city = f"{DATASET}/age", f"{DATASET}/city"
    apart = [permission(action="read", target=one) for one in (age, city)]
    assert answer(policy(apart), age).permitted
    assert not answer(policy(apart), age, city).permitted
    together = policy([permission(action="read", target=[age, city])])
    assert answer(together, age, city).permitted


def test_hierarchies_are_transitive_and_shown():
    hierarchy = Hierarchy(
        party=(("http://x.org/eve", "http://x.org/team"), ("http://x.org/team", ANALYST)),
        purpose=(("http://x.org/ads", "https://www.mosaicrown.eu/ns/mosaicrown/1/marketing"),),
    )
    decision = answer(
        READS, who="http://x.org/eve", purpose="http://x.org/ads", hierarchy=hierarchy
    )
    assert decision.permitted
    way = f"http://x.org/eve belongs to http://x.org/team belongs to {ANALYST}"
    assert way in decision.derivation
    assert "http://x.org/ads is a kind of mosaicrown:marketing" in decision.derivation


def test_a_circle_of_groups_does_no_harm():
    circle = Hierarchy(
        party=(("http://x.org/a", "http://x.org/b"), ("http://x.org/b", "http://x.org/a"))
    )
    assert not answer(READS, who="http://x.org/a", hierarchy=circle).permitted


def test_what_the_policy_says_of_its_parties_counts():
    rule = permission(action="read", assignee={"@id": ANALYST, "belongsTo": "http://x.org/staff"})
    other = permission(action="read", target="http://x.org/More", assignee="http://x.org/staff")
    assert answer(policy([rule, other]), "http://x.org/More").permitted


def test_one_policy_says_nobody_into_the_permissions_of_another():
    staff = "http://x.org/staff"
    reads = policy([permission(action="read", assignee=staff)], uid="http://x.org/a")
    intruder = {"@id": "http://x.org/eve", "belongsTo": staff}
    other = permission(action="read", target="http://x.org/d/Other", assignee=intruder)
    texts = [reads, policy([other], uid="http://x.org/b")]
    assert not answer(texts, who="http://x.org/eve").permitted


def test_two_policies_of_one_uid_are_refused():
    narrow = policy([permission(action="read", purpose="statistical")])
    with pytest.raises(RequestError, match=r"^D002 Two policies have the same uid") as told:
        answer([READS, narrow])
    assert told.value.problems[0].hint == "Leave out the one that no longer holds."


@pytest.mark.parametrize(
    "ban",
    [
        {},
        {"assignee": None},
        {"purpose": None},
        {"target": f"{DATASET}/age"},
        {"action": "use"},
    ],
    ids=str,
)
def test_a_prohibition_that_overlaps_denies(ban):
    ban = {key: value for key, value in (permission(action="read") | ban).items() if value}
    decision = answer(policy([permission(action="read")], [{**ban, "uid": "http://x.org/ban"}]))
    assert not decision.permitted
    assert decision.rule == "http://x.org/ban"


def test_a_request_that_says_no_purpose_does_not_slip_past_a_prohibition():
    rules = [permission(action="read", purpose=None)]
    assert not answer(policy(rules, [permission(action="read")]), purpose="").permitted


def test_a_permission_wins_where_the_policy_says_so():
    rules = [permission(action="read")], [permission(action="read")]
    won = answer(policy(*rules, conflict="perm"))
    assert (won.effect, won.strategy) == ("permit", "perm")
    assert answer(READS).strategy == ""
    elsewhere = policy([], [permission(action="read")], uid="http://x.org/other")
    assert not answer([policy(*rules, conflict="perm"), elsewhere]).permitted


# -- outputs ------------------------------------------------------------------------------------


def test_the_assignee_of_an_anonymisation_reads_its_output(certificates):
    decision = answer(people_policy(), OUTPUT, certificates=certificates)
    assert decision.permitted
    [certified] = [line for line in decision.derivation if line.startswith("certified: ")]
    assert "k 2 (at least 2), l 2 (at least 2) of disease; output sha-256 " in certified


def test_the_assignee_of_an_anonymisation_does_not_read_its_input(certificates):
    assert not answer(people_policy(), DATASET, certificates=certificates).permitted


def test_without_a_certificate_nobody_reads_an_output():
    reads_all = permission(action="read", target=[DATASET, OUTPUT], assignee=None, purpose=None)
    texts = [people_policy(), policy([reads_all], uid="http://x.org/all")]
    decision = answer(texts, OUTPUT)
    assert not decision.permitted
    assert "certificate" in decision.reason


def test_a_certificate_of_another_policy_is_none(certificates):
    other = people_policy(uid="http://x.org/changed")
    assert not answer(other, OUTPUT, certificates=certificates).permitted


def test_a_certificate_of_an_output_that_was_refused_is_none(certificates):
    [certificate] = certificates
    assert not answer(people_policy(), OUTPUT, certificates=[certificate.as_refusal()]).permitted


@pytest.mark.parametrize("field", ["achieved", "asked"])
def test_a_certificate_that_was_edited_is_none(certificates, field):
    [certificate] = certificates
    edited = certificate.measurements[0].model_copy(update={field: 1})
    measurements = (edited, *certificate.measurements[1:])
    forged = certificate.model_copy(update={"measurements": measurements})
    assert not answer(people_policy(), OUTPUT, certificates=[forged]).permitted


def test_a_certificate_of_bounds_in_another_sense_is_none(certificates):
    [certificate] = certificates
    edited = certificate.measurements[0].model_copy(update={"sense": "at most"})
    measurements = (edited, *certificate.measurements[1:])
    forged = certificate.model_copy(update={"measurements": measurements})
    assert not answer(people_policy(), OUTPUT, certificates=[forged]).permitted


def test_a_certificate_of_several_methods_is_needed_for_each(released):
    both = {"method": ["k-anonymity", "entropy-l-diversity"], "quasi": ["age"], "k": 2, "l": 2}
    action = anonymize(**both, sensitive=["disease"])
    text = policy([permission(action=action, output=OUTPUT)], uid="http://x.org/both")
    made = apply_policy(text, {DATASET: released / "people.csv"}).certificate
    assert [m.bound for m in made.measurements] == ["k", "entropy-l"]
    decision = answer(text, OUTPUT, certificates=[made])
    assert decision.permitted
    fewer = made.model_copy(update={"measurements": made.measurements[:1]})
    assert not answer(text, OUTPUT, certificates=[fewer]).permitted


def test_columns_of_an_output_can_be_read_and_others_do_not_exist(certificates):
    read = answer(people_policy(), f"{OUTPUT}/age", certificates=certificates)
    assert read.permitted
    gone = answer(people_policy(), f"{OUTPUT}/name", certificates=certificates)
    assert not gone.permitted
    assert "no such column" in gone.reason


def test_who_may_read_all_inputs_may_read_the_output(certificates):
    owner = "http://x.org/owner"
    reads = policy([permission(action="read", assignee=owner)], uid="http://x.org/own")
    decision = answer([people_policy(), reads], OUTPUT, who=owner, certificates=certificates)
    assert decision.permitted
    assert "the inputs" in decision.reason


def test_who_may_read_some_inputs_may_not_read_the_output(certificates):
    owner = "http://x.org/owner"
    some = [f"{DATASET}/{name}" for name in ("age", "city", "disease")]
    reads = policy([permission(action="read", assignee=owner, target=some)], uid="http://x.org/own")
    texts = [people_policy(), reads]
    assert not answer(texts, OUTPUT, who=owner, certificates=certificates).permitted


def test_two_outputs_each_need_a_certificate(certificates):
    action = anonymize(method="k-anonymity", k=2, quasi=["age"])
    rule = permission(action=action, output="http://x.org/second")
    both = permission(action="read", target=[OUTPUT, "http://x.org/second"])
    second = policy([rule, both], uid="http://x.org/policy2")
    texts = [people_policy(), second]
    assert not answer(texts, OUTPUT, "http://x.org/second", certificates=certificates).permitted


def test_outputs_made_of_one_another_come_to_an_end():
    def made(uid, target, output):
        action = anonymize(method="k-anonymity", k=2, quasi=["age"])
        action["refinement"][-1]["rightOperand"] = [f"{target}/age"]
        return policy([permission(action=action, target=target, output=output)], uid=uid)

    texts = [
        made("http://x.org/1", "http://x.org/d/a", "http://x.org/d/b"),
        made("http://x.org/2", "http://x.org/d/b", "http://x.org/d/a"),
    ]
    assert not answer(texts, "http://x.org/d/a", who="http://x.org/nobody").permitted


@pytest.mark.nightly
def test_a_long_chain_of_outputs_is_decided_in_a_moment(certificates):
    policies, held = [], []
    for n in range(30):
        source, output = f"http://x.org/d/{n}", f"http://x.org/d/{n + 1}"
        action = anonymize(method="k-anonymity", k=2, quasi=["age"])
        action["refinement"][-1]["rightOperand"] = [f"{source}/age"]
        rule = permission(action=action, target=source, output=output, assignee="http://x.org/z")
        policies.append(read_policy(policy([rule], uid=f"http://x.org/{n}")))
        proof = {"plan": make_plan(policies[-1]), "measurements": (TWO,)}
        proof["upstream"] = tuple(map(as_upstream, held[-1:]))
        held.append(certificates[0].model_copy(update=proof))
    first = policy([permission(action="read", target="http://x.org/d/0")], uid="http://x.org/first")
    request = read_request(ANALYST, "read", ["http://x.org/d/30"], "marketing")
    assert not decide(policies, held, request).permitted
    assert decide([*policies, read_policy(first)], held, request).permitted


def test_a_request_needs_iris():
    with pytest.raises(RequestError, match="D001"):
        read_request("someone", "read", [DATASET])


def test_requests_are_decided_from_files(released):
    request = read_request(ANALYST, "read", [OUTPUT], "marketing")
    decision = decide_request([released / "policy.jsonld"], [released / "release"], request)
    assert decision.permitted
    assert decision.model_validate_json(decision.model_dump_json()) == decision
