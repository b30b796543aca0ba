"""How many rows of an input are unique on what a plan keeps exact, before anything is made."""

from policy_engine.audits.disclosure.unique_rows import UniqueRows, measure_uniques
from policy_engine.engines.engine import Engine
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.plan.exact_columns import IN_BUCKETS, exact_columns
from policy_engine.plan.plan import Plan
from policy_engine.release.release import read_inputs

_NO_ROWS = "no rows of the input are released"


def count_before(plan: Plan, engine: Engine) -> UniqueRows | NotApplicable:
    """Return how many rows of an input, joined if it is several tables, are unique on columns that
    the output keeps as they are, and on the quasi-identifiers before they are generalised.

    Raises DataError if an input cannot be read or joined.
    """
    if not plan.makes_rows or plan.anonymize is None:
        return NotApplicable(reason=_NO_ROWS)
    if plan.anonymize.is_in_buckets:
        return NotApplicable(reason=IN_BUCKETS)
    table, _ = read_inputs(plan, engine, ())
    return measure_uniques(
        exact_columns(plan),
        plan.anonymize.columns.quasi_names,
        lambda sets: engine.unique_rows(table, sets),
        engine.row_number(table),
    )
