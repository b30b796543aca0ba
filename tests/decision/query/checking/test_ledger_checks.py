"""Whose earlier answers an answer is checked against."""

import pyarrow as pa
import pytest
from output_checked import TABLE, policy_with

from policy_engine.api.deciding import query_data
from policy_engine.decision.query.checking.ledger_checks import scope_keys
from policy_engine.policy import Hierarchy

ANN, BEN, LAB = "http://e.org/ann", "http://e.org/ben", "http://e.org/lab"
PEOPLE = pa.table({"person": [*range(60)]})
MEMBERS = [{"@id": ANN, "belongsTo": LAB}, {"@id": BEN, "belongsTo": LAB}]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("scope", "is_shared"),
    [("organisation", True), ("dataset", True), ("project", True), ("assignee", False)],
)
def test_members_of_an_organisation_in_the_policy_share_what_they_were_told(
    tmp_path, scope, is_shared
):
    """Ann asks about forty persons, and Ben about all of them but one."""
    checked = ("pe:outputCheck", "eq", "sacro"), ("pe:ledgerScope", "eq", scope)
    policy, ledger = policy_with(*checked, assignee=MEMBERS), tmp_path / "answers"

    def ask(assignee, sql):
        data = {TABLE: PEOPLE}
        purpose = "http://e.org/study"
        return query_data(sql, [policy], assignee, data, purpose, output_ledger=ledger)

    assert ask(ANN, "SELECT COUNT(*) AS n FROM T WHERE person < 40").permitted
    others = ask(BEN, "SELECT COUNT(*) AS n FROM T WHERE person < 39")
    assert others.permitted != is_shared
    assert others.checked.codes == (("K049",) if is_shared else ())


def test_organisations_are_all_that_a_party_belongs_to_and_itself():
    edges = ((ANN, LAB), (LAB, "http://e.org/university"))
    keys = scope_keys("organisation", ANN, "", TABLE, Hierarchy(party=edges))
    assert keys == (f"organisation:{ANN}", f"organisation:{LAB}", f"organisation:{edges[1][1]}")


def test_who_asks_for_no_project_is_one_of_their_own():
    assert scope_keys("project", ANN, "", TABLE, Hierarchy()) == (f"assignee:{ANN}",)
