import pytest
from followed import ended
from places import ROOT
from served import API, code, service, signed_in
from test_dataset_routes import uploaded
from test_policy_routes import published

from policy_engine.service.runs.keeping import SupervisorKeeper

VISITS = "http://example.com/Visits"
STATISTICS = "http://example.com/VisitStatistics"
ANALYTICS = "http://example.com/org/Hospital-Analytics"
TEXT = (ROOT / "policies" / "visits-statistics.jsonld").read_text("utf-8")
ROWS = "patient_nbr,age,gender,time_in_hospital,num_medications,readmitted\n" + "".join(
    f"{n},[{n % 10}0-{n % 10 + 1}0),{'Female' if n % 2 else 'Male'},{n % 14},{n % 80},NO\n"
    for n in range(200)
)


@pytest.fixture(scope="module")
def charged(tmp_path_factory):
    """Return services in which a run has released statistics, who asked for it, and the run."""
    with service(tmp_path_factory.mktemp("service"), runs_at_once=1) as services:
        owner = signed_in(services, "owner", "steward", name="Olga")
        published(owner, TEXT)
        [policy] = owner.get(f"{API}/policies").json()["items"]
        dataset = uploaded(owner, ROWS.encode(), "visits.csv", VISITS).json()["id"]
        asked = {"kind": "sanitise", "policy": policy["id"], "datasets": {VISITS: dataset}}
        run = owner.post(f"{API}/runs", json=asked).json()["id"]
        keeper = SupervisorKeeper(services.settings)
        keeper.start()
        try:
            yield services, owner, ended(services, run, 180)
        finally:
            keeper.close()


@pytest.mark.nightly
def test_a_run_that_releases_statistics_spends_of_the_budget_of_its_dataset(charged):
    _, owner, run = charged
    assert (run.state, run.problems) == ("succeeded", [])
    [budget] = owner.get(f"{API}/budgets").json()["items"]
    assert budget["dataset"] == VISITS
    whole = next(one for one in budget["accounts"] if not one["assignee"])
    assert whole["spent"] == {"epsilon": "1", "delta": "0"}
    assert whole["remaining"]["epsilon"] == "3"
    assert [one["epsilon"] for one in whole["caps"]] == ["4"]
    theirs = next(one for one in budget["accounts"] if one["assignee"])
    assert (theirs["assignee"], theirs["remaining"]["epsilon"]) == (ANALYTICS, "1")


def test_what_was_spent_is_told_with_what_was_asked_and_for_whom(charged):
    _, owner, _ = charged
    [budget] = owner.get(f"{API}/budgets").json()["items"]
    [spending] = budget["spending"]
    assert (spending["release"], spending["epsilon"]) == (STATISTICS, "1")
    assert (spending["state"], spending["assignees"]) == ("kept", [ANALYTICS])
    assert "mean of time_in_hospital" in spending["asked"]


def test_budgets_are_for_the_owner_of_the_data_and_for_auditors(charged):
    services, _, _ = charged
    other = signed_in(services, "owner", name="Otto")
    assert other.get(f"{API}/budgets").json() == {"items": []}
    auditor = signed_in(services, "auditor")
    assert [one["dataset"] for one in auditor.get(f"{API}/budgets").json()["items"]] == [VISITS]
    assert code(signed_in(services, "consumer").get(f"{API}/budgets")) == (403, "N002")
    assert auditor.post(f"{API}/budgets:verify").json()["intact"]


def test_a_permission_holds_as_long_as_its_budget_is_not_spent(charged):
    services, _, _ = charged
    reader = signed_in(services, "consumer", party=ANALYTICS)
    purpose = "https://w3id.org/dpv#ResearchAndDevelopment"
    question = {"target": [STATISTICS], "purpose": purpose}
    assert reader.post(f"{API}/decisions", json=question).json()["effect"] == "permit"


def test_statistics_are_asked_for_beside_a_release_of_them(charged):
    services, _, _ = charged
    reader = signed_in(services, "consumer", party=ANALYTICS)
    question = {
        "sql": "SELECT COUNT(DISTINCT patient_nbr) AS n FROM Visits",
        "purpose": "https://w3id.org/dpv#ResearchAndDevelopment",
        "epsilon": "0.25",
    }
    answer = reader.post(f"{API}/queries", json=question).json()
    assert (answer["permitted"], answer["cost"]["epsilon"]) == (True, "0.25")
    left = [one["remaining"] for one in reader.get(f"{API}/me/budgets").json()["items"]]
    assert [one["epsilon"] for one in left if one] == ["0.75"]


@pytest.mark.nightly
def test_without_a_charge_there_is_no_ledger(services):
    auditor = signed_in(services, "auditor")
    assert auditor.get(f"{API}/budgets").json() == {"items": []}
    assert code(auditor.post(f"{API}/budgets:verify")) == (409, "N004")
