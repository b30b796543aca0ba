"""What a policy asks for of a generator that is released itself, read and planned without data."""

import json

import pytest
from building import DATASET, OUTPUT, anonymize, column, permission, refinement
from pydantic import ValidationError
from synthesising import MODEL, attacking, training

from policy_engine.errors import PlanError, PolicyError
from policy_engine.methods.generative import DEFAULT_ATTACKS, OF_MODELS
from policy_engine.plan.making import make_plan
from policy_engine.plan.plan import Plan
from policy_engine.policy import read_policy

COLUMNS = ("age", "town")


def planned(*columns, engine="local", **more):
    return make_plan(read_policy(training(*columns, **more)), engine=engine)


def problems(*columns, engine="local", **more):
    with pytest.raises(PlanError) as caught:
        planned(*columns, engine=engine, **more)
    return [(one.code, one.message) for one in caught.value.problems]


def test_a_plan_reads_drops_trains_attacks_and_publishes():
    plan = planned("town", "age", leafSize=50)
    steps = [step.step for step in plan.steps]
    assert steps == ["read", "drop", "train-generator", "synthetic-audit", "publish"]
    step = plan.train_generator
    assert (step.columns, step.output, step.rows_measured) == (("age", "town"), MODEL, 100_000)
    assert (step.synthesiser.notation, step.synthesiser.leaf) == ("sequential-trees", 50)
    assert plan.releases_model
    assert not plan.makes_rows
    assert plan.publish.asset == MODEL
    assert [(one.name, one.column) for one in plan.bounds()] == [
        ("foreignCells", "age"),
        ("foreignCells", "town"),
    ]


def test_a_plan_is_the_same_from_its_json():
    plan = planned(*COLUMNS, leafSize=7)
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_a_plan_without_attacks_is_none():
    facts = json.loads(planned(*COLUMNS).model_dump_json())
    facts["steps"] = [one for one in facts["steps"] if one["step"] != "synthetic-audit"]
    with pytest.raises(ValidationError):
        Plan.model_validate(facts)


def test_persons_are_told_apart_and_not_made_up():
    unit = refinement("pe:privacyUnit", f"{DATASET}/name")
    plan = planned(*COLUMNS, more=[unit])
    assert plan.unit == plan.train_generator.unit == "name"
    assert (plan.columns, plan.publish.columns) == (("age", "town", "name"), ("age", "town"))
    assert plan.drop.identifiers == ("name",)
    found = problems("age", "name", more=[unit])
    assert found == [
        ("M005", "'name' is both synthesised and privacyUnit. Persons are not published.")
    ]


def test_columns_with_positions_are_drawn_first_and_change_what_the_policy_is():
    named = [column("wage", position=2), "age", column("town", position=1)]
    assert planned(*named).train_generator.columns == ("town", "wage", "age")
    others = [column("wage", position=1), "age", column("town", position=2)]
    digests = {read_policy(training(*some)).digest for some in (named, others)}
    assert len(digests) == 2


def test_the_model_is_attacked_by_its_own_density_unless_attacks_are_named():
    [audit] = planned(*COLUMNS).synthetic_audits
    assert audit.method.attacks == (*DEFAULT_ATTACKS, *OF_MODELS)
    [audit] = planned(*COLUMNS, duty={"auc": 0.9, "attack": ["model-density"]}).synthetic_audits
    assert audit.method.attacks == ("model-density",)


@pytest.mark.parametrize(
    ("columns", "more", "expected"),
    [
        ((), {}, ("M002", "pe:train needs the parameter 'synthesised'.")),
        (COLUMNS, {"synthesiser": ""}, ("M002", "pe:train needs the parameter 'synthesiser'.")),
        (COLUMNS, {"synthesiser": "trees"}, ("M003", "synthesiser is not allowed to be 'trees'.")),
        (COLUMNS, {"leafSize": 0}, ("M003", "leafSize is not allowed to be 0.")),
        (
            COLUMNS,
            {"synthesiser": "gaussian-copula", "leafSize": 5},
            ("M004", "gaussian-copula has no parameter 'leafSize'."),
        ),
        (COLUMNS, {"label": f"{DATASET}/wage"}, ("M012", "A model predicts a pe:label, or is a")),
        (COLUMNS, {"model": "network"}, ("M012", "Given: pe:model of a generator.")),
        (COLUMNS, {"trainingShare": 0.1}, ("M012", "Given: pe:trainingShare of a generator.")),
        (("age", "age"), {}, ("M005", "'age' is named 2 times.")),
        (({"@id": "http://x.org/Other/age"},), {}, ("M006", "is not a column of the target.")),
        (COLUMNS, {"duty": {}}, ("M012", "and needs an audit. No duty asks for one.")),
        (COLUMNS, {"duty": {"precision": 0.6}}, ("M013", "takes no pe:precision.")),
        (
            COLUMNS,
            {"more": [{**refinement("pe:leafSize", 7), "operator": "lteq"}]},
            ("M013", "leafSize takes the operator 'eq' and a rightOperand. Given: 'lteq'."),
        ),
        (
            COLUMNS,
            {"leafSize": 5, "more": [refinement("pe:leafSize", 7)]},
            ("M013", "pe:leafSize is given twice."),
        ),
    ],
)
def test_what_is_wrong_with_a_training_is_refused(columns, more, expected):
    found = problems(*columns, **more)
    assert any(code == expected[0] and expected[1] in message for code, message in found), found


@pytest.mark.parametrize("name", ["pe:syntheticRows", "mosaicrown:identifier"])
def test_what_rows_need_is_refused_of_a_model(name):
    value = 100 if name == "pe:syntheticRows" else [f"{DATASET}/name"]
    with pytest.raises(PolicyError, match="is not a known leftOperand"):
        read_policy(training(*COLUMNS, more=[refinement(name, value)]))


def test_a_generator_does_not_learn_what_the_policy_makes():
    facts = json.loads(training(*COLUMNS))
    made = anonymize(method="k-anonymity", k=2, quasi=["age"], insensitive=["town"])
    facts["permission"] = [permission(action=made, output=OUTPUT), *facts["permission"]]
    facts["permission"][1]["target"] = OUTPUT
    named = facts["permission"][1]["action"]["refinement"][0]
    named["rightOperand"] = [f"{OUTPUT}/age", f"{OUTPUT}/town"]
    with pytest.raises(PlanError, match="learns a table as it is, and"):
        make_plan(read_policy(json.dumps(facts)), asset=MODEL)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"output": None}, "Given: 1 target and no output."),
        ({"target": [DATASET, "http://x.org/More"]}, "Given: 2 targets and an output."),
        ({"output": DATASET}, "is a table already; the model needs its own IRI."),
    ],
)
def test_a_training_has_one_target_and_an_output_of_its_own(changes, expected):
    facts = json.loads(training(*COLUMNS))
    rule = {**facts["permission"][0], **changes}
    facts["permission"][0] = {key: value for key, value in rule.items() if value is not None}
    with pytest.raises(PlanError) as caught:
        make_plan(read_policy(json.dumps(facts)))
    assert expected in " ".join(one.message for one in caught.value.problems)


def test_a_generator_is_trained_on_the_local_engine_alone():
    assert ("M009", "The spark engine has no method 'membership-inference'.") in problems(
        *COLUMNS, engine="spark"
    )


def test_an_attack_on_a_generator_is_not_one_on_rows():
    with pytest.raises(PlanError, match="is on a generator, and what is released are rows"):
        make_plan(read_policy(attacking(COLUMNS, auc=0.9, attack=["model-density"])))
