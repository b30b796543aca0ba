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
from policy_engine.plan.reading_parameters import as_settings
from policy_engine.plan.reading_records import RecordsReader
from policy_engine.policy import Action, Policy, Rule, Value

NOTATION = LocalDifferentialPrivacy.notation
RANDOMISED, EPSILON, COMPOSE, UNIT = "randomised", "epsilon", "compose", "privacyUnit"


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


class _Reader(RecordsReader):
    """Reads the refinements of one action, and gathers what is wrong with them."""

    notation = NOTATION
    allowed = (RANDOMISED, EPSILON, COMPOSE, UNIT)
    needed = (RANDOMISED, EPSILON)
    made = "What each record is randomised to is all that is published."

    def read(self) -> Randomisation | None:
        """Return what is asked for, None where something is wrong with it."""
        self.check_alone()
        columns = [one for one in map(self._randomiser, self.values(RANDOMISED)) if one]
        epsilon, compose, unit = self._epsilon(), self._compose(), self._unit(columns)
        self._check_names(columns)
        columns.sort(key=lambda one: one.name)
        if self.problems or epsilon is None:
            return None
        shape: dict[str, Any] = {"compose": compose, "unit": unit}
        if unit:
            shape["dataset"] = Datasets.of(self.rule).iris[0]
        draft = Randomisation.model_construct(columns=tuple(columns), epsilon=epsilon, **shape)
        for one in columns:
            try:
                one.check(draft.epsilon_of(one))
            except ValueError as error:
                self.add("M003", f"{one.name!r}: {error}", EPSILON)
        if self.problems:
            return None
        try:
            return Randomisation(columns=tuple(columns), epsilon=epsilon, **shape)
        except ValidationError as error:
            raise AssertionError(str(error)) from error

    def _epsilon(self) -> Decimal | None:
        for value in self.values(EPSILON)[:1]:
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
        for value in self.values(COMPOSE)[:1]:
            if value.value in allowed:
                return str(value.value)
            message = f"pe:compose is not allowed to be {value.value!r}. Allowed is "
            message += f"{join_names(allowed, 'or')}."
            hint = did_you_mean(str(value.value), allowed)
            self.problems.append(Problem("M003", message, hint, value.place))
        return str(allowed[0])

    def _unit(self, columns: list[Randomiser]) -> str:
        unit = ""
        for value in self.values(UNIT)[:1]:
            unit = self.column(value) or ""
        for one in columns if unit else ():
            if not one.is_repeatable:
                message = f"{one.name!r} has noise that is drawn anew each time, and privacyUnit "
                message += "asks for the same answers again."
                self.add("M003", message, UNIT, "Leave privacyUnit out.")
        return unit

    def _check_names(self, columns: list[Randomiser]) -> None:
        names = [one.name for one in columns]
        self.check_named_once(names, RANDOMISED)
        for value in self.values(UNIT)[:1]:
            column = Datasets.of(self.rule).column(str(value.value))
            if column and column[1] in names:
                message = f"{column[1]!r} is both randomised and privacyUnit. Persons are not "
                self.add("M005", f"{message}published.", UNIT)

    def _randomiser(self, value: Value) -> Randomiser | None:
        """Return how a column is randomised, None where something is wrong with it."""
        name = self.column(value)
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
