"""Synthetic tables as policies ask for them: what noise they need, and what is refused."""

from decimal import Decimal
from fractions import Fraction

import pytest
from asking_statistics import BY_SEX, UNITS, VISITS, planned, step_of

from policy_engine.errors import PlanError
from policy_engine.plan.aggregates.noising import noise_problems
from policy_engine.plan.plan import Plan

SEX = {"pe:function": "synthetic", "pe:of": f"{VISITS}/sex", "pe:candidates": ["f", "m"]}
AGE = {"pe:function": "synthetic", "pe:of": f"{VISITS}/age", "pe:candidates": ["old", "young", ""]}
DAYS = {
    "pe:function": "synthetic",
    "pe:of": f"{VISITS}/days",
    "pe:lower": 0,
    "pe:upper": 14,
    "pe:grid": 2,
}
ASKED = {"by": [], "query": {"pe:rows": 100}, "maxRowsPerGroup": 1}


def asked(*columns, **changes):
    return step_of(*(columns or (SEX, AGE, DAYS)), **{**ASKED, **changes})


def test_a_synthetic_table_has_its_columns_by_their_names():
    step = asked(SEX, {**AGE, "pe:name": "age group"}, DAYS)
    assert step.released == ("sex", "age group", "days")
    assert [one.options for one in step.figures] == [2, 3, 8]
    assert step.rows == 100
    assert step.pairs == ((0, 1), (0, 2), (1, 2))
    assert step.pair_cells == 6 + 16 + 24


def test_the_noise_of_columns_and_pairs_has_its_part_of_epsilon():
    """A fifth for three columns, a fifth for two choices, three fifths for two pairs."""
    noises = [*asked().noises()]
    assert [one.quantity for one in noises] == ["counts"] * 3 + ["pair choices", "pair counts"]
    assert [one.cells for one in noises] == [1, 1, 1, 2, 2]
    assert {one.sensitivity for one in noises} == {1}
    # Of a choice, epsilon is 2 / scale.
    assert [one.exact_scale for one in noises] == [15, 15, 15, 20, Fraction(10, 3)]
    assert sum(one.epsilon for one in noises) == pytest.approx(Decimal(1))


def test_a_delta_makes_noise_gaussian_and_is_charged():
    columns = [{**SEX, "pe:name": f"sex {number}"} for number in range(8)]
    step = asked(*columns, delta={"@value": "1e-6", "@type": "xsd:double"})
    assert step.pair_noise[1].mechanism == "discrete-gaussian"
    assert step.delta_spent == Decimal("1e-6")
    assert step.pair_noise[1].half_width < asked(*columns).pair_noise[1].half_width


@pytest.mark.parametrize("changes", [{}, {"neighbours": "change-one"}])
def test_its_noise_is_what_it_needs(changes):
    step = asked(**changes)
    assert [*noise_problems(step)] == []
    _, counts = step.pair_noise
    less = counts.model_copy(update={"scale": str(counts.exact_scale / 2)})
    assert any("more than its epsilon" in one for one in noise_problems(with_noise(step, less)))
    fewer = counts.model_copy(update={"cells": 1})
    assert [*noise_problems(with_noise(step, fewer))] == [
        "Its noise is not that of its statistics."
    ]


def with_noise(step, counts):
    return step.model_copy(update={"pair_noise": (step.pair_noise[0], counts)})


def test_a_plan_is_what_is_read_of_its_json_and_others_say_nothing_of_rows():
    plan = planned(SEX, AGE, **ASKED)
    assert Plan.model_validate_json(plan.model_dump_json()) == plan
    other = step_of(UNITS).model_dump()
    assert not {"rows", "pair_noise"} & {*other}


@pytest.mark.parametrize(
    ("columns", "changes", "message"),
    [
        ((SEX, UNITS), {}, "synthetic columns alone. Given: 'count-units'"),
        (
            (DAYS, AGE),
            {"by": BY_SEX},
            "is not grouped. Given: pe:groupBy of 'sex'",
        ),
        ((SEX, AGE), {"maxRowsPerGroup": 2}, "maxRowsPerGroup is 1. Given: 2"),
        ((SEX, AGE), {"query": {}}, "needs pe:rows, a number up to 1,000,000"),
        ((SEX, AGE), {"query": {"pe:rows": 1_000_001}}, "at most 1,000,000 rows"),
        ((SEX,), {}, "at least two columns"),
        ((SEX, {**AGE, "pe:share": 0.5}), {}, "equal parts of epsilon. Given: pe:share 0.5"),
        ((SEX, {**AGE, "pe:candidates": ["old"]}), {}, "at least two values. Given: 1"),
        ((SEX, {**DAYS, "pe:candidates": ["old"]}), {}, "from pe:lower to pe:upper. Given: both"),
        ((SEX, {**SEX, "pe:name": "a", "pe:candidates": ["5", 5]}), {}, "'5' is given 2 times"),
        ((SEX, {**DAYS, "pe:upper": 13}), {}, "multiples of the grid"),
        (
            ({**DAYS, "pe:grid": 0.01}, {**DAYS, "pe:grid": 0.01, "pe:name": "again"}),
            {},
            "at most 1,000,000 pairs of values in all. Given: 1,962,801",
        ),
        ((UNITS,), {}, "Only a synthetic table has pe:rows"),
    ],
)
def test_what_is_no_synthetic_table_is_refused(columns, changes, message):
    with pytest.raises(PlanError) as error:
        asked(*columns, **changes)
    assert message in str(error.value)


def test_a_synthetic_column_without_public_values_is_refused():
    without = {name: DAYS[name] for name in ("pe:function", "pe:of")}
    with pytest.raises(PlanError, match="needs its values: pe:candidates; or, of numbers") as error:
        asked(SEX, without)
    assert "no pe:candidates, no pe:lower and no pe:upper and no pe:grid." in str(error.value)
    assert "they are not taken from the data" in str(error.value)


def test_the_unit_is_no_synthetic_column():
    with pytest.raises(PlanError, match="is the unit of privacy"):
        asked(SEX, {**SEX, "pe:of": f"{VISITS}/person"})
