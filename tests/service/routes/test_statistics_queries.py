"""Queries under differential privacy by the API: charged to the service's ledger of budgets."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from asking_statistics import DAYS, ROWS, UNITS, VISITS, policy_text
from served import API, code, signed_in
from test_dataset_routes import uploaded
from test_policy_routes import published

from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Role
from policy_engine.service.resources.queries import SqlQuestion

LAB, CLINIC = "http://e.org/lab", "http://e.org/clinic"
COUNT = "SELECT COUNT(*) AS n FROM Visits"
TABLE = "person,sex,days\n" + "".join(f"p{n},{'fm'[n % 2]},{n % 15}\n" for n in range(60))
LIMIT = {
    "leftOperand": "pe:spentEpsilon",
    "operator": "lteq",
    "rightOperand": {"@value": "1.2", "@type": "xsd:decimal"},
    "unit": "pe:perAssigneeAndPurpose",
}


@pytest.fixture
def owner(services):
    """An owner whose policy lets a laboratory and a clinic ask for statistics, each for 1.2."""
    client = signed_in(services, "owner", name="Olga")
    rule = {"assignee": [LAB, CLINIC], "constraint": [LIMIT]}
    published(client, policy_text(UNITS, ROWS, DAYS, rule=rule))
    uploaded(client, TABLE.encode(), "visits.csv", VISITS)
    return client


@pytest.fixture
def lab(services, owner):  # noqa: ARG001 (what its policy lets be asked)
    return signed_in(services, "consumer", name="Laboratory", party=LAB)


def ask(client, sql=COUNT, epsilon="0.5", **question):
    return client.post(f"{API}/queries", json={"sql": sql, "epsilon": epsilon, **question}).json()


def left(client):
    """Return what is left to somebody of the one dataset; None where nothing was spent of it."""
    items = client.get(f"{API}/me/budgets").json()["items"]
    limited = [one["remaining"]["epsilon"] for one in items if one["remaining"]]
    return limited[0] if limited else None


@pytest.mark.one_in(2)
@pytest.mark.both_databases
def test_statistics_are_answered_with_noise_and_charged_to_who_asks(services, lab):
    answer = ask(lab, "SELECT sex, SUM(days) AS d FROM Visits GROUP BY sex")
    assert answer["permitted"]
    assert {one["sex"] for one in answer["rows"]} == {"f", "m"}
    assert (answer["cost"]["epsilon"], answer["cost"]["is_charged"]) == ("0.5", True)
    [figure] = answer["cost"]["figures"]
    assert (figure["name"], figure["function"]) == ("d", "sum")
    assert figure["noise"][0]["half_width"] > 0
    assert left(lab) == "0.7"
    clinic = signed_in(services, "consumer", name="Clinic", party=CLINIC)
    assert left(clinic) is None
    [decision] = lab.get(f"{API}/decisions").json()["items"]
    assert (decision["effect"], decision["targets"]) == ("permit", [VISITS])


@pytest.mark.nightly
def test_the_same_question_is_answered_again_and_a_dry_one_costs_nothing(lab):
    dry = ask(lab, dry_run=True)
    assert (dry["rows"], dry["cost"]["is_charged"], left(lab)) == ([], True, None)
    first, again = ask(lab), ask(lab, "select count(*) AS n FROM visits")
    assert first["rows"] == again["rows"]
    assert (again["cost"]["is_charged"], left(lab)) == (False, "0.7")


def test_a_key_says_that_a_query_was_answered_and_not_what(owner, lab):
    for kept in ({}, {"epsilon": "0.5"}):
        call = {"json": {"sql": COUNT, **kept}, "headers": {"Idempotency-Key": f"one{len(kept)}"}}
        assert lab.post(f"{API}/queries", **call).status_code == 200
        assert code(lab.post(f"{API}/queries", **call)) == (409, "N004")
    assert left(lab) == "0.7"
    [policy] = owner.get(f"{API}/policies").json()["items"]
    owner.post(f"{API}/policies/{policy['id']}:withdraw", json={"reason": "It is over."})
    assert code(lab.post(f"{API}/queries", **call)) == (409, "N004")


@pytest.mark.nightly
def test_what_the_budget_does_not_allow_is_denied_with_its_code_and_no_number(owner, lab):
    assert ask(lab, epsilon="1")["permitted"]
    denied = ask(lab, "SELECT SUM(days) FROM Visits", "0.21")
    [reason] = denied["reasons"]
    assert (denied["permitted"], denied["rows"], reason["code"]) == (False, [], "B009")
    assert not re.search("[0-9]", reason["message"] + reason["hint"])
    assert left(lab) == "0.2"
    [budget] = owner.get(f"{API}/budgets").json()["items"]
    accounts = {one["assignee"]: one["spent"]["epsilon"] for one in budget["accounts"]}
    assert (accounts[""], accounts[LAB]) == ("1", "1")


@pytest.mark.nightly
@pytest.mark.both_databases
def test_of_many_who_ask_at_once_as_many_are_answered_as_the_budget_allows(services, lab):
    actor = Actor(id="lab", name="Laboratory", roles=(Role.CONSUMER,), party=LAB)
    asked = [SqlQuestion(sql=f"{COUNT} WHERE days > {n}", epsilon="0.25") for n in range(8)]
    with ThreadPoolExecutor(8) as threads:
        answers = [*threads.map(lambda one: services.queries.answer(actor, one), asked)]
    assert sum(one.permitted for one in answers) == 4
    assert {one.reasons[0].code for one in answers if not one.permitted} == {"B009"}
    assert left(lab) == "0.2"


NO_QUESTIONS = [
    ({"epsilon": "a lot"}, 422, "D003"),
    ({"epsilon": "-1"}, 422, "D003"),
    ({"epsilon": "", "delta": "1e-6"}, 422, "D003"),
    ({"epsilon": 0.5}, 422, "N007"),
    ({"epsilon": "9" * 101}, 422, "N007"),
    ({"sql": "SELECT COUNT(*) FROM Nothing"}, 422, "Q003"),
]


def test_what_is_no_question_of_statistics_is_refused_and_costs_nothing(lab):
    for question, status, wrong in NO_QUESTIONS:
        asked = {"sql": COUNT, "epsilon": "0.5", **question}
        assert code(lab.post(f"{API}/queries", json=asked)) == (status, wrong)
        assert lab.get(f"{API}/me/budgets").json() == {"items": []}


def test_who_has_no_permission_learns_of_nothing_and_is_charged_nothing(services, owner):
    other = signed_in(services, "consumer", name="Otto", party="http://e.org/otto")
    asked = {"sql": COUNT, "epsilon": "0.5"}
    assert code(other.post(f"{API}/queries", json=asked)) == (422, "Q003")
    assert owner.get(f"{API}/budgets").json() == {"items": []}


def test_who_policies_do_not_know_has_no_budget(services):
    nameless = signed_in(services, "consumer", name="Nameless")
    assert nameless.get(f"{API}/me/budgets").json() == {"items": []}
    assert code(signed_in(services, "owner").get(f"{API}/me/budgets")) == (403, "N002")
