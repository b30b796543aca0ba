"""What duties ask for of made-up rows, read: attacks on them, and bounds on what these reach."""

from collections.abc import Collection, Iterator, Mapping
from typing import Literal

from policy_engine import terms
from policy_engine.errors import Problem, did_you_mean, join_names
from policy_engine.methods.audits.membership_inference import MembershipInference
from policy_engine.methods.generative import (
    DEFAULT_ATTACKS,
    LEAST_P,
    LEAST_SHARE,
    OF_MODELS,
    GenerativeBound,
    SyntheticInference,
)
from policy_engine.plan.audit_duties import METHODS, audit_duties, method_of
from policy_engine.plan.synthetic_audits import SyntheticAudit
from policy_engine.plan.training.refining import (
    BELOW,
    DEFAULT_FPR,
    OF_SYNTHETIC,
    Refinements,
)
from policy_engine.policy import Action, Constraint, Policy

_Parts = Mapping[str, Constraint]
_Sense = Literal["at most", "below", "at least", "above"]
_BOUNDED = ("auc", "tprAtFpr", "setPValue", "excessCopies")
_ABOVE = f"{terms.ODRL}gt"
_MOST_P = 0.5
_MOST_ATTEMPTS = 10_000


def read_synthetic_audits(
    policy: Policy, output: str, outputs: Collection[str], of_model: Collection[str] = ()
) -> tuple[tuple[SyntheticAudit, ...], list[Problem]]:
    """Return the attacks that duties ask for on made-up rows, and what is wrong with them.

    Where their generator is what is released, the attacks `of_model` are made, too.
    """
    reader = _Reader(Refinements(policy, None, (), outputs), output, tuple(of_model))
    return tuple(reader.audits()), reader.refinements.problems


