"""What duties ask for of a model's columns, read: attacks on them, and the bound on these."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from policy_engine import terms
from policy_engine.errors import Problem, did_you_mean, join_names
from policy_engine.methods.audits.attribute_inference import AttributeInference
from policy_engine.methods.audits.membership_inference import MembershipInference
from policy_engine.methods.model_secrets import AdvantageBound, ModelSecrets
from policy_engine.plan.anonymization import Transformation
from policy_engine.plan.audit_duties import MEMBERSHIP, METHODS, audit_duties, method_of
from policy_engine.plan.secret_audits import SecretAudit
from policy_engine.plan.training.model import Training
from policy_engine.plan.training.refining import BELOW, OF_SECRETS, Refinements, mentions
from policy_engine.policy import Action, Constraint, Policy

_Parts = Mapping[str, Constraint]


def read_secret_audits(
    policy: Policy,
    training: Training | None,
    output: str,
    transformations: Sequence[Transformation],
    outputs: Collection[str],
) -> tuple[tuple[SecretAudit, ...], list[Problem]]:
    """Return the attacks that duties ask for on columns of a model, and what is wrong with them.

    The `training` is that of the model, None where it is wrong; the first of the `transformations`
    is that of what it learns from, if any.
    """
    first = next(iter(transformations), None)
    reader = _Reader(Refinements(policy, first, transformations, outputs), training, output)
    return tuple(reader.audits()), reader.refinements.problems


class _Reader:
    """Reads what duties ask for of one model."""

    def __init__(self, refinements: Refinements, training: Training | None, output: str) -> None:
        self.refinements, self.training, self.output = refinements, training, output

    def audits(self) -> Iterator[SecretAudit]:
        """Yield what is asked for by each action of a duty on the model."""
        actions = [
            (duty, action)
            for rule, duty in audit_duties(self.refinements.policy)
            if self.output in [target.iri for target in rule.targets]
            for action in duty.actions
        ]
        has_members = any(method_of(a) == MembershipInference.notation for _, a in actions)
        for duty, action in actions:
            if method_of(action) != AttributeInference.notation:
                continue
            before = len(self.refinements.problems)
            if not has_members:
                message = "Attribute inference attacks the model that membership inference attacks,"
                message += " whose attempts are counted, and no duty asks for that."
                hint = f"Add a duty {terms.compact(MEMBERSHIP)} to the permission on {self.output}."
                self.refinements.add("M013", message, hint, action.place)
            parts = self.refinements.constraints_by_name(action, ("method", *OF_SECRETS))
            self._check_name(parts, action)
            bound, learned = self._bound(parts, action), self._learned(parts, action)
            if bound and learned and len(self.refinements.problems) == before:
                method = ModelSecrets(bound=bound, learned=learned)
                yield SecretAudit(duty=duty.label(), asset=self.output, method=method)

    def _check_name(self, parts: _Parts, action: Action) -> None:
        """Note another method than that of the action."""
        named = METHODS.get(action.iri)
        if named and "method" in parts:
            method = str(parts["method"].right_operands[0].value).removeprefix(terms.PE)
            if method != named:
                message = f"{terms.compact(action.iri)} is not the method {method!r}."
                self.refinements.add("M013", message, "Leave the method out.", action.place)

    def _bound(self, parts: _Parts, action: Action) -> AdvantageBound | None:
        """Return the bound, None and a problem where there is none, or one that bounds nothing."""
        if not mentions(action, "advantage"):
            message = f"The audit of {self.output}, a model, bounds nothing. It bounds advantage."
            hint = "Add a refinement such as pe:advantage lteq 0.05."
            self.refinements.add("M013", message, hint, action.place)
        part = parts.get("advantage")
        number = self.refinements.number(part) if part else None
        if part is None or number is None:
            return None
        is_strict = part.operator == BELOW
        if 0 < number < 1:
            return AdvantageBound(asked=number, sense="below" if is_strict else "at most")
        why = "no interval of an advantage ends there" if number <= 0 else "that bounds nothing"
        message = f"advantage must be {'below' if is_strict else 'at most'} {number:g}, but {why}."
        self.refinements.add("M011", message, "Allowed is above 0 and below 1.", part.place)
        return None

    def _learned(self, parts: _Parts, action: Action) -> tuple[str, ...]:
        """Return the columns that nobody should learn: features of the model."""
        features = self.training.features if self.training else ()
        if "learned" not in parts:
            first = self.refinements.transformation
            sensitive = first.anonymization.columns.sensitive_names if first else ()
            learned = tuple(name for name in sensitive if name in features)
            if not learned and self.training and not mentions(action, "learned"):
                message = "No sensitive column is a feature of the model, so it is not said what "
                message += "nobody should learn from it."
                hint = f"Name features: pe:learned. The model has {join_names(features)}."
                self.refinements.add("M013", message, hint, action.place)
            return learned
        names = tuple(self.refinements.columns(parts["learned"], self._table))
        if self.training is None:
            return ()
        for name in names:
            if name not in features:
                message = f"{name!r} is not a feature of the model, which has "
                message += f"{join_names(features)}: it cannot be asked about it."
                hint = did_you_mean(name, features)
                self.refinements.add("M013", message, hint, parts["learned"].place)
        return names

    @property
    def _table(self) -> str:
        return self.training.asset if self.training else self.output
