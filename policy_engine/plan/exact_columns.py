"""Which columns of an output hold values as they are, row by row, and which are generalised."""

from policy_engine.plan.plan import Plan

IN_BUCKETS = (
    "a release by buckets has quasi-identifiers as they are, and no row with a sensitive value"
)
"""Why nothing is counted of rows in buckets."""


def exact_columns(plan: Plan) -> tuple[str, ...]:
    """Return the columns whose values a released row has as they are: sensitive, insensitive, and
    those of which only the tail is masked, in the order of the output."""
    coded = plan.mask.columns if plan.mask else ()
    names = {*plan.unmasked_columns, *(one.name for one in coded if one.keeps_values)}
    return tuple(name for name in plan.publish.columns if name in names)


def recoded_columns(plan: Plan) -> tuple[str, ...]:
    """Return the quasi-identifiers whose cells are compared as they are written.

    None where a missing cell is one with any other, nor where values are permuted: no row has its
    own.
    """
    step = plan.require_anonymize()
    if step.is_permuted or step.recoding.has_overlapping_classes:
        return ()
    return step.columns.quasi_names
