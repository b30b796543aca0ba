"""The pages of runs and releases, in a real browser on a real service."""

import pytest


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
    calling, policy, dataset = masking
    settings = {"asset": "http://x.org/nothing"}
    datasets = {"http://x.org/People": dataset}
    wanted = {"kind": "sanitise", "policy": policy, "datasets": datasets, "settings": settings}
    page = open_page(f"/runs/{calling.call('POST', '/runs', wanted)['id']}")
    page.get_by_role("heading", name="Why it failed").wait_for(timeout=60_000)
    assert page.get_by_text("http://x.org/nothing").first.is_visible()


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


def test_a_link_that_was_used_is_told_to_be_over(open_page, served):
    page = open_page(served[1], signed_in=False)
    page.get_by_text("That link was used before, or is older than 15 minutes.").wait_for()
