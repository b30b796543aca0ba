import pytest
from attacked import NOISY, attacked, bounded, known
from building import DATASET, OUTPUT, column, refinement

from policy_engine.errors import PlanError
from policy_engine.methods.audits.population_risk import PopulationRisk
from policy_engine.methods.disclosure import RiskBound
from policy_engine.plan.making import make_plan
from policy_engine.plan.plan import Plan
from policy_engine.policy import read_policy

CLASSES = {"method": "k-anonymity", "k": 2, "quasi": ["age", "city"], "sensitive": ["disease"]}
LARGEST = bounded(0.2, operand="pe:largestRisk")
REGISTER = "http://x.org/Register"


def risk(*refinements, action="pe:populationRisk", **parts):
    return read_policy(attacked(*refinements, action=action, **(parts or CLASSES)))


def method(*refinements, **parts):
    [one] = make_plan(risk(*refinements, **parts)).disclosures
    return one.method


def among(iri):
    return {"leftOperand": "pe:population", "operator": "eq", "rightOperand": {"@id": iri}}


def refused(*refinements, **parts):
    with pytest.raises(PlanError) as caught:
        make_plan(risk(*refinements, **parts))
    return [one.code for one in caught.value.problems]


def test_what_is_bounded_is_a_step_of_the_plan_before_it_is_published():
    plan = make_plan(risk(LARGEST, bounded(0, operand="pe:uniques"), among(REGISTER)))
    assert [step.step for step in plan.steps][-2:] == ["disclosure", "publish"]
    bounds = RiskBound(measure="uniques", asked=0), RiskBound(measure="largestRisk", asked=0.2)
    [step] = plan.disclosures
    assert step.method == PopulationRisk(bounds=bounds, known=("age", "city"), population=REGISTER)
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_an_audit_names_its_method_or_is_called_by_it():
    named = refinement("mosaicrown:method", "population-risk")
    by_method = make_plan(risk(LARGEST, named, action="pe:audit"))
    assert by_method.disclosures[0].method == method(LARGEST)


def test_columns_that_are_masked_at_random_are_not_known():
    both = {"method": ["masking", "k-anonymity"], "k": 2, "quasi": ["age"], "masked": NOISY}
    assert method(LARGEST, **both).known == ("age",)
    assert refused(LARGEST, known("pay"), **both) == ["M013"]
    rounded = {"method": "masking", "masked": [column("pay", masking="rounding", base=10)]}
    assert method(LARGEST, **rounded).known == ("pay",)
    assert refused(LARGEST, method="masking", masked=NOISY) == ["M013"]


def test_the_population_is_a_dataset_that_the_policy_does_not_make():
    assert method(LARGEST, among(DATASET)).population == DATASET
    assert refused(LARGEST, among(OUTPUT)) == ["M013"]


def test_uniques_of_a_population_are_estimated_of_samples_alone():
    estimated = bounded(0.1, operand="pe:populationUniques")
    assert refused(estimated) == ["M013"]
    assert refused(estimated, **CLASSES, sampleSize=5) == ["M013"]
    [one] = method(estimated, **CLASSES, sampleShare=0.5).bounds
    assert one.measure == "populationUniques"
    assert refused(estimated, among(DATASET), **CLASSES, sampleShare=0.5) == ["M013"]


def test_presence_is_that_in_a_population():
    presence = bounded(0.5, operand="pe:presence")
    assert refused(presence) == ["M013"]
    assert method(presence, among(REGISTER)).bounds[0].measure == "presence"


def test_everything_that_is_wrong_is_told_at_once():
    wrong = [bounded(2, operand="pe:uniques"), bounded(0, operand="pe:largestRisk")]
    assert refused(*wrong, known("name", "salary")) == ["M011", "M011", "M013", "M013"]


def test_another_engine_is_refused_with_the_reason():
    with pytest.raises(PlanError, match=r"M009 .* one process has all of them") as caught:
        make_plan(risk(LARGEST), engine="spark")
    assert "run it on the local engine" in str(caught.value)
