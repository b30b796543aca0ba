"""What a policy says of the predictions by which classes are cut (`accuracy-guided`)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from policy_engine.errors import Problem
from policy_engine.methods import Finding
from policy_engine.methods.audits.classifier import Estimator, Network
from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.findings import missing_parameter, parameters
from policy_engine.methods.guide import (
    ACCURACY_GUIDED,
    GUIDE,
    GUIDE_LABELS,
    LABEL,
    Guide,
    GuideParameters,
    guide_conflicts,
)
from policy_engine.plan.joins import NOT_ROLES, Datasets, Named, Roles
from policy_engine.policy import Constraint, Policy, Value

_SENSITIVE = "sensitive"


class ReadGuide(NamedTuple):
    """What is said of the guide: its parameters as they were written, its column or its model.

    `columns_by_role` are all columns that a policy names: the label is sensitive where nothing else
    is said of it, and a column of predictions without a role is the guide, and nothing else.
    `is_of_classes` tells whether there are classes that it guides, and `problems` are those of its
    column and its model.
    """

    values: Mapping[str, Any]
    columns_by_role: Roles
    is_of_classes: bool = False
    column: Named | None = None
    model: Network | Estimator | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def label(self) -> str:
        """The name of the column that is predicted, empty where none is given."""
        return str(self.values.get(LABEL, ""))

    @property
    def column_name(self) -> str:
        """The name of the column of predictions, empty where there is none."""
        return self.column[1] if self.column else ""

    def findings(
        self, algorithm: object, roles: Mapping[str, Collection[str]], unit: str
    ) -> Iterator[Finding]:
        """Yield what is wrong with the parameters, where the algorithm has a guide; `roles` are the
        names of the columns by role, `unit` is the column of the unit of privacy."""
        if algorithm != ACCURACY_GUIDED:
            return
        if not self.label:
            yield missing_parameter(ACCURACY_GUIDED, LABEL)
        yield from parameter_findings(GuideParameters, self.values, ACCURACY_GUIDED)
        yield from guide_conflicts(algorithm, self.label, self.column_name, roles, unit)
        if self.column_name and self.column_name == self.label:
            message = f"The guide is the label {self.label!r} itself, and not a prediction of it: "
            message += "classes would be cut by their own labels, and show them. Leave the guide "
            yield Finding("M003", GUIDE, f"{message}out, and a model is trained.")
        if self.column and GUIDE_LABELS in self.values:
            message = f"{GUIDE_LABELS} is about what a model predicts, and the guide is the column "
            message += f"{self.column_name!r}: its numbers are soft labels, its texts hard ones."
            yield Finding("M003", GUIDE_LABELS, message)

    def guide(self, *, is_permuted: bool) -> Guide:
        """Return the guide, once nothing is wrong with it; of classes in which values are permuted,
        nothing represents one."""
        written = GuideParameters(**self.values)
        return Guide(
            label=written.label,
            column=self.column_name,
            architecture=self.model,
            labels=written.guide_labels,
            representative="cell" if is_permuted else written.representative,
        )


def read_guide(
    parts: Mapping[str, Constraint],
    columns_by_role: Roles,
    has_models: bool,
    datasets: Datasets,
    policy: Policy,
) -> ReadGuide:
    """Return what the parameters of an action to anonymise say of the guide.

    `parts` are the parameters by name, `columns_by_role` the columns that they name, of the
    `datasets` of the rule; without privacy models there are no classes to guide.
    """
    values: dict[str, Any] = {
        name: parts[name].right_operands[0].value
        for name in parameters(GuideParameters)
        if name in parts and name != LABEL
    }
    label = next(iter(columns_by_role.get(LABEL, ())), None)
    values |= {LABEL: label[1]} if label else {}
    algorithm = parts["algorithm"].right_operands[0].value if "algorithm" in parts else None
    if algorithm != ACCURACY_GUIDED or not has_models:
        return ReadGuide(values, columns_by_role)
    read = ReadGuide(values, _with_role(columns_by_role, label, _SENSITIVE), is_of_classes=True)
    if GUIDE not in parts:
        return read
    value = parts[GUIDE].right_operands[0]
    column = datasets.column(str(value.value))
    if column is not None:
        named = (*column, value)
        roles = _with_role(read.columns_by_role, named, GUIDE)
        return read._replace(columns_by_role=roles, column=named)
    # Few policies have a guide.
    from policy_engine.plan.model_descriptions import (  # noqa: PLC0415
        names_column,
        read_description,
    )

    if names_column(value):
        return read._replace(problems=(_foreign(value, datasets),))
    model, problems = read_description(
        value, policy.source, ", or the guide is a column of the target"
    )
    return read._replace(model=model, problems=tuple(problems))


def _with_role(
    roles: Mapping[str, Sequence[Named]], column: Named | None, role: str
) -> dict[str, Sequence[Named]]:
    """Return the columns by role, with a column that has none under a role."""
    taken = {one[:2] for name, some in roles.items() if name not in NOT_ROLES for one in some}
    if column is None or column[:2] in taken:
        return dict(roles)
    return {**roles, role: (*roles.get(role, ()), column)}


def _foreign(value: Value, datasets: Datasets) -> Problem:
    their = " and ".join(f"{target}/..." for target in datasets.iris)
    message = f"The guide {value.value!r} is not a column of the target, and classes are cut by "
    message += f"predictions for the rows that they are made of. Its columns are {their}"
    hint = "Put the predictions beside the rows, in a column of their own, or name a model."
    return Problem("M006", message, hint, value.place)
