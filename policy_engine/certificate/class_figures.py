"""What classes by microaggregation show: their sizes, and how much they lose."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.audits.utility.figures import Utility
from policy_engine.plan.steps import Anonymize

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate
    from policy_engine.engines.class_evidence import ClassEvidence
    from policy_engine.kernels.grouping import ClassTotals
    from policy_engine.methods.columns import QuasiIdentifier

_DIGITS = 3
"""Figures of more decimals would tell the variance of the input too well."""
_ROUNDING = 1.001 * 10**-_DIGITS
"""How far the mean of rounded figures can be from the rounded mean, and a bit."""
_MOST_LOST = {"mean": 100.6, "centroid": 100.6, "median": 200.0}
"""What cells can lose at most, in %: means are rounded to a hundredth of the last place, which adds
half a percent at most; a median is at most a standard deviation from the mean. A mode is at most as
many standard deviations as the root of the number of rows."""

Finite = Annotated[float, Field(allow_inf_nan=False)]


class ClassColumn(BaseModel):
    """What the cells of a quasi-identifier have in place of its values.

    `unchanged` is the share of the values that are as before. Numbers have an `information_loss`,
    100 SSE/SST: the squared differences from the cells, over those from the mean of all, unless all
    are equal. Of means, `dominated` is the share of the classes in which one value is greater
    than all others together, without signs, so that the mean tells it. None is what a column does
    not have.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    column: str
    unchanged: Finite
    information_loss: Finite | None = None
    dominated: Finite | None = None


