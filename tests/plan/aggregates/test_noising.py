"""The noise of statistics: by how much a unit changes each, and what all of it loses together."""

from decimal import Decimal
from fractions import Fraction

import pytest
from asking_statistics import DAYS, MEDIAN, ROWS, UNITS, VISITS, step_of

from policy_engine.plan.aggregates.noising import noise_problems

MEAN = {**DAYS, "pe:function": "mean"}
VARIANCE = {**DAYS, "pe:function": "variance"}
HISTOGRAM = {
    "pe:function": "histogram",
    "pe:of": f"{VISITS}/days",
    "pe:candidates": ["1", "2"],
    "pe:name": "histogram",
}


def noises(*aggregates, **changes):
    """Return quantity, cells, sensitivity and scale of all noise of a release."""
    step = step_of(*aggregates, **changes)
    return [(n.quantity, n.cells, n.sensitivity, n.exact_scale) for n in step.noises()]


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [  # epsilon 1, one group, two rows of a unit in it; scale = sensitivity / epsilon
        (UNITS, [("units", 1, 1, 1)]),
        (ROWS, [("rows", 1, 2, 2)]),
        (DAYS, [("sum", 1, 28, 28)]),  # 2 rows of 14 days
        ({**DAYS, "pe:lower": -20}, [("sum", 1, 40, 40)]),  # the bound farther from 0
        # Half of epsilon each; a row is at most 7 days from the middle, 14 steps of half a day.
        (MEAN, [("sum", 1, 28, 56), ("rows", 1, 2, 4)]),
        # A third each; squares of 0 to 14^2 quarters of a day, counted from the middle in eighths.
        (VARIANCE, [("sum", 1, 28, 84), ("squares", 1, 392, 1176), ("rows", 1, 2, 6)]),
        # A row moves the rank of the median by a half, in steps of a half; twice for a choice.
        (MEDIAN, [("ranks", 1, 2, 4)]),
        # Of the k most frequent, each of two rounds has half of epsilon; counts only grow.
        ({**HISTOGRAM, "pe:function": "top-k", "pe:k": 2}, [("choices", 2, 2, 4)]),
        # At 0.9 by up to 9 of 10 parts.
        ({**MEDIAN, "pe:at": 0.9}, [("ranks", 1, 18, 36)]),
        (HISTOGRAM, [("counts", 1, 1, 1)]),
    ],
)
def test_scales_worked_by_hand(aggregate, expected):
    assert noises(aggregate) == expected


def test_a_unit_in_three_groups_changes_three_numbers():
    assert noises(UNITS, maxGroupsPerUnit=3) == [("units", 3, 1, 3)]


def test_shares_divide_epsilon():
    assert noises({**UNITS, "pe:share": 0.75}, {**ROWS, "pe:share": 0.25}) == [
        ("units", 1, 1, Fraction(4, 3)),
        ("rows", 1, 2, 8),
    ]


def test_a_change_costs_twice_an_addition():
    assert noises(UNITS, neighbours="change-one") == [("units", 1, 1, 2)]


def test_many_figures_need_less_noise_with_a_delta():
    figures = [{**UNITS, "pe:name": f"persons {number}"} for number in range(40)]
    [pure] = {n.half_width for n in step_of(*figures).noises()}
    [less] = {n.half_width for n in step_of(*figures, delta="1e-6").noises()}
    assert less < pure / 2


def test_what_is_not_needed_of_delta_is_not_spent():
    assert step_of(UNITS, delta="1e-6").delta_spent == 0
    step = step_of(UNITS, by=[f"{VISITS}/sex"], delta="1e-6")
    assert step.delta_spent == Decimal("1e-6")


@pytest.mark.parametrize("changes", [{}, {"delta": "1e-6"}, {"neighbours": "change-one"}])
def test_noise_that_was_made_smaller_is_found(changes):
    step = step_of(UNITS, DAYS, MEDIAN, **changes)
    assert list(noise_problems(step)) == []
    first, *others = step.figures
    [noise] = first.noise
    weaker = noise.model_copy(update={"scale": str(noise.exact_scale / 2)})
    changed = first.model_copy(update={"noise": (weaker,)})
    forged = step.model_copy(update={"figures": (changed, *others)})
    assert list(noise_problems(forged))


