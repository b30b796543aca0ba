"""Rows that are made up, on a terminal."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from policy_engine.cli.tables.tables import printed_list
from policy_engine.plan.synthesis import Generation, Synthesis, TrainedGenerator
from policy_engine.plan.synthetic_audits import SyntheticAudit

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate


def add_synthetic(table: Table, step: Synthesis, audits: Sequence[SyntheticAudit] = ()) -> None:
    """Add to the table of a plan what is made up, and how, and how it is attacked."""
    table.add_row("synthesise", f"{step.rows:,} rows, no formal guarantee", escape(_made_by(step)))
    table.add_row("", "columns, in this order", printed_list(step.columns))
    _add_attacks(table, step, audits)


def add_generator(table: Table, step: TrainedGenerator, audits: Sequence[SyntheticAudit]) -> None:
    """Add to the table of a plan which generator is trained, and how it is attacked."""
    table.add_row("train", "a generator of rows, no formal guarantee", escape(_made_by(step)))
    table.add_row("", "columns, in this order", printed_list(step.columns))
    table.add_row("", "measured and attacked", f"by {step.rows_measured:,} rows drawn from it")
    _add_attacks(table, step, audits)


def _add_attacks(table: Table, step: Generation, audits: Sequence[SyntheticAudit]) -> None:
    if step.unit:
        table.add_row("", "count persons by", escape(step.unit))
    for one in audits:
        method = one.method
        table.add_row("attack", escape(str(method)), ", ".join(method.attacks_run))
        unseen = f"{method.holdout_share:.0%} of the rows, which the generator never sees"
        table.add_row("", "against", unseen)


def synthetic_rows(certificate: "Certificate") -> Iterator[tuple[str, str]]:
    """Yield what a certificate says of rows that were made up, a name and a text a row."""
    step = certificate.plan.generation
    if step is None:
        return
    is_model = certificate.plan.train_generator is not None
    yield "a generator" if is_model else "made up by", escape(_made_by(step))
    yield "columns, in the order drawn", printed_list(step.columns)
    yield "formal guarantee", "none"
    if step.unit:
        yield "counted in", f"distinct {escape(step.unit)}"
    if certificate.plan.holdout_share:
        share = f"{certificate.plan.holdout_share:.0%} of all rows, drawn at random"
        yield "attacked against", f"{share}, which the generator never saw"


def _made_by(step: Generation) -> str:
    return str(step.synthesiser)
