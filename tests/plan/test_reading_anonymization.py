import pytest
from building import OUTPUT, anonymize, people_policy, permission, policy

from policy_engine.errors import PlanError
from policy_engine.plan.making import make_plan
from policy_engine.policy import read_policy


def test_every_problem_of_a_transformation_is_told_at_once():
    action = anonymize(method="l-diversity", k=1, l=5, quasi=["age"], identifier=["age"])
    read = read_policy(policy([permission(action=action, output=OUTPUT)]))
    with pytest.raises(PlanError) as caught:
        make_plan(read)
    assert {problem.code for problem in caught.value.problems} == {"M002", "M003", "M005"}
    assert all(problem.place.line for problem in caught.value.problems)


@pytest.mark.parametrize(
    ("conflict", "code"), [("prohibit", "M008"), ("perm", None)], ids=["prohibit", "perm"]
)
def test_a_prohibition_forbids_the_transformation_unless_permissions_win(conflict, code):
    ban = permission(action="use", assignee=None)
    read = read_policy(people_policy(prohibition=[ban], conflict=conflict))
    if code is None:
        make_plan(read)
        return
    with pytest.raises(PlanError, match=code):
        make_plan(read)
