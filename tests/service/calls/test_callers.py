import pytest
from served import API, CUSTOMER, browser, code, service, signed_in

from policy_engine.service.calls.rates import RateLimit
from policy_engine.service.calls.turns import CallTurns
from policy_engine.service.identity.secrets import digest_of

POLICY = {"name": "customers", "text": "{}"}


def test_who_is_not_signed_in_is_told_so(services):
    assert code(browser(services).get(f"{API}/me")) == (401, "N001")


@pytest.mark.one_in(2)
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


def test_who_is_signed_in_has_texts_checked_whatever_others_at_their_address_do(tmp_path):
    with service(tmp_path, calls_a_minute=6) as services:
        text, path = CUSTOMER.read_bytes(), f"{API}/policies:check"
        own, nobody = signed_in(services, "owner"), browser(services)
        forged = {"Authorization": "Bearer pe_none_such"}
        for headers in ({}, forged, {}, forged, {}, forged):
            nobody.post(path, content=text, headers=headers)
        assert code(nobody.post(path, content=text)) == (429, "N006")
        assert code(nobody.post(path, content=text, headers=forged)) == (429, "N006")
        assert own.post(path, content=text).status_code == 200


def test_texts_are_checked_in_turns_of_persons_and_not_of_addresses(services, monkeypatch):
    callers, carry_out = [], CallTurns.carry_out

    def counted(turns, caller, *work):
        callers.append(caller)
        return carry_out(turns, caller, *work)

    monkeypatch.setattr(CallTurns, "carry_out", counted)
    path = f"{API}/policies:check"
    people = [signed_in(services, "owner", name=one) for one in ("Ada", "Bob")]
    for number, client in enumerate((*people, browser(services))):
        client.post(path, content=f"{{{number}".encode())
    ids = [one.get(f"{API}/me").json()["id"] for one in people]
    assert callers == [*ids, "testclient"]


def test_new_texts_by_a_key_are_those_of_its_person_while_it_holds(services, monkeypatch):
    turns, spent, carry_out, spend = [], [], CallTurns.carry_out, RateLimit.spend

    def counted(self, caller, *work):
        turns.append(caller)
        return carry_out(self, caller, *work)

    def noted(self, caller):
        spent.append(caller)
        spend(self, caller)

    path, ada = f"{API}/policies:check", signed_in(services, "owner")
    made = ada.post(f"{API}/keys", json={"name": "editor", "roles": ["owner"]}).json()
    client, headers = browser(services), {"Authorization": f"Bearer {made['key']}"}
    person = client.get(f"{API}/me", headers=headers).json()["id"]
    monkeypatch.setattr(CallTurns, "carry_out", counted)
    monkeypatch.setattr(RateLimit, "spend", noted)
    assert not client.post(path, content=b"{1", headers=headers).json()["valid"]
    assert (turns, spent) == ([person], [digest_of(made["key"])])
    ada.delete(f"{API}/keys/{made['id']}")
    spent.clear()
    for text in (b"{2", b"{3"):
        assert not client.post(path, content=text, headers=headers).json()["valid"]
    assert turns[-1] == "testclient"
    assert spent.count("testclient") == 2


def test_the_cookie_is_for_the_service_alone(tmp_path):
    with service(tmp_path, public_url="https://data.example") as services:
        client = browser(services)
        secret = services.identities.new_link(services.identities.first_person())
        answer = client.get("/sign-in", params={"token": secret}, follow_redirects=False)
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-policy_engine_session=")
    assert {"HttpOnly", "Secure", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    assert answer.headers["strict-transport-security"]
