"""Who works for whom, who has left, and who signs in elsewhere, in a real browser."""

import pytest
from releasing import Calling
from running_service import serving

LEFT = "http://example.com/left/Behind"


@pytest.fixture
def administrator(chromium, served, owner):
    """Calls of who has all roles."""
    return Calling(chromium.new_context(base_url=served[0], storage_state=owner))


@pytest.fixture
def leaving(administrator, chromium, served):
    """An owner who has a dataset, and may not sign in any more."""
    person = administrator.call("POST", "/people", {"name": "Olaf", "roles": ["owner"]})
    link = administrator.call("POST", f"/people/{person['id']}:invite", {})["url"]
    context = chromium.new_context(base_url=served[0])
    context.new_page().goto(link)
    Calling(context).call("POST", "/datasets", {"name": "Left behind", "iri": LEFT})
    context.close()
    tag = {"If-Match": f'"{person["revision"]}"'}
    administrator.call("PATCH", f"/people/{person['id']}", {"is_active": False}, **tag)


def test_an_owner_names_a_steward_and_lets_them_go(open_page, administrator):
    administrator.call("POST", "/people", {"name": "Stella", "roles": ["steward"]})
    page = open_page("/data")
    for words, is_named in (("works for you.", True), ("does not work for you any more.", False)):
        page.get_by_label("Stella", exact=True).click()
        page.get_by_text(f"Stella {words}").wait_for()
        page.reload()
        assert page.get_by_label("Stella", exact=True).is_checked() == is_named


@pytest.mark.usefixtures("leaving")
def test_what_somebody_leaves_is_handed_over_to_another_owner(open_page, accessibility):
    page = open_page("/people", 320)
    page.get_by_role("button", name="Hand over what Olaf left").click()
    page.get_by_text(LEFT).wait_for()
    assert accessibility(page) == []
    page.get_by_label("Hand over to").select_option("Owner")
    page.get_by_role("button", name="Hand over", exact=True).click()
    page.get_by_text("What was Olaf's is handed over.").wait_for()
    page.goto("/data")
    page.get_by_role("link", name="Left behind").wait_for()


def test_who_signs_in_at_a_provider_is_sent_there(chromium, accessibility, tmp_path):
    provider = ("--oidc-issuer", "https://login.example/hospital", "--oidc-client", "ours")
    with serving(tmp_path, *provider) as (address, _):
        page = chromium.new_page()
        page.goto(address)
        link = page.get_by_role("link", name="Sign in at login.example")
        link.wait_for()
        assert link.get_attribute("href") == "/sign-in/provider"
        assert accessibility(page) == []
        page.close()
