"""A certificate on a terminal."""

from collections.abc import Iterator

from rich.markup import escape
from rich.table import Table

from policy_engine.certificate import Certificate, said
from policy_engine.estimates import NotApplicable
from policy_engine.record import Record
from policy_engine.rendering.tables import new_table, printed_figure, printed_loss


def certificate_table(certificate: Certificate, record: Record | None = None) -> Table:
    """Return what was asked and what was measured, a row a bound; then the loss.

    To the owner, who has the record, also how many rows there were.
    """
    table = new_table("Certificate", "measure", "asked", "achieved", "")
    for m in certificate.measurements:
        name = f"{m.bound} of {m.column}" if m.column else m.bound
        verdict = "[green]holds[/]" if m.holds else "[red]broken[/]"
        asked = f"{m.sense} {m.asked:g}"
        table.add_row(escape(name), asked, printed_figure(m.achieved, m.sense), verdict)
    for one in certificate.attacks:
        verdict = "[green]holds[/]" if one.holds else "[red]broken[/]"
        name = f"{one.bound.measure} of {one.attack}"
        if one.bound.fpr is not None:
            name = f"{one.bound.measure} {one.bound.fpr:g} of {one.attack}"
        asked = f"{one.bound.sense} {one.bound.asked:g}"
        table.add_row(escape(name), asked, said(one.reached), verdict)
    table.add_section()
    for name, value in _figures(certificate, record):
        table.add_row(name, "", value, "")
    return table


def _figures(certificate: Certificate, record: Record | None) -> Iterator[tuple[str, str]]:
    rows = f"{certificate.rows_out:,}"
    if record:
        rows += f" of {record.input.rows:,}"
        rows += f", {record.suppressed:,} suppressed" if record.suppressed else ""
        rows += f", {record.held_out:,} kept for the audit" if record.held_out else ""
    yield "rows", rows
    asked, utility = certificate.plan.anonymize, (record or certificate).utility
    if isinstance(utility, NotApplicable) or asked is None:
        return
    if asked.columns.privacy_unit:
        yield "counted in", f"distinct {escape(asked.columns.privacy_unit)}"
    yield "classes", f"{utility.classes:,}"
    yield "average class size", f"{utility.average_class_size:.2f}"
    yield "global certainty penalty", printed_loss(utility.global_certainty_penalty)
    for name, loss in utility.column_losses.items():
        yield f"  loss of {escape(name)}", f"{loss:.4f}"
    if certificate.approximated:
        yield "first cut at quantiles", escape(", ".join(certificate.approximated))
    if utility.perturbed:
        yield "perturbed, loss not known", escape(", ".join(utility.perturbed))
    yield "discernability", f"{utility.discernability:,}"
