import pytest
from served import browser, code

from policy_engine.service.calls.hosts import host_name


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("localhost:8642", "localhost"),
        ("Data.Example", "data.example"),
        ("[::1]:8642", "::1"),
        ("[::1]", "::1"),
        ("::1", "::1"),
        ("", ""),
    ],
)
def test_a_name_is_without_its_port(host, name):
    assert host_name(host) == name


def test_by_another_name_the_service_answers_with_a_problem(services):
    answer = browser(services).get("/api/v1/me", headers={"Host": "evil.example"})
    assert code(answer) == (400, "N007")
    assert answer.headers["content-type"] == "application/problem+json"
    assert browser(services).get("/healthz", headers={"Host": "[::1]:8642"}).status_code == 200
