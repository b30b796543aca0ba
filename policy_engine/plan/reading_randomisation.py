"""The tables that a policy has randomised record by record, checked as far as can be without
data."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple, get_args

from pydantic import ValidationError

from policy_engine import terms
from policy_engine.errors import (
    Place,
    PlanError,
    Problem,
    did_you_mean,
    join_names,
    place_order,
)
from policy_engine.methods import parameters
from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.findings import Finding
from policy_engine.methods.randomiser import Randomiser, randomiser_class
from policy_engine.methods.sanitisations.local_differential_privacy import (
    LARGEST_EPSILON,
    LEAST_EPSILON,
    Compose,
    LocalDifferentialPrivacy,
)
from policy_engine.plan.column_settings import read_settings
from policy_engine.plan.joins import Datasets
from policy_engine.plan.randomisation import Randomisation
from policy_engine.plan.reading_parameters import as_settings, parameters_of
from policy_engine.policy import Action, Policy, Rule, Value

NOTATION = LocalDifferentialPrivacy.notation
RANDOMISED, EPSILON, COMPOSE, UNIT = "randomised", "epsilon", "compose", "privacyUnit"
_PARAMETERS = ("method", RANDOMISED, EPSILON, COMPOSE, UNIT)


class RandomisedTable(NamedTuple):
    """A permission to anonymise a dataset by randomising each record, what it asks for, and the
    action that asks for it.

    `places` has the place of each column that it names, by its name.
    """

    rule: Rule
    action: Action
    randomisation: Randomisation
    places: Mapping[str, Place]

    @property
    def columns_used(self) -> tuple[str, ...]:
        """The columns whose values it depends on."""
        return self.randomisation.columns_used


def read_randomised(policy: Policy, rule: Rule, action: Action) -> RandomisedTable:
    """Return what an action asks for. Raises PlanError with every problem of it."""
    reader = _Reader(rule, action)
    randomisation = reader.read()
    if randomisation is None:
        problems = sorted(dict.fromkeys(reader.problems), key=place_order)
        raise PlanError(*problems, source=policy.source)
    return RandomisedTable(rule, action, randomisation, reader.places)


class _Reader:
    """Reads the refinements of one action, and gathers what is wrong with them."""

    def __init__(self, rule: Rule, action: Action) -> None:
        self._rule, self._action = rule, action
        self._parts = parameters_of(action)
        self.problems: list[Problem] = []
        self.places: dict[str, Place] = {}

    def read(self) -> Randomisation | None:
        """Return what is asked for, None where something is wrong with it."""
        self._check_alone()
        columns = [one for one in map(self._randomiser, self._values(RANDOMISED)) if one]
        epsilon, compose, unit = self._epsilon(), self._compose(), self._unit(columns)
        self._check_names(columns)
        columns.sort(key=lambda one: one.name)
        if self.problems or epsilon is None:
            return None
        shape: dict[str, Any] = {"compose": compose, "unit": unit}
        if unit:
            shape["dataset"] = Datasets.of(self._rule).iris[0]
        draft = Randomisation.model_construct(columns=tuple(columns), epsilon=epsilon, **shape)
        for one in columns:
            try:
                one.check(draft.epsilon_of(one))
            except ValueError as error:
                self._add("M003", f"{one.name!r}: {error}", EPSILON)
        if self.problems:
            return None
        try:
            return Randomisation(columns=tuple(columns), epsilon=epsilon, **shape)
        except ValidationError as error:
            raise AssertionError(str(error)) from error

    def _add(self, code: str, message: str, parameter: str = "", hint: str = "") -> None:
        part = self._parts.get(parameter)
        place = part.place if part else self._action.place
        self.problems.append(Problem(code, message, hint, place))

    def _values(self, name: str) -> tuple[Value, ...]:
        part = self._parts.get(name)
        if part is None and name in (RANDOMISED, EPSILON):
            operand = terms.compact(f"{terms.PE}{name}")
            hint = f"Add a refinement with the leftOperand {operand}."
            self._add("M002", f"{NOTATION} needs the parameter {name!r}.", name, hint)
        return part.right_operands if part else ()

    def _check_alone(self) -> None:
        """Note other methods beside this one, parameters of others, and several targets."""
        methods = self._parts["method"].right_operands
        if len(methods) > 1:
            message = f"{NOTATION} is asked for beside other methods. What each record is "
            self._add("M003", f"{message}randomised to is all that is published.", "method")
        for name in self._parts:
            if name not in _PARAMETERS:
                own = join_names(_PARAMETERS[1:])
                self._add("M004", f"{NOTATION} has no parameter {name!r}. It has {own}.", name)
        if len({target.iri for target in self._rule.targets}) != 1:
            message = f"{NOTATION} is of one dataset. Given: {len(self._rule.targets)}."
            self._add("M016", message, "", "Join them in a file of your own.")

    def _epsilon(self) -> Decimal | None:
        for value in self._values(EPSILON)[:1]:
            try:
                epsilon = Decimal(str(value.value))
            except InvalidOperation:
                epsilon = Decimal("NaN")
            if epsilon.is_finite() and LEAST_EPSILON <= epsilon <= LARGEST_EPSILON:
                return epsilon
            message = f"pe:epsilon is not allowed to be {value.value!s}. Allowed is a number from "
            message += f"{LEAST_EPSILON} to {LARGEST_EPSILON}."
            self.problems.append(Problem("M003", message, "", value.place))
        return None

    def _compose(self) -> str:
        allowed = get_args(Compose)
        for value in self._values(COMPOSE)[:1]:
            if value.value in allowed:
                return str(value.value)
            message = f"pe:compose is not allowed to be {value.value!r}. Allowed is "
            message += f"{join_names(allowed, 'or')}."
            hint = did_you_mean(str(value.value), allowed)
            self.problems.append(Problem("M003", message, hint, value.place))
        return str(allowed[0])

    def _unit(self, columns: list[Randomiser]) -> str:
        unit = ""
        for value in self._values(UNIT)[:1]:
            unit = self._column(value) or ""
        for one in columns if unit else ():
            if not one.is_repeatable:
                message = f"{one.name!r} has noise that is drawn anew each time, and privacyUnit "
                message += "asks for the same answers again."
                self._add("M003", message, UNIT, "Leave privacyUnit out.")
        return unit

    def _column(self, value: Value) -> str | None:
        datasets = Datasets.of(self._rule)
        column = datasets.column(str(value.value))
        if column is None:
            their = " and ".join(f"{target}/..." for target in datasets.iris)
            message = f"{value.value!r} is not a column of the target. Its columns are {their}"
            hint = "In a name, / ? # and a blank are written as %2F, %3F, %23 and %20."
            self.problems.append(Problem("M006", message, hint, value.place))
            return None
        self.places.setdefault(column[1], value.place)
        return column[1]

    def _check_names(self, columns: list[Randomiser]) -> None:
        names = [one.name for one in columns]
        for name in dict.fromkeys(one for one in names if names.count(one) > 1):
            self._add("M005", f"{name!r} is named {names.count(name)} times.", RANDOMISED)
        for value in self._values(UNIT)[:1]:
            column = Datasets.of(self._rule).column(str(value.value))
            if column and column[1] in names:
                message = f"{column[1]!r} is both randomised and privacyUnit. Persons are not "
                self._add("M005", f"{message}published.", UNIT)

    def _randomiser(self, value: Value) -> Randomiser | None:
        """Return how a column is randomised, None where something is wrong with it."""
        name = self._column(value)
        if name is None:
            return None
        randomisers = terms.randomisers()
        notation = value.settings.get("randomiser")
        if notation is None or notation.value not in randomisers:
            allowed = f"Allowed is {join_names(randomisers, 'or')}."
            text = f"not allowed to be {notation.value!r}" if notation else "missing"
            message = f"{name!r}: the randomiser is {text}. {allowed}"
            hint = (
                did_you_mean(str(notation.value), randomisers) if notation else "Add pe:randomiser."
            )
            place = notation.place if notation else value.place
            self.problems.append(Problem("M003" if notation else "M002", message, hint, place))
            return None
        kind = randomiser_class(str(notation.value))
        settings, findings = _settings(value, kind)
        for finding in findings:
            place = value.settings.get(finding.parameter, value).place
            message = f"{name!r}: {as_settings(finding)}"
            self.problems.append(Problem(finding.code, message, "", place))
        return None if findings else kind(name=name, **settings)


def _settings(value: Value, kind: type[Randomiser]) -> tuple[Mapping[str, Any], list[Finding]]:
    """Return the settings of a column, and what is wrong with them."""
    notation, own = kind.notation, parameters(kind)
    own_settings = {name: one for name, one in value.settings.items() if name in own}
    settings = read_settings(Value(value.value, value.place, own_settings), kind)
    findings = parameter_findings(kind, {"name": "", **settings}, notation)
    names = join_names([name for name in own if name != "name"])
    findings += [
        Finding("M004", name, f"{notation} has no parameter {name!r}. It has {names}.")
        for name in value.settings
        if name not in own
    ]
    return settings, list(dict.fromkeys(findings))
