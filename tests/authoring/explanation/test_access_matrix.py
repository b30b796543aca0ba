from building import permission, policy

from policy_engine.authoring.explanation import access_matrix
from policy_engine.authoring.explanation.access_matrix import ANYBODY_ELSE, MOST_PARTIES
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
    assert found.assignees == (ADA, BOB, ANYBODY_ELSE)
    assert [*cells["odrl:read", "mosaicrown:marketing"].values()] == ["permit", "deny", "deny"]
    assert [*cells["odrl:read", ""].values()] == ["deny", "deny", "deny"]
    assert [*cells["odrl:print", ""].values()] == ["deny", "permit", "deny"]


def test_a_prohibition_is_seen():
    rule = {"assignee": ADA, "target": VISIT, "action": "read"}
    found = matrix(permission(**rule, purpose=None), prohibitions=[rule])
    assert [row.cells for row in found.rows] == [{ADA: "deny", ANYBODY_ELSE: "deny"}]


def test_a_rule_that_names_nobody_is_for_anybody():
    found = matrix(permission(assignee=None, target=VISIT, action="read", purpose=None))
    assert [row.cells for row in found.rows] == [{ANYBODY_ELSE: "permit"}]


def test_what_depends_on_more_than_is_known_is_conditional():
    limited = {"leftOperand": "count", "operator": "lteq", "rightOperand": 3}
    found = matrix(
        permission(assignee=ADA, target=VISIT, action="read", purpose=None, constraint=[limited])
    )
    assert [row.cells[ADA] for row in found.rows] == ["conditional"]


def test_outputs_are_read_once_they_are_certified_and_by_whom_their_rule_names():
    found = access_matrix(load_policies("policies/customer.jsonld"))
    outputs = [row for row in found.rows if row.target.endswith("anonCustomer")]
    assert {row.purpose: [*row.cells.values()] for row in outputs} == {
        "": ["deny", "deny"],
        "mosaicrown:marketing": ["conditional", "deny"],
    }


def test_a_policy_of_many_parties_is_cut_and_says_so():
    rules = [
        permission(assignee=f"http://x.org/{i}", target=VISIT, action="read", purpose=None)
        for i in range(MOST_PARTIES + 1)
    ]
    found = matrix(*rules)
    assert (len(found.assignees), found.is_cut) == (MOST_PARTIES + 1, True)
