"""A part of the statistics that a policy declares, with noise of its own: what a query asks for."""

from collections.abc import Sequence
from decimal import Context, Decimal

from policy_engine.plan.aggregates.model import Aggregation, GroupedBy, RowCondition, Statistic
from policy_engine.plan.aggregates.noising import calibrated
from policy_engine.plan.aggregates.reading import Statistics


def narrowed(
    declared: Statistics,
    figures: Sequence[Statistic],
    group_by: Sequence[GroupedBy],
    conditions: Sequence[RowCondition],
    epsilon: Decimal,
    delta: Decimal,
) -> Statistics:
    """Return some of the declared figures, by some of the declared columns, of some rows.

    Each keeps its bounds, its grid and its part of epsilon, which is the one given; so do the
    contributions of units, of which there is one group where nothing is grouped by. All are in the
    order of the policy, so that what is asked for twice is the same whatever its order.

    Raises ValueError where no noise is that small, or that large.
    """
    whole = declared.aggregation
    draft = Aggregation.model_construct(
        **{
            **dict(whole),
            "figures": tuple(one for one in whole.figures if one in figures),
            "group_by": tuple(one for one in whole.group_by if one in group_by),
            "key_table": whole.key_table if group_by else "",
            "key_selection": None,
            "max_groups": whole.max_groups if group_by else 1,
            "conditions": tuple(sorted({*conditions}, key=_order)),
            "epsilon": _EXACT.normalize(epsilon),
            "delta": _EXACT.normalize(delta),
        }
    )
    return declared._replace(aggregation=calibrated(draft, declared.method))


_EXACT = Context(prec=200)
"""Longer than any epsilon: none is rounded."""


def _order(one: RowCondition) -> tuple[str, str, tuple[str, ...], bool]:
    return one.column, one.comparison, one.values, one.of_numbers
