"""A certificate on a terminal."""

import re
from collections.abc import Iterator
from decimal import Decimal

from rich.markup import escape
from rich.table import Table

from policy_engine.audits.attribute.gate import format_secret
from policy_engine.audits.disclosure.gate import format_disclosure
from policy_engine.audits.disclosure.unique_rows import UniqueRows
from policy_engine.audits.gate import format_measurement, measurement_state
from policy_engine.audits.generative.gate import format_synthetic
from policy_engine.certificate.certificate import Certificate, MaskedColumn
from policy_engine.certificate.figure_checks import FIGURES_OF_ROWS
from policy_engine.certificate.label_figures import LabelFigures
from policy_engine.certificate.record import Record
from policy_engine.certificate.shortcomings import file_figures
from policy_engine.cli.tables.losses import loss_text
from policy_engine.cli.tables.randomised import randomised_rows
from policy_engine.cli.tables.statistics import statistics_rows
from policy_engine.cli.tables.synthetic_rows import synthetic_rows
from policy_engine.cli.tables.tables import new_table, printed_figure, printed_loss
from policy_engine.engines.samples import SampleFigures
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.privacy_model import Measurement
from policy_engine.plan.lineage import Maker
from policy_engine.plan.synthesis import FOREIGN
from policy_engine.terms import compact, maskings, randomisers


def certificate_table(certificate: Certificate, record: Record | None = None) -> Table:
    """Return what was asked and measured, a row for each bound; then the certainty penalty.

    To the owner, who has the record, also how many rows there were.
    """
    title = certificate.warning or "Certificate"
    table = new_table(title, "measure", "asked", "achieved", "")
    for m in certificate.measurements:
        verdict = "[green]holds[/]" if m.holds else "[red]broken[/]"
        bound, achieved = f"{m.sense} {m.asked:g}", printed_figure(m.achieved, m.sense)
        if m.bound in ("epsilon", "delta"):
            most, reached = (loss_text(Decimal(repr(one))) for one in (m.asked, m.achieved))
            bound, achieved = f"{m.sense} {most}", reached
        table.add_row(escape(_measured(m)), bound, achieved, verdict)
    for one in certificate.attacks:
        name = f"{one.bound.measure} of {one.attack}"
        if one.bound.fpr is not None:
            name = f"{one.bound.measure} {one.bound.fpr:g} of {one.attack}"
        bound = f"{one.bound.sense} {one.bound.asked:g}"
        table.add_row(escape(name), bound, format_measurement(one), _STATES[measurement_state(one)])
    for disclosure in certificate.disclosures:
        state = "holds" if disclosure.holds else "broken"
        is_none = disclosure.holds and isinstance(disclosure.reached, NotApplicable)
        table.add_row(
            escape(f"{disclosure.bound.measure} by {disclosure.name}"),
            f"{disclosure.bound.sense} {disclosure.bound.asked:g}",
            escape(format_disclosure(disclosure)),
            _STATES["no evidence" if is_none else state],
        )
    for attack in certificate.synthetic_attacks:
        state = "holds" if attack.holds else "broken"
        is_none = isinstance(attack.reached, NotApplicable)
        table.add_row(
            escape(f"{str(attack.bound).split(f' {attack.bound.sense}')[0]} of {attack.attack}"),
            f"{attack.bound.sense} {attack.bound.asked:g}",
            escape(format_synthetic(attack)),
            _STATES["no evidence" if is_none else state],
        )
    for secret in certificate.secret_attacks:
        state = "holds" if secret.holds else "broken"
        is_none = isinstance(secret.reached, NotApplicable)
        table.add_row(
            escape(f"{secret.bound.measure} of {secret.name}"),
            f"{secret.bound.sense} {secret.bound.asked:g}",
            escape(format_secret(secret)),
            _STATES["no evidence" if is_none else state],
        )
    for name, bound, achieved, holds in file_figures(certificate):
        table.add_row(name, bound, achieved, "[green]holds[/]" if holds else "[red]broken[/]")
    table.add_section()
    for name, value in _figures(certificate, record):
        table.add_row(name, "", value, "")
    return table


def _measured(one: Measurement) -> str:
    """Return what was measured, in words."""
    if one.bound in randomisers():
        return f"cells of {one.column} that {one.bound} never draws"
    if one.bound in maskings():
        return f"cells of {one.column} that break {one.bound}"
    if one.bound == FOREIGN:
        return f"cells of {one.column} beyond the input"
    return f"{one.bound} of {one.column}" if one.column else one.bound


