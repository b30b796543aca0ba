"""What a policy says of the model that guides how classes are formed (`accuracy-guided`)."""

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from policy_engine.errors import join_names
from policy_engine.methods.audits.classifier import Architecture
from policy_engine.methods.columns import IDENTIFIERS
from policy_engine.methods.findings import Finding

ACCURACY_GUIDED = "accuracy-guided"
LABEL, GUIDE, GUIDE_LABELS, REPRESENTATIVE = "label", "guide", "guideLabels", "representative"
"""What a policy says of the guide, by the names of its parameters."""
GuideLabels = Literal["soft", "hard"]
Representative = Literal["median-mode", "nearest", "cell"]
REPRESENTATIVES: tuple[Representative, ...] = get_args(Representative)
LABEL_ROLES = ("sensitive", "insensitive")
"""The roles that a label may have: it is released as it is."""
_GUIDE_ROLES = ("quasi-identifier",)


class GuideParameters(BaseModel):
    """What a policy says of the guide, by the names that it uses: a guide is a column's IRI, or the
    name or the description of a model. Accuracy-guided classes need a label, others have none."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, populate_by_name=True)

    label: str = ""
    guide: str = ""
    guide_labels: Annotated[GuideLabels, Field(alias=GUIDE_LABELS)] = "soft"
    representative: Representative = "median-mode"


class Guide(BaseModel):
    """By which predictions classes are cut, and what stands for a class in the release.

    Classes are those in which a model's predictions of the `label` vary least (Goldsteen et al.:
    Anonymizing machine learning models). The predictions are those of a `column` of the table;
    or else of a model that is trained on the table itself, of an `architecture` where one is
    named: `soft` labels are probabilities of models that have not seen the row, or predicted
    numbers, and `hard` ones the class that a model of all rows predicts, as in the paper.

    A class is released as the median or the mode of each quasi-identifier (`median-mode`); as the
    quasi-identifiers of its row that is the `nearest` to the median, among those with the most
    frequent label; or as a generalised `cell` of each column.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    label: Annotated[str, Field(min_length=1)]
    column: str = ""
    architecture: Architecture | None = None
    labels: GuideLabels = "soft"
    representative: Representative = "median-mode"

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        """Raise ValueError for predictions of two sources, and for labels that no model makes."""
        if self.column and (self.architecture is not None or self.labels != "soft"):
            raise ValueError("a guide is a column as it is, or a model")
        return self

    @property
    def is_trained(self) -> bool:
        """Whether a model is trained for it."""
        return not self.column

    def options(self) -> dict[str, Any]:
        """Return it by the names of its parameters, the guide as plain data."""
        model = self.architecture.model_dump(mode="json") if self.architecture else ""
        return {
            LABEL: self.label,
            GUIDE: self.column or model,
            GUIDE_LABELS: self.labels,
            REPRESENTATIVE: self.representative,
        }


def guide_conflicts(
    algorithm: object,
    label: str,
    column: str,
    roles: Mapping[str, Collection[str]],
    unit: str = "",
) -> Iterator[Finding]:
    """Yield the columns that are no label, or no guide, of accuracy-guided classes (M003).

    `label` and `column` are the names of the column that is predicted and of that with
    predictions, empty where none is; `roles` are the names of the columns by role, and `unit` is
    the column of the unit of privacy. Predictions may be a quasi-identifier: a score that others
    know is generalised as any other, and classes are cut by its values before that.
    """
    if algorithm != ACCURACY_GUIDED:
        return
    for name, parameter, allowed in (
        (label, LABEL, LABEL_ROLES),
        # That it is the label itself is a problem of its own.
        (column, GUIDE, LABEL_ROLES if column == label else _GUIDE_ROLES),
    ):
        role = _role_of(name, roles, unit)
        if name and role and role not in allowed:
            message = f"The {parameter} {name!r} is {role}. {_REASONS[parameter, role]} "
            message += f"Allowed is {join_names(allowed, 'or')}, or no role."
            yield Finding("M003", parameter, message)


def _role_of(name: str, roles: Mapping[str, Collection[str]], unit: str) -> str:
    if name == unit:
        return "privacyUnit"
    return next((role for role, names in roles.items() if name in names and role != GUIDE), "")


_REASONS = {
    (LABEL, "quasi-identifier"): "A label is released as it is, and a quasi-identifier is not: a "
    "class would have one.",
    (LABEL, "masked"): "A label is released as it is: a model would predict masked values.",
    (GUIDE, "masked"): "Masked predictions are not those of the model.",
    **dict.fromkeys(
        ((GUIDE, role) for role in LABEL_ROLES),
        "Predictions follow from the quasi-identifiers: released as they are, they tell which row "
        "is whose.",
    ),
    (LABEL, "privacyUnit"): "It tells persons apart, and nothing predicts that.",
    (GUIDE, "privacyUnit"): "It tells persons apart, and predicts nothing.",
    **dict.fromkeys(
        ((LABEL, role) for role in IDENTIFIERS), "It identifies persons, and nothing predicts that."
    ),
    **dict.fromkeys(
        ((GUIDE, role) for role in IDENTIFIERS), "It identifies persons, and predicts nothing."
    ),
}
"""Why a column of a role is not a label, or not a guide."""
