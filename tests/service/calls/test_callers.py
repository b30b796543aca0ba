import pytest
from served import API, CUSTOMER, browser, code, service, signed_in

POLICY = {"name": "customers", "text": "{}"}


def test_who_is_not_signed_in_is_told_so(services):
    assert code(browser(services).get(f"{API}/me")) == (401, "N001")


@pytest.mark.parametrize(
    "headers",
    [
        {"X-CSRF-Token": ""},
        {"X-CSRF-Token": "0" * 64},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_changes_by_pages_of_other_sites_are_refused(services, headers):
    client = signed_in(services, "owner")
    assert code(client.post(f"{API}/policies", json=POLICY, headers=headers)) == (403, "N009")
    assert client.get(f"{API}/policies").json()["items"] == []


def test_changes_by_pages_of_the_service_are_made(services):
    headers = {"Origin": services.settings.address, "Sec-Fetch-Site": "same-origin"}
    client = signed_in(services, "owner")
    assert client.post(f"{API}/policies", json=POLICY, headers=headers).status_code == 201


def test_callers_are_told_when_they_call_too_often(tmp_path):
    with service(tmp_path, calls_a_minute=3) as services:
        client = browser(services)
        text = CUSTOMER.read_bytes()
        answers = [client.post(f"{API}/policies:check", content=text) for _ in range(4)]
    assert [one.status_code for one in answers] == [200, 200, 200, 429]
    assert answers[-1].headers["retry-after"] == "60"


def test_the_cookie_is_for_the_service_alone(tmp_path):
    with service(tmp_path, public_url="https://data.example") as services:
        client = browser(services)
        secret = services.identities.new_link(services.identities.first_person())
        answer = client.get("/sign-in", params={"token": secret}, follow_redirects=False)
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-policy_engine_session=")
    assert {"HttpOnly", "Secure", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    assert answer.headers["strict-transport-security"]
