import pytest
from served import API, browser, code, service


def test_the_service_says_that_it_is_well(tmp_path):
    with service(tmp_path, runs_at_once=0) as services:
        client = browser(services)
        assert client.get("/healthz").json()["status"] == "ok"
        assert client.get("/readyz").status_code == 200


def test_a_database_that_does_not_answer_is_not_ready(services, monkeypatch):
    from sqlalchemy.exc import OperationalError

    def fail():
        raise OperationalError("SELECT 1", {}, Exception("gone"))

    monkeypatch.setattr(type(services.database), "reading", lambda _: fail())
    assert code(browser(services).get("/readyz")) == (503, "N013")


def test_the_document_of_the_api_is_of_its_current_version(services):
    document = browser(services).get(f"{API}/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    assert f"{API}/policies:check" in document["paths"]


@pytest.mark.parametrize("path", ["/", "/policies", "/runs/abc"])
def test_all_pages_are_one_document_that_loads_nothing_from_elsewhere(services, path):
    answer = browser(services).get(path)
    policy = answer.headers["content-security-policy"]
    assert answer.status_code == 200
    assert "default-src 'none'" in policy
    assert "http" not in policy


@pytest.mark.parametrize("path", [f"{API}/nothing", "/assets/nothing.js", "/assets/..%2fapp.py"])
def test_nothing_is_at_other_addresses(services, path):
    assert code(browser(services).get(path)) == (404, "N003")


def test_the_service_answers_to_its_own_names_alone(tmp_path):
    with service(tmp_path, public_url="https://data.example:8443") as services:
        client = browser(services)
        hosts = ("data.example", "127.0.0.1:8642", "evil.example")
        answers = [client.get("/healthz", headers={"Host": host}) for host in hosts]
    assert [one.status_code for one in answers] == [200, 200, 400]
