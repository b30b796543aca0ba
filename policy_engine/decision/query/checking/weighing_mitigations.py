"""What each way of protecting the answer to a query would cost, for the owner of the data."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from policy_engine.audits.outputs.alternatives import (
    MitigationComparison,
    MitigationCost,
    compare_mitigations,
    protection_cost,
    rounding_base,
    suppression_cost,
)
from policy_engine.audits.outputs.mitigating import protect_by_rounding
from policy_engine.audits.outputs.suppressing import suppress_totals
from policy_engine.decision.query.checking.checkable_query import CheckableQuery, check_joins
from policy_engine.decision.query.checking.checked_answer import gather, judge_answer
from policy_engine.decision.query.checking.checked_query import CheckedQuery
from policy_engine.decision.query.checking.protecting import (
    MOST_NOISE,
    ProtectionInputs,
    counts_of_units,
    figures_by_keys,
)

if TYPE_CHECKING:
    import pyarrow as pa


def weigh_mitigations(
    checkable: CheckableQuery, tables: "Mapping[str, pa.Table]", inputs: ProtectionInputs
) -> MitigationComparison:
    """Return what each way of protecting the first count of an answer would cost.

    Nothing is released, and no earlier answer counts. Of an answer without counts, it is the first
    measure, of which the costs of suppression and of coarser groups are told. Raises
    NotCheckableError (K019, K022), and DataError (C011) for totals without highspy.
    """
    check_joins(checkable, tables, inputs.dataset_rows)
    gathered = gather(checkable, tables)
    judged, _ = judge_answer(checkable, gathered, tables, inputs.dataset_rows)
    is_count = counts_of_units(gathered, replace(inputs, is_plain=True))
    number = int(np.argmax(is_count))
    names = [one.name for one in checkable.query.columns if number in one.aggregates]
    costs = [suppression_cost(judged, number, "suppress")]
    if is_count[number]:
        verdict = suppress_totals(judged)
        base, counts = rounding_base(judged), counts_of_units(gathered, inputs)
        figures = protect_by_rounding(verdict, judged, base, counts, is_count)
        costs.append(protection_cost(judged, number, f"round to {base}", figures))
        figures = figures_by_keys(gathered, verdict, judged, inputs, base)
        costs.append(protection_cost(judged, number, f"round at random to {base}", figures))
        figures = figures_by_keys(gathered, verdict, judged, inputs)
        costs.append(protection_cost(judged, number, f"noise up to {MOST_NOISE}", figures))
    costs += _coarser(checkable, tables, inputs, number)
    return compare_mitigations(judged, number, (names or ["the aggregate"])[0], costs)


def _coarser(
    checkable: CheckableQuery,
    tables: "Mapping[str, pa.Table]",
    inputs: ProtectionInputs,
    number: int,
) -> Iterator[MitigationCost]:
    """Yield what suppression would cost without one of the keys."""
    query = checkable.query
    for key, expression in enumerate(query.keys if len(query.keys) > 1 else ()):
        coarser = replace(checkable, query=_without_key(query, key))
        gathered = gather(coarser, tables)
        judged, _ = judge_answer(coarser, gathered, tables, inputs.dataset_rows)
        name = expression.name or expression.sql("duckdb", comments=False)
        yield suppression_cost(judged, number, f"suppress, without {name}")


def _without_key(query: CheckedQuery, key: int) -> CheckedQuery:
    """Return a query by all keys but one; what it shows is not read."""
    keys = tuple(one for number, one in enumerate(query.keys) if number != key)
    sets = dict.fromkeys(
        tuple(one - (one > key) for one in numbers if one != key) for numbers in query.sets
    )
    return replace(query, keys=keys, sets=tuple(sets))
