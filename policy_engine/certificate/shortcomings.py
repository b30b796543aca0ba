"""Where a certificate falls short of its policy, and what it proves, in words."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine import terms
from policy_engine.audits.gate import format_measurement, shortfalls
from policy_engine.certificate.record import Record
from policy_engine.errors import (
    Problem,
)
from policy_engine.methods import Measurement

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate


def shortcomings(certificate: "Certificate") -> Iterator[Problem]:
    """Yield every bound that a certificate shows to fall short, and where it does."""
    for measured in certificate.measurements:
        if not measured.holds and measured.bound in terms.maskings():
            message = f"{measured.achieved:g} cells of {measured.column!r} do not keep its "
            yield Problem("V001", f"{message}{measured.bound}.")
        elif not measured.holds:
            about = f" of {measured.column!r}" if measured.column else ""
            where = f"class {measured.worst}" if measured.worst is not None else "a class"
            message = (
                f"{measured.bound}{about} is to be {measured.sense} {measured.asked:g}, but is "
                f"{measured.achieved:g} in {where} of the output."
            )
            yield Problem("V001", message)
    yield from _attack_shortcomings(certificate)
    yield from _file_shortcomings(certificate)
    if not certificate.output_digest:
        yield Problem("V004", "Nothing was released: the certificate is of no output.")


MAKING_UNKNOWN = (
    "Its certificate does not say how it was made: the output was measured, and no more."
)
"""Why nobody takes a certificate for that of a release."""


MAKE_HINT = "Make it with policy-engine apply, or give the certificate that it was published with."


def lost_rows(certificate: "Certificate", record: Record) -> Iterator[Problem]:
    """Yield whether rows are missing of which nobody knows, or more than may be suppressed."""
    expected = record.rows_in - record.held_out - record.suppressed
    if expected != certificate.rows_out:
        message = (
            f"The output has {certificate.rows_out} rows, the input {record.rows_in}, of "
            f"which {record.suppressed} were suppressed"
        )
        message += f" and {record.held_out} kept" if record.held_out else ""
        yield Problem("V003", f"{message}.")
    anonymize = certificate.plan.anonymize
    allowed = anonymize.recoding.max_suppression * record.rows_in if anonymize else 0
    if record.suppressed > allowed:
        message = f"{record.suppressed} rows are suppressed. Allowed are {int(allowed)}."
        yield Problem("V003", message)


def _attack_shortcomings(certificate: "Certificate") -> Iterator[Problem]:
    """Yield the bounds on attacks that were not held, or not measured for every attack."""
    methods = [step.method for step in certificate.plan.audits]
    for sentence in shortfalls(methods, certificate.attacks):
        yield Problem("V007", sentence)
    allowed = min((method.attempts for method in methods if method.attempts), default=None)
    if allowed is not None and certificate.attempts > allowed:
        message = f"It took {certificate.attempts} attempts, and the policy allows {allowed}."
        yield Problem("V007", message)


def _file_shortcomings(certificate: "Certificate") -> Iterator[Problem]:
    """Yield what the files of a model give away and should not, or that nobody looked into them."""
    bounds, figures = certificate.plan.file_bounds, certificate.files
    if bounds is not None and (figures is None or figures.asked != bounds):
        yield Problem("V011", "What the files of the model give away was not measured.")
    for sentence in figures.shortcomings() if figures else ():
        yield Problem("V011", sentence)


def proven(certificate: "Certificate") -> str:
    """Return every bound with what was measured, in one line; empty where nothing was."""
    measurements = map(_format_measurement, certificate.measurements)
    attacks = (
        f"{one.attack} {format_measurement(one)} ({one.bound})"
        for one in certificate.attacks
        if not one.unfit
    )
    files = (f"{name} {figure} ({asked})" for name, asked, figure, _ in file_figures(certificate))
    return ", ".join((*measurements, *attacks, *files))


def _format_measurement(one: Measurement) -> str:
    if one.bound in terms.maskings():
        outcome = "kept" if one.holds else f"not kept by {one.achieved:g} cells"
        return f"{one.bound} of {one.column} {outcome}"
    column = f" of {one.column}" if one.column else ""
    return f"{one.bound} {one.achieved:.6g} ({one.sense} {one.asked:g}){column}"


def file_figures(certificate: "Certificate") -> Iterator[tuple[str, str, str, bool]]:
    """Yield what was found in the files of a model: the bound, what is asked, what was found, and
    whether it holds."""
    figures = certificate.files
    if figures is None:
        return
    asked = figures.asked
    smallest, holds = str(figures.smallest_leaf), figures.smallest_leaf >= asked.smallest_leaf
    yield "smallestLeaf", f"at least {asked.smallest_leaf}", smallest, holds
    rare_values, holds = str(figures.rare_values), figures.rare_values <= asked.rare_values
    yield "rareValues", f"at most {asked.rare_values}", rare_values, holds
    broken = len(figures.broken)
    yield "checks of the files", "all passed", f"{broken} broken" if broken else "all", not broken
