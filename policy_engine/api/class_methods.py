"""The ways of forming classes that are compared by the models that learn from them."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from policy_engine.audits.guiding import guide_fitting
from policy_engine.audits.guiding.columns import ColumnFitting
from policy_engine.engines.guiding import GuideFitting
from policy_engine.errors import PlanError
from policy_engine.methods.audits.classifier import Estimator, Network
from policy_engine.methods.columns import Generalization, QuasiIdentifier
from policy_engine.methods.guide import ACCURACY_GUIDED, Guide, GuideLabels, Representative
from policy_engine.methods.recoding import RecodingOptions
from policy_engine.plan.steps import Anonymize

MethodName = Literal["raw", "hard-guided", "soft-guided", "workload-aware", "mondrian"]
RAW: MethodName = "raw"
TITLES: dict[MethodName, str] = {
    "raw": "the table as it is",
    "hard-guided": "accuracy-guided, hard labels, nearest row (as published)",
    "soft-guided": "accuracy-guided, soft labels, median and mode",
    "workload-aware": "guided by the labels themselves, median and mode",
    "mondrian": "Mondrian, least loss, median and mode",
}
SHORT: dict[MethodName, str] = {
    "raw": "raw",
    "hard-guided": "guided, hard, nearest",
    "soft-guided": "guided, soft, median-mode",
    "workload-aware": "true labels, median-mode",
    "mondrian": "Mondrian, median-mode",
}
FORMING: tuple[MethodName, ...] = ("soft-guided", "hard-guided", "workload-aware", "mondrian")
"""Those that form classes."""
PERMITTED: tuple[MethodName, ...] = ("soft-guided", "hard-guided", "mondrian")
"""Those that a policy can ask for: a guide that is the label itself is refused."""
_GUIDES: dict[MethodName, tuple[GuideLabels, Representative]] = {
    "soft-guided": ("soft", "median-mode"),
    "hard-guided": ("hard", "nearest"),
    "workload-aware": ("soft", "median-mode"),
}


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
        """Return a step with classes formed this way. Raises PlanError (M004) where what it asks
        for is not held by such classes."""
        if self.method not in _GUIDES:
            kinds: dict[str, Generalization] = {
                name: "median" if name in self.ordered else "mode"
                for name in step.columns.quasi_names
            }
            return _rebuilt(step, kinds, RecodingOptions())
        labels, representative = _GUIDES[self.method]
        guide = Guide(
            label=self.label,
            architecture=self.architecture,
            labels=labels,
            representative=representative,
        )
        one: Generalization = "nearest" if representative == "nearest" else "median-mode"
        recoding = RecodingOptions(algorithm=ACCURACY_GUIDED, guide=guide)
        return _rebuilt(step, dict.fromkeys(step.columns.quasi_names, one), recoding)

    def fitting(self, step: Anonymize, features: tuple[str, ...]) -> GuideFitting | None:
        """Return what learns the targets of such a step, None where nothing guides."""
        if self.method == "workload-aware":
            return ColumnFitting(self.label, self.label)
        guide = step.recoding.guide
        return guide_fitting(guide, features) if guide else None


def _rebuilt(
    step: Anonymize, kinds: dict[str, Generalization], recoding: RecodingOptions
) -> Anonymize:
    quasi = tuple(
        QuasiIdentifier(name=one.name, weight=one.weight, generalization=kinds[one.name])
        for one in step.columns.quasi_identifier
    )
    columns = step.columns.model_copy(update={"quasi_identifier": quasi})
    try:
        return Anonymize(**{**dict(step), "columns": columns, "recoding": recoding})
    except ValueError as error:
        message = f"What the policy asks for is not held by such classes: {error}."
        raise PlanError.of("M004", message) from None
