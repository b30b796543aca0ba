import pytest
from building import anonymize, modules_loaded_by, permission, policy, refinement
from places import POLICIES

from policy_engine.errors import PlanError
from policy_engine.plan.products import asks_for_data, check_plannable, trainings
from policy_engine.policy import read_policy

PEOPLE, TABLE, MODEL = (f"http://x.org/{name}" for name in ("People", "anonPeople", "model"))
SANITISED = permission(
    action=anonymize(method="k-anonymity", k=2, quasi=["age", "city"], sensitive=["disease"]),
    output=TABLE,
)
TRAINED = permission(
    uid="http://x.org/train",
    target=TABLE,
    action={
        "rdf:value": {"@id": "pe:train"},
        "refinement": [refinement("pe:label", f"{PEOPLE}/disease")],
    },
    output=MODEL,
)
AUDITED = permission(
    uid="http://x.org/use",
    target=MODEL,
    action="use",
    duty={"action": "pe:membershipInference"},
)


def test_what_asks_for_data_is_a_transformation_or_a_training():
    assert not asks_for_data(read_policy(policy([permission(action="read"), AUDITED])))
    assert asks_for_data(read_policy(policy([SANITISED])))
    raw = read_policy(policy([{**TRAINED, "target": PEOPLE}]))
    assert asks_for_data(raw)
    assert [rule.output for rule, _ in trainings(raw)] == [MODEL]


def test_a_policy_that_has_nothing_made_is_fine_whatever_it_has_audited():
    check_plannable(read_policy(policy([permission(action="read"), AUDITED])))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("name", "trains"), [("customer", False), ("model-release", True)])
def test_how_models_are_trained_is_loaded_for_policies_that_have_them_trained(name, trains):
    file = POLICIES / f"{name}.jsonld"
    loaded = modules_loaded_by("validate", str(file), cwd=POLICIES)
    assert ("policy_engine.plan.training" in loaded) == trains


def test_a_policy_that_only_grants_access_has_nothing_to_check():
    check_plannable(read_policy(policy([permission(action="read")])))


def test_outputs_that_overlap_are_told_in_the_order_of_their_rules():
    outputs = [f"{TABLE}/part", "http://x.org/other", TABLE, "http://x.org/other"]
    rules = [
        {**SANITISED, "uid": f"http://x.org/{number}", "output": output}
        for number, output in enumerate(outputs)
    ]
    with pytest.raises(PlanError) as caught:
        check_plannable(read_policy(policy(rules)))
    overlap, same = (one.message for one in caught.value.problems)
    assert overlap.startswith(f"The output {TABLE!r} of ")
    assert f" overlaps {TABLE + '/part'!r}, the output of " in overlap
    assert same.startswith("The output 'http://x.org/other' of ")
