"""The page of budgets, in a real browser on a real service that has released statistics."""

import pytest
from places import ROOT

VISITS = "http://example.com/Visits"
TEXT = (ROOT / "policies" / "visits-statistics.jsonld").read_text("utf-8")
ROWS = "patient_nbr,age,gender,time_in_hospital,num_medications,readmitted\n" + "".join(
    f"{n},[{n % 10}0-{n % 10 + 1}0),{'Female' if n % 2 else 'Male'},{n % 14},{n % 80},NO\n"
    for n in range(200)
)


@pytest.fixture(scope="module")
def spending(masking):
    """Have statistics released, which spends of the budget of their dataset."""
    calling = masking[0]
    dataset = calling.upload("Visits", VISITS, ROWS)
    policy = calling.publish("Statistics of visits", TEXT)
    calling.sanitise(policy, VISITS, dataset, seconds=180)


@pytest.mark.usefixtures("spending")
def test_budgets_tell_what_was_spent_what_is_left_and_by_whom(open_page):
    page = open_page("/releases")
    page.get_by_role("link", name="Budgets").click()
    accounts = page.get_by_role("region", name=f"Accounts of {VISITS}").get_by_role("row")
    accounts.nth(1).wait_for()
    told = {row.get_by_role("rowheader").inner_text(): row for row in accounts.all()[1:]}
    assert set(told) == {"All who ask", "Hospital-Analytics"}
    cells = told["All who ask"].get_by_role("cell")
    spent, left, most = (cells.nth(place).inner_text() for place in (2, 3, 4))
    assert spent.strip() == "ε 1"
    assert left.startswith("ε 3 ")
    assert most.startswith("ε 4 ")
    page.get_by_text("What was spent, release by release").click()
    assert page.get_by_text("mean of time_in_hospital").is_visible()


@pytest.mark.usefixtures("spending")
def test_the_ledger_of_budgets_is_verified(open_page):
    page = open_page("/releases/budgets")
    page.get_by_role("button", name="Verify the ledger").click()
    page.get_by_text("The ledger is as it was written.").wait_for()


@pytest.fixture
def analyst(open_page, spending, masking):  # noqa: ARG001 (there has to be a budget)
    """The page of access of somebody whom the policy lets ask for statistics."""
    party = "http://example.com/org/Hospital-Analytics"
    people = masking[0].call("GET", "/people")["items"]
    known = next((one["id"] for one in people if one["party"] == party), None)
    new = {"name": "Analyst", "roles": ["consumer"], "party": party}
    person = known or masking[0].call("POST", "/people", new)["id"]
    return open_page(
        masking[0].call("POST", f"/people/{person}:invite", {})["url"], signed_in=False
    )


def test_statistics_are_asked_for_with_noise_and_what_is_left_is_told(analyst, accessibility):
    page = analyst
    page.get_by_text("Statistics with noise, under differential privacy").click()
    rows = page.get_by_role("region", name="Your budgets").get_by_role("row")
    row = rows.filter(has_text="ResearchAndDevelopment")
    row.wait_for()
    assert row.get_by_role("cell").last.inner_text() == "ε 1"
    page.get_by_label("Query", exact=True).fill("SELECT COUNT(DISTINCT patient_nbr) FROM Visits")
    page.get_by_label("Purpose of the query").fill("https://w3id.org/dpv#ResearchAndDevelopment")
    page.get_by_label("Epsilon").fill("0.25")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("It cost ε 0.25 of the budget.").wait_for()
    row.get_by_text("ε 0.75").wait_for()
    assert accessibility(page) == []


@pytest.mark.usefixtures("spending")
@pytest.mark.parametrize("width", [320, 2560])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_budgets_is_accessible(open_page, accessibility, width, scheme):
    page = open_page("/releases/budgets", width, scheme)
    page.get_by_text("What was spent, release by release").click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert accessibility(page) == []
