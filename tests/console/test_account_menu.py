"""The head of every page and the menu of who is signed in, in a real browser on a real service."""

import pytest
from releasing import Calling


@pytest.fixture
def signed_out_later(open_page, chromium, served, owner):
    """A page of somebody with a session of their own, which may end."""
    calling = Calling(chromium.new_context(base_url=served[0], storage_state=owner))
    person = calling.call("POST", "/people", {"name": "Ann Auditor", "roles": ["auditor"]})
    link = calling.call("POST", f"/people/{person['id']}:invite", {})["url"]
    return open_page(link, signed_in=False)


@pytest.mark.nightly
def test_the_head_is_one_line_with_all_roles(open_page):
    page = open_page("/policies", 1280)
    head, link = (page.locator(one).first for one in ("header.top", "header.top nav a"))
    assert head.bounding_box()["height"] < 1.5 * link.bounding_box()["height"]


def test_the_menu_opens_and_closes_by_keyboard_alone(open_page):
    page = open_page("/policies")
    button = page.get_by_role("button", name="Owner: account")
    button.focus()
    page.keyboard.press("Enter")
    colours = page.get_by_label("Colours")
    page.keyboard.press("Tab")
    assert colours.evaluate("one => one === document.activeElement")
    page.keyboard.press("Escape")
    assert not colours.is_visible()
    assert button.evaluate("one => one === document.activeElement")
    page.keyboard.press("Enter")
    page.get_by_role("heading", level=1).click()
    assert not colours.is_visible()


def test_colours_that_are_chosen_stay_on_other_pages(open_page):
    page = open_page("/policies")
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Owner: account").click()
    page.get_by_label("Colours").select_option("dark")
    dark = page.evaluate(ground)
    page.goto("/runs")
    assert page.evaluate(ground) == dark != light


def test_who_signs_out_has_to_sign_in_again(signed_out_later):
    page = signed_out_later
    page.get_by_role("button", name="Ann Auditor: account").click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="Sign in").wait_for()
    page.goto("/policies")
    page.get_by_role("heading", name="Sign in").wait_for()


@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (1280, "light")])
def test_the_open_menu_is_accessible(open_page, accessibility, width, scheme):
    page = open_page("/policies", width, scheme)
    page.get_by_role("button", name="Owner: account").click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert accessibility(page) == []
