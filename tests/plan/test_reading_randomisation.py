"""What a policy asks for under local differential privacy, read and planned without data."""

from decimal import Decimal
from fractions import Fraction

import pytest
from building import DATASET, column
from randomising import DAYS, SEX, TOWN, randomising

from policy_engine.errors import PlanError
from policy_engine.plan.making import make_plan
from policy_engine.plan.plan import Plan
from policy_engine.policy import read_policy


def planned(*columns, engine="local", **more):
    return make_plan(read_policy(randomising(*columns, **more)), engine=engine)


def problems(*columns, engine="local", **more):
    with pytest.raises(PlanError) as caught:
        planned(*columns, engine=engine, **more)
    return [(one.code, one.message) for one in caught.value.problems]


def test_a_plan_reads_randomises_and_publishes():
    plan = planned(SEX, DAYS)
    assert [step.step for step in plan.steps] == ["read", "drop", "randomise", "publish"]
    step = plan.require_randomise()
    assert step.names == plan.publish.columns == ("days", "sex")
    assert (step.epsilon, step.compose, step.unit) == (Decimal(2), "sum", "")
    assert [step.epsilon_of(one) for one in step.columns] == [1, 1]
    assert not plan.makes_rows


def test_a_plan_is_the_same_from_its_json():
    plan = planned({**SEX, "pe:share": 3}, TOWN, DAYS, privacyUnit="who")
    assert Plan.model_validate_json(plan.model_dump_json()) == plan
    assert plan.unit == "who"
    assert plan.columns == ("days", "sex", "town", "who")


def test_persons_are_those_of_a_dataset():
    step = planned(SEX, privacyUnit="who").require_randomise()
    assert (step.unit, step.dataset) == ("who", DATASET)
    assert planned(SEX).require_randomise().dataset == ""


def test_shares_of_epsilon_add_up_to_it_exactly():
    step = planned({**SEX, "pe:share": 3}, TOWN, DAYS, epsilon="0.1").require_randomise()
    epsilons = {one.name: step.epsilon_of(one) for one in step.columns}
    assert epsilons == {"sex": Fraction(3, 50), "town": Fraction(1, 50), "days": Fraction(1, 50)}
    assert sum(epsilons.values()) == Fraction(1, 10)


def test_a_sampled_attribute_has_all_of_epsilon():
    step = planned(SEX, TOWN, compose="sample-one-attribute").require_randomise()
    assert [step.epsilon_of(one) for one in step.columns] == [2, 2]
    assert step.sampled_share == Fraction(1, 2)


@pytest.mark.parametrize(
    ("columns", "more", "expected"),
    [
        ((), {}, [("M002", "needs the parameter 'randomised'")]),
        ((SEX,), {"epsilon": ""}, [("M002", "needs the parameter 'epsilon'")]),
        ((SEX,), {"epsilon": "65"}, [("M003", "from 0.000001 to 64")]),
        ((SEX,), {"compose": "product"}, [("M003", "'sum' or 'sample-one-attribute'")]),
        ((SEX,), {"insensitive": ["age"]}, [("M004", "no parameter 'insensitive'")]),
        ((SEX,), {"sampleShare": 0.1}, [("M004", "no parameter 'sampleShare'")]),
        ((SEX, SEX), {}, [("M005", "'sex' is named 2 times")]),
        ((SEX,), {"privacyUnit": "sex"}, [("M005", "both randomised and privacyUnit")]),
        ((column("sex"),), {}, [("M002", "the randomiser is missing")]),
        ((column("sex", randomiser="pram"),), {}, [("M003", "not allowed to be 'pram'")]),
        (({"@id": "http://x.org/Other/sex"},), {}, [("M006", "is not a column of the target")]),
        (({**SEX, "pe:lower": 0},), {}, [("M004", "has no parameter 'lower'")]),
        (({**DAYS, "pe:grid": 0.3},), {}, [("M003", "whole steps of it")]),
        (
            (column("days", randomiser="duchi"),),
            {},
            [
                ("M002", "needs the parameter 'pe:lower'"),
                ("M002", "needs the parameter 'pe:upper'"),
            ],
        ),
    ],
)
def test_what_cannot_be_planned_is_refused(columns, more, expected):
    found = problems(*columns, **more)
    assert [code for code, _ in found] == [code for code, _ in expected]
    for (_, message), (_, part) in zip(found, expected, strict=True):
        assert part in message


def test_it_is_not_asked_for_beside_other_methods():
    methods = ["local-differential-privacy", "masking"]
    [(code, message)] = problems(SEX, method=methods)
    assert (code, "beside other methods" in message) == ("M003", True)


FACE = column("face", randomiser="private-pixelation", blockSize=2, pixelsChanged=1)
FACE |= {"pe:height": 4, "pe:width": 4}


def test_noise_of_images_is_not_drawn_again_and_not_by_a_cluster():
    assert planned(FACE).require_randomise().names == ("face",)
    assert problems(FACE, privacyUnit="who")[0][0] == "M003"
    [(code, message)] = problems(FACE, engine="spark")
    assert (code, message) == ("M009", "The spark engine has no randomiser 'private-pixelation'.")


def test_a_duty_to_audit_is_refused():
    bound = {"leftOperand": "pe:linked", "operator": "lteq", "rightOperand": 0.1}
    action = {"rdf:value": {"@id": "pe:recordLinkage"}, "refinement": [bound]}
    [(code, message)] = problems(SEX, duty={"action": action})
    assert (code, "releases randomised records" in message) == ("M013", True)
