"""Signing in by links, and links of strangers."""

import re

import pytest
from served import API, browser, code, person, signed_in


@pytest.fixture
def link(services):
    """The secret of a link of somebody else."""
    return services.identities.new_link(person(services, "owner", name="<b>Mallory"))


def follow(client, secret, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    where = {"params": {"token": secret}, "follow_redirects": False}
    return client.get("/sign-in", headers=named, **where)


def name_of(client):
    return client.get(f"{API}/me").json().get("name")


def confirm(client, page, **headers):
    token = re.search(r'name="token" value="([^"]+)"', page.text)[1]
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    where = {"data": {"token": token}, "follow_redirects": False}
    return client.post("/sign-in", headers=named, **where)


def test_a_link_that_a_page_of_another_site_follows_is_asked_about_first(services, link):
    client = browser(services)
    page = follow(client, link, Sec_Fetch_Site="cross-site")
    assert (page.status_code, name_of(client)) == (200, None)
    assert "&lt;b&gt;Mallory" in page.text
    assert "<b>" not in page.text
    assert code(confirm(client, page, Sec_Fetch_Site="cross-site")) == (403, "N009")
    assert code(confirm(client, page, Origin="http://evil.example")) == (403, "N009")
    assert confirm(client, page, Sec_Fetch_Site="same-origin").status_code == 303
    assert name_of(client) == "<b>Mallory"


def test_who_is_signed_in_does_not_become_somebody_else_by_a_link(services, link):
    client = signed_in(services, "owner", name="Ada")
    page = follow(client, link, Sec_Fetch_Site="none")
    assert "You are signed in as Ada now." in page.text
    assert name_of(client) == "Ada"
    assert confirm(client, page, Sec_Fetch_Site="same-origin").status_code == 303
    assert name_of(client) == "<b>Mallory"
    assert code(follow(client, link)) == (401, "N010")


def test_a_link_of_ones_own_signs_in_at_once(services):
    ada = person(services, "owner", name="Ada")
    client = browser(services)
    for _ in range(2):
        answer = follow(client, services.identities.new_link(ada), Sec_Fetch_Site="none")
        assert answer.status_code == 303
    assert name_of(client) == "Ada"
