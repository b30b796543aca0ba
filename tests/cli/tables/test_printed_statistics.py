"""What is printed of statistics: how far each figure is off."""

from decimal import Decimal

from asking_statistics import DAYS, step_of

from policy_engine.cli.tables.statistics import add_statistics, cost_json, cost_line
from policy_engine.cli.tables.tables import console, new_table
from policy_engine.decision.query.model import StatisticsCost

MEAN = {**DAYS, "pe:function": "mean", "pe:name": "mean"}


def test_the_error_of_a_mean_is_that_of_both_its_noises(capsys):
    """Laplace noise of 56 half days, and of 4 rows that are 7 days from the middle at most."""
    step = step_of(MEAN)
    [figure] = step.figures
    said = f"at most {figure.half_width_times_n:.4g} / n off with 95 %, for n rows"
    table = new_table("Plan", "step", "of", "what")
    add_statistics(table, step)
    console().print(table)
    assert said in " ".join(capsys.readouterr().out.split())
    cost = StatisticsCost(Decimal(1), Decimal(0), {"mean": figure}, is_charged=True)
    assert cost_line(cost, is_drawn=True) == f"charged: epsilon 1; mean: {said}"
    told = cost_json(cost, is_drawn=True)["figures"]["mean"]
    assert told["half_width_times_n"] == figure.half_width_times_n
