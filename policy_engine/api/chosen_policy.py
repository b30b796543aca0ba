"""The policy of a chosen way of forming classes: an owner's own, with other refinements."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policy_engine import terms
from policy_engine.api.acting import read_making_policy
from policy_engine.data.atomic_file import write_file
from policy_engine.errors import InternalError, OutputError, Place
from policy_engine.methods.guide import ACCURACY_GUIDED, GUIDE
from policy_engine.methods.recoding import option_fields
from policy_engine.plan.anonymization import Transformation
from policy_engine.plan.products import chosen
from policy_engine.plan.reading_parameters import parameters_of
from policy_engine.plan.steps import Anonymize
from policy_engine.policy import Reading

_QUASI = "quasi-identifier"
_LEFT = "leftOperand"


@dataclass(frozen=True)
class PolicyChoice:
    """How a `transformation` of a policy is to be refined to make the classes of a `step`, for
    models of the column `label`, in the output `asset`."""

    transformation: Transformation
    step: Anonymize
    label: str
    asset: str

    @property
    def refinements(self) -> tuple[Mapping[str, Any], ...]:
        """What the policy says of classes, as refinements in JSON-LD: k, how they are formed, and,
        where columns have generalizations of their own, the quasi-identifiers."""
        refinements = [_refinement("mosaicrown:k", self.step.k), *self._options()]
        if self._settings:
            columns = [self._column(name, iri) for name, iri in self._quasi.items()]
            refinements.append(
                _refinement(f"mosaicrown:{_QUASI}", columns) | {"operator": "isAllOf"}
            )
        return tuple(refinements)

    def write(self, path: Path, policy: Path, reading: Reading) -> None:
        """Write the policy of a file with these refinements to another file, which is replaced.

        Raises OutputError where the policy is not JSON-LD (O002), or the
        file cannot be written or is the policy itself (O001, O002).
        """
        write_file(path, self.refined(policy.read_bytes(), reading), policy)

    def refined(self, text: bytes, reading: Reading) -> str:
        """Return a text of the policy with these refinements. Raises OutputError (O002) where it is
        not JSON."""
        try:
            document = json.loads(text)
        except ValueError:
            message = "The policy is not JSON-LD, and is rewritten in no other syntax."
            hint = "Convert it first, or refine it by hand: --format json has the refinements."
            raise OutputError.of("O002", message, hint) from None
        parameters = parameters_of(self.transformation.action)
        _set(document, parameters["k"].right_operands[0].place, self.step.k)
        for _, name, value in self.transformation.columns_by_role.get(_QUASI, ()):
            _set(document, value.place, self._column(name, self._quasi[name]))
        siblings = _siblings(document, parameters["method"].place)
        for name in option_fields():
            if name in parameters and not (name == GUIDE and self._keeps_guide):
                _remove(document, parameters[name].place)
        siblings[:] = [one for one in siblings if one is not None]
        siblings += self._options()
        refined = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        self._check(refined, reading)
        return refined

    def _check(self, refined: str, reading: Reading) -> None:
        """Raise InternalError (X001) where a text does not ask for the classes of the step."""
        made = chosen(read_making_policy(refined, reading), self.asset).transformation
        wanted = self.step.columns, self.step.methods, self.step.recoding
        own = made.anonymization if made else None
        if own is None or (own.columns, own.methods, own.recoding) != wanted:
            raise InternalError.of("X001", "The policy that was written asks for other classes.")

    def _options(self) -> list[dict[str, Any]]:
        """Return how classes are formed, as refinements."""
        guide = self.step.recoding.guide
        options = [_refinement("pe:algorithm", self.step.recoding.algorithm)]
        if guide is not None:
            options += [
                _refinement("pe:label", self._iri_of(self.label)),
                _refinement("pe:guideLabels", guide.labels),
            ]
            if not self.step.is_permuted:
                options.append(_refinement("pe:representative", guide.representative))
        return options

    @property
    def _keeps_guide(self) -> bool:
        """Whether the model that guides is the policy's own."""
        guide = self.step.recoding.guide
        return guide is not None and guide.architecture is not None

    @property
    def _quasi(self) -> Mapping[str, str]:
        """The IRIs of the quasi-identifiers, by their names."""
        named = self.transformation.columns_by_role.get(_QUASI, ())
        return {name: str(value.value) for _, name, value in named}

    @property
    def _settings(self) -> Mapping[str, Mapping[str, Any]]:
        """The settings of quasi-identifiers that are not those of the algorithm."""
        is_guided = self.step.recoding.algorithm == ACCURACY_GUIDED
        settings: dict[str, dict[str, Any]] = {}
        for one in self.step.columns.quasi_identifier:
            own: dict[str, Any] = {} if one.weight == 1 else {"pe:weight": one.weight}
            own |= {} if is_guided else {"pe:generalization": one.generalization}
            settings |= {one.name: own} if own else {}
        return settings

    def _column(self, name: str, iri: str) -> Any:
        settings = self._settings.get(name)
        return {"@id": iri, **settings} if settings else iri

    def _iri_of(self, name: str) -> str:
        for named in self.transformation.columns_by_role.values():
            for _, column, value in named:
                if column == name:
                    return str(value.value)
        raise InternalError.of("X001", "The label is not a column of the policy.")


def _refinement(operand: str, value: Any) -> dict[str, Any]:
    return {"leftOperand": operand, "operator": "eq", "rightOperand": value}


def _steps(place: Place) -> list[str]:
    """Return the steps of a JSON pointer (RFC 6901)."""
    parts = place.pointer.split("/")[1:]
    return [part.replace("~1", "/").replace("~0", "~") for part in parts]


def _at(document: Any, steps: Sequence[str]) -> Any:
    for step in steps:
        document = document[int(step)] if isinstance(document, list) else document[step]
    return document


def _set(document: Any, place: Place, value: Any) -> None:
    steps = _steps(place)
    parent = _at(document, steps[:-1])
    parent[int(steps[-1]) if isinstance(parent, list) else steps[-1]] = value


def _refinement_steps(document: Any, place: Place) -> list[str]:
    """Return the steps to the refinement that a place is in."""
    steps = _steps(place)
    while steps:
        at = _at(document, steps)
        if isinstance(at, dict) and any(terms.local_name(key).endswith(_LEFT) for key in at):
            return steps
        steps = steps[:-1]
    raise InternalError.of("X001", "The text has no such refinement.")


def _siblings(document: Any, place: Place) -> list[Any]:
    """Return the list of refinements that one is in."""
    parent = _at(document, _refinement_steps(document, place)[:-1])
    if not isinstance(parent, list):
        raise InternalError.of("X001", "The refinements are not a list.")
    return parent


def _remove(document: Any, place: Place) -> None:
    """Put nothing in the place of a refinement, so that the places of others stay."""
    steps = _refinement_steps(document, place)
    _at(document, steps[:-1])[int(steps[-1])] = None
