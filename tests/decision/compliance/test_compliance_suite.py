import warnings
from pathlib import Path

import pytest
from places import SHARED_DATA

from policy_engine.decision.compliance import compliance_report
from policy_engine.decision.compliance.graph import read_graph
from policy_engine.errors import RequestError

SUITE = SHARED_DATA / "odrl-test-suite"
REPORT = "https://w3id.org/force/compliance-report#"
STATES = ("attemptState", "activationState", "satisfactionState", "rule", "ruleRequest")
OPERANDS = (
    "constraint",
    "constraintLogicalOperand",
    "constraintLeftOperand",
    "constraintOperator",
    "constraintRightOperand",
)
SHOWN = (*STATES, *OPERANDS, "policy", "policyRequest")


def cases():
    if not SUITE.exists():
        return [None]
    index = read_graph(SUITE / "index.ttl", "index", RequestError)
    sources = ("policySource", "requestSource", "sotwSource", "expectedReportSource")
    found = (
        [index.nodes(case, f"http://example.org/{source}")[0] for source in sources]
        for case in index.about
    )
    return sorted(["/".join(url.split("/")[-2:]) for url in urls] for urls in found)


def described(graph, node):
    """Return a report without the names of its nodes: its states, and those below it."""
    said = {prop: sorted(map(str, graph.objects(node, REPORT + prop))) for prop in SHOWN}
    below = [described(graph, inner) for inner in graph.nodes(node, f"{REPORT}premiseReport")]
    conditions = len(graph.objects(node, f"{REPORT}conditionReport"))
    return [graph.types(node), said, conditions, sorted(below, key=str)]


def reports(graph):
    [policy] = [
        node
        for node in graph.typed([f"{REPORT}PolicyReport"])
        if graph.objects(node, f"{REPORT}policyRequest")
    ]
    created = graph.objects(policy, "http://purl.org/dc/terms/created")
    rules = [described(graph, rule) for rule in graph.nodes(policy, f"{REPORT}ruleReport")]
    return created, described(graph, policy), rules


@pytest.mark.one_in(4)
@pytest.mark.filterwarnings("default:SKIPPED")
@pytest.mark.parametrize("case", cases(), ids=lambda case: Path(case[3]).stem if case else "none")
def test_report_is_that_of_the_odrl_test_suite(case):
    if case is None:
        warnings.warn("SKIPPED: the ODRL test suite is not beside the project", stacklevel=1)
        pytest.skip(f"the ODRL test suite is not in {SUITE}: nothing is compared with it")
    policy, request, world, expected = (SUITE / name for name in case)
    made = compliance_report(policy, request, world).to_turtle()
    wanted = read_graph(expected, "report", RequestError)
    assert reports(read_graph(made, "report", RequestError)) == reports(wanted)


@pytest.mark.filterwarnings("default:SKIPPED")
def test_all_46_cases_of_the_odrl_test_suite_are_compared():
    found = cases()
    if found == [None]:
        warnings.warn("SKIPPED: the ODRL test suite is not beside the project", stacklevel=1)
        pytest.skip(f"the ODRL test suite is not in {SUITE}: nothing is compared with it")
    assert len(found) == 46
