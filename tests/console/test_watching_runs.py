"""The pages of runs and releases, in a real browser on a real service."""

import pytest
from building import DATASET, anonymize, permission, policy


def test_a_run_is_started_from_a_plan_and_watched_until_it_has_released(open_page, masking):
    page = open_page(f"/data/{masking[2]}")
    page.get_by_role("combobox", name="Policy").select_option("Masked people, version 1")
    page.get_by_role("button", name="Show the plan").click()
    page.get_by_role("button", name="Start a run that does this").click()
    page.get_by_role("heading", name="Sanitise data").wait_for()
    page.get_by_text("succeeded", exact=True).wait_for(timeout=60_000)
    assert page.get_by_role("link", name="certificate.jsonld").is_visible()
    page.get_by_role("link", name="http://x.org/anonPeople").click()
    page.get_by_role("heading", name="http://x.org/anonPeople").wait_for()


@pytest.mark.usefixtures("release")
def test_runs_are_filtered_by_their_state(open_page):
    page = open_page("/runs")
    page.get_by_role("link", name="Sanitise data").first.wait_for()
    page.get_by_label("State").select_option("failed")
    page.get_by_text("No run fits the filters").wait_for()


def test_a_run_that_fails_says_why(open_page, masking):
    calling, chosen, dataset = masking
    settings = {"asset": "http://x.org/nothing"}
    datasets = {"http://x.org/People": dataset}
    wanted = {"kind": "sanitise", "policy": chosen, "datasets": datasets, "settings": settings}
    page = open_page(f"/runs/{calling.call('POST', '/runs', wanted)['id']}")
    page.get_by_role("heading", name="Why it failed").wait_for(timeout=60_000)
    assert page.get_by_text("http://x.org/nothing").first.is_visible()


def test_a_release_is_compared_with_what_it_was_made_of(open_page, accessibility, release):
    page = open_page(f"/releases/{release}")
    page.get_by_role("button", name="Compare the columns").click()
    columns = page.get_by_role("region", name="Columns before and after")
    row = columns.get_by_role("row").filter(has_text="name")
    row.wait_for(timeout=60_000)
    assert row.get_by_role("cell").last.inner_text() == "left out"
    page.get_by_text("A few rows before").click()
    page.get_by_role("button", name="Show what I may read").first.click()
    page.get_by_text("Code N004").wait_for()  # policies do not know who asks
    assert page.get_by_text("flu").count() == 0
    assert accessibility(page) == []


def test_a_release_is_verified_and_withdrawn_with_a_reason(open_page, release):
    page = open_page(f"/releases/{release}")
    figures = page.get_by_role("region", name="Certificate").get_by_role("row").last
    assert figures.get_by_role("cell").all_inner_texts() == ["age", "at most 0", "0"]
    page.get_by_role("button", name="Verify the release").click()
    page.get_by_text("It is as it was certified").wait_for(timeout=60_000)
    page.get_by_role("button", name="Withdraw …").click()
    page.get_by_label("Reason").fill("A column was missed.")
    page.get_by_role("button", name="Withdraw", exact=True).click()
    page.get_by_text("Nobody may read it any more. A column was missed.").wait_for()
    page.get_by_role("link", name="Releases").last.click()
    row = page.get_by_role("region", name="Releases").get_by_role("row").nth(1)
    row.get_by_text("withdrawn").wait_for()


@pytest.mark.parametrize("width", [320, 2560])
@pytest.mark.parametrize("path", ["/runs", "/releases", "/releases/{}"])
def test_pages_of_runs_and_releases_are_accessible(open_page, accessibility, release, path, width):
    page = open_page(path.format(release), width, "dark")
    page.get_by_role("heading", level=1).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert accessibility(page) == []


def test_lineage_leads_from_data_to_what_was_made_of_them_and_back(open_page, masking, release):
    page = open_page(f"/data/{masking[2]}")
    graph = page.locator("svg.graph")
    assert graph.get_by_text("People", exact=True).is_visible()
    graph.get_by_text("anonPeople", exact=True).first.click()
    page.get_by_role("heading", name="http://x.org/anonPeople").wait_for()
    lineage = page.locator("section", has=page.get_by_role("heading", name="Lineage"))
    lineage.get_by_role("link", name=DATASET).click()
    page.get_by_role("heading", name="People").wait_for()
    page.locator(f"dd a[href='/releases/{release}']").wait_for()


@pytest.fixture(scope="module")
def explored(masking):
    """Settings compared and attacked twice: the identifiers of both runs."""
    calling, _, dataset = masking
    action = anonymize(method="k-anonymity", k=2, identifier=["name"], quasi=["age", "city"])
    rule = permission(uid="http://x.org/tried/1", action=action, output="http://x.org/tried/People")
    chosen = calling.publish("To be explored", policy([rule], uid="http://x.org/tried"))
    settings = [{"vary": {"k": tried}, "attack": True} for tried in ([2, 4], [3])]
    runs = [calling.run("explore", chosen, DATASET, dataset, one, 180) for one in settings]
    return [run["id"] for run in runs]


def test_what_settings_risk_and_lose_is_drawn_with_its_figures_beside(open_page, explored):
    page = open_page(f"/runs/{explored[0]}")
    chart = page.get_by_role("img", name="share of persons")
    chart.get_by_text("k = 2", exact=True).wait_for()
    assert chart.locator(".dot").count() == 2
    rows = page.get_by_role("region", name="Settings").get_by_role("rowheader")
    assert rows.all_inner_texts() == ["k = 2", "k = 4"]


def test_two_runs_are_compared_on_one_chart(open_page, explored):
    page = open_page(f"/runs/{explored[0]}")
    page.get_by_role("combobox", name="Compare with").select_option(explored[1])
    page.get_by_role("heading", name="Two runs compared").wait_for()
    settings = page.get_by_role("region", name="Settings that differ").get_by_role("row")
    told = settings.last.locator("th, td").all_inner_texts()
    assert told == ["vary", '{"k":[2,4]}', '{"k":[3]}']
    page.locator(".chart .dot").nth(2).wait_for()
    figures = page.get_by_role("region", name="Figures", exact=True).get_by_role("row")
    figures.nth(1).wait_for()
    more = page.get_by_role("button", name="Show more")
    differing = more.inner_text()
    assert figures.nth(1).locator(".dot").count() in (1, 2)
    page.get_by_label("Those too that are the same").check()
    assert more.inner_text() != differing
    page.get_by_label("Named").fill("no such figure")
    page.get_by_text("No figure has such a name.").wait_for()


@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (2560, "light")])
@pytest.mark.parametrize("path", ["/runs/{}", "/runs/{}/comparison?with={}"])
def test_charts_of_runs_are_accessible(open_page, accessibility, explored, path, width, scheme):
    page = open_page(path.format(*explored), width, scheme)
    page.get_by_role("heading", level=1).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert accessibility(page) == []


def test_a_link_that_was_used_is_told_to_be_over(open_page, served):
    page = open_page(served[1], signed_in=False)
    page.get_by_text("That link was used before, or is older than 15 minutes.").wait_for()