class _Reader:
    """Reads what duties ask for of one output."""

    def __init__(self, refinements: Refinements, output: str, of_model: tuple[str, ...]) -> None:
        self.refinements, self.output, self.of_model = refinements, output, of_model
        self.share: float | None = None

    def audits(self) -> Iterator[SyntheticAudit]:
        """Yield what is asked for by each action of a duty."""
        for rule, duty in audit_duties(self.refinements.policy):
            targets = [target.iri for target in rule.targets]
            if not {*targets} & {*self.refinements.outputs}:
                message = f"The audit is of {join_names(targets)}, and what the policy has made is "
                message += f"{join_names(self.refinements.outputs)}."
                hint = "Add the duty to a permission on the output."
                self.refinements.add("M013", message, hint, duty.place)
            for action in duty.actions if self.output in targets else ():
                before = len(self.refinements.problems)
                self._check_method(action)
                method = self._method(action)
                if method is not None and len(self.refinements.problems) == before:
                    self._check_share(method.holdout_share, action)
                    yield SyntheticAudit(duty=duty.label(), asset=self.output, method=method)

    def _check_share(self, share: float, action: Action) -> None:
        """Note another share to hold out than that of an earlier duty: the rows are split once."""
        self.share = self.share or share
        if share != self.share:
            message = f"{share:g} of the rows would be held out, and {self.share:g} by another "
            hint = "Give every duty on the output one pe:holdoutShare."
            self.refinements.add("M013", f"{message}duty.", hint, action.place)

    def _check_method(self, action: Action) -> None:
        """Note another method than membership inference."""
        notation = method_of(action)
        if notation == MembershipInference.notation:
            return
        message = f"The audit is by {notation!r}, and the rows are made up: none is a person's."
        if notation not in METHODS.values():
            message = f"The audit names no method, or an unknown one: {notation!r}."
        hint = f"Made-up rows are attacked by {MembershipInference.notation!r}."
        self.refinements.add("M013", message, hint, action.place)

    def _method(self, action: Action) -> SyntheticInference | None:
        if method_of(action) != MembershipInference.notation:
            return None
        parts = self.refinements.constraints_by_name(action, ("method", *OF_SYNTHETIC))
        fpr = self._share(parts["fpr"]) if "fpr" in parts else DEFAULT_FPR
        if "fpr" in parts and "tprAtFpr" not in parts:
            message = "fpr is that at which tprAtFpr is measured, and that is not bounded."
            self.refinements.add("M013", message, "Leave out pe:fpr.", parts["fpr"].place)
        bounds = [self._bound(name, parts[name], fpr or 0) for name in _BOUNDED if name in parts]
        leaves = [leaf for part in action.refinements for leaf in part.constraints()]
        if not {terms.local_name(one.left_operand) for one in leaves} & {*_BOUNDED}:
            message = f"The audit bounds nothing. It may bound {join_names(_BOUNDED)}."
            hint = "Add a refinement such as pe:auc lteq 0.6."
            self.refinements.add("M013", message, hint, action.place)
        settings: dict[str, object] = {"attacks": (*DEFAULT_ATTACKS, *self.of_model)}
        if "attack" in parts:
            settings["attacks"] = tuple(self._attacks(parts["attack"]))
        if "holdoutShare" in parts:
            settings["holdout_share"] = self._share(parts["holdoutShare"])
        if "attempts" in parts:
            settings["attempts"] = self._attempts(parts["attempts"])
        known_bounds = tuple(filter(None, bounds))
        if len(known_bounds) < len(bounds) or not bounds or self.refinements.problems:
            return None
        return SyntheticInference.model_validate({"bounds": known_bounds, **settings})

    def _share(self, part: Constraint) -> float | None:
        number = self.refinements.number(part)
        if number is not None and 0 < number < 1:
            return number
        if number is not None:
            name = terms.local_name(part.left_operand)
            message = f"{name} is above 0 and below 1. Given: {number:g}."
            self.refinements.add("M013", message, "", part.place)
        return None

    def _attempts(self, part: Constraint) -> int | None:
        number = self.refinements.number(part)
        if number is not None and not 1 <= number <= _MOST_ATTEMPTS:
            message = f"attempts is an integer from 1 to {_MOST_ATTEMPTS}. Given: {number:g}."
            self.refinements.add("M013", message, "", part.place)
        return int(number) if number is not None else None

    def _bound(self, name: str, part: Constraint, fpr: float) -> GenerativeBound | None:
        """Return a bound, None where nothing could break it, or nothing show it."""
        number, sense = self.refinements.number(part), _sense(part)
        if number is None:
            return None
        least, most = _ends(name, fpr)
        is_end = name == "setPValue" and number in (least, most)
        if not (least < number < most or is_end):
            reason = _why_refused(name, number, fpr)
            message = f"{name} must be {sense} {number:g}, but {reason}."
            hint = f"Allowed is above {least:g} and below {most:g}."
            self.refinements.add("M011", message, hint, part.place)
            return None
        is_rate = name == "tprAtFpr"
        return GenerativeBound.model_validate(
            {"measure": name, "asked": number, "sense": sense, "fpr": fpr if is_rate else None}
        )

    def _attacks(self, part: Constraint) -> Iterator[str]:
        """Yield the attacks that are named; note those that are not known, or named twice."""
        attack_terms = terms.generative_attacks()
        notations = {term.iri: notation for notation, term in attack_terms.items()}
        names: list[str] = []
        for value in part.right_operands:
            name = notations.get(str(value.value), str(value.value))
            if name not in attack_terms:
                message = f"The attack {name!r} on made-up rows is not known. Known are "
                message += f"{join_names(attack_terms)}."
                hint = did_you_mean(name, attack_terms)
                self.refinements.add("M013", message, hint, value.place)
            elif name in OF_MODELS and not self.of_model:
                message = f"The attack {name!r} is on a generator, and what is released are rows."
                self.refinements.add("M013", message, "", value.place)
            elif name in names:
                message = f"The attack {name!r} is asked for twice."
                self.refinements.add("M013", message, "", value.place)
            else:
                yield name
            names.append(name)


def _ends(name: str, fpr: float) -> tuple[float, float]:
    """Return the numbers between which a bound is one that can be shown, and be broken."""
    if name == "setPValue":
        return LEAST_P, _MOST_P
    least = {"auc": 0.5, "tprAtFpr": max(fpr, LEAST_SHARE)}.get(name, LEAST_SHARE)
    return least, 1.0


def _why_refused(name: str, number: float, fpr: float) -> str:
    if name == "setPValue" and number > _MOST_P:
        return "chance is below it half of the time"
    if name == "setPValue" or number >= 1:
        return "that bounds nothing"
    if 0 < number <= {"auc": 0.5, "tprAtFpr": fpr}.get(name, 0):
        return "guessing reaches that"
    return "no interval shows that"


def _sense(part: Constraint) -> _Sense:
    senses: Mapping[str, _Sense] = {
        BELOW: "below",
        f"{terms.ODRL}gteq": "at least",
        _ABOVE: "above",
    }
    return senses.get(part.operator, "at most")
