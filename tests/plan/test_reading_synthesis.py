"""What a policy asks for of synthetic rows, read and planned without data."""

import json

import pytest
from building import DATASET, column, people_policy
from pydantic import ValidationError
from synthesising import attacking, synthesising

from policy_engine.errors import PlanError
from policy_engine.plan.making import make_plan
from policy_engine.plan.plan import Plan
from policy_engine.plan.products import check_plannable
from policy_engine.policy import read_policy

COLUMNS = ("age", "town")


def planned(*columns, engine="local", **more):
    return make_plan(read_policy(synthesising(*columns, **more)), engine=engine)


def problems(*columns, engine="local", **more):
    with pytest.raises(PlanError) as caught:
        planned(*columns, engine=engine, **more)
    return [(one.code, one.message) for one in caught.value.problems]


def test_a_plan_reads_drops_makes_up_and_publishes():
    plan = planned("town", "age", leafSize=50, identifier=["name"])
    assert [step.step for step in plan.steps] == ["read", "drop", "synthesise", "publish"]
    step = plan.require_synthesise()
    assert (step.columns, step.rows) == (("age", "town"), 100)
    assert (step.synthesiser.notation, step.synthesiser.leaf) == ("sequential-trees", 50)
    assert plan.columns == plan.publish.columns == ("age", "town")
    assert plan.drop.identifiers == ("name",)
    assert not plan.makes_rows
    assert [(one.name, one.column) for one in plan.bounds()] == [
        ("foreignCells", "age"),
        ("foreignCells", "town"),
    ]


def test_a_plan_is_the_same_from_its_json():
    plan = planned(*COLUMNS, leafSize=7)
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_the_column_of_persons_is_read_and_not_released():
    text = attacking(COLUMNS, auc=0.7, unit="person", identifier=["person", "name"])
    plan = make_plan(read_policy(text))
    assert plan.require_synthesise().columns == ("age", "town")
    assert plan.unit == "person"
    assert plan.columns == ("age", "town", "person")
    assert plan.publish.columns == ("age", "town")
    assert plan.drop.identifiers == ("person", "name")
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_columns_with_positions_are_drawn_first():
    named = [column("wage", position=2), "age", column("town", position=1), "zip"]
    assert planned(*named).require_synthesise().columns == ("town", "wage", "age", "zip")


@pytest.mark.parametrize(
    ("columns", "more", "expected"),
    [
        ((), {}, ("M002", "synthetic-data needs the parameter 'synthesised'.")),
        (COLUMNS, {"rows": None}, ("M002", "synthetic-data needs the parameter 'syntheticRows'.")),
        (COLUMNS, {"synthesiser": ""}, ("M002", "needs the parameter 'synthesiser'.")),
        (COLUMNS, {"rows": 0}, ("M003", "syntheticRows is not allowed to be 0.")),
        (COLUMNS, {"synthesiser": "trees"}, ("M003", "synthesiser is not allowed to be 'trees'.")),
        (COLUMNS, {"leafSize": 0}, ("M003", "leafSize is not allowed to be 0.")),
        (
            COLUMNS,
            {"synthesiser": "gaussian-copula", "leafSize": 5},
            ("M004", "gaussian-copula has no parameter 'leafSize'."),
        ),
        (COLUMNS, {"insensitive": ["zip"]}, ("M004", "no parameter 'insensitive'.")),
        (COLUMNS, {"privacyUnit": "name"}, ("M004", "no duty has the rows attacked")),
        (COLUMNS, {"privacyUnit": "age"}, ("M005", "'age' is both synthesised and privacyUnit.")),
        (COLUMNS, {"sampleShare": 0.1}, ("M004", "no parameter 'sampleShare'.")),
        (("age", "age"), {}, ("M005", "'age' is named 2 times.")),
        (
            COLUMNS,
            {"identifier": ["age"]},
            ("M005", "'age' is both synthesised and identifier. Identifiers are left out."),
        ),
        (
            (column("age", position=1), column("town", position=1)),
            {},
            ("M003", "Several columns have the position 1."),
        ),
        ((column("age", position=0),), {}, ("M003", "'age': position is not allowed to be 0.")),
        (({"@id": "http://x.org/Other/age"},), {}, ("M006", "is not a column of the target.")),
        (COLUMNS, {"method": ["synthetic-data", "masking"]}, ("M003", "beside other methods.")),
        (COLUMNS, {"engine": "spark"}, ("M009", "no method 'synthetic-data'.")),
    ],
)
def test_what_cannot_be_made_up_is_refused(columns, more, expected):
    found = problems(*columns, **more)
    code, message = expected
    assert any(one == code and message in text for one, text in found), found


def test_others_cannot_be_let_make_rows_up():
    facts = json.loads(synthesising(*COLUMNS))
    [rule] = facts["permission"]
    del rule["output"]
    rule["assigner"] = "http://x.org/owner"
    with pytest.raises(PlanError, match="synthetic rows others may make") as caught:
        check_plannable(read_policy(json.dumps(facts)))
    assert caught.value.code == "M018"


def test_synthetic_rows_are_of_one_dataset():
    facts = json.loads(synthesising(*COLUMNS))
    facts["permission"][0]["target"] = [DATASET, "http://x.org/Other"]
    with pytest.raises(PlanError) as caught:
        make_plan(read_policy(json.dumps(facts)))
    assert "M016" in [one.code for one in caught.value.problems]


def test_a_plan_of_others_makes_no_rows_up():
    with pytest.raises(PlanError, match="makes up no rows"):
        make_plan(read_policy(people_policy())).require_synthesise()
    with pytest.raises(PlanError, match="it makes others up"):
        planned(*COLUMNS).require_anonymize()


@pytest.mark.parametrize(
    "change",
    [
        {"columns": ["age", "age"]},
        {"unit": "age"},
        {"unit": "person"},
        {"columns": ["age"]},
        {"rows": 0},
        {"synthesiser": {"synthesiser": "trees"}},
        {"synthesiser": {"synthesiser": "sequential-trees", "leaf": 0}},
    ],
)
def test_no_other_plan_is_read_of_json(change):
    facts = json.loads(planned(*COLUMNS).model_dump_json())
    facts["steps"][2] |= change
    with pytest.raises(ValidationError):
        Plan.model_validate_json(json.dumps(facts))
