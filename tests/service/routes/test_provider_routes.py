"""Signing in at a provider of identities, which the tests stand in for over real sockets."""

import base64
import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from served import API, browser, code, service, signed_in

jwt = pytest.importorskip("jwt", reason="PyJWT is not installed")

CLIENT, SECRET = "policy-engine", "s3cret&="
START, CALLBACK = "/sign-in/provider", "/sign-in/provider/callback"
KEY, STRANGER = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in "12")


class StandIn(ThreadingHTTPServer):
    """A provider with one person, Ada, who agrees to everything; `change` alters her token."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answering)
        self.issuer = f"http://127.0.0.1:{self.server_port}"
        self.signing, self.algorithm, self.number = KEY, "RS256", "1"
        self.asked, self.change, self.document, self.key_reads = {}, {}, {}, 0

    def redirect(self, address):
        """Return what a browser comes back with from an address that it was sent to."""
        self.asked = {name: value for name, [value] in parse_qs(urlsplit(address).query).items()}
        return {"code": "c0de", "state": self.asked["state"]}

    def token(self):
        now = int(time.time())
        claims = {"iss": self.issuer, "sub": "ada-1", "aud": CLIENT, "iat": now, "exp": now + 60}
        claims |= {"nonce": self.asked["nonce"], "email": "ada@example.com", **self.change}
        claims = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(claims, self.signing, self.algorithm, {"kid": self.number})

    def keys(self):
        self.key_reads += 1
        known = jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key(), as_dict=True)
        return {"keys": [{**known, "kid": self.number, "use": "sig"}]}


class Answering(BaseHTTPRequestHandler):
    def do_GET(self):
        place = self.server.issuer
        names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        document = {"issuer": place} | {one: f"{place}/{one}" for one in names}
        is_for_keys = self.path == "/jwks_uri"
        self.answer(
            200, self.server.keys() if is_for_keys else {**document, **self.server.document}
        )

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        given = {name: value for name, [value] in parse_qs(body).items()}
        digest = hashlib.sha256(given["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        pair = base64.b64decode(self.headers["authorization"].split()[1]).decode()
        asked = self.server.asked
        wanted = ("c0de", asked["code_challenge"], f"{CLIENT}:s3cret%26%3D", asked["redirect_uri"])
        is_right = (given["code"], challenge, pair, given["redirect_uri"]) == wanted
        self.answer(200 if is_right else 400, {"id_token": self.server.token()})

    def answer(self, status, value):
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def provider():
    with StandIn() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def named(tmp_path, provider):
    """Settings that name the provider."""
    for name in ("kept", "other"):
        (tmp_path / name).mkdir()
    secret = tmp_path / "secret"
    secret.write_text(f"{SECRET}\n")
    named = {"oidc_issuer": provider.issuer, "oidc_client": CLIENT, "oidc_secret": secret}
    return {**named, "public_url": "http://127.0.0.1:8642"}


@pytest.fixture
def services(tmp_path, named):
    with service(tmp_path / "kept", **named) as opened:
        yield opened


@pytest.fixture
def administrator(services):
    return signed_in(services, "administrator", name="Root")


@pytest.fixture
def ada(administrator):
    """A person whom an administrator has made known by what the provider calls her."""
    return made_known(administrator, "ada-1")


def made_known(administrator, subject):
    given = {"name": "Ada", "roles": ["auditor"], "subject": subject}
    answer = administrator.post(f"{API}/people", json=given)
    assert answer.status_code == 201, answer.text
    return answer


def come_back(client, provider, **change):
    """Go to the provider and come back; return the last answer."""
    away = client.get(START, follow_redirects=False)
    assert away.status_code == 303
    given = provider.redirect(away.headers["location"])
    return client.get(CALLBACK, params={**given, **change}, follow_redirects=False)


@pytest.mark.usefixtures("ada")
def test_who_an_administrator_made_known_signs_in(services, provider):
    client = browser(services)
    answer = come_back(client, provider)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert client.get(f"{API}/me").json()["name"] == "Ada"
    assert "policy_engine_provider" not in client.cookies
    asked = provider.asked
    assert asked["code_challenge_method"] == "S256"
    assert asked["redirect_uri"] == f"http://127.0.0.1:8642{CALLBACK}"
    assert len({asked["state"], asked["nonce"], asked["code_challenge"]}) == 3


def test_who_is_not_known_here_or_has_left_does_not_sign_in(services, provider, administrator):
    assert code(come_back(browser(services), provider)) == (401, "N010")
    made = made_known(administrator, "ada-1")
    tag = {"If-Match": made.headers["etag"]}
    path = f"{API}/people/{made.json()['id']}"
    assert administrator.patch(path, json={"is_active": False}, headers=tag).status_code == 200
    assert code(come_back(browser(services), provider)) == (401, "N010")


@pytest.mark.usefixtures("ada")
def test_a_browser_that_did_not_begin_is_not_signed_in(services, provider):
    first, other = browser(services), browser(services)
    stolen = provider.redirect(first.get(START, follow_redirects=False).headers["location"])
    assert code(other.get(CALLBACK, params=stolen)) == (401, "N010")
    other.get(START, follow_redirects=False)
    assert code(other.get(CALLBACK, params=stolen)) == (401, "N010")


CHANGES = [
    {"state": "guess"},
    {"state": ""},
    {"code": ""},
    {"code": "wr0ng"},
    {"iss": "https://e.org"},
]


@pytest.mark.usefixtures("ada")
def test_what_comes_back_is_what_was_asked_for(services, provider):
    for change in CHANGES:
        assert code(come_back(browser(services), provider, **change)) == (401, "N010")


TOKENS = [
    {"nonce": "another"},
    {"nonce": None},
    {"aud": "another"},
    {"aud": [CLIENT, "another"], "azp": "another"},
    {"iss": "https://elsewhere.example"},
    {"exp": 1_700_000_000, "iat": 1_600_000_000},
    {"exp": None},
    {"sub": "eve"},
]


@pytest.mark.usefixtures("ada")
def test_a_token_that_says_anything_else_signs_nobody_in(services, provider):
    for change in TOKENS:
        provider.change = change
        assert code(come_back(browser(services), provider)) == (401, "N010")


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize(
    ("signing", "algorithm"), [(None, "none"), (b"k" * 64, "HS256"), (STRANGER, "RS256")]
)
def test_a_token_that_is_not_the_providers_signs_nobody_in(services, provider, signing, algorithm):
    provider.signing, provider.algorithm = signing, algorithm
    assert code(come_back(browser(services), provider)) == (401, "N010")


@pytest.mark.usefixtures("ada")
def test_keys_that_change_are_read_again_but_not_for_every_token(services, provider, monkeypatch):
    assert come_back(browser(services), provider).status_code == 303
    assert come_back(browser(services), provider).status_code == 303
    assert provider.key_reads == 1
    provider.number = "2"
    assert code(come_back(browser(services), provider)) == (401, "N010")
    assert provider.key_reads == 1
    monkeypatch.setattr("policy_engine.service.identity.providers._FRESH", 0.0)
    assert come_back(browser(services), provider).status_code == 303


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "document",
    [{"issuer": "https://elsewhere.example"}, {"authorization_endpoint": "http://e.org/a"}],
)
def test_a_provider_that_cannot_be_trusted_is_not_gone_to(services, provider, document):
    provider.document = document
    assert code(browser(services).get(START)) == (503, "N013")


def test_a_subject_is_one_persons_alone(administrator, ada):
    given = {"name": "Eve", "roles": [], "subject": "ada-1"}
    assert code(administrator.post(f"{API}/people", json=given)) == (409, "N004")
    path, tag = f"{API}/people/{ada.json()['id']}", {"If-Match": ada.headers["etag"]}
    changed = administrator.patch(path, json={"subject": ""}, headers=tag)
    assert changed.json()["subject"] == ""
    assert administrator.post(f"{API}/people", json=given).json()["subject"] == "ada-1"


def test_an_address_counts_once_it_is_verified(tmp_path, named, provider):
    with service(tmp_path / "kept", **named, oidc_claim="email") as services:
        made_known(signed_in(services, "administrator", name="Root"), "ada@example.com")
        assert code(come_back(browser(services), provider)) == (401, "N010")
        provider.change = {"email_verified": True}
        assert come_back(browser(services), provider).status_code == 303
        assert provider.asked["scope"] == "openid email"


def test_a_browser_is_told_by_the_pages_that_it_was_refused(services, provider):
    client = browser(services)
    client.headers["Accept"] = "text/html"
    assert come_back(client, provider).headers["location"] == "/?provider=refused"


def test_without_a_provider_there_is_no_way_by_it(tmp_path, services):
    assert browser(services).get(f"{API}/sign-in").json() == {"provider": "127.0.0.1"}
    with service(tmp_path / "other") as other:
        assert browser(other).get(f"{API}/sign-in").json() == {"provider": ""}
        assert code(browser(other).get(START)) == (404, "N003")
        root = signed_in(other, "administrator", name="Root")
        given = {"name": "Ada", "roles": [], "subject": "ada-1"}
        assert code(root.post(f"{API}/people", json=given)) == (409, "N004")
