"""What a world or a request says under a misspelt name is refused: passed over, it would decide."""

import pytest
from compliance_texts import (
    PARTS,
    PREFIXES,
    constrained,
    evaluation_request,
    for_purpose,
    policy,
    request,
    world,
)

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


MC, DPV = "https://www.mosaicrown.eu/ns/mosaicrown/1/", "https://w3id.org/dpv#"
PE = "https://w3id.org/policy-engine/ns#"
W3 = "http://www.w3.org"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (f"{MC}BelongsTo", "is not a term of the MOSAICrOWN profile"),
        (f"{MC}belongsto", "is not a term of the MOSAICrOWN profile"),
        (f"{MC}declinationof", "is not a term of the MOSAICrOWN profile"),
        (f"{MC}Purpose", "is not a term of the MOSAICrOWN profile"),
        (f"{MC}porpose", "is not a term of the MOSAICrOWN profile"),
        (
            "http://localhost:8000/ns/mosaicrown/belongsto",
            "is not a term of the MOSAICrOWN profile",
        ),
        ("http://www.mosaicrown.eu/ns/mosaicrown/1/belongsTo", f"is not a name of '{MC}'"),
        ("https://mosaicrown.eu/ns/mosaicrown/1/belongsTo", f"is not a name of '{MC}'"),
        ("https://www.mosaicrown.eu/ns/mosaicrown/belongsTo", f"is not a name of '{MC}'"),
        ("mosaicrown:belongsTo", f"is not a name of '{MC}'"),
        (f"{PE}Label", "is not a term of policy_engine"),
        ("http://w3id.org/policy-engine/ns#label", f"is not a name of '{PE}'"),
        (f"{W3}/2004/02/skos/core#Broader", "is not a term of SKOS"),
        (f"{W3}/2004/02/skos/core#broder", "is not a term of SKOS"),
        ("https://www.w3.org/2004/02/skos/core#broader", "and almost one"),
        (f"{W3}/2004/02/skos/core/broader", "and almost one"),
        (f"{W3}/2000/01/rdf-schema#subclassOf", "is not a term of RDF Schema"),
        ("https://www.w3.org/2000/01/rdf-schema#subClassOf", "and almost one"),
        (f"{W3}/1999/02/22-rdf-syntax-ns#Type", "is not a term of RDF"),
        ("https://www.w3.org/1999/02/22-rdf-syntax-ns#type", "and almost one"),
        (f"{DPV}hasPurpose", f"is not read. The purpose is told by '{MC}purpose'"),
        ("http://www.w3.org/ns/dpv#hasPurpose", f"is not a name of '{DPV}'"),
        ("http://purl.org/dc/terms/isreplacedby", "isReplacedBy', and almost the same"),
        ("https://purl.org/dc/terms/isReplacedBy", "isReplacedBy' is not a name of"),
        ("http://purl.org/dc/terms/replacedBy", "is not a term of DCMI"),
        ("http://purl.org/dc/terms/purpose", "is not a term of DCMI"),
        ("http://purl.org/dc/elements/1.1/purpose", "is not a term of DCMI"),
    ],
)
def test_property_that_is_almost_one_that_is_read_is_refused_in_every_text(name, words):
    said = f"\n<http://example.com/w> <{name}> <http://example.com/v> ."
    for code, texts in (
        ("P005", (policy(more=said), request(), world())),
        ("D003", (policy(), request(more=said), world())),
        ("D003", (policy(), request(), world(said))),
    ):
        with pytest.raises(PolicyEngineError) as caught:
            compliance_report(*texts)
        assert [(one.code, words in one.message) for one in caught.value.problems] == [(code, True)]


@pytest.mark.parametrize(
    "name", [f"{MC}Purpose", f"{MC}porpose", f"{DPV}hasPurpose", "http://example.com/purpose"]
)
def test_rule_of_a_request_says_nothing_by_words_that_are_not_read(name):
    with pytest.raises(PolicyEngineError, match=r"D003 .* is not allowed in a request"):
        compliance_report(policy(), request(told=f"; <{name}> dpv:Marketing"), world())


def test_request_may_be_described():
    assert compliance_report(policy(), request(told="; dct:title 'A request'"), world())


