"""What can be written wrongly, in which syntaxes, and how a report is written down."""

import json

import pytest
import typer
from compliance_texts import (
    PARTS,
    PREFIXES,
    constrained,
    evaluation_request,
    limit,
    parameter,
    policy,
    request,
    world,
)
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from policy_engine.cli.evaluating import evaluate
from policy_engine.data.rdf.statements import Literal
from policy_engine.decision.compliance import compliance_report
from policy_engine.decision.compliance.graph import read_graph
from policy_engine.decision.compliance.parsing import statements
from policy_engine.errors import DataError, PolicyEngineError, PolicyError, RequestError

ODRL = "http://www.w3.org/ns/odrl/2/"
REPORT = "https://w3id.org/force/compliance-report#"
LATER = limit("odrl:dateTime", "lt", '"2040-01-01"^^xsd:date')
NOTHING = f"{PREFIXES}:other :is :here ."


def refused(kind, policy_text, request_text=None, world_text=None):
    with pytest.raises(kind) as caught:
        compliance_report(policy_text, request_text or request(), world_text or world())
    [problem] = caught.value.problems
    return problem


NO_NUMBERS = (
    "1e399",
    '"-1e399"^^xsd:float',
    '"INF"^^xsd:double',
    '"NaN"^^xsd:double',
    '"inf"^^xsd:decimal',
    '"1.5"^^xsd:integer',
    "9" * 401,
)
"""Numbers that are not of their data type."""
_TEXTS = {
    "policy": (PolicyError, lambda number: (constrained(limit(":size", "eq", number)),)),
    "request": (RequestError, lambda number: (policy(), request(told=f"; :size {number}"))),
    "world": (
        RequestError,
        lambda number: (policy(), None, world(f":w a sotw:SotW ; :s {number} .")),
    ),
}


@pytest.mark.parametrize("number", NO_NUMBERS, ids=lambda number: number[:24])
@pytest.mark.parametrize("text", _TEXTS)
def test_number_that_is_not_of_its_type_is_refused(text, number):
    kind, texts = _TEXTS[text]
    problem = refused(kind, *texts(number))
    assert (problem.code, problem.place.line) == ("P007", PREFIXES.count("\n") + 1)


@pytest.mark.parametrize(("number", "code"), [("1e399", "J001"), ('"1e399"', "P007")])
def test_number_beyond_doubles_is_refused_in_json_ld_too(number, code):
    literal = f'{{"@value": {number}, "@type": "http://www.w3.org/2001/XMLSchema#float"}}'
    text = f'{{"@id": "http://example.com/w", "http://example.com/size": {literal}}}'
    assert refused(RequestError, policy(), None, text).code == code


