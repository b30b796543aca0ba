"""The audits that duties ask for, and the bounds on what attacks reach."""

from collections.abc import Collection, Iterator, Mapping

from policy_engine import terms
from policy_engine.errors import did_you_mean, join_names, nearest
from policy_engine.methods.audits.membership_inference import (
    FEWEST_SHADOWS,
    AttackBound,
    Measure,
    MembershipInference,
)
from policy_engine.plan.audit_duties import AUDIT, METHODS, audit_duties, is_audit, method_of
from policy_engine.plan.reading_parameters import parameters_of
from policy_engine.plan.training.files import FEWEST, FileBounds
from policy_engine.plan.training.model import Audit, Modelling, Training
from policy_engine.plan.training.refining import (
    BELOW,
    DEFAULT_FPR,
    MEASURES,
    OF_AUDIT,
    OF_FILES,
    OF_MODEL,
    mentions,
)
from policy_engine.plan.training.training import TrainingReader
from policy_engine.policy import Action, Constraint, Rule, Value

_SHADOWS: int = MembershipInference.model_fields["shadow_models"].default
_MOST = 10_000
_Parts = Mapping[str, Constraint]


class AuditReader:
    """Reads the audits of what a policy's plan makes: of its model, else of its table."""

    def __init__(self, trainings: TrainingReader) -> None:
        self.trainings = trainings
        self.refinements = trainings.refinements

    def audits(
        self, output: str, training: Training | None, *, of_model: bool
    ) -> tuple[Audit, ...]:
        """Return the audits that the duties of permissions on what is made ask for.

        Of a model, its training says how it is trained; it is None where that is wrong. Of a
        table, the audit itself says what model is to be attacked.
        """
        audit_list = []
        audited = [
            (rule, duty)
            for rule, duty in audit_duties(self.refinements.policy)
            if self._is_of(rule, output)
        ]
        attacking = [(d, a) for _, d in audited for a in d.actions if _is_of_model(a)]
        for duty, action in attacking:
            parts = self.refinements.constraints_by_name(
                action, ("method", *OF_AUDIT, *(() if of_model else OF_MODEL))
            )
            modelling = training if of_model else self.trainings.modelling(action, parts, output)
            one = self._audit(duty, action, parts, output, modelling)
            audit_list += [one] if one else []
        if attacking:
            self._check_countable()
        return tuple(audit_list)

    def _is_of(self, rule: Rule, output: str) -> bool:
        """Tell whether a permission is on what is made; note where its audit would never be run."""
        targets = [target.iri for target in rule.targets]
        if output in targets:
            return True
        if not any(one in self.refinements.outputs for one in targets):
            outputs = join_names(self.refinements.outputs)
            message = (
                f"The audit is of {join_names(targets)}, and what the policy has made is {outputs}."
            )
            hint = did_you_mean(targets[0], self.refinements.outputs)
            self.refinements.add("M013", message, hint, rule.targets[0].place)
        return False

    def _audit(
        self, duty: Rule, action: Action, parts: _Parts, output: str, modelling: Modelling | None
    ) -> Audit | None:
        self._check_method(parts, action)
        method = self._method(parts, action)
        if method is None or modelling is None:
            return None
        plain = Modelling(**{name: getattr(modelling, name) for name in Modelling.model_fields})
        files = self._files(parts, of_model=isinstance(modelling, Training))
        return Audit(duty=duty.label(), asset=output, method=method, modelling=plain, files=files)

    def _files(self, parts: _Parts, *, of_model: bool) -> FileBounds:
        """Return the bounds on the files of a model; note those that say nothing."""
        least = {"smallest_leaf": FEWEST, "rare_values": 0}
        bounds = {}
        for name, (field, lowest) in zip(OF_FILES, least.items(), strict=True):
            if name not in parts:
                continue
            part, number = parts[name], self.refinements.number(parts[name])
            if not of_model:
                message = f"{name} is about the files of a model, and what is released is a table."
                self.refinements.add("M013", message, "", part.place)
            elif number is not None and (number < lowest or number != int(number)):
                message = f"{name} is an integer of at least {lowest}. Given: {number:g}."
                hint = f"Every model that is released holds {lowest}."
                self.refinements.add("M011", message, hint if lowest else "", part.place)
            elif number is not None:
                bounds[field] = int(number)
        return FileBounds(**bounds)

    def _check_method(self, parts: _Parts, action: Action) -> None:
        """Note an audit by no method or an unknown one; membership inference names itself."""
        notations = terms.audit_methods()
        if "method" in parts:
            part = parts["method"]
            notation = str(part.right_operands[0].value).removeprefix(terms.PE)
            if notation not in notations:
                names = join_names(notations)
                message = f"The method {notation!r} is not one of audits. Known are {names}."
                self.refinements.add("M013", message, did_you_mean(notation, notations), part.place)
            elif notation != METHODS.get(action.iri, notation):
                message = f"{terms.compact(action.iri)} is not the method {notation!r}."
                self.refinements.add("M013", message, "Leave the method out.", part.place)
        elif action.iri == AUDIT:
            message = f"The audit names no method. Known are {join_names(notations)}."
            hint = "Add a refinement with the leftOperand mosaicrown:method."
            self.refinements.add("M013", message, hint, action.place)

    def _method(self, parts: _Parts, action: Action) -> MembershipInference | None:
        before = len(self.refinements.problems)
        fpr, shadows = self._fpr(parts, action), self._shadows(parts)
        attempts = self._count(parts["attempts"], 1) if "attempts" in parts else None
        bounds = [self._bound(name, parts[name], fpr) for name in MEASURES if name in parts]
        if not mentions(action, *MEASURES):
            message = f"The audit bounds nothing. It may bound {join_names(MEASURES)}."
            hint = "Add a refinement such as pe:auc lteq 0.6."
            self.refinements.add("M013", message, hint, action.place)
        attacks = tuple(self._attacks(parts["attack"])) if "attack" in parts else ()
        self._check_shows(parts, action)
        if not bounds or len(self.refinements.problems) > before:
            return None
        attack_settings = {"attacks": attacks} if attacks else {}
        counts = {"shadow_models": shadows, "attempts": attempts}
        return MembershipInference.model_validate(
            {"bounds": tuple(filter(None, bounds)), **counts, **attack_settings}
        )

    def _check_shows(self, parts: _Parts, action: Action) -> None:
        """Note bounds that hold whatever is given away, by the attacks that are asked for."""
        if "recall" in parts and not mentions(action, *(set(MEASURES) - {"recall"})):
            message = "recall alone bounds nothing: it is small for an attack that calls few "
            message += "members, be it sure of each of them."
            hint = "Add a refinement with the leftOperand pe:auc or pe:tprAtFpr."
            self.refinements.add("M013", message, hint, parts["recall"].place)
        if "tprAtFpr" not in parts or "attack" not in parts:
            return
        for notation in self._named(parts["attack"]):
            if not terms.attacks()[notation].flag("ranks"):
                message = f"The attack {notation!r} says yes or no, and has no threshold that "
                message += (
                    "could be set to a share of false positives: tprAtFpr says nothing of it."
                )
                hint = "Leave the attack out, or bound precision or auc instead of tprAtFpr."
                self.refinements.add("M013", message, hint, parts["attack"].place)

    def _fpr(self, parts: _Parts, action: Action) -> float:
        if "fpr" not in parts:
            return DEFAULT_FPR
        part = parts["fpr"]
        fpr = self.refinements.number(part)
        if fpr is not None and not 0 < fpr < 1:
            self.refinements.add(
                "M013", f"fpr is above 0 and below 1. Given: {fpr:g}.", "", part.place
            )
            return DEFAULT_FPR
        if not mentions(action, "tprAtFpr"):
            message = "fpr is that at which tprAtFpr is measured, and that is not bounded."
            hint = "Add a refinement with the leftOperand pe:tprAtFpr, or leave out pe:fpr."
            self.refinements.add("M013", message, hint, part.place)
        return DEFAULT_FPR if fpr is None else fpr

    def _shadows(self, parts: _Parts) -> int:
        if "shadowModels" not in parts:
            return _SHADOWS
        return self._count(parts["shadowModels"], FEWEST_SHADOWS)

    def _count(self, part: Constraint, fewest: int) -> int:
        """Return how many there are to be of something; note where that is out of its range."""
        number = self.refinements.number(part)
        if number is not None and not fewest <= number <= _MOST:
            name = terms.local_name(part.left_operand)
            message = f"{name} is an integer from {fewest} to {_MOST}. Given: {number:g}."
            self.refinements.add("M013", message, "", part.place)
            return fewest
        return int(number or fewest)

    def _bound(self, name: Measure, part: Constraint, fpr: float) -> AttackBound | None:
        """Return a bound, None where no attack could break it or guessing does.

        A figure is 1 at most. Below 1 is not a bound either: it leaves out an attack that is right
        of everybody, and no other.
        """
        number = self.refinements.number(part)
        if number is None:
            return None
        chance = fpr if name == "tprAtFpr" else 0.5
        is_strict = part.operator == BELOW
        if not chance <= number < 1 or (is_strict and number == chance):
            guessed = f"guessing reaches {chance:g}"
            why = guessed if number < 1 else "no figure is above 1: that bounds nothing"
            message = f"{name} must be {'below' if is_strict else 'at most'} {number:g}, but {why}."
            allowed = f"above {chance:g} and below 1" if is_strict else f"from {chance:g}, below 1"
            self.refinements.add("M011", message, f"Allowed is {allowed}.", part.place)
            return None
        return AttackBound(
            measure=name,
            asked=number,
            sense="below" if is_strict else "at most",
            fpr=fpr if name == "tprAtFpr" else None,
        )

    def _named(self, part: Constraint) -> list[str]:
        """Return the attacks named that are known."""
        return [one for one, _ in _notations(part) if one in terms.attacks()]

    def _attacks(self, part: Constraint) -> Iterator[str]:
        attack_terms = terms.attacks()
        attack_names: set[str] = set()
        for notation, value in _notations(part):
            if notation not in attack_terms:
                message = (
                    f"The attack {notation!r} is not known. Known are {join_names(attack_terms)}."
                )
                self.refinements.add(
                    "M013", message, _attack_hint(notation, attack_terms), value.place
                )
            elif notation in attack_names:
                message = f"The attack {notation!r} is asked for twice."
                self.refinements.add("M013", message, "", value.place)
            else:
                yield notation
            attack_names.add(notation)

    def _check_countable(self) -> None:
        """Note what would make the members of a training indistinguishable from other records."""
        if not self.refinements.transformation:
            return
        anonymization = self.refinements.transformation.anonymization
        parameters_ = parameters_of(self.refinements.transformation.action)
        places = {name: part.place for name, part in parameters_.items()}
        if anonymization.recoding.max_suppression:
            message = "An audit needs to know who was trained on, and suppressed rows were not."
            self.refinements.add(
                "M013", message, "Leave out pe:maxSuppression.", places["maxSuppression"]
            )
        if anonymization.columns.privacy_unit:
            message = "An audit counts records, and the policy counts persons who have several."
            self.refinements.add(
                "M013", message, "Leave out pe:privacyUnit.", places["privacyUnit"]
            )


def _is_of_model(action: Action) -> bool:
    """Tell whether an audit is of a model: by membership inference, or by no method that is
    known."""
    is_of_table = method_of(action) in (*METHODS.values(),) and method_of(action) != _OWN
    return is_audit(action) and not is_of_table


_OWN = MembershipInference.notation


def _notations(part: Constraint) -> Iterator[tuple[str, Value]]:
    """Yield the attacks named, by notation or by IRI, known or not, each as it is written."""
    notations = {term.iri: notation for notation, term in terms.attacks().items()}
    for value in part.right_operands:
        yield notations.get(str(value.value), str(value.value)), value


def _attack_hint(notation: str, attacks: Collection[str]) -> str:
    """Return `Did you mean ...?` with the nearest attacks, or with all kinds of the nearest one."""
    kind = nearest(notation, {name.partition("-")[0] for name in attacks})
    kinds = [name for name in attacks if name.startswith(f"{kind}-")] if kind else []
    near = did_you_mean(notation, attacks)
    return near or (f"Did you mean {join_names(kinds, 'or')}?" if kinds else "")
