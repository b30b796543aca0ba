"""What each way of protecting the answer to a query would cost, for the owner of the data."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from policy_engine.audits.outputs.alternatives import (
    MitigationComparison,
    compare_mitigations,
    privacy_cost,
    protection_cost,
    rounding_base,
    suppression_cost,
)
from policy_engine.audits.outputs.mitigating import (
    ProtectedFigures,
    protect_by_rounding,
    rounded_figures,
)
from policy_engine.audits.outputs.model import TableVerdict
from policy_engine.audits.outputs.suppressing import suppress_totals
from policy_engine.decision.query.checking.checkable_query import CheckableQuery, check_joins
from policy_engine.decision.query.checking.checked_answer import gather, judge_answer
from policy_engine.decision.query.checking.checked_query import CheckedQuery
from policy_engine.decision.query.checking.folded_keys import fold_keys
from policy_engine.decision.query.checking.gathering_evidence import GatheredAnswer
from policy_engine.decision.query.checking.protecting import (
    MOST_NOISE,
    ProtectionInputs,
    counts_of_units,
    figures_by_keys,
    sums_and_counts,
)

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


def weigh_mitigations(
    checkable: CheckableQuery,
    tables: "Mapping[str, pa.Table]",
    inputs: ProtectionInputs,
    epsilon: Decimal,
) -> tuple[MitigationComparison, ...]:
    """Return what each way of protecting each figure of an answer would cost, counts first.

    Nothing is released, and no earlier answer counts. Counts and sums may be rounded, and counts of
    units have noise, under differential privacy by such an `epsilon`; of all, the costs of
    suppression and of coarser groups are told. Raises NotCheckableError (K019, K022), and
    DataError (C011) for totals without highspy.
    """
    check_joins(checkable, tables, inputs.dataset_rows)
    folded = fold_keys(checkable.query, checkable.nested, checkable.unfiltered, tables)
    checkable, query = replace(checkable, query=folded.judged), folded.judged
    gathered = gather(checkable, tables)
    judged, _ = judge_answer(checkable, gathered, tables, inputs.dataset_rows)
    suppressed = suppress_totals(judged)
    is_count = counts_of_units(gathered, replace(inputs, is_plain=True))
    ways = [*_other_forms(gathered, suppressed, judged, inputs)]
    coarser = [*_coarser(checkable, tables, inputs)]
    comparisons = []
    for number in sorted(range(len(query.aggregates)), key=lambda one: not is_count[one]):
        costs = [suppression_cost(suppressed, number, "suppress")]
        for name, is_changed, figures in ways:
            if is_changed[number]:
                costs.append(protection_cost(judged, number, name, figures))
        if is_count[number]:
            costs.append(privacy_cost(judged, number, epsilon, len(query.sets)))
        costs += [suppression_cost(verdict, number, name) for name, verdict in coarser]
        comparisons.append(compare_mitigations(judged, number, _name(query, number), costs))
    return tuple(comparisons)


def _other_forms(
    gathered: GatheredAnswer, verdict: TableVerdict, judged: TableVerdict, inputs: ProtectionInputs
) -> "Iterator[tuple[str, NDArray[np.bool_], ProtectedFigures]]":
    """Yield the forms that figures may be shown in, each with which measures it is for."""
    base, sums = rounding_base(judged), sums_and_counts(gathered)
    is_count = counts_of_units(gathered, replace(inputs, is_plain=True))
    if sums.any():
        hidden = counts_of_units(gathered, inputs)
        near = rounded_figures(gathered.table, base, sums)
        figures = protect_by_rounding(verdict, judged, near, hidden, sums)
        yield f"round to {base}", sums, figures
    if is_count.any():
        figures = figures_by_keys(gathered, verdict, judged, inputs, base)
        yield f"round at random to {base}", is_count, figures
        figures = figures_by_keys(gathered, verdict, judged, inputs)
        yield f"noise up to {MOST_NOISE}", is_count, figures


def _name(query: CheckedQuery, number: int) -> str:
    """Return the column that an aggregate is shown as; of one that is in others, its words."""
    names = (one.name for one in query.columns if one.aggregates == {number})
    return next(names, query.aggregates[number].words)


def _coarser(
    checkable: CheckableQuery, tables: "Mapping[str, pa.Table]", inputs: ProtectionInputs
) -> "Iterator[tuple[str, TableVerdict]]":
    """Yield the verdict by suppression without one of the keys."""
    query = checkable.query
    for key, expression in enumerate(query.keys if len(query.keys) > 1 else ()):
        coarser = replace(checkable, query=_without_key(query, key))
        gathered = gather(coarser, tables)
        judged, _ = judge_answer(coarser, gathered, tables, inputs.dataset_rows)
        name = expression.name or expression.sql("duckdb", comments=False)
        yield f"suppress, without {name}", suppress_totals(judged)


def _without_key(query: CheckedQuery, key: int) -> CheckedQuery:
    """Return a query by all keys but one; what it shows is not read."""
    keys = tuple(one for number, one in enumerate(query.keys) if number != key)
    sets = dict.fromkeys(
        tuple(one - (one > key) for one in numbers if one != key) for numbers in query.sets
    )
    return replace(query, keys=keys, sets=tuple(sets))
