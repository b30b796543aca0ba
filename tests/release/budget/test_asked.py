"""What a ledger records of what was asked."""

from decimal import Decimal

from policy_engine.plan.aggregates.model import Aggregation, GroupedBy, RowCondition, Statistic
from policy_engine.release.budget.asked import asked_of, asked_words


def test_figures_groups_and_conditions_are_recorded_and_worded():
    candidates = ("0", "9", "1")
    median = Statistic(
        name="m", function="quantile", of="days", at=Decimal("0.5"), candidates=candidates
    )
    asked = asked_of(
        Aggregation.model_construct(
            figures=(Statistic(name="n", function="count"), median),
            group_by=(GroupedBy(name="sex"),),
            conditions=(RowCondition(column="age", comparison=">=", values=("65",)),),
        )
    )
    assert asked == {
        "figures": [{"function": "count"}, {"function": "quantile", "of": "days", "at": "0.5"}],
        "group_by": ["sex"],
        "conditions": [{"column": "age", "comparison": ">=", "values": ["65"]}],
    }
    assert asked_words(asked) == "count, quantile at 0.5 of days by sex where age >= 65"
    assert asked_words(None) == ""
