"""How a certificate falls short of its policy, and what it proves, in words."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine import terms
from policy_engine.audits.attribute.gate import format_secret, secret_shortfalls
from policy_engine.audits.disclosure.gate import disclosure_shortfalls, format_disclosure
from policy_engine.audits.gate import format_measurement, shortfalls
from policy_engine.audits.generative.gate import format_synthetic, synthetic_shortfalls
from policy_engine.audits.utility.figures import Utility
from policy_engine.certificate.composed import composition_shortfalls
from policy_engine.certificate.record import Record
from policy_engine.errors import Problem, format_count
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods import Measurement
from policy_engine.methods.buckets import BOUNDS
from policy_engine.methods.columns import CAP
from policy_engine.methods.recoding import UNIQUE_KEPT
from policy_engine.plan.synthesis import FOREIGN

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate


def shortcomings(certificate: "Certificate") -> Iterator[Problem]:
    """Yield every bound that falls short according to a certificate, and where."""
    for measured in certificate.measurements:
        if not measured.holds and measured.bound in {**terms.maskings(), **terms.randomisers()}:
            cells = format_count(int(measured.achieved), "cell")
            verb = "does" if measured.achieved == 1 else "do"
            message = f"{cells} of {measured.column!r} {verb} not keep its "
            yield Problem("V001", f"{message}{measured.bound}.")
        elif not measured.holds and measured.bound == FOREIGN:
            cells = format_count(int(measured.achieved), "cell")
            verb = "lies" if measured.achieved == 1 else "lie"
            message = f"{cells} of {measured.column!r} {verb} outside of what the input has."
            yield Problem("V001", message)
        elif not measured.holds and measured.bound == CAP:
            share = f"{measured.achieved:.4g} of the cells of {measured.column!r}"
            yield Problem("V001", f"{share} are suppressed. Allowed are {measured.asked:g}.")
        elif not measured.holds and measured.bound == UNIQUE_KEPT:
            share = f"{measured.achieved:.4g} of the rows are unique on what is kept exact."
            yield Problem("V001", f"{share} Allowed are {measured.asked:g}.", UNIQUE_ADVICE)
        elif not measured.holds:
            about = f" of {measured.column!r}" if measured.column else ""
            group = "bucket" if measured.bound in BOUNDS else "class"
            where = f"{group} {measured.worst}" if measured.worst is not None else f"a {group}"
            message = (
                f"{measured.bound}{about} must be {measured.sense} {measured.asked:g}, but is "
                f"{measured.achieved:g} in {where} of the output."
            )
            yield Problem("V001", message)
    yield from composition_shortfalls(certificate)
    yield from _attack_shortcomings(certificate)
    yield from _file_shortcomings(certificate)
    steps = certificate.plan.disclosures if certificate.output_digest else ()
    for sentence in disclosure_shortfalls(steps, certificate.disclosures):
        yield Problem("V019", sentence)
    if not certificate.output_digest:
        yield Problem("V004", "Nothing was released: the certificate has no output.")


UNIQUE_ADVICE = "Generalise columns as quasi-identifiers, mask them, or leave them out."
"""What lets fewer rows be unique on what is kept exact."""
MAKING_UNKNOWN = "Its certificate does not say how it was made: the output was only measured."
"""Why a certificate does not count as that of a release."""


MAKE_HINT = "Make it with policy-engine apply, or give the certificate it was published with."


def lost_rows(certificate: "Certificate", record: Record) -> Iterator[Problem]:
    """Yield rows that are missing without explanation, and rows or cells suppressed beyond the
    limit.

    Rows that were not sampled are not missing; the certificate and the record agree on their
    number where both tell it.
    """
    if certificate.plan.aggregate is not None:
        return  # a row is a group, and how many rows there were is not told even here
    if certificate.plan.generation is not None:
        return  # no row is one of the input
    expected = record.rows_used - record.held_out - record.suppressed
    sampled = certificate.sample.rows if certificate.sample else None
    is_told = certificate.sample is None or sampled is not None
    if (is_told and record.sampled != sampled) or record.rows_used > record.rows_in:
        message = f"The record has a sample of {record.sampled} rows of {record.rows_in}, and the "
        yield Problem("V003", f"{message}certificate one of {sampled}.")
    if expected != certificate.rows_out:
        message = (
            f"The output has {certificate.rows_out} rows, the input {record.rows_in}, of "
            f"which {record.suppressed} were suppressed"
        )
        message += f", and {record.sampled} sampled" if record.sampled is not None else ""
        message += f" and {record.held_out} kept" if record.held_out else ""
        yield Problem("V003", f"{message}.")
    anonymize = certificate.plan.anonymize
    allowed = anonymize.recoding.max_suppression * record.rows_used if anonymize else 0
    if record.suppressed > allowed:
        message = f"{record.suppressed} rows are suppressed. Allowed are {int(allowed)}."
        yield Problem("V003", message)
    yield from _suppressed_cells(certificate, record)


def _suppressed_cells(certificate: "Certificate", record: Record) -> Iterator[Problem]:
    """Yield the columns with more suppressed cells than may be, or than are missing."""
    utility, anonymize = certificate.utility, certificate.plan.anonymize
    for column in anonymize.columns.quasi_identifier if anonymize else ():
        cells = record.suppressed_cells.get(column.name, 0)
        allowed = column.most_suppressed(record.rows_used)
        if cells > allowed:
            message = f"{cells} cells of {column.name!r} are suppressed. Allowed are {allowed}."
            yield Problem("V003", message)
        if isinstance(utility, Utility):
            missing = round(utility.column_losses.get(column.name, 0) * certificate.rows_out)
            if cells > missing:
                message = f"{cells} cells of {column.name!r} were suppressed, but {missing} are "
                yield Problem("V003", f"{message}missing in the output.")


def _attack_shortcomings(certificate: "Certificate") -> Iterator[Problem]:
    """Yield the bounds on attacks that do not hold, or were not measured for every attack."""
    methods = [step.method for step in certificate.plan.audits]
    for sentence in shortfalls(methods, certificate.attacks):
        yield Problem("V007", sentence)
    synthetic = certificate.synthetic_attacks
    of_rows = [step.method for step in certificate.plan.synthetic_audits]
    for sentence in synthetic_shortfalls(of_rows, synthetic):
        yield Problem("V007", sentence)
    secrets = certificate.secret_attacks
    for sentence in secret_shortfalls(certificate.plan.secret_audits, secrets):
        yield Problem("V007", sentence)
    limits = [*(one.attempts for one in methods), *(one.attempts for one in of_rows)]
    allowed = min(filter(None, limits), default=None)
    if allowed is not None and certificate.attempts > allowed:
        message = f"It took {certificate.attempts} attempts, but the policy allows {allowed}."
        yield Problem("V007", message)


def _file_shortcomings(certificate: "Certificate") -> Iterator[Problem]:
    """Yield what the files of a model reveal and should not, or that they were not checked."""
    bounds, figures = certificate.plan.file_bounds, certificate.files
    if bounds is not None and (figures is None or figures.asked != bounds):
        yield Problem("V011", "The files of the model were not checked for what they reveal.")
    for sentence in figures.shortcomings() if figures else ():
        yield Problem("V011", sentence)


def proven(certificate: "Certificate") -> str:
    """Return every bound with its measurement, on one line; empty if there is none."""
    measurements = map(_format_measurement, certificate.measurements)
    attacks = (
        f"{one.attack} {format_measurement(one)} ({one.bound})"
        for one in certificate.attacks
        if not one.unfit
    )
    disclosures = (
        f"{one.name} {format_disclosure(one)} ({one.bound})"
        for one in certificate.disclosures
        if not isinstance(one.reached, NotApplicable)
    )
    synthetic = (
        f"{one.attack} {format_synthetic(one)} ({one.bound})"
        for one in certificate.synthetic_attacks
    )
    secrets = (
        f"{one.name} {format_secret(one)} ({one.bound})"
        for one in certificate.secret_attacks
        if not isinstance(one.reached, NotApplicable)
    )
    files = (
        f"{name} {figure} ({required})" for name, required, figure, _ in file_figures(certificate)
    )
    stated = certificate.composition
    composed = [f"{stated.bound} with {stated.releases:,} earlier releases"] if stated else []
    figures = (*measurements, *composed, *attacks, *disclosures, *synthetic, *secrets, *files)
    return ", ".join(figures)


def _format_measurement(one: Measurement) -> str:
    if one.bound in terms.maskings():
        outcome = "kept" if one.holds else f"not kept by {format_count(int(one.achieved), 'cell')}"
        return f"{one.bound} of {one.column} {outcome}"
    column = f" of {one.column}" if one.column else ""
    return f"{one.bound} {one.achieved:.6g} ({one.sense} {one.asked:g}){column}"


def file_figures(certificate: "Certificate") -> Iterator[tuple[str, str, str, bool]]:
    """Yield the figures of a model's files: the bound, its limit, its value, and if it holds."""
    figures = certificate.files
    if figures is None:
        return
    bounds = figures.asked
    smallest, holds = str(figures.smallest_leaf), figures.smallest_leaf >= bounds.smallest_leaf
    yield "smallestLeaf", f"at least {bounds.smallest_leaf}", smallest, holds
    rare_values, holds = str(figures.rare_values), figures.rare_values <= bounds.rare_values
    yield "rareValues", f"at most {bounds.rare_values}", rare_values, holds
    if bounds.generators:
        generators = figures.generators or 0
        text = f"at least {generators}, as far as was searched" if generators else "none found"
        yield "generators", f"at least {bounds.generators}", text, generators >= bounds.generators
    broken = len(figures.broken)
    yield "checks of the files", "all passed", f"{broken} broken" if broken else "all", not broken