@pytest.mark.parametrize("name", [f"{MC}purpose", f"{DPV}hasPurpose", f"{MC}belongsTo", f"{MC}kk"])
@pytest.mark.parametrize("way", ["policy", "request", "parameter"])
def test_left_operand_that_is_none_of_its_vocabulary_is_refused(name, way):
    of_limit = f"odrl:leftOperand <{name}> ; odrl:operator odrl:eq ; odrl:rightOperand :ads"
    asked = f"sotw:describesFeature <{name}> ; sotw:value :ads"
    texts = {
        "policy": (constrained(of_limit), request()),
        "request": (policy(), request(told=f"; odrl:constraint [ {of_limit} ]")),
        "parameter": (policy(), evaluation_request(f"; sotw:requestParameter [ {asked} ]")),
    }[way]
    with pytest.raises(PolicyEngineError, match=r"is not a (left operand|known left|term of)"):
        compliance_report(*texts, world())


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        (f"{MC}purpose", "; that of a purpose is http://www.w3.org/ns/odrl/2/purpose"),
        (f"{MC}belongsTo", ""),
    ],
)
def test_property_in_the_place_of_a_left_operand_is_told_what_is_one(name, hint):
    asked = f"sotw:describesFeature <{name}> ; sotw:value :ads"
    with pytest.raises(PolicyEngineError) as caught:
        compliance_report(
            policy(), evaluation_request(f"; sotw:requestParameter [ {asked} ]"), world()
        )
    assert caught.value.problems[0].message == f"'{name}' is not a left operand{hint}."


@pytest.mark.parametrize(
    ("purpose", "words"),
    [
        ("<http://w3id.org/dpv#Marketing>", "is not a name of"),
        ("<https://w3id.org/dpv/owl#Marketing>", "is not a name of"),
        ("<https://w3id.org/dpv/2.0#Marketing>", "is not a name of"),
        ("<http://www.w3.org/ns/dpv#Marketing>", "is not a name of"),
        ("dpv:Marketting", "'dpv:Marketting' is not a purpose of the Data Privacy Vocabulary"),
        ("dpv:marketing", "'dpv:marketing' is not a purpose of the Data Privacy Vocabulary"),
        ("'dpv:Marketting'", "'dpv:Marketting' is not a purpose of the Data Privacy Vocabulary"),
        (f"<{MC}Marketing>", "is not a term of the MOSAICrOWN profile"),
        ("odrl:read", "'odrl:read' is not a purpose of the MOSAICrOWN profile"),
    ],
)
def test_purpose_that_its_vocabulary_lacks_is_refused_wherever_it_is_named(purpose, words):
    of_limit = (
        f"odrl:leftOperand odrl:purpose ; odrl:operator odrl:eq ; odrl:rightOperand {purpose}"
    )
    is_name = not purpose.startswith("'")
    texts = [
        (constrained(of_limit, "prohibition"), request(), world()),
        (policy(), for_purpose(purpose), world()),
        (policy(), request(), world(f"{STATE} odrl:purpose {purpose} .")),
    ]
    broader = f":ads skos:broader {purpose} ."
    named = [
        (policy(f"odrl:action odrl:read ; <{MC}purpose> {purpose}"), request(), world()),
        (policy(more=broader), request(), world()),
        (policy(), request(), world(broader)),
        (policy(), for_purpose(":ads", broader), world()),
    ]
    for given in texts + named * is_name:
        with pytest.raises(PolicyEngineError, match=words):
            compliance_report(*given)


def test_class_of_a_purpose_that_the_data_privacy_vocabulary_lacks_is_refused():
    with pytest.raises(PolicyEngineError, match=r"'dpv:Marketting' is not a purpose"):
        compliance_report(policy(), for_purpose(":ads", ":ads a dpv:Marketting ."), world())
    assert compliance_report(policy(), for_purpose(":ads", ":ads a dpv:Marketing ."), world())


@pytest.mark.parametrize(
    "name", ["https://w3id.org/dpv/pd#Email", "https://w3id.org/dpv/legal/eu/gdpr#A6-1-a"]
)
def test_extensions_of_the_data_privacy_vocabulary_are_other_vocabularies(name):
    assert compliance_report(policy(more=f":ward a <{name}> ."), for_purpose(f"<{name}>"), world())


@pytest.mark.parametrize(
    ("of_rule", "more"),
    [
        ("", f":policy <{MC}purpose> dpv:Marketing ."),
        ("", f":nurse <{MC}purpose> dpv:Marketing ."),
        ("", f":ward <{MC}purpose> dpv:Marketing ."),
        ("odrl:action :read", f":read <{MC}purpose> dpv:Marketing ."),
        ("odrl:assignee :all", f":all odrl:source :staff ; <{MC}purpose> dpv:Marketing ."),
        ("odrl:action :few", f":few rdf:value odrl:read ; <{MC}purpose> dpv:Marketing ."),
        ("", f":ward <{PE}endsWith> :other ."),
    ],
)
def test_purpose_that_a_policy_tells_of_what_has_none_is_refused(of_rule, more):
    with pytest.raises(PolicyEngineError, match=r"P005 .* is not a property of|P006"):
        compliance_report(policy(of_rule or PARTS, more=more), request(), world())