class ClassFigures(BaseModel):
    """What classes by microaggregation show besides their bounds, as far as it could be measured.

    The `smallest` class has so many rows, and so many the `largest`. The `information_loss` is
    100 SSE/SST over all quasi-identifiers that are numbers, each standardised (Domingo-Ferrer and
    Mateo-Sanz, IEEE TKDE 14(1), 2002): the mean of theirs. It is None without such a column.
    `columns` has the figures of each quasi-identifier, which only the input tells: none where the
    output alone was measured. Those have three decimals.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    smallest: Annotated[int, Field(ge=1, le=2**63)]
    largest: Annotated[int, Field(ge=1, le=2**63)]
    information_loss: Finite | None = None
    columns: tuple[ClassColumn, ...] = ()

    @classmethod
    def of(cls, totals: "ClassTotals", evidence: "ClassEvidence | None") -> "ClassFigures":
        """Return the figures of classes that were measured, with what is known of them."""
        sizes = cls(smallest=totals.smallest, largest=totals.largest)
        if evidence is None:
            return sizes
        lost = evidence.lost
        columns = tuple(
            ClassColumn(
                column=name,
                unchanged=_rounded(Fraction(one.unchanged, max(one.values, 1))),
                information_loss=_percent(lost[name]) if name in lost else None,
                dominated=_rounded(Fraction(evidence.dominated[name], totals.classes))
                if name in evidence.dominated
                else None,
            )
            for name, one in evidence.replaced.items()
        )
        # Exactly, so that it does not depend on the order in which columns are added up.
        mean = _percent(sum(lost.values(), Fraction()) / len(lost)) if lost else None
        return sizes.model_copy(update={"information_loss": mean, "columns": columns})

    @property
    def are_of_output(self) -> bool:
        """Whether they are only what the output shows."""
        return not self.columns


def _percent(share: Fraction) -> float:
    return _rounded(100 * share)


def _rounded(figure: Fraction) -> float:
    return float(round(figure, _DIGITS))


def have_figures(step: Anonymize | None) -> bool:
    """Return whether the classes of a step are made by microaggregation."""
    return step is not None and step.recoding.algorithm == "microaggregation"


def class_contradictions(certificate: "Certificate") -> Iterator[str]:
    """Yield figures that no classes of these rows have, and figures of other classes."""
    step, figures = certificate.plan.anonymize, certificate.class_figures
    is_told = have_figures(step) and isinstance(certificate.utility, Utility)
    if is_told != (figures is not None):
        yield "It has no figures of its classes by microaggregation, or has some of other classes."
    if step is None or figures is None or not isinstance(certificate.utility, Utility):
        return
    yield from _size_contradictions(certificate, certificate.utility, figures)
    quasi = step.columns.quasi_identifier
    if figures.columns and [one.column for one in figures.columns] != [one.name for one in quasi]:
        yield "It does not describe exactly the quasi-identifiers of its plan."
        return
    for one, column in zip(figures.columns, quasi, strict=False):
        yield from _column_contradictions(one, column, figures.largest)
    yield from _loss_contradictions(figures)


def _size_contradictions(
    certificate: "Certificate", utility: Utility, figures: ClassFigures
) -> Iterator[str]:
    rows, others = certificate.rows_out, utility.classes - 1
    least, most = figures.smallest, figures.largest
    is_one = others > 0 or least == most == rows
    if not (is_one and least <= most and others * least + most <= rows <= least + others * most):
        yield f"{rows} rows in {utility.classes} classes cannot be {least} to {most} in each."
    squares = utility.discernability
    if not rows * least <= squares <= rows * most:
        yield f"The discernability of classes of {least} to {most} rows cannot be {squares}."
    step = certificate.plan.require_anonymize()
    counted = [one.achieved for one in certificate.measurements if one.bound == "k"]
    is_persons = bool(step.columns.privacy_unit)
    if any(one > least or (one < least and not is_persons) for one in counted):
        yield f"k cannot be {counted[0]:g} if the smallest class has {least} rows."


def _column_contradictions(
    one: ClassColumn, column: "QuasiIdentifier", largest: int
) -> Iterator[str]:
    kind = column.generalization or ""
    figures = {
        "unchanged": (one.unchanged, 1.0),
        "information_loss": (one.information_loss, _MOST_LOST.get(kind, 100.0 * (largest + 1))),
        "dominated": (one.dominated, 1.0),
    }
    for name, (value, most) in figures.items():
        if value is not None and not 0 <= value <= most:
            yield f"{name} of {one.column!r} cannot be {value:g}."
    if one.dominated is not None and kind not in ("mean", "centroid"):
        yield f"{one.column!r} has no means that one value could dominate."


def _loss_contradictions(figures: ClassFigures) -> Iterator[str]:
    losses = [one.information_loss for one in figures.columns if one.information_loss is not None]
    loss, mean = figures.information_loss, sum(losses) / len(losses) if losses else None
    if (loss is None) != (mean is None) or abs((loss or 0) - (mean or 0)) > _ROUNDING:
        yield "Its information loss is not the mean of its columns'."


def check_figures(
    stated: "Certificate", actual: "Certificate", *, is_decisive: bool
) -> Iterator[str]:
    """Yield figures of classes that a certificate tells, and that are not those of `actual`.

    What was found without the input says nothing against what only the input tells, unless the
    data given are decisive.
    """
    before, now = stated.class_figures, actual.class_figures
    if before is None or now is None:
        return
    if (before.smallest, before.largest) != (now.smallest, now.largest):
        yield (
            f"The certificate says that classes have {before.smallest} to {before.largest} rows; "
            f"they have {now.smallest} to {now.largest}."
        )
    if now.are_of_output and not before.are_of_output and is_decisive:
        yield "The classes of the output are not those that are formed of the data."
    if not now.are_of_output and not before.are_of_output:
        yield from _differences(before, now)


def _differences(before: ClassFigures, now: ClassFigures) -> Iterator[str]:
    if before.information_loss != now.information_loss:
        yield _difference("information_loss", before.information_loss, now.information_loss)
    for one, other in zip(before.columns, now.columns, strict=False):
        for name, figure in _COLUMN_FIGURES.items():
            stated, actual = figure(one), figure(other)
            if stated != actual:
                yield _difference(f"{name} of {one.column!r}", stated, actual)


_COLUMN_FIGURES: Mapping[str, Callable[[ClassColumn], float | None]] = {
    "unchanged": lambda column: column.unchanged,
    "information_loss": lambda column: column.information_loss,
    "dominated": lambda column: column.dominated,
}
"""The figures of a column that a certificate may state, by their names there."""


def _difference(name: str, stated: float | None, actual: float | None) -> str:
    figures = ("not known" if one is None else f"{one:g}" for one in (stated, actual))
    return "The certificate says that {} is {}; the data show that it is {}.".format(name, *figures)
