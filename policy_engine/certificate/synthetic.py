"""What is measured of rows that were made up, and what a certificate says of them and of their
generator."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from policy_engine.engines.engine import Engine, WrittenTable
from policy_engine.errors import CertificateError, DataError, format_count
from policy_engine.methods import Measurement
from policy_engine.plan.steps import Synthesise, SyntheticAuditStep, TrainGenerator

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate


def measure_synthetic(
    written: WrittenTable, step: Synthesise | TrainGenerator, engine: Engine
) -> tuple[Measurement, ...]:
    """Return how many cells of each column lie outside of what the input has, as they were written.

    Raises DataError (V006) where another run made the table: nothing in it shows that its rows were
    made up. Raises CertificateError (V003) where it does not have as many rows as are asked for.
    """
    if written.anonymized is None:
        message = "Nothing in a table shows that its rows were made up, or how."
        raise DataError.of("V006", message, "Make it again: policy-engine apply.")
    rows, foreign = engine.foreign_cells(written, step)
    if rows != step.rows_measured:
        expected = f"{step.rows_measured:,} are made up"
        message = f"The output has {format_count(rows, 'row')}, and {expected}."
        raise CertificateError.of("V003", message, source=written.stored.location)
    return tuple(
        Measurement(
            bound=one.name, column=one.column, sense=one.sense, asked=one.asked, achieved=cells
        )
        for one, cells in zip(step.bounds(), foreign, strict=True)
    )


def synthetic_warning(
    step: Synthesise | TrainGenerator, audits: Sequence[SyntheticAuditStep] = ()
) -> str:
    """Return what to know of made-up rows, or of their generator, before anything else."""
    what = "nothing bounds what they show of the rows that it learnt from"
    if audits:
        share = max(one.method.holdout_share for one in audits)
        whose = "the rows that it learnt from"
        if step.unit:
            whose = f"the persons, by {step.unit!r}, whose rows it learnt from those of"
        what = (
            f"what is bounded is how well some attacks tell {whose} a random {share:.0%} of all, "
        )
        what += "which it never saw"
    made = f"the rows were made up by {step.synthesiser}"
    if isinstance(step, TrainGenerator):
        made = (
            f"the model is a generator, {step.synthesiser}, that holds true values of its columns"
        )
        made += f", the attacks are on it and on {step.rows_measured:,} rows that it made up"
    return f"No formal guarantee is given: {made}, and {what}."


def synthetic_contradictions(certificate: "Certificate") -> Iterator[str]:
    """Yield what no release of synthetic rows, or of their generator, has."""
    step = certificate.plan.generation
    if step is None:
        return
    if certificate.rows_out != step.rows_measured:
        yield f"It has {certificate.rows_out:,} rows, and its plan makes {step.rows_measured:,}."
    if not certificate.tells_making:
        yield "It does not say how its rows were made up, which no table shows."