# -- what is not understood -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        (NOTHING, "P001", "This one has none"),
        (policy(f"{PARTS} ; odrl:constrant :limit"), "P005", "'odrl:constraint'"),
        (policy(f"{PARTS} ; :onMondays true"), "P005", "onMondays"),
        (policy(more=":policy odrl:prohibtion :not ."), "P005", "'odrl:prohibition'"),
        (policy(more=":policy :prohibition :not . :not a odrl:Prohibition ."), "P004", ":not"),
        (policy("odrl:action odrl:reed"), "P005", "'read'"),
        (policy("a odrl:Prohibition"), "P007", "'odrl:Prohibition'"),
        (policy('odrl:target "ward"'), "P007", "'ward'"),
        (policy("odrl:action [ rdf:value odrl:read, odrl:use ]"), "P004", "rdf:value"),
        (policy("odrl:duty :rule"), "P013", "no duty of its own"),
        (policy(more=":policy odrl:inheritFrom :absent ."), "P011", "into the same text"),
        (policy(more=":policy odrl:inheritFrom :policy ."), "P011", "itself"),
        (constrained(limit("odrl:purpose", "is", ":care")), "P005", "not a known operator"),
        (constrained("odrl:operator odrl:eq ; odrl:rightOperand 1"), "P004", "leftOperand"),
        (constrained("odrl:leftOperand :a ; odrl:operator odrl:eq"), "P004", "rightOperand"),
        (constrained(limit("odrl:dateTime", "lt", '"soon"^^xsd:dateTime')), "P007", "'soon'"),
        (constrained("odrl:and :limit"), "P014", "contains itself"),
        (constrained("odrl:and :a ; odrl:or :a", more=f":a {LATER} ."), "P014", "one operand"),
        (constrained(limit("odrl:purpse", "eq", ":care")), "P005", "'odrl:purpose'"),
        (policy(more=":policy odrl:conflict odrl:permit ."), "P007", "conflict strategy"),
        (policy(more=":ward odrl:partof :hospital ."), "P005", "'odrl:partOf'"),
        (policy(more=":ward odrl:hasPolicy :policy ; odrl:Offer ()."), "P005", "'odrl:Offer'"),
        (policy(more=":rule odrl:hasPolicy :policy ."), "P006", "odrl:hasPolicy"),
        (policy(more=":rule odrl:constrant () ."), "P005", "'odrl:constraint'"),
        ("<policy> a <http://www.w3.org/ns/odrl/2/Set> .", "L006", "relative"),
        (f"{PREFIXES} :policy odrl:permission", "F001", "Expected"),
        ('{"@context": "http://example.com/mine", "@type": "Set"}', "L001", "nothing is fetched"),
    ],
)
def test_policy_that_is_not_understood_is_refused(text, code, part):
    problem = refused(PolicyError, text)
    assert problem.code == code
    assert part.removeprefix(":") in str(problem)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (NOTHING, "D003"),
        (f"{PREFIXES}:request a odrl:Request .", "D003"),
        (request(more=":request odrl:prohibition :not ."), "D003"),
        (request(party='"nurse"'), "D003"),
        (request("[ rdf:value odrl:read ; odrl:refinement :some ]"), "D003"),
        (request("[ rdf:value [] ]"), "D003"),
        (request(party="[]"), "D003"),
        (request(told="; odrl:constrant :some"), "D003"),
        (request(told=f"; odrl:constraint [ {LATER} ]"), "D003"),
        (evaluation_request("; sotw:requestParamter :some"), "D003"),
        (evaluation_request(parameter("Purpse", ":care")), "D003"),
        (evaluation_request(parameter("TemporalData", '"2031-05-06"^^xsd:date')), "D003"),
        (f"{PREFIXES}:request a", "F001"),
    ],
)
def test_request_that_is_not_understood_is_refused(text, code):
    assert refused(RequestError, policy(), text).code == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (world('temp:currentTime dct:issued "2032-01-01T00:00:00Z"^^xsd:dateTime .'), "D003"),
        (world(time="2031-05-06"), "D003"),
        (world(":told a report:DutyReport ; report:rule :a ; report:deonticState :Done ."), "D003"),
        (
            world(
                ":told a report:DutyReport ; report:Rule :a ; report:deonticState report:Violated ."
            ),
            "D003",
        ),
        (f"{PREFIXES}:world", "F001"),
    ],
)
def test_world_that_is_not_understood_is_refused(text, code):
    assert refused(RequestError, policy("odrl:duty :a"), world_text=text).code == code


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "ex:policy odrl:permission\n  ex:rule ; odrl:conflict\n  odrl:permit . ex:rule a [] .",
            5,
        ),
        ("ex:policy odrl:permission\n  ex:rule .\nex:rule odrl:action\n  'read'@a1 .", 6),
        ("ex:p odrl:permission [\n odrl:constraint ex:a\n] .\nex:a odrl:operator odrl:eq .", 6),
    ],
    ids=["value", "language", "node"],
)
def test_line_of_a_policy_that_is_not_understood_is_told(text, line):
    prefixes = "@prefix odrl: <http://www.w3.org/ns/odrl/2/> .\n@prefix ex: <http://e.org/> .\n"
    with pytest.raises(PolicyError) as told:
        compliance_report(prefixes + text, request(), world())
    assert {one.place.line for one in told.value.problems} == {line}


def test_contexts_that_are_given_say_what_names_mean():
    mine = "http://e.org/mine"
    terms = {"Set": f"{ODRL}Set", "permission": {"@id": f"{ODRL}permission", "@type": "@id"}}
    terms |= {"action": {"@id": f"{ODRL}action", "@type": "@id"}}
    rule = {"@id": "urn:rule", "action": f"{ODRL}read"}
    text = json.dumps({"@context": mine, "@id": "urn:p", "@type": "Set", "permission": rule})
    found = compliance_report(text, request(), world(), {mine: {"@context": terms}})
    [policy_report] = found.policies
    assert policy_report.policy == "urn:p"
    assert [one.rule for one in policy_report.rules] == ["urn:rule"]


def test_file_of_what_is_not_understood_is_told(tmp_path):
    file = tmp_path / "policy.ttl"
    file.write_text(f"{PREFIXES}:policy odrl:permission [ odrl:action 'read'@a1 ] .")
    with pytest.raises(PolicyError) as told:
        compliance_report(file, request(), world())
    assert told.value.source == str(file)


def test_text_without_a_request_and_a_feature_that_nobody_knows_are_told():
    nothing = refused(RequestError, policy(), NOTHING)
    told = "The text contains no request: nothing in it asks for permission."
    assert (nothing.message, "sotw:EvaluationRequest" in nothing.hint) == (told, True)
    unknown = refused(RequestError, policy(), evaluation_request(parameter("Purpse", ":care")))
    assert unknown.message == "sotw:Purpse is not a known feature."
    assert "Purpose" in unknown.hint


