"""Several anonymisations in one policy: each for an audience, with an output of its own."""

import json

import pytest
from building import ANALYST, DATASET, anonymize, permission
from building import policy as policy_text

from policy_engine.errors import PlanError, PolicyEngineError
from policy_engine.modelling import products
from policy_engine.plan import make_plan
from policy_engine.policy import read_policy

PUBLIC = "http://x.org/public"
FEW, MANY = "http://x.org/ForResearch", "http://x.org/ForPublic"


def makes(output, assignee=ANALYST, k=2, name="", target=DATASET, **parts):
    """Return a permission to anonymise a table of people with their k, for somebody."""
    asked = {"method": "k-anonymity", "k": k, "quasi": ["age", "city"], "insensitive": ["disease"]}
    asked |= parts.pop("asked", {})
    rule = {"uid": f"http://x.org/policy#{name or output.rpartition('/')[2]}", "output": output}
    made = permission(action=anonymize(**asked), assignee=assignee, purpose=None, **rule, **parts)
    return json.loads(json.dumps(made).replace(DATASET, target))


TWO = (makes(FEW), makes(MANY, PUBLIC, k=3))


def read(*rules, prohibitions=(), **parts):
    return read_policy(policy_text([*rules], prohibitions, **parts))


def test_each_audience_has_a_plan_of_its_own():
    made = read(*TWO)
    assert [one.asset for one in products(made)] == [FEW, MANY]
    few, many = (make_plan(made, asset=one) for one in (FEW, MANY))
    assert (few.publish.asset, few.anonymize.k, few.assignees) == (FEW, 2, (ANALYST,))
    assert (many.publish.asset, many.anonymize.k, many.assignees) == (MANY, 3, (PUBLIC,))


def test_which_output_is_meant_has_to_be_said_where_there_are_several():
    for asset, what in (("", f"2 outputs: '{FEW}' and '{MANY}'"), (f"{FEW}s", "Did you mean")):
        with pytest.raises(PlanError, match="M007") as error:
            make_plan(read(*TWO), asset=asset)
        assert what in str(error.value)


WRONG = {
    "one output": (makes(FEW), makes(FEW, name="again")),
    "an output within another": (makes(FEW), makes(f"{FEW}/age")),
    "an output of an output": (makes(FEW), makes(MANY, target=FEW)),
    "an output of a column of one": (makes(FEW), makes(MANY, target=f"{FEW}/age")),
}


@pytest.mark.parametrize("case", WRONG)
def test_outputs_that_are_not_apart_are_refused_with_both_places(case):
    with pytest.raises(PolicyEngineError, match="M007") as error:
        products(read(*WRONG[case]))
    [problem] = [one for one in error.value.problems if one.code == "M007"]
    assert problem.place.line > 20
    assert "ForResearch (line " in problem.message


def test_an_output_that_is_said_to_be_in_another_is_refused():
    inside = {"@id": FEW, "partOf": MANY}
    text = json.loads(policy_text([*TWO]))
    text["permission"][1]["target"] = DATASET
    text["permission"].append({"target": inside, "action": "read", "assignee": ANALYST})
    with pytest.raises(PlanError, match="M007"):
        products(read_policy(json.dumps(text)))


def test_what_is_wrong_with_each_is_told_at_once():
    bad = {"quasi": ["age", "age"]}
    with pytest.raises(PlanError) as error:
        products(read(makes(FEW, asked=bad), makes(MANY, asked=bad)))
    assert [one.code for one in error.value.problems] == ["M005", "M005"]


def test_a_prohibition_of_one_audience_forbids_what_is_made_for_that():
    forbids = {"target": DATASET, "action": "anonymize", "assignee": PUBLIC}
    with pytest.raises(PlanError, match="M008") as error:
        products(read(*TWO, prohibitions=[forbids]))
    [problem] = error.value.problems
    assert "#ForPublic permits" in problem.message