_STATES = {"holds": "[green]holds[/]", "broken": "[red]broken[/]", "no evidence": "no evidence"}


def _figures(certificate: Certificate, record: Record | None) -> Iterator[tuple[str, str]]:
    yield from _row_figures(certificate, record)
    if certificate.sample:
        yield "sampled", _sample_text(certificate.sample)
    if certificate.snapshot:
        yield "stored as", str(certificate.snapshot)
    yield from _maker_rows(certificate)
    yield from _model_rows(certificate)
    for one in certificate.maskings:
        figures = (f"{_words(name)} {_number(figure)}" for name, figure in one.figures.items())
        text = ", ".join(figures) or "nothing more was measured"
        lacking = ", ".join(map(_words, _unmeasured(certificate, one)))
        text += f"; not measured, and so not verified: {lacking}" if lacking else ""
        yield escape(f"{one.masking} of {one.column}"), text
    yield from statistics_rows(certificate)
    yield from randomised_rows(certificate)
    yield from synthetic_rows(certificate)
    yield from _unique_rows(certificate)
    step, utility = certificate.plan.anonymize, (record or certificate).utility
    if isinstance(utility, NotApplicable) or step is None:
        return
    if step.columns.privacy_unit:
        yield "counted in", f"distinct {escape(step.columns.privacy_unit)}"
    if step.recoding.has_overlapping_classes:
        yield "counted in", "rows that could be the same: a missing value matches any"
    yield "classes", f"{utility.classes:,}"
    yield "average class size", f"{utility.average_class_size:.2f}"
    yield from _class_rows(certificate)
    yield from _label_rows(certificate)
    yield "global certainty penalty", printed_loss(utility.global_certainty_penalty)
    for name, loss in utility.column_losses.items():
        yield f"  certainty penalty of {escape(name)}", f"{loss:.4f}"
    if certificate.approximated:
        yield "first cut at quantiles", escape(", ".join(certificate.approximated))
    yield from _search_rows(certificate)
    if utility.perturbed:
        yield "perturbed, loss not seen in cells", escape(", ".join(utility.perturbed))
    yield "discernability", f"{utility.discernability:,}"


def _search_rows(certificate: Certificate) -> Iterator[tuple[str, str]]:
    """Yield what the search for classes left out, of rows and of itself."""
    if certificate.lowered_loss:
        yield "loss lowered by leaving rows out", str(certificate.lowered_loss)
    if certificate.ended:
        yield "ended by its time limit", escape(str(certificate.ended))


def _unique_rows(certificate: Certificate) -> Iterator[tuple[str, str]]:
    """Yield how many rows are unique on what is kept exact."""
    figures = certificate.unique_rows
    if isinstance(figures, UniqueRows):
        yield from ((name, escape(text)) for name, text in figures.texts())
    elif figures is not None:
        yield "unique on what is kept exact", escape(figures.reason)


def _sample_text(sample: SampleFigures) -> str:
    if sample.sampled is None or sample.share is None:
        return f"{sample.units}, some of them suppressed"
    strata = f", of {sample.strata:,} strata" if (sample.strata or 1) > 1 else ""
    return f"{sample.sampled:,} {sample.units}, {sample.share:.2%} of all{strata}"


def _unmeasured(certificate: Certificate, masked: MaskedColumn) -> list[str]:
    """Return the figures of a masked column that compare rows and were not measured."""
    columns = certificate.plan.mask.columns if certificate.plan.mask else ()
    ranges = {name for one in columns if one.name == masked.column for name in one.figure_ranges}
    return [name for name in FIGURES_OF_ROWS if name in ranges and name not in masked.figures]


_WORDS = {
    "extremeLeft": "most extreme value left",
    "moved": "cells that moved",
    "transitions": "cells drawn",
    "unchanged": "share unchanged",
}


def _words(figure: str) -> str:
    """Return the name of a figure as people read it."""
    return _WORDS.get(figure) or re.sub("[A-Z]", lambda match: f" {match[0].lower()}", figure)


def _number(figure: float) -> str:
    """Return a figure with four digits, all digits before the point."""
    return f"{figure:,.0f}" if figure.is_integer() else _rounded(figure)


def _rounded(figure: float) -> str:
    return f"{figure:,.1f}" if abs(figure) >= _MANY else f"{figure:.4g}"