def test_missing_file_is_told(tmp_path):
    assert refused(DataError, tmp_path / "absent.ttl").code == "C002"


def test_more_pairs_of_rules_than_a_report_can_hold_are_refused():
    rules = ", ".join(f"[ odrl:action :a{n} ]" for n in range(320))
    asked = " ".join(f":q{n} sotw:requestedAction odrl:read ." for n in range(320))
    text = f"{PREFIXES}:policy odrl:permission {rules} ."
    problem = refused(RequestError, text, PREFIXES + asked)
    assert (problem.code, problem.hint) == ("D003", "Split the request into several.")


# -- syntaxes ---------------------------------------------------------------------------------

IN_JSON_LD = {
    "@context": ["http://www.w3.org/ns/odrl.jsonld"],
    "@type": "Set",
    "uid": "http://example.com/policy",
    "permission": [
        {
            "uid": "http://example.com/rule",
            "assignee": "http://example.com/nurse",
            "target": "http://example.com/ward",
            "action": "read",
            "constraint": [
                {
                    "uid": "http://example.com/limit",
                    "leftOperand": "dateTime",
                    "operator": "lt",
                    "rightOperand": {"@value": "2040-01-01", "@type": "xsd:date"},
                }
            ],
        }
    ],
}
IN_XML = """\
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
         xmlns:odrl="http://www.w3.org/ns/odrl/2/">
  <odrl:Set rdf:about="http://example.com/policy">
    <odrl:permission>
      <odrl:Permission rdf:about="http://example.com/rule">
        <odrl:assignee rdf:resource="http://example.com/nurse"/>
        <odrl:target rdf:resource="http://example.com/ward"/>
        <odrl:action rdf:resource="http://www.w3.org/ns/odrl/2/read"/>
        <odrl:constraint>
          <odrl:Constraint rdf:about="http://example.com/limit">
            <odrl:leftOperand rdf:resource="http://www.w3.org/ns/odrl/2/dateTime"/>
            <odrl:operator rdf:resource="http://www.w3.org/ns/odrl/2/lt"/>
            <odrl:rightOperand rdf:datatype="http://www.w3.org/2001/XMLSchema#date"
            >2040-01-01</odrl:rightOperand>
          </odrl:Constraint>
        </odrl:constraint>
      </odrl:Permission>
    </odrl:permission>
  </odrl:Set>
</rdf:RDF>
"""


def in_n_triples(text):
    def name(term):
        return term if term.startswith("_:") else f"<{term}>"

    def value(term):
        return f'"{term.text}"^^<{term.type}>' if isinstance(term, Literal) else name(term)

    found = statements(text.encode(), None, {})
    return "\n".join(f"{name(s)} <{p}> {value(o)} ." for s, p, o, *_ in found)


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".jsonld", json.dumps(IN_JSON_LD)),
        (".rdf", IN_XML),
        (".nt", in_n_triples(constrained(LATER))),
        (".ttl", constrained(LATER)),
    ],
)
def test_every_syntax_says_the_same_by_its_suffix_and_without(suffix, text, tmp_path):
    path = tmp_path / f"policy{suffix}"
    path.write_text(text, encoding="utf-8")
    for source in (path, str(path), text, text.encode()):
        [report] = compliance_report(source, request(), world()).policies
        [rule] = report.rules
        assert rule.active
        assert [premise.state for premise in rule.premises] == ["satisfied"] * 4
        assert rule.premises[-1].right == (
            Literal("2040-01-01", "http://www.w3.org/2001/XMLSchema#date"),
        )


# -- the report as text -----------------------------------------------------------------------


def test_same_texts_give_the_same_bytes_and_other_texts_other_names():
    first = compliance_report(constrained(LATER), request(), world())
    again = compliance_report(constrained(LATER), request(), world())
    other = compliance_report(constrained(LATER), request(), world(time="2031-05-06T07:08:10Z"))
    assert first.to_turtle() == again.to_turtle()
    assert first.policies[0].node != other.policies[0].node


def test_satisfied_constraint_shows_what_it_was_held_against_and_another_does_not():
    early = limit("odrl:dateTime", "lt", '"2020-01-01"^^xsd:date')
    for constraint, shown in ((LATER, 1), (early, 0)):
        text = compliance_report(constrained(constraint), request(), world()).to_turtle()
        graph = read_graph(text, "report", PolicyEngineError)
        [node] = graph.typed([f"{REPORT}ConstraintReport"])
        assert graph.nodes(node, f"{REPORT}constraint") == ("http://example.com/limit",)
        assert len(graph.objects(node, f"{REPORT}constraintLeftOperand")) == 1
        assert len(graph.objects(node, f"{REPORT}constraintOperator")) == shown
        assert len(graph.objects(node, f"{REPORT}constraintRightOperand")) == shown


