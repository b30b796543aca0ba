"""Whether the figures of a certificate are those that are found again."""

import math
from collections.abc import Iterator, Mapping, Sequence

from policy_engine.audits.utility.figures import Utility
from policy_engine.certificate.certificate import Certificate, MaskedColumn
from policy_engine.certificate.class_figures import check_figures
from policy_engine.certificate.label_figures import check_label
from policy_engine.certificate.unique_figures import false_unique_rows
from policy_engine.engines.engine import WrittenTable
from policy_engine.errors import CertificateError, Problem, format_count
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods import Measurement
from policy_engine.methods.disclosure import DisclosureMeasurement, Measured, RiskMeasurement

FIGURES_OF_ROWS = (
    "unchanged",
    "correlation",
    "largestRankMove",
    "largestDeviation",
    "transitions",
    "moved",
    "informationLoss",
)
"""The figures of masked columns that compare values row by row."""
_INEXACT = (
    "correlation",
    "correlationChange",
    "informationLoss",
    "largestDeviation",
    "varianceRatio",
)
"""The figures that floats are added up or multiplied for."""
_LAST_DIGIT = 0.0011
"""How far two figures of three decimals may be apart that are the same but for rounding."""
_RELATIVE = 1e-9
_MATRIX_DIGIT = 1.1e-12
_HINT = "Give the data, and the key if there was one, that it was made with."


def check_figures_again(
    earlier: Certificate | None,
    again: Certificate,
    written: WrittenTable | None,
    *,
    has_key: bool,
) -> None:
    """Raise CertificateError (V018) for figures of classes, of their label, of masked columns and
    of attacks that an `earlier` certificate tells, and that are not those found `again`.

    With bounds besides k, classes depend on how rows with equal quasi-identifiers were told apart:
    only the key forms them again.
    """
    if earlier is None:
        return
    step = again.plan.require_anonymize()
    is_about_rows = not any(map(step.models_about, step.columns.sensitive_names))
    is_formed = written is not None and written.formed is not None
    differences = [
        *check_figures(earlier, again, is_decisive=is_formed and (has_key or is_about_rows)),
        *check_label(earlier, again),
        *false_figures(earlier.maskings, again.maskings),
        *false_disclosures(earlier.disclosures, again.disclosures),
    ]
    problems = [Problem("V018", one, _HINT) for one in differences]
    if problems:
        raise CertificateError(*problems, source=again.file)


def check_bounds_again(earlier: Certificate, again: Certificate) -> None:
    """Raise CertificateError (V018) for what an `earlier` certificate of the same output tells of
    its rows, which of them are unique, its bounds and what is lost in its classes, and is not
    found `again`."""
    differences = [
        *_false_rows(earlier.rows_out, again.rows_out),
        *_false_bounds(earlier.measurements, again.measurements),
        *_false_losses(earlier.utility, again.utility),
        *false_unique_rows(earlier.unique_rows, again.unique_rows),
    ]
    if differences:
        problems = [Problem("V018", one, "Certify the output anew.") for one in differences]
        raise CertificateError(*problems, source=again.file)


def _false_rows(stated: int, actual: int) -> Iterator[str]:
    if stated != actual:
        rows = format_count(stated, "row")
        yield f"The certificate says that the output has {rows}, and it has {actual:,}."


def _false_bounds(stated: Sequence[Measurement], actual: Sequence[Measurement]) -> Iterator[str]:
    """Yield what is told to be achieved of a bound, and is not."""
    achieved = {(one.bound, one.column): one.achieved for one in actual}
    for one in stated:
        other = achieved.get((one.bound, one.column), one.achieved)
        if not math.isclose(one.achieved, other, rel_tol=_RELATIVE, abs_tol=_RELATIVE):
            name = f"{one.bound} of {one.column!r}" if one.column else one.bound
            yield f"The certificate says that {name} is {one.achieved:g}, and it is {other:g}."


