"""How large a share of a column's cells was suppressed, as far as everybody may know."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.audits.utility.figures import Utility
from policy_engine.engines.engine import TableMeasurements, WrittenTable
from policy_engine.errors import DataError, InternalError
from policy_engine.methods import Bound, Measurement
from policy_engine.methods.columns import CAP
from policy_engine.plan.steps import Anonymize

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate
    from policy_engine.kernels.grouping import ClassTotals

_ROUNDING = 1e-9


def measure_caps(
    step: Anonymize, measured: TableMeasurements, written: WrittenTable, *, is_shown: bool
) -> Iterator[Measurement]:
    """Yield the measurement of each cap: the cells missing in the output, less those that its rows
    lack in the input, over the rows.

    Of a cap that is kept, it tells the share missing in the output, and the cap itself where more
    are missing, or where the output is not one that everybody sees (`is_shown`). So nobody learns
    how many were suppressed. Raises DataError (V006) where more are missing than may be
    suppressed, and the input is not at hand.
    """
    for bound in step.caps():
        if measured.totals is None:
            raise InternalError.of("X001", "Cells are suppressed in classes.")
        yield _measurement(bound, measured.totals, written, is_shown=is_shown)


def _measurement(
    bound: Bound, totals: "ClassTotals", written: WrittenTable, *, is_shown: bool
) -> Measurement:
    rows, before = totals.rows, written.missing_before
    missing = round(totals.losses[bound.column] or 0)
    missing_before = 0 if before is None else before[bound.column]
    suppressed = (missing - missing_before) / rows
    is_kept = bound.holds(suppressed)
    if before is None and not is_kept:
        raise _unknown_error(bound, missing, rows)
    upper_share = min(missing / rows, bound.asked) if is_shown else bound.asked
    return Measurement(
        bound=bound.name,
        column=bound.column,
        sense=bound.sense,
        asked=bound.asked,
        achieved=upper_share if is_kept else suppressed,
    )


def _unknown_error(bound: Bound, missing: int, rows: int) -> DataError:
    message = (
        f"{missing:,} of {rows:,} cells of {bound.column!r} are missing, of which {bound.asked:g} "
        "may have been suppressed. How many were missing before, only the data tell, and of a "
        "sample, the key besides."
    )
    hint = "Give the data that it was made from, and the key if rows were sampled."
    return DataError.of("V006", message, hint)  # type: ignore[return-value]


def cap_contradictions(certificate: "Certificate") -> Iterator[str]:
    """Yield shares of suppressed cells that are not those of the cells missing in the output."""
    utility, rows = certificate.utility, certificate.rows_out
    for one in certificate.measurements:
        if one.bound != CAP:
            continue
        lost = utility.column_losses.get(one.column, 0.0) if isinstance(utility, Utility) else 1.0
        stated_share = min(lost, one.asked)
        if abs(one.achieved - stated_share) > _ROUNDING and not one.asked < one.achieved <= lost:
            name = f"{CAP} of {one.column!r}"
            yield f"{name} cannot be {one.achieved:g} if {lost:g} of {rows} cells are missing."
