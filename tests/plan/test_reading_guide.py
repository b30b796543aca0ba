import json

import pytest
from building import DATASET, OUTPUT, PEOPLE, anonymize, column, permission, policy

from policy_engine.data.catalog import make_catalog
from policy_engine.errors import DataError, PlanError
from policy_engine.methods.audits.classifier import Estimator, Network
from policy_engine.methods.guide import Guide
from policy_engine.plan.consenting import shortfalls
from policy_engine.plan.making import make_plan
from policy_engine.plan.plan import Plan
from policy_engine.plan.reading_anonymization import consents, transformations
from policy_engine.policy import read_policy
from policy_engine.policy.syntax.rdf import convert_text

LABEL = f"{DATASET}/disease"
GUIDED = {
    "method": "k-anonymity",
    "k": 2,
    "algorithm": "accuracy-guided",
    "quasi": ["age", "city"],
    "label": LABEL,
}


def written(**parameters):
    action = anonymize(**{**GUIDED, **parameters})
    return policy([permission(action=action, output=OUTPUT)])


def anonymization(**parameters):
    [found] = transformations(read_policy(written(**parameters)))
    return found.anonymization


def guide(**parameters):
    return anonymization(**parameters).recoding.guide


def problem(**parameters):
    with pytest.raises(PlanError) as caught:
        anonymization(**parameters)
    [problem] = caught.value.problems
    return problem


def test_without_more_a_model_of_the_table_guides():
    assert guide() == Guide(label="disease")


def test_a_label_without_a_role_is_sensitive():
    assert anonymization().columns.sensitive_names == ("disease",)
    diverse = anonymization(method="l-diversity", l=2)
    assert [one.column for one in diverse.class_bounds()] == ["", "disease"]


def test_a_label_keeps_the_role_that_it_has():
    kept = anonymization(insensitive=["disease"]).columns
    assert (kept.sensitive, kept.insensitive) == ((), ("disease",))
    named = column("disease", distance="ordered")
    [sensitive] = anonymization(method="t-closeness", t=0.5, sensitive=[named]).columns.sensitive
    assert (sensitive.name, sensitive.distance) == ("disease", "ordered")


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("network", Network()),
        ("GaussianNB", Estimator(name="GaussianNB")),
        (
            json.dumps({"name": "DecisionTreeClassifier", "parameters": {"max_depth": 3}}),
            Estimator(name="DecisionTreeClassifier", parameters={"max_depth": 3}),
        ),
    ],
)
def test_a_guide_is_a_model_as_a_training_has_it(text, model):
    made = guide(guide=text, guideLabels="hard", representative="nearest")
    assert made == Guide(
        label="disease", architecture=model, labels="hard", representative="nearest"
    )


def test_a_guide_may_be_described_in_a_file_beside_the_policy(tmp_path):
    (tmp_path / "teacher.json").write_text('{"name": "GaussianNB"}')
    path = tmp_path / "policy.jsonld"
    path.write_text(written(guide="teacher.json"))
    [found] = transformations(read_policy(path.read_text(), source=str(path)))
    assert found.anonymization.recoding.guide.architecture == Estimator(name="GaussianNB")


def test_a_guide_that_is_digits_is_the_name_of_no_model():
    assert problem(guide="7").message.startswith("There is no model '7'.")


def test_predictions_are_read_and_not_released_without_a_role():
    plan = make_plan(read_policy(written(guide=f"{DATASET}/phone")))
    assert plan.anonymize.recoding.guide == Guide(label="disease", column="phone")
    assert plan.read.columns == ("age", "city", "disease", "phone")
    assert plan.publish.columns == ("age", "city", "disease")
    assert {"disease", "phone"} <= {*plan.values_read}
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_predictions_are_not_released_as_they_are():
    with pytest.raises(PlanError, match="they tell which row is whose"):
        make_plan(read_policy(written(guide=f"{DATASET}/phone", insensitive=["phone"])))


def test_predictions_may_be_a_quasi_identifier():
    made = anonymization(guide=f"{DATASET}/age")
    assert made.recoding.guide.column == "age"
    assert made.unreleased == ()


def test_predictions_stand_in_the_order_of_the_data_behind_what_is_released(catalog):
    plan = make_plan(read_policy(written(guide=f"{DATASET}/phone")), catalog)
    assert plan.read.columns[-1] == "phone"
    assert "phone" not in plan.drop.unmentioned