def _false_losses(
    stated: Utility | NotApplicable | None, actual: Utility | NotApplicable | None
) -> Iterator[str]:
    """Yield what is told to be lost in classes, and is not."""
    if not isinstance(stated, Utility) or not isinstance(actual, Utility):
        return
    for name, value in _losses(stated).items():
        other = _losses(actual).get(name, value)
        if not math.isclose(value, other, rel_tol=_RELATIVE, abs_tol=_RELATIVE):
            yield f"The certificate says that {name} is {value:g}, and it is {other:g}."


def _losses(utility: Utility) -> dict[str, float]:
    figures = utility.model_dump(exclude={"column_losses", "perturbed"}, exclude_none=True)
    losses = {f"the loss of {name!r}": loss for name, loss in utility.column_losses.items()}
    return {name.replace("_", " "): value for name, value in figures.items()} | losses


def false_figures(stated: Sequence[MaskedColumn], actual: Sequence[MaskedColumn]) -> Iterator[str]:
    """Yield the figures of masked columns that are told, and are not those found.

    What could not be found says nothing against what is told.
    """
    columns = {(one.column, one.masking): one for one in actual}
    for one in stated:
        other = columns.get((one.column, one.masking))
        if other is not None:
            yield from _differences(one.column, one.figures, other.figures)
            if other.matrix and not _is_same_matrix(one, other):
                yield f"The matrix of {one.column!r} is not the one that the data give."


def false_disclosures(stated: Sequence[Measured], actual: Sequence[Measured]) -> Iterator[str]:
    """Yield what attacks on a table are told to reach, and do not, false figures of risk, and what
    is not told at all."""
    left: dict[object, list[Measured]] = {}
    for one in stated:
        left.setdefault(one.key, []).append(one)
    for other in actual:
        same = left.get(other.key)
        if same:
            yield from _false_disclosure(same.pop(0), other)
        else:
            yield f"The certificate does not tell what {_subject(other)} reaches."


def _subject(one: Measured) -> str:
    return f"the attack {one.name}" if isinstance(one, DisclosureMeasurement) else one.name


def _false_disclosure(one: Measured, other: Measured) -> Iterator[str]:
    """Yield what is told of a measurement, and is not what was measured again."""
    if isinstance(one.reached, NotApplicable) != isinstance(other.reached, NotApplicable):
        yield f"The certificate is wrong about whether {_subject(one)} applies."
        return
    if isinstance(one.reached, NotApplicable) and one.reached != other.reached:
        yield f"The certificate is wrong about why {_subject(one)} does not apply."
    figures, again = _figures(one), _figures(other)
    for name, value in figures.items():
        if abs(value - again[name]) > one.last_digit:
            message = f"The certificate says that {_PARTS[name]}{one.bound.measure} of {one.name}"
            yield f"{message} is {value:g}; measured again, it is {again[name]:g}."
    if figures == again and {*one.known} != {*other.known}:
        yield f"The certificate names other columns than those by which {_subject(one)} reaches it."


_PARTS = {
    "value": "",
    "low": "the lower end of ",
    "high": "the upper end of ",
    "baseline": "the baseline of ",
}


def _figures(one: Measured) -> dict[str, float]:
    """Return the figures of a measurement by what they are."""
    ends = {} if isinstance(one.reached, NotApplicable) else one.reached.model_dump()
    baseline = {} if isinstance(one, RiskMeasurement) else {"baseline": one.baseline}
    return ends | baseline


def _differences(
    column: str, stated: Mapping[str, float], actual: Mapping[str, float]
) -> Iterator[str]:
    for name, one in stated.items():
        is_rounded = name in _INEXACT
        tolerance = _LAST_DIGIT if is_rounded else 0.0
        other = actual.get(name, one)
        if not math.isclose(one, other, rel_tol=1e-12, abs_tol=tolerance):
            message = f"The certificate says that {name} of {column!r} is {one:.15g}"
            yield f"{message}; measured again, it is {other:.15g}."


def _is_same_matrix(one: MaskedColumn, other: MaskedColumn) -> bool:
    if one.categories != other.categories:
        return False
    return all(
        math.isclose(first, second, rel_tol=0.0, abs_tol=_MATRIX_DIGIT)
        for row, again in zip(one.matrix, other.matrix, strict=True)
        for first, second in zip(row, again, strict=True)
    )