def test_literals_stand_in_the_report_as_they_are_written():
    text = compliance_report(policy(), request(), world(time="2031-05-06T09:08:09.500+02:00"))
    assert 'dct:created "2031-05-06T09:08:09.500+02:00"^^xsd:dateTime' in text.to_turtle()


def test_duty_that_the_world_tells_of_is_named_and_not_told_again():
    tells = ":told a report:DutyReport ; report:rule :pay ; report:deonticState report:NonSet ."
    text = compliance_report(policy("odrl:duty :pay"), request(), world(tells)).to_turtle()
    graph = read_graph(text, "report", PolicyEngineError)
    [rule] = graph.typed([f"{REPORT}PermissionReport"])
    assert graph.nodes(rule, f"{REPORT}conditionReport") == ("http://example.com/told",)
    assert "http://example.com/told" not in graph.about


def test_what_is_not_known_is_said_beside_its_state():
    constraint = limit("odrl:spatial", "eq", ":hospital")
    text = compliance_report(constrained(constraint), request(), world()).to_turtle()
    assert "report:satisfactionState report:Unsatisfied ;" in text
    assert 'rdfs:comment "odrl:spatial is not known."' in text


def test_blank_nodes_of_two_texts_stay_two():
    text = f"{PREFIXES}[] a odrl:Set ; odrl:permission [ odrl:action odrl:read ] ."
    asked = f"{PREFIXES}[] sotw:requestedAction odrl:read ."
    [report] = compliance_report(text, asked, world()).policies
    assert report.policy == "_:policy-b0"
    assert report.request == "_:request-b0"


@settings(deadline=None, max_examples=examples(40))
@given(st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=20))
def test_any_text_comes_out_of_a_report_as_it_went_in(text):
    quoted = "".join(f"\\U{ord(character):08X}" for character in text)
    right = limit("odrl:industry", "eq", f'"{quoted}"@en')
    told = f'; sotw:context [ odrl:leftOperand odrl:industry ; odrl:rightOperand "{quoted}"@en ]'
    report = compliance_report(constrained(right), request(told=told), world())
    graph = read_graph(report.to_turtle(), "report", PolicyEngineError)
    [node] = graph.typed([f"{REPORT}ConstraintReport"])
    for side in ("Left", "Right"):
        found = graph.objects(node, f"{REPORT}constraint{side}Operand")
        if side == "Left" or graph.objects(node, f"{REPORT}constraintOperator"):
            assert [(one.text, one.language) for one in found] == [(text, "en")]


def test_json_names_what_a_report_tells():
    told = compliance_report(constrained(limit("odrl:spatial", "eq", ":home")), request(), world())
    text = json.dumps(told.to_json())
    assert all(f'"{key}": ' in text for key in ("created", "constraintOperator", "comment"))


def test_json_holds_the_same_states():
    spatial = limit("odrl:spatial", "eq", ":hospital")
    both = constrained("odrl:or :a, :b", more=f":a {LATER} . :b {spatial} .")
    found = compliance_report(both, request(), world()).to_json()
    [rule] = found["policyReports"][0]["ruleReports"]
    [*_, premise] = rule["premiseReports"]
    states = [inner["satisfactionState"] for inner in premise["premiseReports"]]
    assert (rule["type"], rule["activationState"]) == ("PermissionReport", "Active")
    assert (premise["constraintLogicalOperand"], states) == (
        "odrl:or",
        ["Satisfied", "Unsatisfied"],
    )


# -- the command ------------------------------------------------------------------------------

app = typer.Typer()
app.command()(evaluate)


def run(tmp_path, policy_text, *more):
    (tmp_path / "policy.ttl").write_text(policy_text, encoding="utf-8")
    (tmp_path / "request.ttl").write_text(request(), encoding="utf-8")
    (tmp_path / "world.ttl").write_text(world(), encoding="utf-8")
    files = [
        part for name in ("policy", "request") for part in (f"--{name}", f"{tmp_path}/{name}.ttl")
    ]
    return CliRunner().invoke(app, [*files, *more])


def test_command_prints_turtle(tmp_path):
    result = run(tmp_path, policy(), "--world", str(tmp_path / "world.ttl"))
    assert result.exit_code == 0
    assert result.stderr == ""
    assert read_graph(result.stdout, "report", PolicyEngineError).typed([f"{REPORT}PolicyReport"])


def test_command_prints_json_and_says_that_the_time_is_the_clocks(tmp_path):
    result = run(tmp_path, policy(), "--format", "json")
    assert json.loads(result.stdout)["timeByClock"]
    assert "clock" in result.stderr


def test_command_ends_with_2_where_no_report_can_be_made(tmp_path):
    result = run(tmp_path, NOTHING)
    assert isinstance(result.exception, PolicyError)
    assert result.exception.exit_code == 2
    assert result.stdout == ""
