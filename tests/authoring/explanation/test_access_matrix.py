from building import permission, policy

from policy_engine.authoring.explanation import access_matrix
from policy_engine.authoring.explanation.access_matrix import MOST_PARTIES
from policy_engine.policy import load_policies, load_policy

ADA, BOB, VISIT = "http://x.org/ada", "http://x.org/bob", "http://x.org/Visit"


def matrix(*permissions, prohibitions=()):
    return access_matrix([load_policy(policy(permissions, prohibitions))])


def test_each_cell_is_decided_as_a_request_would_be():
    found = matrix(
        permission(assignee=ADA, target=VISIT, action="read"),
        permission(assignee=BOB, target=VISIT, action="print", purpose=None),
    )
    cells = {(row.action, row.purpose): row.cells for row in found.rows}
    assert found.assignees == (ADA, BOB)
    assert cells["odrl:read", "mosaicrown:marketing"] == {ADA: "permit", BOB: "deny"}
    assert cells["odrl:read", ""] == {ADA: "deny", BOB: "deny"}
    assert cells["odrl:print", ""] == {ADA: "deny", BOB: "permit"}


def test_a_prohibition_is_seen():
    rule = {"assignee": ADA, "target": VISIT, "action": "read"}
    found = matrix(permission(**rule, purpose=None), prohibitions=[rule])
    assert [row.cells for row in found.rows] == [{ADA: "deny"}]


def test_outputs_are_read_by_nobody_without_a_certificate():
    found = access_matrix(load_policies("policies/customer.jsonld"))
    outputs = [row for row in found.rows if row.target.endswith("anonCustomer")]
    assert [row.cells for row in outputs] == [{"http://org/user": "deny"}] * 2


def test_a_policy_of_many_parties_is_cut_and_says_so():
    rules = [
        permission(assignee=f"http://x.org/{i}", target=VISIT, action="read", purpose=None)
        for i in range(MOST_PARTIES + 1)
    ]
    found = matrix(*rules)
    assert (len(found.assignees), found.is_cut) == (MOST_PARTIES, True)
