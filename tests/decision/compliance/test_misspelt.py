"""What a world or a request says under a misspelt name is refused: passed over, it would decide."""

import pytest
from compliance_texts import PREFIXES, constrained, evaluation_request, policy, request, world

from policy_engine.decision.compliance import compliance_report
from policy_engine.errors import PolicyEngineError

HTTPS = "https://www.w3.org/ns/odrl/2/"
FORCE = "http://w3id.org/force"
SOTW = "https://w3id.org/force/sotw#"
REPORT = "https://w3id.org/force/compliance-report#"
WARD = "<http://example.com/ward>"
STATE = f"<http://example.com/now> a <{SOTW}SotW> ; "


@pytest.mark.parametrize(
    ("said", "code", "words"),
    [
        (f"{WARD} odrl:partof {WARD} .", "D003", "odrl/2/partof' is not a term of ODRL"),
        (f"{WARD} odrl:memberOf {WARD} .", "D003", "odrl/2/memberOf' is not a term of ODRL"),
        (f"{WARD} <{HTTPS}partOf> {WARD} .", "D003", "partOf' is not a name of"),
        (f"{WARD} <http://www.w3.org/ns/odrl/partOf> {WARD} .", "D003", "is not a name of"),
        (f'{WARD} odrl:partOf "http://example.com/blocked" .', "P007", "odrl:partOf takes an IRI"),
        (f"{STATE} odrl:datetime 1 .", "D003", "odrl/2/datetime' is not a term of ODRL"),
        (f"{STATE} <{SOTW}currenttime> 1 .", "D003", f"is not '{SOTW}currentTime'"),
        (f"{STATE} <{FORCE}/sotw#currentTime> 1 .", "D003", "currentTime' is not a name of"),
        (f"[] a <{REPORT}dutyReport> .", "D003", f"is not '{REPORT}DutyReport'"),
        (f"[] a <{FORCE}/compliance-report#DutyReport> .", "D003", "is not a name of"),
        (f"[] <{REPORT}performancestate> 1 .", "D003", f"is not '{REPORT}performanceState'"),
        (f"[] <{REPORT}rulereport> [] .", "D003", f"is not '{REPORT}ruleReport'"),
        (f"[] <{SOTW}requestedtarget> {WARD} .", "D003", f"is not '{SOTW}requestedTarget'"),
    ],
)
def test_a_world_with_a_misspelt_name_is_refused(said, code, words):
    with pytest.raises(PolicyEngineError) as caught:
        compliance_report(policy(), request(), f"{PREFIXES}\n{said}")
    [problem] = caught.value.problems
    assert problem.code == code
    assert words in problem.message


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (f"a <{SOTW}Sotw>", f"is not '{SOTW}SotW'"),
        (f"a <{SOTW}CurrentTime>", f"is not '{SOTW}currentTime'"),
        (f"<{REPORT}performancestate> 1", f"is not '{REPORT}performanceState'"),
        (f"<{FORCE}/sotw#currentTime> 1", "currentTime' is not a name of"),
        ("a odrl:offer", "odrl/2/offer' is not a term of ODRL"),
    ],
)
def test_misspelt_name_is_refused_in_every_text_where_it_stands(said, words):
    said = f"\n<http://example.com/w> {said} ."
    for code, texts in (
        ("P005", (policy(more=said), request(), world())),
        ("D003", (policy(), request(more=said), world())),
        ("D003", (policy(), request(), world(said))),
    ):
        with pytest.raises(PolicyEngineError) as caught:
            compliance_report(*texts)
        [problem] = caught.value.problems
        assert (problem.code, problem.place.line) == (code, PREFIXES.count("\n") + 2)
        assert words in problem.message


NOTHING = "odrl:leftOperand odrl:purpose ; odrl:operator odrl:eq"


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (f"; odrl:constraint [ {NOTHING} ]", "has no rightOperand, and so says nothing"),
        (
            f"; odrl:constraint [ {NOTHING} ; odrl:rightOperand () ]",
            "odrl:rightOperand may not be an empty list",
        ),
        (
            "; odrl:constraint [ odrl:leftOperand odrl:purpse ; odrl:rightOperand :marketing ]",
            "odrl/2/purpse' is not a left operand of ODRL",
        ),
    ],
)
def test_a_constraint_of_a_request_that_says_nothing_is_refused(told, words):
    with pytest.raises(PolicyEngineError) as caught:
        compliance_report(policy(), request(told=told), world())
    [problem] = caught.value.problems
    assert words in problem.message


@pytest.mark.parametrize("parts", ["sotw:describesFeature sotw:Purpose", "sotw:value :marketing"])
def test_a_parameter_of_a_request_that_says_nothing_is_refused(parts):
    asked = evaluation_request(f"; sotw:requestParameter [ {parts} ]")
    with pytest.raises(PolicyEngineError, match=r"D003 .* and so says nothing"):
        compliance_report(policy(), asked, world())


def test_a_reference_of_which_two_places_tell_is_unknown():
    operands = "odrl:leftOperand odrl:payAmount ; odrl:operator odrl:gt"
    text = constrained(f"{operands} ; odrl:rightOperandReference :quota")
    now = ":now a sotw:SotW ; odrl:payAmount 7 ; :quota 1 ."
    states = [
        compliance_report(text, request(), world(f"{now} {more}")).to_json()["policyReports"]
        for more in ("", ":quota rdf:value 100 .")
    ]
    found = [one["activationState"] for [report] in states for one in report["ruleReports"]]
    assert found == ["Active", "Inactive"]


@pytest.mark.parametrize(
    "said",
    [f"<{HTTPS}assignee> {WARD}", f"<{FORCE}/sotw#requestParameter> []"],
)
def test_a_request_with_a_misspelt_name_is_refused(said):
    text = f"{request()}\n<http://example.com/asked> {said} ."
    with pytest.raises(PolicyEngineError, match=r"D003 .* is not a name of"):
        compliance_report(policy(), text, world())


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (":x a odrl:prohibition .", "'odrl:prohibition' is not a class"),
        (":x a odrl:use .", "'odrl:use' is not a class"),
        (":x odrl:Prohibition :ward .", "'odrl:Prohibition' is not a property"),
        (":x odrl:eq 1 .", "'odrl:eq' is not a property"),
    ],
)
def test_term_that_is_used_as_what_it_is_not_is_refused(said, words):
    for texts in ((policy(more=said), request(), world()), (policy(), request(), world(said))):
        with pytest.raises(PolicyEngineError, match=words):
            compliance_report(*texts)
