"""Refinements by which something is released in the place of rows, read with all their problems."""

from collections.abc import Sequence
from typing import ClassVar

from policy_engine import terms
from policy_engine.errors import Place, Problem, join_names
from policy_engine.plan.joins import Datasets
from policy_engine.plan.reading_parameters import parameters_of
from policy_engine.policy import Action, Rule, Value


class RecordsReader:
    """Reads the refinements of one action, and gathers what is wrong with them.

    A method has `allowed` parameters, of which some are `needed`; `made` says in a sentence what is
    released. `places` has the place of each column that is named, by its name.
    """

    notation: ClassVar[str]
    allowed: ClassVar[tuple[str, ...]]
    needed: ClassVar[tuple[str, ...]]
    made: ClassVar[str]

    def __init__(self, rule: Rule, action: Action) -> None:
        self.rule, self.action = rule, action
        self.parts = parameters_of(action)
        self.problems: list[Problem] = []
        self.places: dict[str, Place] = {}

    def add(self, code: str, message: str, parameter: str = "", hint: str = "") -> None:
        """Note a problem, at the place of a parameter if that is given."""
        part = self.parts.get(parameter)
        place = part.place if part else self.action.place
        self.problems.append(Problem(code, message, hint, place))

    def values(self, name: str) -> tuple[Value, ...]:
        """Return the values of a parameter, and note (M002) if a needed one is not given."""
        part = self.parts.get(name)
        if part is None and name in self.needed:
            operand = terms.compact(f"{terms.PE}{name}")
            hint = f"Add a refinement with the leftOperand {operand}."
            self.add("M002", f"{self.notation} needs the parameter {name!r}.", name, hint)
        return part.right_operands if part else ()

    def check_alone(self) -> None:
        """Note other methods beside this one, parameters of others, and several targets."""
        methods = self.parts["method"].right_operands
        if len(methods) > 1:
            message = f"{self.notation} is asked for beside other methods. {self.made}"
            self.add("M003", message, "method")
        for name in self.parts:
            if name not in ("method", *self.allowed):
                own = join_names(self.allowed)
                self.add("M004", f"{self.notation} has no parameter {name!r}. It has {own}.", name)
        if len({target.iri for target in self.rule.targets}) != 1:
            message = f"{self.notation} is of one dataset. Given: {len(self.rule.targets)}."
            self.add("M016", message, "", "Join them in a file of your own.")

    def column(self, value: Value) -> str | None:
        """Return the name of a column, and note (M006) if the dataset cannot have it."""
        datasets = Datasets.of(self.rule)
        column = datasets.column(str(value.value))
        if column is None:
            their = " and ".join(f"{target}/..." for target in datasets.iris)
            message = f"{value.value!r} is not a column of the target. Its columns are {their}"
            hint = "In a name, / ? # and a blank are written as %2F, %3F, %23 and %20."
            self.problems.append(Problem("M006", message, hint, value.place))
            return None
        self.places.setdefault(column[1], value.place)
        return column[1]

    def check_named_once(self, names: Sequence[str], parameter: str) -> None:
        """Note (M005) columns that are named several times."""
        for name in dict.fromkeys(one for one in names if names.count(one) > 1):
            self.add("M005", f"{name!r} is named {names.count(name)} times.", parameter)
