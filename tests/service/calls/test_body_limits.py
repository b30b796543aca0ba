import pytest
from served import API, browser, code, service


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
