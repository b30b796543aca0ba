import datetime as dt
import ipaddress
import ssl
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from policy_engine.data.places.web_files import fetch_web_file
from policy_engine.errors import DataError

ROWS = b"name\nAnn\n"


class _Site(BaseHTTPRequestHandler):
    def do_GET(self):
        path = self.path.partition("?")[0]
        answers = {
            "/a.csv": (200, {"Content-Length": str(len(ROWS))}, ROWS),
            "/short.csv": (200, {"Content-Length": "99"}, ROWS),
            "/open.csv": (200, {}, ROWS),
            "/moved.csv": (302, {"Location": "/a.csv"}, b""),
            "/plain.csv": (302, {"Location": "http://127.0.0.1:1/a.csv"}, b""),
            "/denied.csv": (403, {}, b"secret"),
        }
        status, headers, body = answers.get(path, (404, {}, b""))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    def get_request(self):
        plain, address = super().get_request()
        # Shakes hands when it is first read: what fails then is closed as any other connection.
        wrapped = self.context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
        return wrapped, address

    def handle_error(self, *_):
        """Say nothing."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Return the file of a key and of a certificate that it signed for this machine."""
    key, now = ec.generate_private_key(ec.SECP256R1()), dt.datetime.now(dt.UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(here, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    form, lock = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path = tmp_path_factory.mktemp("keys") / "site.pem"
    path.write_bytes(key.private_bytes(pem, form, lock) + made.public_bytes(pem))
    return path


@pytest.fixture
def site(certificate):
    """Return the URL of a server with https on this machine."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with _Server(("127.0.0.1", 0), _Site) as server:
        server.context = context
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture
def trusted(certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("name", ["a.csv", "open.csv", "moved.csv", "a.csv?signature=secret"])
def test_a_file_is_fetched_as_it_is(site, name, tmp_path):
    fetch_web_file(f"{site}/{name}", tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_bytes() == ROWS


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("none.csv", "C002", "it answers 404"),
        ("denied.csv", "C019", "it answers 403"),
        ("short.csv", "C019", "ended before all of the file was sent"),
        ("plain.csv", "C019", "without https"),
    ],
)
def test_what_is_not_given_whole_and_safely_is_refused(site, name, code, message, tmp_path):
    with pytest.raises(DataError, match=f"{code} .*{message}") as caught:
        fetch_web_file(f"{site}/{name}?signature=secret", tmp_path / "a.csv")
    assert "secret" not in str(caught.value)


def test_a_certificate_that_nobody_trusts_is_refused(site, tmp_path):
    with pytest.raises(DataError, match=r"C019 .*its certificate is not trusted"):
        fetch_web_file(f"{site}/a.csv", tmp_path / "a.csv")


@pytest.mark.parametrize("url", ["https://127.0.0.1:1/a.csv", "https://ann:secret@h/a.csv"])
def test_nothing_that_answers_and_no_password_is_told(url, tmp_path):
    with pytest.raises(DataError, match="C019") as caught:
        fetch_web_file(url, tmp_path / "a.csv")
    assert "secret" not in str(caught.value)
