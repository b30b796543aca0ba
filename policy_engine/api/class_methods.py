"""The ways of forming classes that are compared by the models that learn from them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from policy_engine.audits.guiding import guide_fitting
from policy_engine.audits.guiding.columns import ColumnFitting
from policy_engine.engines.guiding import GuideFitting
from policy_engine.errors import PlanError
from policy_engine.methods import PrivacyModel
from policy_engine.methods.audits.classifier import Estimator, Network
from policy_engine.methods.columns import Generalization, QuasiIdentifier
from policy_engine.methods.guide import ACCURACY_GUIDED, Guide, GuideLabels, Representative
from policy_engine.methods.privacy_models.k_anonymity import KAnonymity
from policy_engine.methods.privacy_models.probabilistic_k_anonymity import ProbabilisticKAnonymity
from policy_engine.methods.recoding import RecodingOptions
from policy_engine.plan.steps import Anonymize

MethodName = Literal["raw", "hard-guided", "soft-guided", "permuted", "workload-aware", "mondrian"]
RAW: MethodName = "raw"
TITLES: dict[MethodName, str] = {
    "raw": "the table as it is",
    "hard-guided": "accuracy-guided, hard labels, nearest row (as published)",
    "soft-guided": "accuracy-guided, soft labels, median and mode",
    "permuted": "probabilistic k-anonymity, accuracy-guided classes with soft labels",
    "workload-aware": "guided by the labels themselves, median and mode",
    "mondrian": "Mondrian, least loss, median and mode",
}
SHORT: dict[MethodName, str] = {
    "raw": "raw",
    "hard-guided": "guided, hard, nearest",
    "soft-guided": "guided, soft, median-mode",
    "permuted": "guided, soft, permuted",
    "workload-aware": "true labels, median-mode",
    "mondrian": "Mondrian, median-mode",
}
FORMING: tuple[MethodName, ...] = (
    "soft-guided",
    "hard-guided",
    "permuted",
    "workload-aware",
    "mondrian",
)
"""Those that form classes."""
PERMITTED: tuple[MethodName, ...] = ("soft-guided", "hard-guided", "mondrian")
"""Those that a policy can ask for where a release is to have classes: a guide that is the label
itself is refused, and permuted values do not have any."""
_GUIDES: dict[MethodName, tuple[GuideLabels, Representative]] = {
    "soft-guided": ("soft", "median-mode"),
    "hard-guided": ("hard", "nearest"),
    "permuted": ("soft", "cell"),
    "workload-aware": ("soft", "median-mode"),
}


def permitted_methods(step: Anonymize) -> tuple[MethodName, ...]:
    """Return the ways of forming classes that a policy can ask for in the place of a step: others
    do not hold what it asks for, or show what it forbids."""
    return ("permuted",) if step.is_permuted else PERMITTED


@dataclass(frozen=True)
class ClassForming:
    """How a method forms the classes of a step, for models of a `label`.

    A guide is of an `architecture` where the policy names one. Columns are `ordered` whose values
    have a median.
    """

    method: MethodName
    label: str
    architecture: Network | Estimator | None = None
    ordered: Collection[str] = ()

    def step(self, step: Anonymize) -> Anonymize:
        """Return a step with classes formed this way, for the k of the step.

        Where values are to be permuted, no other bound of the step is kept, and where the step
        permutes them and this way does not, k-anonymity is. Raises PlanError (M004) where what the
        step asks for is not held by such classes.
        """
        if self.method not in _GUIDES:
            kinds: dict[str, Generalization] = {
                name: "median" if name in self.ordered else "mode"
                for name in step.columns.quasi_names
            }
            return _rebuilt(_with_classes(step), kinds, RecodingOptions())
        labels, representative = _GUIDES[self.method]
        guide = Guide(
            label=self.label,
            architecture=self.architecture,
            labels=labels,
            representative=representative,
        )
        recoding = RecodingOptions(algorithm=ACCURACY_GUIDED, guide=guide)
        if self.method == "permuted":
            permuting = _with_model(step, ProbabilisticKAnonymity(k=step.k))
            return _rebuilt(permuting, dict.fromkeys(step.columns.quasi_names), recoding)
        one: Generalization = "nearest" if representative == "nearest" else "median-mode"
        return _rebuilt(_with_classes(step), dict.fromkeys(step.columns.quasi_names, one), recoding)

    @property
    def taught(self) -> str:
        """What the targets of its rows follow from, the same for ways with the same targets; empty
        where there are none."""
        if self.method == "workload-aware":
            return self.label
        return _GUIDES[self.method][0] if self.method in _GUIDES else ""

    def fitting(self, step: Anonymize, features: tuple[str, ...]) -> GuideFitting | None:
        """Return what learns the targets of such a step, None where nothing guides."""
        if self.method == "workload-aware":
            return ColumnFitting(self.label, self.label)
        guide = step.recoding.guide
        return guide_fitting(guide, features) if guide else None


def _with_classes(step: Anonymize) -> Anonymize:
    """Return a step that is k-anonymous in the place of one that permutes values."""
    return _with_model(step, KAnonymity(k=step.k)) if step.is_permuted else step


def _with_model(step: Anonymize, model: PrivacyModel) -> Anonymize:
    """Return a step with one model in the place of all of its own."""
    others = {
        notation: one for notation, one in step.methods.items() if not isinstance(one, PrivacyModel)
    }
    return step.model_copy(update={"methods": {model.notation: model, **others}})


def _rebuilt(
    step: Anonymize, kinds: Mapping[str, Generalization | None], recoding: RecodingOptions
) -> Anonymize:
    quasi = tuple(
        QuasiIdentifier(name=one.name, weight=one.weight, generalization=kinds[one.name])
        for one in step.columns.quasi_identifier
    )
    columns = step.columns.model_copy(update={"quasi_identifier": quasi})
    try:
        return Anonymize(**{**dict(step), "columns": columns, "recoding": recoding})
    except ValidationError as error:
        reasons = [str(one["msg"]).removeprefix("Value error, ") for one in error.errors()]
        message = f"What the policy asks for does not go with such classes: {'; '.join(reasons)}."
        raise PlanError.of("M004", message) from None
