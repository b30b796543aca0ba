"""What only policies and requests can say is refused in the text of the world."""

import pytest
from compliance_texts import PREFIXES, constrained, limit, policy, request, world

from policy_engine.decision.compliance import compliance_report
from policy_engine.errors import PolicyEngineError, PolicyError, RequestError

MC = "https://www.mosaicrown.eu/ns/mosaicrown/1/"


@pytest.mark.parametrize(
    ("said", "prop"),
    [
        (":policy odrl:prohibition [ odrl:action odrl:read ] .", "odrl:prohibition"),
        (":policy odrl:permission :rule .", "odrl:permission"),
        (":rule odrl:constraint :limit .", "odrl:constraint"),
        (":rule odrl:duty :pay .", "odrl:duty"),
        (":rule odrl:assignee :cook .", "odrl:assignee"),
        (":rule odrl:target :bed .", "odrl:target"),
        (":policy odrl:conflict odrl:prohibit .", "odrl:conflict"),
        (":policy odrl:inheritFrom :other .", "odrl:inheritFrom"),
        (":ward odrl:hasPolicy :policy .", "odrl:hasPolicy"),
        (":cook odrl:assigneeOf :rule .", "odrl:assigneeOf"),
        (":cook odrl:assigneeOf [ odrl:uid :rule ] .", "odrl:assigneeOf"),
        (":rule <https://www.mosaicrown.eu/ns/mosaicrown/1/purpose> :ads .", "mosaicrown:purpose"),
        (":limit odrl:rightOperand 2 .", "odrl:rightOperand"),
        (":coll odrl:refinement :limit .", "odrl:refinement"),
        (":q sotw:requestedTarget :bed .", "sotw#requestedTarget"),
        (":w a sotw:SotW ; sotw:count [ sotw:countValue 3 ] .", "sotw#count"),
        (":rule a odrl:Prohibition .", "odrl:Prohibition"),
        (":policy <https://w3id.org/policy-engine/ns#endsWith> :other .", "pe:endsWith"),
        ("odrl:purpose rdf:value :ads .", "rdf:value"),
        (":policy a odrl:Offer .", "odrl:Offer"),
        (":q a odrl:Request .", "odrl:Request"),
    ],
)
def test_rule_or_part_of_a_policy_that_the_world_states_is_refused(said, prop):
    with pytest.raises(
        RequestError, match=r"D003 The world says of .* what would be lost"
    ) as found:
        compliance_report(policy(), request(), world(said))
    assert prop in str(found.value)


def test_whole_policy_that_the_world_states_is_refused():
    told = policy(kind="prohibition").replace(":policy", ":other").replace(":rule", ":not")
    with pytest.raises(RequestError, match="what would be lost: 'odrl:prohibition'"):
        compliance_report(policy(), request(), world(told.removeprefix(PREFIXES)))


def test_world_that_is_the_text_of_the_policy_states_its_rules():
    both = policy(kind="prohibition", more=":w a sotw:SotW .")
    [report] = compliance_report(both, request(), both).policies
    assert [rule.active for rule in report.rules] == [True]


def test_world_tells_memberships_and_left_operands():
    told = ":nurse odrl:partOf :staff . :staff odrl:source :all . :w a sotw:SotW ; odrl:count 3 ."
    assert compliance_report(policy(), request(), world(told))


@pytest.mark.parametrize(
    ("said", "code", "words"),
    [
        (":w odrl:count 3 .", "P006", "tells odrl:count, which only the world does"),
        (f":policy <{MC}k> 10 .", "P006", "tells mosaicrown:k, which only the world does"),
        (f":policy <{MC}method> 'masking' .", "P006", "tells mosaicrown:method, which only"),
        (":cook rdf:value :nurse .", "P006", "tells rdf:value, which only the world does"),
        (":x odrl:failure :pay .", "P006", "No policy refers to this object"),
        (":x odrl:relation :ward .", "P006", "No policy refers to this object"),
        (":x odrl:function :nurse .", "P006", "No policy refers to this object"),
        (":x odrl:operand :limit .", "P006", "No policy refers to this object"),
    ],
)
def test_what_a_policy_says_of_what_no_rule_has_is_refused(said, code, words):
    with pytest.raises(PolicyError, match=words) as found:
        compliance_report(policy(more=said), request(), world())
    assert [one.code for one in found.value.problems] == [code]


@pytest.mark.parametrize("node", [":nurse", ":ward", ":other"])
def test_left_operand_that_is_used_is_told_by_the_world_alone(node):
    text, said = constrained(limit(":age", "gt", 18)), f"\n{node} :age 20 ."
    for texts in ((text + said, request(), world()), (text, request(more=said), world())):
        with pytest.raises(PolicyEngineError, match=r"tells .*/age, which only the world does"):
            compliance_report(*texts)
    assert compliance_report(text, request(), world(f"{said} :other a odrl:Party ."))


def test_left_operand_that_nobody_uses_may_be_told_anywhere():
    assert compliance_report(
        policy(more=":nurse :age 20 ."), request(more=":ward :of 3 ."), world()
    )


def test_parameter_of_an_action_in_the_text_of_a_request_is_refused():
    with pytest.raises(RequestError, match=r"D003 No request has .* 'mosaicrown:k'"):
        compliance_report(policy(), request(more=f":ward <{MC}k> 10 ."), world())
