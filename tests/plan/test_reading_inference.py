import pytest
from attacked import attacked, bounded, known
from building import DATASET, column, refinement

from policy_engine.errors import PlanError
from policy_engine.methods.audits.attribute_inference import AttributeInference
from policy_engine.methods.disclosure import InferenceBound
from policy_engine.plan.making import make_plan
from policy_engine.plan.plan import Plan
from policy_engine.policy import read_policy

CLASSES = {"method": "k-anonymity", "k": 2, "quasi": ["age", "city"], "sensitive": ["disease"]}
INFERRED = bounded(0.2, operand="pe:inferred")


def inference(*refinements, action="pe:attributeInference", **parts):
    return read_policy(attacked(*refinements, action=action, **(parts or CLASSES)))


def learning(*names):
    columns = [f"{DATASET}/{name}" for name in names]
    return {"leftOperand": "pe:learned", "operator": "isAllOf", "rightOperand": columns}


def method(*refinements, **parts):
    [one] = make_plan(inference(*refinements, **parts)).disclosures
    return one.method


def refused(*refinements, **parts):
    with pytest.raises(PlanError) as caught:
        make_plan(inference(*refinements, **parts))
    return [one.code for one in caught.value.problems]


def test_what_is_bounded_is_a_step_of_the_plan_before_it_is_published():
    plan = make_plan(inference(INFERRED))
    assert [step.step for step in plan.steps][-2:] == ["disclosure", "publish"]
    bound = InferenceBound(measure="inferred", asked=0.2)
    [step] = plan.disclosures
    assert step.method == AttributeInference(
        bound=bound, known=("age", "city"), learned=("disease",)
    )
    assert plan.compared == ("age", "city", "disease")
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_an_audit_names_its_method_or_is_called_by_it():
    named = refinement("mosaicrown:method", "attribute-inference")
    by_method = make_plan(inference(INFERRED, named, action="pe:audit"))
    assert by_method.disclosures[0].method == method(INFERRED)


def test_columns_to_learn_may_be_named_and_are_not_known():
    assert method(INFERRED, learning("city")).known == ("age",)
    assert method(INFERRED, learning("city"), known("disease")).known == ("disease",)
    assert refused(INFERRED, learning("city"), known("city", "age")) == ["M013"]
    assert refused(INFERRED, learning("name")) == ["M013"]


def test_without_a_sensitive_column_there_is_one_to_name():
    masked = {"method": "masking", "masked": [column("pay", masking="rounding", base=10)]}
    assert refused(INFERRED, **masked) == ["M013"]
    assert refused(INFERRED, learning("pay"), **masked) == ["M013"]


def test_another_engine_is_refused_with_the_reason():
    with pytest.raises(PlanError, match=r"M009 .* one process has all of them") as caught:
        make_plan(inference(INFERRED), engine="spark")
    assert "run it on the local engine" in str(caught.value)
