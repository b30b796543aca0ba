"""The model that a permission has trained, or that an audit trains on a table."""

from collections.abc import Mapping
from dataclasses import replace

from policy_engine.errors import did_you_mean, join_names
from policy_engine.methods.audits.classifier import FEW, INTEGRAL, MANY, Estimator, Network
from policy_engine.plan.anonymization import Anonymization
from policy_engine.plan.model_descriptions import read_description
from policy_engine.plan.training.files import FEWEST
from policy_engine.plan.training.model import DEFAULT_SHARE, Modelling, Training
from policy_engine.plan.training.refining import OF_TRAINING, Refinements, mentions
from policy_engine.policy import Action, Constraint, Rule

_Parts = Mapping[str, Constraint]


class TrainingReader:
    """Reads how a model is trained, and checks it against what is anonymised."""

    def __init__(self, refinements: Refinements) -> None:
        self.refinements = refinements

    def training(self, rule: Rule, action: Action) -> Training | None:
        """Return what a permission to train asks for, None where something is wrong with it."""
        if len(rule.targets) != 1 or not rule.output:
            message = "A permission to train names one target and an output, the model's IRI."
            number = f"{len(rule.targets)} target{'s' * (len(rule.targets) != 1)}"
            outputs = f"{number} and {'an' if rule.output else 'no'} output"
            self.refinements.add("M012", f"{message} Given: {outputs}.", "", rule.place)
            return None
        target = rule.targets[0].iri
        if (
            self.refinements.transformation
            and target != self.refinements.transformation.rule.output
        ):
            tables = " and ".join(one.rule.output for one in self.refinements.anonymised)
            message = f"The model is trained on {target}, but what is anonymised is {tables}. "
            message += "A plan makes one thing of another."
            self.refinements.add("M012", message, "", rule.targets[0].place)
            return None
        if rule.output in (target, *(one.iri for one in self.refinements.inputs())):
            message = f"The output {rule.output!r} is a table already; the model needs its own IRI."
            self.refinements.add("M012", message, "", rule.place)
        parts = self.refinements.constraints_by_name(action, OF_TRAINING)
        model = self.modelling(action, parts, target, is_released=True)
        if model and model.architecture.keeps_records:
            message = "What is released is a file, and that of this model holds "
            message += f"{model.architecture.keeps_records}."
            self.refinements.add("M012", message, "Take another model.", parts["model"].place)
        model = self._set_leaves(model, parts) if model else None
        return Training(**dict(model), output=rule.output) if model else None

    def modelling(
        self, action: Action, parts: _Parts, target: str, *, is_released: bool = False
    ) -> Modelling | None:
        """Return how a model of a table is trained, None where something is wrong with it.

        One that is released learns from quasi-identifiers alone, unless its features are named.
        """
        before = len(self.refinements.problems)
        self._check_given(action)
        values = {
            name: self.refinements.columns(parts[name], target)
            for name in _COLUMNS
            if name in parts
        }
        label = next(iter(values.get("label", ())), "")
        features = tuple(values.get("feature", ()))
        if label:
            self._check_columns(label, features, parts)
        if self.refinements.transformation and not features:
            features = _default_features(self.refinements.transformation.anonymization, label)
        if self.refinements.transformation and is_released and "feature" not in parts:
            quasi = self.refinements.transformation.anonymization.columns.quasi_names
            features = tuple(name for name in features if name in quasi)
        architecture = self._architecture(parts["model"]) if "model" in parts else Network()
        if "generators" in parts:
            architecture = self._generated(architecture, parts["generators"])
        share = self._share(parts["trainingShare"]) if "trainingShare" in parts else DEFAULT_SHARE
        if (
            not label
            or architecture is None
            or share is None
            or len(self.refinements.problems) > before
        ):
            return None
        return Modelling(
            asset=target, label=label, features=features, architecture=architecture, share=share
        )

    def _set_leaves(self, modelling: Modelling, parts: _Parts) -> Modelling | None:
        """Return a model that is released, its leaves of enough records; note one with smaller.

        Records of one class of an anonymisation reach one leaf together, unless more than its
        quasi-identifiers are learnt from.
        """
        quasi = (
            self.refinements.transformation.anonymization.columns.quasi_names
            if self.refinements.transformation
            else ()
        )
        fewest = (
            max(FEWEST, self.refinements.transformation.anonymization.k)
            if self.refinements.transformation
            else FEWEST
        )
        architecture = modelling.architecture
        if not isinstance(architecture, Estimator) or set(modelling.features) <= set(quasi):
            return modelling
        leaf = architecture.smallest_leaf
        if leaf is not None and leaf < fewest:
            message = f"A leaf of the model may hold {leaf:g} records. In a model that is "
            message += f"released every leaf holds {fewest} or more."
            hint = f"Leave out min_samples_leaf, or give {fewest} or more."
            self.refinements.add("M012", message, hint, parts["model"].place)
            return None
        return modelling.model_copy(
            update={"architecture": architecture.with_smallest_leaf(fewest)}
        )

    def _check_given(self, action: Action) -> None:
        """Note a model without a label, and one of raw data without features."""
        if not mentions(action, "label"):
            hint = "Add a refinement with the leftOperand pe:label."
            message = "A model needs the column that it is to predict."
            self.refinements.add("M012", message, hint, action.place)
        if not self.refinements.transformation and not mentions(action, "feature"):
            hint = "Add a refinement with the leftOperand pe:feature."
            message = "A model of a table that is not anonymised needs its features by name."
            self.refinements.add("M012", message, hint, action.place)

    def _check_columns(self, label: str, features: tuple[str, ...], parts: _Parts) -> None:
        """Note a label that is not released as it is, and features that are not released."""
        if label in features:
            message = f"The label {label!r} is among the features, so there is nothing to predict."
            self.refinements.add("M012", message, "", parts["feature"].place)
        if self.refinements.transformation is None:
            return
        columns = self.refinements.transformation.anonymization.columns
        released = (*columns.sensitive_names, *columns.insensitive)
        if label not in released:
            message = f"The label {label!r} is not released as it is. "
            message += f"Those are {join_names(released)}." if released else "No column is."
            self.refinements.add("M012", message, "", parts["label"].place)
        usable = _default_features(self.refinements.transformation.anonymization, label)
        for name in features:
            if name not in (*usable, label):
                message = f"The output has no feature {name!r}. "
                message += f"It has {join_names(usable)}."
                self.refinements.add(
                    "M012", message, did_you_mean(name, usable), parts["feature"].place
                )

    def _share(self, part: Constraint) -> float | None:
        share = self.refinements.number(part)
        if share is not None and not 0 < share <= DEFAULT_SHARE:
            message = f"trainingShare is above 0 and at most {DEFAULT_SHARE:g}. Given: {share:g}."
            hint = "Shadow models need three times as many records that the model never saw."
            self.refinements.add("M012", message, hint, part.place)
            return None
        return share

    def _generated(
        self, architecture: Network | Estimator | None, part: Constraint
    ) -> Estimator | None:
        """Return a tree that so many samples lead to; None, and what is wrong, otherwise."""
        number, message = self.refinements.number(part), ""
        if number is not None and not (number.is_integer() and FEW <= number <= MANY):
            message = f"generators is a whole number from {FEW} to {MANY}. Given: {number:g}."
            self.refinements.add("M012", message, "", part.place)
        name = architecture.name if isinstance(architecture, Estimator) else "network"
        if architecture is not None and name != INTEGRAL:
            kind = f"Generators are counted of a {INTEGRAL}. Given: {name}."
            hint = f"Add a refinement with the leftOperand pe:model and {INTEGRAL}."
            self.refinements.add("M012", kind, hint, part.place)
        if number is None or message or not isinstance(architecture, Estimator) or name != INTEGRAL:
            return None
        return architecture.model_copy(update={"generators": int(number)})

    def _architecture(self, part: Constraint) -> Network | Estimator | None:
        """Return the model that a text names or describes, or a file beside the policy does."""
        value = replace(part.right_operands[0], place=part.place)
        architecture, problems = read_description(value, self.refinements.policy.source)
        self.refinements.problems += problems
        return architecture


_COLUMNS = ("label", "feature")


def _default_features(anonymization: Anonymization, label: str) -> tuple[str, ...]:
    """Return what a model of a release learns from: all but the label and what names persons."""
    excluded = {label, *anonymization.columns.pseudonymize, *anonymization.columns.redact}
    return tuple(name for name in anonymization.columns.released if name not in excluded)