def test_predictions_that_the_data_lack_are_told(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    text = written(guide=f"{DATASET}/score")
    with pytest.raises(DataError, match="has no column 'score'") as caught:
        make_plan(read_policy(text), make_catalog({DATASET: path}))
    [problem] = caught.value.problems
    assert '"http://x.org/People/score"' in text.splitlines()[problem.place.line - 1]


def test_an_unreleased_column_of_a_plan_is_that_of_its_predictions():
    plan = make_plan(read_policy(written(guide=f"{DATASET}/phone")))
    text = plan.model_dump_json().replace('"column":"phone"', '"column":"score"')
    with pytest.raises(ValueError, match="the columns of the steps are not the same"):
        Plan.model_validate_json(text)


def test_a_plan_is_not_read_with_a_label_that_is_not_released():
    text = make_plan(read_policy(written())).model_dump_json()
    moved = text.replace('"label":"disease"', '"label":"city"')
    with pytest.raises(ValueError, match="have a label that is released as it is"):
        Plan.model_validate_json(moved)


def test_the_name_of_a_column_is_the_same_as_a_text_and_as_an_iri():
    as_text = read_policy(written(guide=f"{DATASET}/phone"))
    as_iri = read_policy(written(guide={"@id": f"{DATASET}/phone"}, label={"@id": LABEL}))
    assert as_text.digest == as_iri.digest
    turtle = convert_text(written(guide=f"{DATASET}/phone"), "json-ld", "turtle")
    assert read_policy(turtle, syntax="turtle").digest == as_text.digest


def test_a_guide_of_another_table_says_why_it_is_none():
    one = problem(guide="http://x.org/Other/score")
    assert one.code == "M006"
    assert "classes are cut by predictions for the rows that they are made of" in one.message


def test_joined_tables_have_one_label_and_may_have_predictions():
    target = [DATASET, "http://x.org/scores"]
    parameters = {**GUIDED, "guide": "http://x.org/scores/p"}
    keys = [{"@id": f"{DATASET}/phone"}, {"@id": "http://x.org/scores/phone"}]
    action = anonymize(**parameters, joinOn=keys)
    text = policy([permission(action=action, target=target, output=OUTPUT)])
    plan = make_plan(read_policy(text))
    assert plan.join.columns == ("age", "city", "disease", "p")
    assert plan.publish.columns == ("age", "city", "disease")


def consent_of(**parameters):
    action = anonymize(**{**GUIDED, **parameters})
    rule = permission(action=action, assigner="http://x.org/owner")
    [consent] = consents(read_policy(policy([rule])))
    return consent


def fallen_short(owner, maker):
    [transformation] = transformations(read_policy(written(**maker)))
    return [one.message for one in shortfalls(consent_of(**owner), transformation, DATASET)]


def test_an_owner_sees_what_else_classes_are_cut_by():
    score = {"guide": f"{DATASET}/phone"}
    assert fallen_short(score, score) == []
    [unnamed] = fallen_short({}, score)
    assert unnamed == f"{DATASET}/phone is used, which the owner does not name."


def test_an_owner_sees_another_label_and_another_guide():
    kept = {"insensitive": ["phone"]}
    [label] = fallen_short(kept, {"label": f"{DATASET}/phone", "sensitive": ["disease"], **kept})
    assert label == "label is 'phone', and by the owner 'disease'."
    [hard] = fallen_short({"guideLabels": "soft"}, {"guideLabels": "hard"})
    assert hard == "guideLabels is 'hard', and by the owner 'soft'."


@pytest.mark.parametrize(
    ("parts", "released"),
    [
        ({"sampleShare": 0.5, "stratifiedBy": ["disease"]}, ["age", "city", "disease"]),
        ({"privacyUnit": "name"}, ["age", "city", "disease"]),
        (
            {"masked": [column("zip", masking="rounding", base=10)]},
            ["age", "city", "disease", "zip"],
        ),
        (
            {"pseudonymize": ["name"], "insensitive": ["zip"]},
            ["name", "age", "city", "zip", "disease"],
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("guided", [{}, {"guide": f"{DATASET}/phone"}], ids=["model", "column"])
def test_rows_may_be_sampled_and_other_columns_masked_beside(parts, released, guided):
    method = "masking" if "masked" in parts else None
    methods = {"method": [method, "k-anonymity"]} if method else {}
    plan = make_plan(read_policy(written(**methods, **parts, **guided)))
    assert sorted(plan.publish.columns) == sorted(released)
    assert ("phone" in plan.columns) == bool(guided)
    assert Plan.model_validate_json(plan.model_dump_json()) == plan