_MANY = 1000


def _class_rows(certificate: Certificate) -> Iterator[tuple[str, str]]:
    """Yield what classes by microaggregation show."""
    figures = certificate.class_figures
    if figures is None:
        return
    yield "class sizes", f"{figures.smallest:,} to {figures.largest:,}"
    if figures.information_loss is not None:
        yield "information loss, 100 SSE/SST", f"{figures.information_loss:g}"
    for one in figures.columns:
        texts = [f"share unchanged {one.unchanged:.4g}"]
        if one.information_loss is not None:
            texts.append(f"information loss {one.information_loss:g}")
        if one.dominated is not None:
            texts.append(f"means that one value dominates {one.dominated:.4g}")
        yield f"  cells of {escape(one.column)}", ", ".join(texts)


def _label_rows(certificate: Certificate) -> Iterator[tuple[str, str]]:
    """Yield what accuracy-guided classes disclose of their label."""
    figures = certificate.label_figures
    if isinstance(figures, LabelFigures):
        for name, text in figures.texts(certificate.rows_out):
            yield escape(name), text
    elif figures is not None:
        yield "label in classes", escape(figures.reason)


def _row_figures(certificate: Certificate, record: Record | None) -> Iterator[tuple[str, str]]:
    """Yield how many rows there are, and what was suppressed."""
    rows = f"{certificate.rows_out:,}"
    if certificate.plan.aggregate is not None:
        yield "groups", rows
        return
    if certificate.plan.generation is not None:
        is_model = certificate.plan.train_generator is not None
        yield "rows, drawn to be measured" if is_model else "rows, made up", rows
        if record:
            learnt = record.rows_in - record.held_out - record.suppressed
            left_out = f", {record.suppressed:,} of nobody" if record.suppressed else ""
            yield "learnt from", f"{learnt:,} of {record.rows_in:,} rows{left_out}"
        return
    if record:
        rows += f" of {record.rows_in:,}"
        rows += f", {record.sampled:,} sampled" if record.sampled is not None else ""
        rows += f", {record.suppressed:,} suppressed" if record.suppressed else ""
        rows += f", {record.held_out:,} kept for the audit" if record.held_out else ""
    yield "rows", rows
    if record and record.gain:
        yield "suppression", str(record.gain)
    if record and record.moves:
        chance = f"{record.moves.expected:,.1f} expected by chance"
        yield "rows with all values as before", f"{record.moves.unmoved:,}, {chance}"
    if record and record.suppressed_cells:
        cells = (f"{cells:,} of {escape(name)}" for name, cells in record.suppressed_cells.items())
        yield "cells suppressed", ", ".join(cells)


def _maker_rows(certificate: Certificate) -> Iterator[tuple[str, str]]:
    """Yield who made it, or that nobody knows."""
    made_by = certificate.made_by
    if isinstance(made_by, Maker):
        purpose = f" for {compact(made_by.purpose)}" if made_by.purpose else ""
        yield "made by", escape(f"{made_by.party}{purpose}")
    else:
        yield "made by", f"the {made_by}" if made_by else "not known, measured alone"
    for one in certificate.plan.by_consent:
        bounds = escape(", ".join(one.bounds)) or "in any way"
        yield f"by leave of {escape(one.rule)}", f"{escape(one.asset)}: {bounds}"


def _model_rows(certificate: Certificate) -> Iterator[tuple[str, str]]:
    """Yield what is known of the attacked models, and with what they were attacked."""
    if not certificate.attempts:
        return
    what = "a model" if certificate.plan.audits else "rows that pass"
    yield f"attempts at {what}", f"{certificate.attempts:,}"
    for one in certificate.models:
        yield "right about its members", format_percent(one.on_members)
        yield "right about other records", format_percent(one.on_others)
        yield "membership guessed from labels alone", format_percent(one.baseline)
    added = dict.fromkeys(
        name for step in certificate.plan.audits for name in step.method.gate_attacks
    )
    if added:
        yield "attacks beside those asked for", ", ".join(added)
    for attack, why in dict.fromkeys((one.attack, one.unfit) for one in certificate.attacks):
        if why:
            yield f"no evidence by {escape(attack)}", escape(why)


def format_percent(figure: Estimate) -> str:
    """Return a share that is rounded to percents, with its interval."""
    return f"{figure.value:.0%} (95% interval {figure.low:.0%} to {figure.high:.0%})"