@pytest.mark.parametrize("by", [[], [f"{VISITS}/sex"]])
def test_noise_that_is_said_to_cost_another_delta_is_found(by):
    step = step_of(DAYS, by=by, delta="1e-6", mechanism="discrete-gaussian")
    assert list(noise_problems(step)) == []
    [figure] = step.figures
    [noise] = figure.noise
    cheaper = noise.model_copy(update={"delta": Decimal(0)})
    changed = figure.model_copy(update={"noise": (cheaper,)})
    forged = step.model_copy(update={"figures": (changed,)})
    assert list(noise_problems(forged)) == ["Its sum cost another delta by themselves."]


@pytest.mark.parametrize("part", [2, 3])
def test_keys_are_selected_at_all_of_the_delta_or_at_half(part):
    step = step_of(DAYS, by=[f"{VISITS}/sex"], delta="1e-6", mechanism="discrete-gaussian")
    keys = step.key_selection
    less = step.model_copy(
        update={"key_selection": keys.model_copy(update={"delta": keys.delta / part})}
    )
    assert "Its keys are selected at another delta." in list(noise_problems(less))


@pytest.mark.one_in(6)
@pytest.mark.parametrize("neighbours", ["add-or-remove", "change-one"])
@pytest.mark.parametrize(("delta", "epsilon"), [("1e-6", "0.1"), ("3e-5", "3"), ("1e-9", "1")])
def test_noise_of_selected_groups_is_that_of_its_plan(neighbours, delta, epsilon):
    exact = {"@value": epsilon, "@type": "xsd:decimal"}
    for mechanism in ("discrete-laplace", "discrete-gaussian"):
        step = step_of(
            *(UNITS, DAYS),
            by=[f"{VISITS}/sex"],
            delta=delta,
            epsilon=exact,
            neighbours=neighbours,
            mechanism=mechanism,
        )
        assert list(noise_problems(step)) == []


@pytest.mark.parametrize("delta", ["-0", -0.0, {"@value": "-0", "@type": "xsd:double"}])
def test_of_zeros_there_is_one(delta):
    assert step_of(UNITS, delta=delta).digest == step_of(UNITS).digest


def test_noise_for_a_smaller_sensitivity_is_found():
    step = step_of(DAYS)
    [figure] = step.figures
    [noise] = figure.noise
    weaker = noise.model_copy(update={"scale": "14", "sensitivity": 14})
    forged = step.model_copy(update={"figures": (figure.model_copy(update={"noise": (weaker,)}),)})
    assert list(noise_problems(forged)) == ["Its noise is not that of its statistics."]


def test_noise_that_needs_a_delta_which_is_not_charged_is_found():
    """Forty counts with the noise that a delta allows, in a plan that says it needs none."""
    figures = [{**UNITS, "pe:name": f"persons {number}"} for number in range(40)]
    step = step_of(*figures, delta="1e-6", mechanism=["discrete-laplace"])
    assert step.delta_spent
    assert list(noise_problems(step)) == []
    forged = step.model_copy(update={"accountant": "sequential"})
    assert forged.delta_spent == 0
    assert list(noise_problems(forged))


@pytest.mark.parametrize(
    "change", [{"half_width": 0.0}, {"epsilon": Decimal("0.0001")}, {"mechanism": "exponential"}]
)
def test_what_is_told_of_noise_follows_from_it(change):
    step = step_of(UNITS)
    [figure] = step.figures
    noise = figure.noise[0].model_copy(update=change)
    forged = figure.model_copy(update={"noise": (noise,)})
    assert list(noise_problems(step.model_copy(update={"figures": (forged,)})))


def test_the_accountant_is_the_one_that_proves_it():
    assert list(noise_problems(step_of(UNITS).model_copy(update={"accountant": "my aunt"})))


@pytest.mark.parametrize("figure", [MEAN, VARIANCE])
def test_how_far_a_ratio_is_off_follows_from_all_its_noise(figure):
    step = step_of(figure)
    [made] = step.figures
    assert made.half_width_times_n > sum(one.half_width for one in made.noise)
    assert type(step).model_validate_json(step.model_dump_json()) == step
    for width in (None, 1.0):
        forged = made.model_copy(update={"half_width_times_n": width})
        [problem] = noise_problems(step.model_copy(update={"figures": (forged,)}))
        assert problem == f"The error of its {made.function} is not that of its noise."


def test_other_figures_have_no_error_by_rows():
    [figure] = step_of(DAYS).figures
    assert "half_width_times_n" not in figure.model_dump_json()
    assert figure.half_width_times_n is None
