"""How many rows of an output are unique on what it keeps exact, as certificates tell it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.audits.disclosure.unique_rows import (
    MOST_PAIRED,
    UniqueOn,
    UniqueRows,
    measure_uniques,
)
from policy_engine.audits.utility.figures import Utility
from policy_engine.engines.engine import Engine, WrittenTable
from policy_engine.errors import InternalError, format_count, join_names
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods import Measurement
from policy_engine.methods.columns import SUPPRESSION
from policy_engine.methods.recoding import UNIQUE_KEPT
from policy_engine.plan.exact_columns import IN_BUCKETS, exact_columns, recoded_columns
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import Anonymize

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate

_ROUNDING = 1e-9
UniqueFigures = UniqueRows | NotApplicable


def measure_unique_rows(
    plan: Plan, written: WrittenTable, rows: int, engine: Engine
) -> UniqueFigures:
    """Read an output back, and return how many of its rows are unique on what it keeps exact.

    Not applicable to a release by buckets.
    """
    from policy_engine.engines.reading_back import cell_columns  # noqa: PLC0415 (slow to import)

    if plan.require_anonymize().is_in_buckets:
        return NotApplicable(reason=IN_BUCKETS)
    columns = engine.columns(written)
    # A range may be written as two columns.
    cells = [one for name in recoded_columns(plan) for one in cell_columns(name, columns)]
    return measure_uniques(
        exact_columns(plan), cells, lambda sets: engine.unique_rows(written, sets), rows
    )


def measure_bound_of_unique(step: Anonymize, figures: UniqueFigures) -> Iterator[Measurement]:
    """Yield the share of the rows that are unique on what is kept exact, if that is bounded.

    Raises InternalError (X001) where they were not counted.
    """
    for bound in step.bounds_of_unique():
        if isinstance(figures, NotApplicable):
            raise InternalError.of("X001", "Unique rows are bounded and were not counted.")
        yield Measurement(
            bound=bound.name, sense=bound.sense, asked=bound.asked, achieved=figures.share_kept
        )


def remaining_risks(certificate: "Certificate") -> Iterator[str]:
    """Yield what the owner of a release is to know that no bound is about, a sentence or two each:
    rows that are unique on what is kept exact, and quasi-identifiers that tell nothing any more."""
    if isinstance(certificate.unique_rows, UniqueRows):
        yield from certificate.unique_rows.sentences()
    names = emptied_columns(certificate)
    if names:
        subject = "quasi-identifier" if len(names) == 1 else "quasi-identifiers"
        tell = "tells" if len(names) == 1 else "tell"
        yield (
            f"The {subject} {join_names(names)} {tell} nothing any more: every released cell is "
            "the widest value. Leave out what nobody needs, ask for a smaller k, or take an "
            "algorithm that recodes classes one by one (mondrian)."
        )


def emptied_columns(certificate: "Certificate") -> tuple[str, ...]:
    """Return the quasi-identifiers of which every released cell is the widest value.

    Of columns whose cells are suppressed one by one, the number is told where they are.
    """
    step, utility = certificate.plan.anonymize, certificate.utility
    if step is None or not isinstance(utility, Utility):
        return ()
    losses = utility.column_losses
    return tuple(
        one.name
        for one in step.columns.quasi_identifier
        if losses.get(one.name, 0.0) >= 1.0 and one.generalization != SUPPRESSION
    )


def unique_contradictions(certificate: "Certificate") -> Iterator[str]:
    """Yield figures of unique rows that no output of these rows and columns has.

    Certificates made before there were such figures have none.
    """
    figures, step = certificate.unique_rows, certificate.plan.anonymize
    if figures is None:
        return
    if step is None or not certificate.plan.makes_rows:
        yield "It counts unique rows, and releases none of the input."
    elif isinstance(figures, NotApplicable) or step.is_in_buckets:
        if not step.is_in_buckets or figures != NotApplicable(reason=IN_BUCKETS):
            yield "It is wrong about whether unique rows are counted."
    elif figures.columns != exact_columns(certificate.plan):
        yield "It does not count the rows that are unique on exactly what its plan keeps exact."
    elif not _is_bound_of(certificate, figures):
        yield f"Its share of unique rows, {UNIQUE_KEPT}, is not that of the rows that are unique."
    elif not _are_possible(figures, certificate.rows_out):
        rows = format_count(certificate.rows_out, "row")
        yield f"What is told of unique rows is not that of {rows}."


def _is_bound_of(certificate: "Certificate", figures: UniqueRows) -> bool:
    shares = [one.achieved for one in certificate.measurements if one.bound == UNIQUE_KEPT]
    return all(abs(one - figures.share_kept) <= _ROUNDING for one in shares)


def _are_possible(figures: UniqueRows, rows: int) -> bool:
    """Tell whether more columns make more rows unique, and all but one or all at most."""
    exact, pair, together = figures.columns, figures.pair, figures.together
    counts = [one for one in (*figures.alone, pair, together, figures.quasi_identifiers) if one]
    are_counts = all(_is_count(one.rows, rows) for one in counts if isinstance(one, UniqueOn))
    is_paired = isinstance(pair, UniqueOn if 2 <= len(exact) <= MOST_PAIRED else NotApplicable)
    has_pair = is_paired if len(exact) >= 2 else pair is None
    has_all = together is None if not exact else together is not None and together.columns == exact
    return figures.rows == rows and are_counts and has_pair and has_all and _is_ordered(figures)


def _is_count(unique: int, rows: int) -> bool:
    # If all rows but one were unique, that one would be as well.
    return unique == rows or unique <= rows - 2


def _is_ordered(figures: UniqueRows) -> bool:
    pair, together, worst = figures.pair, figures.together, figures.worst_column
    if together is None or worst is None:
        return True
    if not isinstance(pair, UniqueOn):
        return worst.rows <= together.rows
    is_of_two = {*pair.columns} <= {*together.columns} and len({*pair.columns}) == 2
    is_all = len(together.columns) > 2 or pair.rows == together.rows
    return is_of_two and is_all and worst.rows <= pair.rows <= together.rows


def false_unique_rows(stated: UniqueFigures | None, actual: UniqueFigures | None) -> Iterator[str]:
    """Yield what is told of unique rows, and is not what was counted again, of the same columns."""
    if not isinstance(stated, UniqueRows) or not isinstance(actual, UniqueRows):
        return
    figures, again = _figures(stated), _figures(actual)
    for what, rows in figures.items():
        if rows != again.get(what, rows):
            yield (
                f"The certificate says that {format_count(rows, 'row')} are unique on {what}; "
                f"counted again, there are {again[what]:,}."
            )


def _figures(figures: UniqueRows) -> dict[str, int]:
    """Return the figures by what they are of, in whatever order columns are."""
    named = (*figures.alone, figures.together, figures.quasi_identifiers)
    rows = {join_names(sorted(one.columns)): one.rows for one in named if one}
    if isinstance(figures.pair, UniqueOn):
        # Of several pairs, the first is named, which depends on the order of columns.
        rows[f"two of {join_names(sorted(figures.columns))}"] = figures.pair.rows
    return rows
