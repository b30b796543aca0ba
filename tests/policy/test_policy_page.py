from places import POLICIES

from policy_engine import load_policy

TEXT = """policy: http://ex.com/p
permission:
  - {target: http://ex.com/T, assignee: http://ex.com/Ann, action: read, purpose: dpv:Marketing,
     constraint: {count: {lteq: 3}}, duty: [{action: inform}]}
prohibition:
  - {target: http://ex.com/T, action: distribute}
"""


def test_a_notebook_shows_each_rule_of_a_policy():
    page = load_policy(POLICIES / "customer.jsonld")._repr_html_()
    assert "<caption>http://example.com/policy/customer (Set)</caption>" in page
    assert page.count("<tr>") == 2
    assert "k = 10, l = 3" in page
    assert "Customer<br>→ anonCustomer" in page


def test_conditions_and_duties_stand_with_their_rule():
    page = load_policy(TEXT)._repr_html_()
    assert "<td>Ann</td><td>read</td><td>T</td><td>dpv:Marketing</td>" in page
    assert "<td>count ≤ 3<br>duty: inform</td>" in page
    assert '<th scope="row">prohibition</th><td>anybody</td><td>distribute</td>' in page
