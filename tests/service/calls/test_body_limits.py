import pytest
from served import API, browser, code, service, signed_in

from policy_engine.service.calls import body_limits


@pytest.mark.parametrize("body", [b"{" * 1001, iter([b"{" * 600, b"{" * 600])])
def test_bodies_beyond_the_limit_are_refused(tmp_path, body):
    with service(tmp_path, largest_body=1000) as services:
        answer = browser(services).post(f"{API}/policies:check", content=body)
    assert code(answer) == (413, "N008")


def test_a_length_that_is_no_number_is_counted_as_it_comes(tmp_path):
    with service(tmp_path, largest_body=1000) as services:
        client = browser(services)
        headers = {"Content-Length": "many"}
        answer = client.post(f"{API}/policies:check", content=b"{" * 1001, headers=headers)
    assert code(answer) == (413, "N008")


def test_an_archive_of_outputs_may_be_larger_and_has_a_limit_too(tmp_path, monkeypatch):
    monkeypatch.setattr(body_limits, "LARGEST_ARCHIVE", 2000)
    with service(tmp_path, largest_body=1000) as services:
        client = signed_in(services, "consumer")
        path = f"{API}/reviews?dataset=http://example.com/T"
        assert code(client.post(path, content=b"x" * 1500)) == (404, "N003")
        assert code(client.post(path, content=b"x" * 2001)) == (413, "N008")
        assert code(client.post(f"{API}/queries", content=b"x" * 1500)) == (413, "N008")
