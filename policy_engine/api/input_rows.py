"""The rows of an input, and what they tell of an output that was made before."""

from typing import TYPE_CHECKING, Any, NamedTuple

from policy_engine.certificate.certificate import Certificate
from policy_engine.certificate.class_figures import have_figures
from policy_engine.certificate.input_checks import (
    check_kept_values,
    check_masked_sample,
    check_row_number,
    check_sampled,
)
from policy_engine.engines.engine import Engine, WrittenTable
from policy_engine.engines.masking.row_origins import rows_before
from policy_engine.engines.written_tables import read_written
from policy_engine.errors import CertificateError, DataError
from policy_engine.plan.plan import Plan
from policy_engine.release.release import (
    MaskedTable,
    Release,
    anonymize_rows,
    mask_rows,
    read_inputs,
)

if TYPE_CHECKING:
    import pyarrow as pa


class InputRows(NamedTuple):
    """The table of a plan, and those of its rows that are released, as far as is known without the
    key."""

    table: Any
    kept: Any


def input_rows(plan: Plan, engine: Engine, earlier: Certificate | None) -> InputRows:
    """Return the rows that a plan reads, and those that it releases where that decides how columns
    are masked: to form classes again takes long.

    Raises DataError (V006) where these are not found again.
    """
    table, _ = read_inputs(plan, engine, ())
    if plan.mask is None or plan.sample is not None:
        return InputRows(table, table)
    if earlier is not None and earlier.ended and plan.most_suppressed:
        message = "A time limit ended the search for this release: which rows it suppressed is not "
        raise DataError.of("V006", f"{message}known, nor how the others were masked.")
    return InputRows(
        table, engine.released_rows(table, plan.require_anonymize(), plan.publish).table
    )


def known_rows(release: Release, engine: Engine) -> "pa.Table | None":
    """Return what intruders know of the rows of an output, in the order of the output; None where
    the columns that are published as they are do not tell whose each row is."""
    plan = release.plan
    table, _ = read_inputs(plan, engine, ())
    output = read_written(WrittenTable(release.output))
    return rows_before(table, output, plan.unmasked_columns, plan.compared)


def known_output(
    release: Release, engine: Engine, key: object, rows: InputRows, before: "pa.Table | None"
) -> WrittenTable | None:
    """Return an output with what its input tells of its rows, of its masked columns, of classes by
    microaggregation and of columns with a cap, None if that is nothing.

    Of a sample, nobody knows without the key of which rows it is.
    """
    plan, step = release.plan, release.plan.require_anonymize()
    is_asked = plan.mask or have_figures(step) or step.columns.capped
    if not is_asked or plan.sample is not None:
        return None if before is None else WrittenTable(release.output, before=before)
    masked = formed = None
    missing = engine.missing_cells(rows.kept, step) if step.columns.capped else {}
    if plan.mask:
        output = WrittenTable(release.output)
        masked = engine.look_at_masked(rows.kept, plan.mask, output, plan.unmasked_columns)
    if have_figures(step):
        # The key tells tied rows apart by what is released of them.
        masked_table = (
            MaskedTable(rows.table) if key is None else mask_rows(plan, engine, rows.table)
        )
        formed = anonymize_rows(plan, engine, masked_table).formed
    return WrittenTable(
        release.output, masked=masked, formed=formed, missing_cells=missing, before=before
    )


def check_against_input(
    release: Release,
    engine: Engine,
    earlier: Certificate | None,
    rows: InputRows | None,
    rows_out: int,
) -> None:
    """Raise CertificateError where an output of so many rows is not of its input `rows`, as far as
    one can tell; of a sample, something is known without them."""
    if release.plan.sample:
        check_sampled(release, engine, rows.table if rows else None, earlier)
    elif rows:
        check_row_number(release, engine.row_number(rows.table), rows_out)
    if rows:
        check_kept_values(release, engine, rows.kept)
        if release.plan.sample:  # Masked cells are compared with rows that have these values.
            check_masked_sample(release, engine, rows.table)


def check_rows(certificate: Certificate, written: WrittenTable | None) -> None:
    """Raise CertificateError (V003) if an output has not the rows that its policy releases."""
    masked = written.masked if written else None
    expected = masked.rows if masked else None
    if expected not in (None, certificate.rows_out):
        message = f"The output has {certificate.rows_out} rows, and the policy releases {expected} "
        raise CertificateError.of("V003", f"{message}of the input.")
