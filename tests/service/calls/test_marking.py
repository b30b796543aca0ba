import logging

from served import API, browser


def test_the_log_has_no_secret_of_a_call(services, caplog):
    with caplog.at_level(logging.INFO, "policy_engine.service.access"):
        answer = browser(services).get("/sign-in", params={"token": "very-secret"})
    assert answer.headers["x-request-id"] in caplog.text
    assert "GET /sign-in 401" in caplog.text
    assert "very-secret" not in caplog.text


def test_a_path_cannot_write_lines_of_its_own(services, caplog):
    with caplog.at_level(logging.INFO, "policy_engine.service.access"):
        browser(services).get("/a%0aforged%20line")
    assert len(caplog.messages) == 1
    assert "\n" not in caplog.messages[0]


def test_answers_of_the_api_are_not_kept_nor_shown_as_pages(services):
    headers = browser(services).get(f"{API}/me").headers
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in headers["content-security-policy"]
