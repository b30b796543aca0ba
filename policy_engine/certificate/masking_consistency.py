"""Contradictions in what a certificate says of masked columns."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from policy_engine.methods.masking import ColumnMasking
from policy_engine.methods.perturbation import Perturbation

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate, MaskedColumn

_DIGITS = 3
"""Figures are rounded to so many decimals, and so may be above a bound."""


def masking_contradictions(certificate: "Certificate") -> Iterator[str]:
    """Yield figures of masked columns that no such masking has, and columns that are not masked."""
    mask = certificate.plan.mask
    planned = mask.columns if mask else ()
    stated = [(one.column, one.masking) for one in certificate.maskings]
    if stated != [(one.name, one.masking) for one in planned]:
        yield "It does not describe exactly the masked columns of its plan."
        return
    broken = {(one.bound, one.column): one.achieved for one in certificate.measurements}
    for masking, one in zip(planned, certificate.maskings, strict=True):
        contradictions = [
            *_figure_contradictions(masking, one),
            *_matrix_contradictions(masking, one),
        ]
        if not contradictions and not masking.may_have_together(one.figures, one.matrix):
            contradictions = [f"The figures of {one.column!r} contradict one another."]
        elif not contradictions and not masking.may_have_of_rows(one.figures, certificate.rows_out):
            rows = f"{certificate.rows_out:,} rows"
            contradictions = [
                f"The figures of {one.column!r} cannot be those of {rows} by {masking.how}."
            ]
        yield from contradictions or _class_contradictions(masking, one, broken)


def _figure_contradictions(masking: ColumnMasking, one: "MaskedColumn") -> Iterator[str]:
    ranges = masking.figure_ranges
    for name, value in one.figures.items():
        if name not in ranges:
            yield f"{masking.masking} of {one.column!r} has no figure {name!r}."
            continue
        low, high = ranges[name]
        if not low <= value <= round(high, _DIGITS):
            yield f"{name} of {one.column!r} cannot be {value:g}."


def _class_contradictions(
    masking: ColumnMasking, one: "MaskedColumn", broken: Mapping[tuple[str, str], float]
) -> Iterator[str]:
    """Yield that fewer rows share their values than have to, and no cell is broken."""
    smallest = one.figures.get("smallestClass")
    least = masking.shared_by if isinstance(masking, Perturbation) else 1
    is_kept = broken.get((one.masking, one.column)) == 0
    if smallest is not None and smallest < least and is_kept:
        yield f"smallestClass of {one.column!r} cannot be {smallest:g} if {masking.how} is kept."


def _matrix_contradictions(masking: ColumnMasking, one: "MaskedColumn") -> Iterator[str]:
    categories, matrix = one.categories, one.matrix
    sizes = {len(matrix), *map(len, matrix)}
    is_square = not matrix or sizes == {len(categories)}
    if len(matrix) != len(categories) or len({*categories}) != len(categories) or not is_square:
        yield f"The matrix of {one.column!r} is not one of its categories."
    elif not masking.may_have_matrix(matrix):
        yield f"The matrix of {one.column!r} is not one that {masking.how} has."
