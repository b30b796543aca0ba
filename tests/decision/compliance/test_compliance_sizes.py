"""How large a report may be, and how many comparisons it may take."""

import pytest
from compliance_texts import (
    PARTS,
    constrained,
    for_purpose,
    limit,
    policy,
    request,
    world,
)
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.decision.compliance import compliance_report, sizes
from policy_engine.decision.compliance.member_index import MemberIndex
from policy_engine.errors import PolicyEngineError
from policy_engine.policy.syntax.limits import Limits

OLD = limit(":age", "gt", 18)
PE = "https://w3id.org/policy-engine/ns#"
MANY = 2_000
"""With so many, what is quadratic takes minutes; more than that, as many comparisons as allowed."""


def refused(*texts):
    with pytest.raises(PolicyEngineError) as caught:
        compliance_report(*texts)
    [problem] = caught.value.problems
    return problem


def active(*texts):
    [report] = compliance_report(*texts).policies
    return [rule.active for rule in report.rules]


def listed(name, count=MANY):
    return ", ".join(f":{name}{at}" for at in range(count))


def nested(depth):
    """Return a graph of `2 * depth` constraints, of which the first has `2 ** depth` results."""
    logical = "".join(
        f":{kind}{at} odrl:{operator} :a{at + 1}, :b{at + 1} . "
        for at in range(depth)
        for kind, operator in (("a", "or"), ("b", "and"))
        if (kind, at) != ("b", 0)
    )
    return f"{logical} :a{depth} {OLD} . :b{depth} {OLD} ."


def test_results_of_constraints_are_as_many_as_are_allowed(monkeypatch):
    text = policy(f"{PARTS} ; odrl:constraint :a0", more=nested(3))
    monkeypatch.setattr(sizes, "MAX_CONSTRAINTS", 15)
    assert active(text, request(), world()) == [False]
    monkeypatch.setattr(sizes, "MAX_CONSTRAINTS", 14)
    problem = refused(text, request(), world())
    assert problem.code == "D003"
    assert "15 results of constraints. Allowed are 14." in problem.message


def test_constraints_of_a_duty_are_results_too(monkeypatch):
    text = policy(f"{PARTS} ; odrl:duty :pay", more=f":pay odrl:constraint [ {OLD} ], [ {OLD} ] .")
    text = text.replace(":pay odrl", ":pay odrl:action odrl:compensate ; odrl")
    monkeypatch.setattr(sizes, "MAX_CONSTRAINTS", 1)
    assert "2 results" in refused(text, request(), world()).message


@pytest.mark.nightly
def test_constraints_that_are_exponential_when_written_are_refused():
    rules = ", ".join(["[ odrl:action odrl:read ]"] * 15)
    many = request(more=f":request odrl:permission {rules} .")
    text = policy(f"{PARTS} ; odrl:constraint :a0", more=nested(12))
    assert "131,056 results of constraints" in refused(text, many, world()).message


def test_constraints_that_no_reader_could_finish_are_refused():
    text = policy(f"{PARTS} ; odrl:constraint :a0", more=nested(40))
    with pytest.raises(PolicyEngineError) as caught:
        compliance_report(text, request(), world(), limits=Limits(constraints=5_000))
    assert {one.code for one in caught.value.problems} == {"J003"}


def test_reports_on_duties_are_as_many_as_are_allowed(monkeypatch):
    text = policy(f"{PARTS} ; odrl:duty :pay", more=":pay odrl:action odrl:compensate .")
    told = "[] a report:DutyReport ; report:rule :pay ; report:performanceState report:Performed . "
    monkeypatch.setattr(sizes, "MAX_REPORTS", 2)
    assert active(text, request(), world(told * 2)) == [True]
    problem = refused(text, request(), world(told * 3))
    assert "3 reports on duties" in problem.message


def test_constraints_of_duties_have_a_result_in_each_report(monkeypatch):
    text = policy(f"{PARTS} ; odrl:duty :pay", more=f":pay odrl:constraint [ {OLD} ], [ {OLD} ] .")
    text = text.replace(":pay odrl", ":pay odrl:action odrl:compensate ; odrl")
    told = "[] a report:DutyReport ; report:rule :pay ; report:performanceState report:Unknown . "
    monkeypatch.setattr(sizes, "MAX_CONSTRAINTS", 4)
    assert active(text, request(), world(told * 2)) == [True]
    assert "6 results of constraints" in refused(text, request(), world(told * 3)).message


def test_comparisons_are_as_many_as_are_allowed(monkeypatch):
    text = constrained(limit(":age", "isAnyOf", "1, 2, 3"))
    told = world(":now a sotw:SotW ; :age 3, 4, 5, 6 .")
    active(text, request(), told)
    monkeypatch.setattr(sizes, "MAX_COMPARISONS", 11)
    problem = refused(text, request(), told)
    assert problem.code == "D003"
    assert problem.message == "The report would take more than 11 comparisons."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (constrained(limit(":age", "isAnyOf", "1, 2")), "; odrl:constraint [ %s ]"),
        (policy(f"{PARTS} ; <https://www.mosaicrown.eu/ns/mosaicrown/1/purpose> :a, :b"), ""),
    ],
)
def test_comparisons_are_counted_for_purposes_and_constraints(text, told, monkeypatch):
    works = []

    class Work(sizes.Work):
        def __init__(self, *given):
            super().__init__(*given)
            works.append(self)

    monkeypatch.setattr("policy_engine.decision.compliance.judging.Work", Work)
    told = told % limit(":age", "eq", 1) if told else told
    compliance_report(text, request(told=told), world())
    [work] = works
    assert max(work.compared.values()) == 2


