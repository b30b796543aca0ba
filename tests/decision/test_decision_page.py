from policy_engine import decide_request, load_policy, read_request

TEXT = """policy: http://ex.com/p
target: http://ex.com/T
assignee: http://ex.com/Ann
action: read
"""


def decided(who):
    policy = load_policy(TEXT)
    return decide_request([policy], [], read_request(who, "read", ["http://ex.com/T"]))


def test_a_notebook_shows_why_a_request_is_permitted():
    page = decided("http://ex.com/Ann")._repr_html_()
    assert "<caption>permit: " in page
    assert '<th scope="row">because</th>' in page
    assert '<th scope="row">does</th><td>odrl:read</td>' in page
    assert '<th scope="row">for</th><td>no purpose</td>' in page


def test_a_denial_names_the_request():
    page = decided("http://ex.com/Bob")._repr_html_()
    assert "<caption>deny: " in page
    assert '<th scope="row">who</th><td>http://ex.com/Bob</td>' in page
