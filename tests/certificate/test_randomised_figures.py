"""What a certificate says of randomised columns follows from the plan, rounded towards safety."""

from fractions import Fraction

import pytest
from building import column
from randomising import SEX, TOWN, randomising

from policy_engine.certificate.randomised import randomised_columns
from policy_engine.plan.making import make_plan
from policy_engine.policy import read_policy


def step_of(*columns, **more):
    return make_plan(read_policy(randomising(*columns, **more))).require_randomise()


@pytest.mark.parametrize("share", [1, 2, 7])
def test_an_epsilon_is_not_said_to_be_less_than_it_is(share):
    step = step_of({**SEX, "pe:share": share}, TOWN, column("x", **OF_X), epsilon="0.1")
    for told, one in zip(randomised_columns(step), step.columns, strict=True):
        assert Fraction(told.epsilon) >= step.epsilon_of(one)
        assert told.epsilon == pytest.approx(float(step.epsilon_of(one)), rel=1e-15)


OF_X = {"randomiser": "duchi", "lower": 0, "upper": 1}


def test_figures_are_those_of_the_randomisers():
    """At an epsilon of 2 for each: (3 - 2 + e^2) / (e^2 - 1)^2 = .2055, and about 4 e^2 / (...)."""
    sex, town = randomised_columns(step_of(SEX, TOWN, epsilon="4"))
    assert (sex.column, sex.randomiser) == ("sex", "k-ary-randomised-response")
    assert sex.figures["variance"] == pytest.approx(0.2055, abs=1e-4)
    assert town.figures["variance"] == pytest.approx(0.7240, abs=0.01)
