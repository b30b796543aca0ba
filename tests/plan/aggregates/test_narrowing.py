"""What a query asks of declared statistics has noise of its own, in whatever order it asks."""

from decimal import Decimal

import pytest
from asking_statistics import BY_SEX, DAYS, ROWS, UNITS, VISITS, policy_text

from policy_engine.plan.aggregates.model import RowCondition
from policy_engine.plan.aggregates.narrowing import narrowed
from policy_engine.plan.products import products
from policy_engine.plan.steps import AggregateStep
from policy_engine.policy import read_policy

WARD = {"@id": f"{VISITS}/ward", "pe:keys": ["1", "2"]}
LONG = RowCondition(column="days", comparison=">", values=("3",), of_numbers=True)
FEW = RowCondition(column="days", comparison="<", values=("9",), of_numbers=True)


def declared(*aggregates, **changes):
    [product] = products(read_policy(policy_text(*aggregates, **changes)))
    return product.statistics


def narrow(whole, *names, by=(), where=(), epsilon="0.5", delta="0"):
    figures = [one for one in whole.aggregation.figures if one.name in names]
    groups = [one for one in whole.aggregation.group_by if one.name in by]
    part = narrowed(whole, figures, groups, where, Decimal(epsilon), Decimal(delta))
    return part.aggregation


def test_a_figure_alone_has_all_of_the_epsilon_that_is_asked_for():
    whole = declared(UNITS, DAYS)
    part = narrow(whole, "days", by=["sex"])
    [noise] = part.noises()
    # Two rows of at most 14 days, at half an epsilon.
    assert (part.epsilon, noise.sensitivity, noise.scale) == (Decimal("0.5"), 28, "56")
    assert part.output_columns == ("sex", "days")


def test_groups_are_by_some_of_the_columns_and_units_in_as_many_groups():
    whole = declared(UNITS, by=[*BY_SEX, WARD], maxGroupsPerUnit=3)
    assert narrow(whole, "persons", by=["ward"]).max_groups == 3
    assert [one.keys for one in narrow(whole, "persons", by=["ward"]).group_by] == [("1", "2")]
    alone = narrow(whole, "persons")
    assert (alone.max_groups, alone.group_by, alone.has_public_keys) == (1, (), False)
    assert next(alone.noises()).cells == 1


def test_the_same_question_is_the_same_step_in_any_order():
    whole = declared(UNITS, ROWS, DAYS)
    first = narrow(whole, "rows", "days", by=["sex"], where=[LONG, FEW])
    again = narrow(whole, "days", "rows", by=["sex"], where=[FEW, LONG, FEW], epsilon="0.50")
    steps = [AggregateStep(**dict(one)) for one in (first, again)]
    assert steps[0].digest == steps[1].digest
    assert narrow(whole, "rows", by=["sex"]) != narrow(whole, "rows", by=["sex"], where=[LONG])


def test_columns_of_conditions_are_read_and_not_released():
    part = narrow(declared(UNITS, DAYS), "persons", where=[LONG])
    assert part.columns_used == ("days", "person")
    assert part.output_columns == ("persons",)


def test_conditions_are_left_out_of_steps_that_have_none():
    step = AggregateStep(**dict(narrow(declared(UNITS), "persons")))
    assert "conditions" not in step.model_dump()
    with_one = step.model_copy(update={"conditions": (LONG,)})
    assert AggregateStep.model_validate_json(with_one.model_dump_json()) == with_one


def test_groups_without_keys_are_selected_by_the_delta_that_is_asked_for():
    whole = declared(UNITS, by=[f"{VISITS}/sex"], delta="1e-6")
    part = narrow(whole, "persons", by=["sex"], delta="1e-7")
    assert part.key_selection is not None
    assert part.delta == Decimal("1e-7")


def test_noise_that_cannot_be_drawn_is_none():
    with pytest.raises(ValueError, match="So much noise"):
        narrow(declared(UNITS), "persons", epsilon="1e-19")
    gauss = declared(UNITS, mechanism="discrete-gaussian", delta="1e-6")
    with pytest.raises(ValueError, match="delta above 0"):
        narrow(gauss, "persons")
