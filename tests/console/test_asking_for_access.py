"""The pages of people, of access and of decisions, in a real browser on a real service."""

import re

import pytest

ADA = "http://example.com/people/ada"


def add_person(page, name, *roles, party=""):
    page.get_by_role("button", name="Add a person").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Name", exact=True).fill(name)
    form.get_by_label("Identifier in policies").fill(party)
    for role in roles:
        form.get_by_label(role).check()
    form.get_by_role("button", name="Add", exact=True).click()
    page.get_by_text(f"{name} is added.").wait_for()


def link_for(page, name):
    page.get_by_role("button", name=f"Make a sign-in link for {name}").click()
    return page.get_by_role("dialog").locator("pre").inner_text()


def ask(page, target, purpose):
    page.get_by_label("Data", exact=True).fill(target)
    page.get_by_label("Purpose", exact=True).fill(purpose)
    page.get_by_role("button", name="Decide").click()


@pytest.mark.nightly
def test_who_is_added_signs_in_by_a_link_and_asks_in_their_own_name(open_page):
    people = open_page("/people")
    add_person(people, "Ada", "Consumer", party=ADA)
    page = open_page(link_for(people, "Ada"), signed_in=False)
    page.get_by_role("heading", name="Access", exact=True).wait_for()
    assert page.get_by_role("navigation").get_by_role("link").all_inner_texts() == [
        "Access",
        "Releases",
        "Decisions",
    ]
    ask(page, "http://example.com/NobodyOwns", "marketing")
    page.get_by_role("status").get_by_text("No rule permits it").wait_for()
    page.get_by_role("link", name="Decisions").click()
    assert page.get_by_role("region", name="Decisions").get_by_title(ADA).inner_text() == "ada"


def test_who_has_no_name_in_policies_is_told_so(open_page):
    people = open_page("/people")
    add_person(people, "Nameless", "Consumer")
    page = open_page(link_for(people, "Nameless"), signed_in=False)
    assert page.get_by_text("Policies do not know you yet").is_visible()


def test_a_query_of_data_that_are_not_there_is_refused_with_its_code(open_page):
    people = open_page("/people")
    add_person(people, "Querying", "Consumer", party=f"{ADA}/querying")
    page = open_page(link_for(people, "Querying"), signed_in=False)
    page.get_by_label("Query", exact=True).fill("SELECT name FROM Nothing")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text(re.compile(r"^Code [A-Z]\d{3}")).wait_for()


def test_roles_are_changed_and_a_person_is_shut_out(open_page):
    page = open_page("/people")
    add_person(page, "Leaving", "Auditor")
    page.get_by_role("button", name="Change Leaving").click()
    page.get_by_label("May sign in").uncheck()
    page.get_by_role("button", name="Save").click()
    row = page.get_by_role("row").filter(has_text="Leaving")
    row.get_by_text("may not sign in").wait_for()
    assert row.get_by_role("button", name="sign-in link").count() == 0


@pytest.mark.usefixtures("customers")
def test_the_log_is_verified_and_filtered(open_page):
    asking = open_page("/access")
    asking.get_by_label("Who").fill(ADA)
    ask(asking, "http://example.com/Customer", "marketing")
    asking.get_by_text("No rule permits it").first.wait_for()
    page = open_page("/decisions")
    page.get_by_role("button", name="Verify the log").click()
    page.get_by_text("The log is as it was written.").wait_for()
    page.get_by_label("Data", exact=True).fill("http://example.com/Customer")
    page.get_by_title("http://example.com/Customer").first.wait_for()
    assert "/Customer" in page.url or "%2FCustomer" in page.url
    page.get_by_label("Outcome").select_option("permit")
    page.get_by_text("No decision fits the filters").wait_for()


@pytest.mark.usefixtures("customers")
def test_a_decision_is_opened_and_the_log_saved(open_page, accessibility):
    asking = open_page("/access")
    asking.get_by_label("Who").fill(ADA)
    ask(asking, "http://example.com/Customer", "marketing")
    asking.get_by_text("No rule permits it").first.wait_for()
    page = open_page("/decisions", 320)
    page.get_by_role("region", name="Decisions").get_by_role("link").first.click()
    page.get_by_role("heading", name="Decision ").wait_for()
    assert page.get_by_role("region", name="What was asked").get_by_title(ADA).is_visible()
    page.get_by_text("Whatever no rule permits is denied.").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    assert accessibility(page) == []
    page.get_by_role("link", name="Decisions").last.click()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Export the log").click()
    assert saved.value.suggested_filename == "decisions.jsonl"


@pytest.mark.parametrize("width", [320, 2560])
@pytest.mark.parametrize("path", ["/people", "/access", "/decisions"])
def test_pages_of_people_and_access_are_accessible(open_page, accessibility, path, width):
    page = open_page(path, width, "dark")
    page.get_by_role("heading", level=1).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert accessibility(page) == []


@pytest.mark.usefixtures("masking")
def test_an_owner_is_asked_for_access_grants_it_and_takes_it_back(open_page):
    people = open_page("/people")
    add_person(people, "Asking", "Consumer", party=f"{ADA}/asking")
    asking = open_page(link_for(people, "Asking"), signed_in=False)
    asking.get_by_text("Ask an owner for access").click()
    asking.get_by_label("Data to read").fill("http://x.org/People")
    asking.get_by_label("For the purpose").fill("marketing")
    asking.get_by_role("button", name="Ask", exact=True).click()
    asking.get_by_text("The owner is asked.").wait_for()
    page = open_page("/access")
    requests = page.get_by_role("region", name="Requests for access")
    for verb, state in (("Grant", "granted"), ("Revoke", "revoked")):
        requests.get_by_role("button", name=verb).click()
        page.get_by_label("Note for who asked").fill(f"{verb}, as was agreed.")
        page.get_by_role("dialog").get_by_role("button", name=verb, exact=True).click()
        requests.get_by_text(state, exact=True).wait_for()
    asking.reload()
    asking.get_by_text("Revoke, as was agreed.").wait_for()
