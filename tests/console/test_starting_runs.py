"""The form by which runs are asked for, in a real browser on a real service."""

import pytest


def test_settings_are_compared_by_a_run_that_a_dataset_leads_to(open_page, masking):
    page = open_page(f"/data/{masking[2]}")
    page.get_by_role("combobox", name="Policy").select_option("Masked people, version 1")
    page.get_by_role("link", name="Compare settings").click()
    page.get_by_text("Tries several settings of a policy").wait_for()
    assert page.get_by_role("checkbox", name="People http://x.org/People").is_checked()
    page.get_by_label("Vary").fill("age: many")
    page.get_by_role("button", name="Start").click()
    page.get_by_text("Vary cannot be read.").wait_for()
    page.get_by_label("Vary").fill("k: 2, 4")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("heading", name="Compare settings").wait_for()


@pytest.mark.usefixtures("release")
def test_what_a_form_gets_wrong_is_refused_with_its_code_and_stays_to_be_mended(open_page):
    page = open_page("/runs/new?kind=explore")
    page.get_by_label("Policy", exact=True).select_option(label="Masked people, version 1")
    page.get_by_label("People http://x.org/People").check()
    page.get_by_label("Vary").fill(f"k: {', '.join(map(str, range(101)))}")
    page.get_by_role("button", name="Start").click()
    page.get_by_text("Code N007.").wait_for()
    chosen = page.get_by_label("Policy", exact=True).locator("option:checked")
    assert chosen.inner_text() == "Masked people, version 1"


def test_an_attack_on_a_release_is_started_where_the_release_is_shown(open_page, release):
    page = open_page(f"/releases/{release}")
    page.get_by_role("link", name="Attack it").click()
    page.get_by_label("Original").select_option(label="People")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("heading", name="Attack a released table").wait_for()


@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (2560, "light")])
@pytest.mark.parametrize("kind", ["explore", "assess", "audit-generative"])
@pytest.mark.usefixtures("release")
def test_forms_of_runs_are_accessible(open_page, accessibility, kind, width, scheme):
    page = open_page(f"/runs/new?kind={kind}", width, scheme)
    page.get_by_text("More settings").click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert accessibility(page) == []
