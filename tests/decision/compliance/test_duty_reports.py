"""What the world says of duties: of those of the policies, without a contradiction, or refused."""

import pytest
from compliance_texts import PREFIXES, policy, request, world

from policy_engine.decision.compliance import compliance_report
from policy_engine.errors import PolicyEngineError, PolicyError, RequestError

OWES = policy("odrl:duty :pay", more=":pay odrl:action odrl:compensate .")
VIOLATED = "report:deonticState report:Violated"
TOLD = f":told a report:DutyReport ; report:rule :pay ; {VIOLATED} ."
NOT_A_DUTY = "which is not a duty of the policies"


def refusal(told, policy_text=OWES):
    with pytest.raises(RequestError) as caught:
        compliance_report(policy_text, request(), told)
    [problem] = caught.value.problems
    assert problem.code == "D003"
    return f"{problem.message} {problem.hint}".rstrip()


def states(told, policy_text=OWES):
    [report] = compliance_report(policy_text, request(), world(told)).policies
    return [one.deontic for one in report.rules[0].conditions], report.rules[0].active


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (f":told report:rule :pay ; {VIOLATED} .", "not of which kind it is"),
        (f":told {VIOLATED} .", "not of which kind it is"),
        (":told a :Report ; report:rule :pay .", "not of which kind it is"),
        (f":told a report:PermissionReport ; report:rule :pay ; {VIOLATED} .", "not of which kind"),
        (TOLD.replace(":pay", ":pya"), f"about 'http://example.com/pya', {NOT_A_DUTY}"),
        (TOLD.replace(":pay", ":rule"), f"about 'http://example.com/rule', {NOT_A_DUTY}"),
        (TOLD.replace(":pay", "[]"), NOT_A_DUTY),
        (TOLD.replace(":pay", ":pay, :pya"), NOT_A_DUTY),
        (TOLD.replace(":pay", "'pay'"), "must name its duty by"),
        (
            f"{TOLD.replace(':pay', ':pya')} :r report:policy :policy ; report:ruleReport :told .",
            NOT_A_DUTY,
        ),
        (
            TOLD.replace(VIOLATED, "report:deonticState 'Violated'"),
            "and 'NonSet'. Given: 'Violated'. A state is an IRI, such as",
        ),
        (
            TOLD.replace(
                VIOLATED,
                "report:performanceState report:Unperformed ; report:deonticState report:Fulfilled",
            ),
            "contradicts itself: what is Unperformed cannot be Fulfilled",
        ),
    ],
)
def test_report_that_is_not_clear_is_refused(told, words):
    assert words in refusal(world(told))


def test_report_on_a_duty_without_a_name_is_refused():
    text = policy("odrl:duty [ odrl:action odrl:compensate ]")
    assert NOT_A_DUTY in refusal(world(TOLD.replace(":pay", "[]")), text)


@pytest.mark.parametrize(
    "told",
    [
        TOLD,
        TOLD.replace(":pay", "[ odrl:uid :pay ]"),
        TOLD.replace("report:DutyReport", "<HTTPS://w3id.org/force/compliance-report#DutyReport>"),
    ],
)
def test_report_is_on_the_duty_that_it_names_in_any_spelling(told):
    assert states(told) == (["Violated"], False)


@pytest.mark.parametrize(
    "told",
    [
        ":r report:policy :elsewhere ; report:ruleReport :told .",
        ":r report:policy :elsewhere ; report:ruleReport [ report:conditionReport :told ] .",
    ],
)
def test_report_on_a_duty_of_another_policy_changes_nothing(told):
    assert states(f"{TOLD.replace(':pay', ':other')} {told}") == (["NonSet"], True)
    assert states(f"{TOLD} {told}") == (["Violated"], False)


def test_report_on_a_permission_is_not_one_on_a_duty():
    told = ":told a report:PermissionReport ; report:rule :rule ."
    assert states(told) == (["NonSet"], True)


@pytest.mark.parametrize(
    "text",
    [
        policy("odrl:remedy :more", "prohibition"),
        policy("odrl:duty [ odrl:action odrl:inform ; odrl:consequence :more ]"),
        policy(
            more=":policy odrl:obligation [ odrl:action odrl:inform ; odrl:consequence :more ] ."
        ),
    ],
)
def test_report_on_a_remedy_or_a_consequence_is_refused(text):
    text = f"{text} :more odrl:action odrl:compensate ."
    assert "whose state is not evaluated" in refusal(world(TOLD.replace(":pay", ":more")), text)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("report:attemptState report:Attempted", "tells no state"),
        ("dct:created :now", "tells no state"),
        (f"report:state report:Violated ; {VIOLATED}", "'s:state' says nothing of a duty"),
        (f"report:dutyState report:Violated ; {VIOLATED}", "says nothing of a duty"),
    ],
)
def test_report_that_tells_no_state_by_a_known_name_is_refused(said, words):
    words = words.replace("s:", "https://w3id.org/force/compliance-report#")
    assert words in refusal(world(TOLD.replace(VIOLATED, said)))


@pytest.mark.parametrize("told", [TOLD, f":told {VIOLATED} ."])
def test_report_outside_the_world_is_refused(told):
    with pytest.raises(PolicyError, match=r"P006 .* which only the world does"):
        compliance_report(f"{OWES} {told}", request(), world())
    with pytest.raises(RequestError, match=r"D003 .* which only the world does"):
        compliance_report(OWES, request(more=told), world())


def test_report_of_a_text_that_is_the_world_as_well_counts():
    both = f"{OWES} {TOLD} {request().removeprefix(PREFIXES)}"
    [report] = compliance_report(both, both, both).policies
    assert not report.rules[0].active
    with pytest.raises(PolicyEngineError, match="which only the world does"):
        compliance_report(both, both)
