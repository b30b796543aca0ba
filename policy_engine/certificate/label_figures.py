"""What accuracy-guided classes disclose of the label that they were formed for."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.audits.utility.figures import Utility
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.privacy_models.l_diversity import LDiversity

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate
    from policy_engine.kernels.label_disclosure import LabelDisclosure

_MOSTLY = 0.95
_ROUNDING = 1e-9
_Rows = Annotated[int, Field(ge=0, le=2**63)]


class LabelFigures(BaseModel):
    """What somebody learns of a label who knows the class of a person, in rows of the output.

    So many rows are in classes in which at least 95% have one label (`mostly_one`), and in which
    all rows have one (`all_one`). `by_class` rows have the most frequent label of their class: as
    often it is right to guess that; and `overall` rows have the most frequent label of all, as
    can be guessed without a class. A missing label counts as a label. Of labels that are numbers,
    `explained` is the share of their variance that the means of classes explain. All of it shows
    in the output, which has the labels as they are.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    label: str
    mostly_one: _Rows
    all_one: _Rows
    by_class: _Rows
    overall: _Rows
    explained: Annotated[float | None, Field(ge=0, le=1)] = None

    @classmethod
    def of(
        cls, label: str, measured: "LabelDisclosure | NotApplicable | None"
    ) -> "LabelFigures | NotApplicable | None":
        """Return the figures of what was measured, None where nothing was."""
        if measured is None or isinstance(measured, NotApplicable):
            return measured
        return cls(
            label=label,
            mostly_one=measured.mostly_one,
            all_one=measured.all_one,
            by_class=measured.by_class,
            overall=measured.overall,
            explained=measured.explained,
        )

    def texts(self, rows: int) -> Iterator[tuple[str, str]]:
        """Yield the name and the value of every figure, as shares of the rows of the output."""
        yield f"rows in classes of one {self.label}", f"{self.all_one / rows:.2%}"
        yield f"rows in classes 95% of one {self.label}", f"{self.mostly_one / rows:.2%}"
        guesses = f"{self.by_class / rows:.2%}, without the class {self.overall / rows:.2%}"
        yield f"{self.label} guessed from the class", guesses
        if self.explained is not None:
            yield f"variance of {self.label} between classes", f"{self.explained:.2%}"


def label_contradictions(certificate: "Certificate") -> Iterator[str]:
    """Yield figures of a label that no classes of these rows have, and figures of other classes."""
    step, figures, utility = (
        certificate.plan.anonymize,
        certificate.label_figures,
        certificate.utility,
    )
    guide = step.recoding.guide if step is not None else None
    is_measured = guide is not None and isinstance(utility, Utility)
    if is_measured != (figures is not None):
        yield "It does not say what its classes disclose of a label, or says it of other classes."
    if guide is None or figures is None or not isinstance(utility, Utility):
        return
    if isinstance(figures, NotApplicable):
        if certificate.plan.engine == "local":
            yield "It says that its label was not counted, and it always is."
    elif figures.label != guide.label:
        yield f"It tells what is disclosed of {figures.label!r}, and its label is {guide.label!r}."
    elif not _are_possible(figures, certificate.rows_out, utility.classes):
        subject = f"{utility.classes} classes of {certificate.rows_out} rows"
        yield f"What is told of the label {figures.label!r} is not that of {subject}."
    else:
        yield from _bound_contradictions(figures, certificate)


def _are_possible(figures: LabelFigures, rows: int, classes: int) -> bool:
    mostly, pure, right = figures.mostly_one, figures.all_one, figures.by_class
    # In a class of several labels, one row at least does not have the most frequent one.
    are_pure = pure == rows
    return (
        pure <= mostly <= rows
        and max(classes, figures.overall, pure) <= right
        and right <= (rows if are_pure else rows - 1)
        and figures.overall >= 1
        and right >= pure + _MOSTLY * (mostly - pure) - _ROUNDING * rows
        and (not are_pure or figures.explained in (None, 1.0))
    )


def _bound_contradictions(figures: LabelFigures, certificate: "Certificate") -> Iterator[str]:
    """Yield that classes of one label contradict what is certified of every class."""
    for one in certificate.measurements:
        if one.bound == "k" and 0 < figures.all_one < one.achieved:
            yield f"{figures.all_one} rows are not those of a class of {one.achieved:g} or more."
        is_distinct = (one.bound, one.column) == (LDiversity.guarantee.name, figures.label)
        if is_distinct and one.achieved >= 2 and figures.all_one:
            yield f"Classes with {one.achieved:g} or more labels do not have one label."


def check_label(stated: "Certificate", actual: "Certificate") -> Iterator[str]:
    """Yield figures of a label that a certificate tells, and that are not those of `actual`."""
    before, now = stated.label_figures, actual.label_figures
    if not (isinstance(before, LabelFigures) and isinstance(now, LabelFigures)):
        return
    for name, one in before.model_dump().items():
        other = getattr(now, name)
        is_close = isinstance(one, float) and isinstance(other, float)
        if one != other and not (is_close and math.isclose(one, other, rel_tol=_ROUNDING)):
            message = f"The certificate says that {name} of the label {before.label!r} is {one}; "
            yield f"{message}measured again, it is {other}."