def test_assets_that_are_read_together_take_more_comparisons(monkeypatch):
    text = constrained(limit(f"<{PE}jointly>", "isNoneOf", ":a, :b"))
    monkeypatch.setattr(sizes, "MAX_COMPARISONS", 100)
    assert active(text, request(), world()) == [True]
    assert refused(text, request(target=listed("c", 8)), world()).code == "D003"


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["permission", "prohibition"])
def test_members_as_many_as_a_text_may_have_are_quickly_matched(kind):
    rule = f"odrl:assignee :nurse ; odrl:action odrl:read ; odrl:target {listed('a')}"
    both = {"permission": listed("a"), "prohibition": f"{listed('b')}, :a7"}[kind]
    assert active(policy(rule, kind), request(target=both), world()) == [True]
    assert active(policy(rule, kind), request(target=listed("b")), world()) == [False]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", ["permission", "prohibition"])
def test_actions_as_many_as_a_text_may_have_are_quickly_matched(kind):
    rule = f"odrl:target :ward ; odrl:action {listed('a')}"
    assert active(policy(rule, kind), request(listed("a")), world()) == [True]
    assert active(policy(rule, kind), request(listed("b")), world()) == [False]


def test_purposes_as_many_as_a_text_may_have_are_quickly_compared():
    purposes = f"<https://www.mosaicrown.eu/ns/mosaicrown/1/purpose> {listed('a')}"
    text = policy(f"{PARTS} ; {purposes}")
    assert active(text, for_purpose(":a7"), world()) == [True]
    assert active(text, for_purpose(":b7"), world()) == [False]


@pytest.mark.nightly
def test_kinds_of_own_purposes_are_quickly_followed():
    kinds = " ".join(f":own{at} a :own{at + 1} ." for at in range(3 * MANY))
    text = policy(f"{PARTS} ; <https://www.mosaicrown.eu/ns/mosaicrown/1/purpose> :other")
    assert active(text, for_purpose(":own0", more=kinds), world()) == [False]


def test_references_to_many_values_are_bounded(monkeypatch):
    reference = "odrl:leftOperand :age ; odrl:operator odrl:isAnyOf ; odrl:rightOperandReference :r"
    told = world(f":now a sotw:SotW ; :age {listed('a', 10)} . :r rdf:value {listed('b', 10)} .")
    monkeypatch.setattr(sizes, "MAX_COMPARISONS", 100)
    assert refused(constrained(reference), request(), told).code == "D003"


def test_list_that_many_have_is_refused():
    cells = " ".join(f"_:c{at} rdf:first :a{at} ; rdf:rest _:c{at + 1} ." for at in range(1000))
    parts = " ".join(f":b{at} odrl:partOf _:c0 ." for at in range(1000))
    problem = refused(
        policy(), request(), world(f"{cells} _:c1000 rdf:first :z ; rdf:rest () . {parts}")
    )
    assert problem.code == "J003"


# -- the same report as by the plain product ---------------------------------------------------

NAMES = [":a", ":b", ":a/x/y"]
IRIS = {name: f"<http://example.com/{name[1:]}>" for name in NAMES}
PLACED = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), min_size=1, max_size=3)
REFINED = f"[ a odrl:%sCollection ; %s odrl:refinement [ {limit(':age', 'gt', '%d')} ] ]"


@st.composite
def members(draw, kind):
    """Return what a rule names: names, refined collections, and some without a source."""
    found = [IRIS[one] for one in draw(st.lists(st.sampled_from(NAMES), max_size=1))]
    for source in draw(st.lists(st.sampled_from([*NAMES, ""]), max_size=1)):
        of = f"odrl:source {IRIS[source]} ;" if source else ""
        found.append(REFINED % (kind, of, draw(st.integers(1, 3))))
    return found or [IRIS[":a"]]


def stated(edges, prop):
    return " ".join(f"{IRIS[low]} {prop} {IRIS[high]} ." for low, high in edges if low != high)


def product(index, _names):
    """Return all members, as if none had been found by its name."""
    return index._members


@pytest.mark.nightly
@settings(max_examples=examples(100, times=40))
@given(
    kind=st.sampled_from(["permission", "prohibition"]),
    targets=members("Asset"),
    parties=members("Party"),
    actions=st.lists(st.sampled_from(NAMES), min_size=1, max_size=3),
    asked=st.tuples(*[st.lists(st.sampled_from(NAMES), min_size=1, max_size=2)] * 3),
    edges=PLACED,
    actions_within=PLACED,
    implied=PLACED,
    ages=st.lists(st.tuples(st.sampled_from(NAMES), st.integers(1, 4)), max_size=3),
)
def test_report_is_that_of_all_pairs(
    kind, targets, parties, actions, asked, edges, actions_within, implied, ages
):
    rule = f"odrl:target {', '.join(targets)} ; odrl:assignee {', '.join(parties)}"
    text = policy(f"{rule} ; odrl:action {', '.join(IRIS[one] for one in actions)}", kind)
    names = [", ".join(IRIS[one] for one in ones) for ones in asked]
    told = " ".join(f"{IRIS[name]} a odrl:Asset ; :age {age} ." for name, age in ages)
    within = f"{stated(actions_within, 'odrl:includedIn')} {stated(implied, 'odrl:implies')}"
    texts = text, request(*names), world(f"{stated(edges, 'odrl:partOf')} {within} {told}")
    found = reported(texts)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("covering", "overlapping"):
            patch.setattr(MemberIndex, name, product)
        assert found == reported(texts)


def reported(texts):
    try:
        return compliance_report(*texts).to_json()
    except PolicyEngineError as error:
        return str(error)
