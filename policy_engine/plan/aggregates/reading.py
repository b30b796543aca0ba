"""The statistics that a policy asks for under differential privacy, checked without data."""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal, InvalidOperation
from typing import Any, NamedTuple

from policy_engine import terms
from policy_engine.data.column_names import column_name
from policy_engine.errors import (
    Place,
    PlanError,
    Problem,
    did_you_mean,
    format_count,
    join_names,
    place_order,
)
from policy_engine.methods import parameters
from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.findings import Finding
from policy_engine.methods.sanitisations.differential_privacy import DifferentialPrivacy
from policy_engine.plan.aggregates.countable_numbers import countable_problem, plain
from policy_engine.plan.aggregates.model import (
    OF_CANDIDATES,
    OF_NUMBERS,
    Aggregation,
    GroupedBy,
    Statistic,
)
from policy_engine.policy import Action, Condition, Constraint, Policy, Rule, Value
from policy_engine.policy.model import (
    PER_ASSIGNEE_AND_PURPOSE,
    SPENT,
    LogicalConstraint,
    conjuncts,
)
from policy_engine.policy.queries import SYNTHETIC, Aggregate, GroupColumn, Query

_UNIT, _METHOD, _SEVERAL = "privacyUnit", "method", ("mechanism", "selection")
_MOST_CANDIDATES = 100_000


class Statistics(NamedTuple):
    """A permission to release statistics, what it asks for, and the action that asks for it.

    `method` has its parameters, `places` the place of each column that it names, by its name.
    """

    rule: Rule
    action: Action
    method: DifferentialPrivacy
    aggregation: Aggregation
    places: Mapping[str, Place]

    @property
    def columns_used(self) -> tuple[str, ...]:
        """The columns whose values it depends on."""
        return self.aggregation.columns_used


def read_statistics(policy: Policy, rule: Rule, action: Action) -> Statistics:
    """Return what an action asks for. Raises PlanError with every problem of it."""
    reader = _Reader(policy, rule, action)
    read = reader.read()
    if reader.problems or read is None:
        problems = sorted(dict.fromkeys(reader.problems), key=place_order)
        raise PlanError(*problems, source=policy.source)
    return Statistics(rule, action, *read, reader.places)


class _Reader:
    """Reads the statistics of one action; `problems` grow on the way."""

    def __init__(self, policy: Policy, rule: Rule, action: Action) -> None:
        self.policy, self.rule, self.action = policy, rule, action
        self.problems: list[Problem] = []
        self.places: dict[str, Place] = {}
        self.parts = {
            terms.local_name(part.left_operand): part
            for part in action.refinements
            if isinstance(part, Constraint)
        }
        self.target = rule.targets[0].iri if rule.targets else ""

    def add(self, code: str, message: str, place: Place, hint: str = "") -> None:
        """Note a problem."""
        self.problems.append(Problem(code, message, hint, place))

    def read(self) -> tuple[DifferentialPrivacy, Aggregation] | None:
        """Return the parameters and what is asked for; None where something is wrong."""
        from policy_engine.plan.aggregates.reading_synthetic import (  # noqa: PLC0415 (few policies need it)
            is_synthetic,
            mixed_problems,
            synthetic_problems,
        )

        self._check_rule()
        values = self._values()
        unit = self._unit()
        query = self._query(values.get("release"))
        if query is None or not unit:
            return None
        group_by = tuple(self._group_column(one) for one in query.group_by)
        figures = tuple(
            one for one in (self._figure(aggregate) for aggregate in query.aggregates) if one
        )
        self.problems += mixed_problems(query)
        if not (is_synthetic(query) and query.group_by):
            self._check_groups(query, group_by, values)
        self._check_names(query, unit, group_by, figures)
        if not self.problems:
            rows_place = (
                self.parts["maxRowsPerGroup"].place if values.get("maxRowsPerGroup") else None
            )
            self.problems += synthetic_problems(query, figures, values, rows_place)
        if self.problems:
            return None
        method = DifferentialPrivacy(**values)
        draft = Aggregation.model_construct(
            unit=unit,
            neighbours=method.neighbours,
            max_groups=method.max_groups,
            max_rows=method.max_rows,
            epsilon=method.epsilon,
            delta=method.delta,
            group_by=group_by,
            key_table=query.keys,
            key_table_digest="",
            figures=figures,
            key_selection=None,
            accountant="",
            rows=None if query.rows is None else int(_text(query.rows)),
        )
        from policy_engine.plan.aggregates.noising import calibrated  # noqa: PLC0415 (slow to import)

        try:
            return method, calibrated(draft, method)
        except (ArithmeticError, ValueError):
            message = "No noise that can be drawn is that small, or that large: the epsilon, the "
            message += "delta, or the bounds of a figure are beyond what samplers hold."
            self.add("M018", message, self.action.place)
            return None

    # -- the action -------------------------------------------------------------------------------

    def _check_rule(self) -> None:
        if len({one.iri for one in self.rule.targets}) != 1:
            message = "Statistics are of one dataset. The rule has "
            message += f"{format_count(len(self.rule.targets), 'target')}."
            self.add("M018", message, self.rule.place, "Join the datasets in a file of your own.")
        for one in conjuncts(self.rule.constraints):
            self._check_cap(one)
        methods = [str(value.value) for value in self.parts[_METHOD].right_operands]
        if len(methods) > 1:
            message = "differential-privacy releases no rows, so no other method goes with it. "
            message += f"Given: {join_names(methods)}."
            self.add("M018", message, self.parts[_METHOD].place, "Write a permission for each.")

    def _check_cap(self, condition: Condition) -> None:
        """Note a bound on what is spent that no account can be held to."""
        caps = [one for one in condition.constraints() if one.left_operand in SPENT]
        if caps and isinstance(condition, LogicalConstraint):
            message = "A bound on what is spent holds by itself, or together with others (and)."
            self.add("M018", f"{message} Given: one of several ways.", condition.place)
        elif any(one.unit == PER_ASSIGNEE_AND_PURPOSE for one in caps) and not self.rule.assignees:
            message = "What each assignee spends is bounded, and the rule names no assignee."
            hint = "Name one, or bound what the dataset spends: pe:perDataset."
            self.add("M018", message, condition.place, hint)

    def _values(self) -> dict[str, Any]:
        """Return the parameters of the method, and note what is wrong with them."""
        own = parameters(DifferentialPrivacy)
        values: dict[str, Any] = {}
        for name, part in self.parts.items():
            if name in (_METHOD, _UNIT):
                continue
            if name not in own:
                message = f"differential-privacy has no parameter {name!r}. It has "
                names = join_names(f"pe:{one}" for one in (_UNIT, *own))
                self.add("M004", f"{message}{names}.", part.place)
                continue
            several = [_plain(one) for one in part.right_operands]
            values[name] = tuple(several) if name in _SEVERAL else several[0]
        for finding in parameter_findings(
            DifferentialPrivacy, values, DifferentialPrivacy.notation
        ):
            place = self.parts.get(finding.parameter)
            where = place.place if place else self.action.place
            hint = ""
            if place is None and finding.code == "M002":
                hint = f"Add a refinement with the leftOperand pe:{finding.parameter}."
            self.add(finding.code, _with_prefix(finding), where, hint)
        return values

    def _unit(self) -> str:
        part = self.parts.get(_UNIT)
        if part is None:
            message = "differential-privacy needs the parameter 'pe:privacyUnit', the column that "
            message += "tells persons apart."
            hint = "Add a refinement with the leftOperand pe:privacyUnit."
            self.add("M002", message, self.action.place, hint)
            return ""
        return self._column(str(part.right_operands[0].value), part.right_operands[0].place)

    def _query(self, uid: object) -> Query | None:
        queries = {one.uid: one for one in self.policy.queries}
        if uid in queries:
            return queries[str(uid)]
        if isinstance(uid, str):
            message = f"The policy has no query {uid!r}."
            message += f" It has {join_names(queries)}." if queries else " It has none."
            hint = did_you_mean(uid, queries) or "Declare it under pe:queries."
            self.add("M018", message, self.parts["release"].place, hint)
        return None

    # -- the table of aggregates ------------------------------------------------------------------

    def _column(self, iri: str, place: Place) -> str:
        name = column_name(self.target, terms.canonical(iri))
        if name is None:
            message = f"{iri!r} is not a column of the target. Its columns are {self.target}/..."
            self.add("M006", message, place)
            return ""
        self.places.setdefault(name, place)
        return name

    def _group_column(self, one: GroupColumn) -> GroupedBy:
        keys = tuple(_text(value) for value in one.keys)
        self._refuse_repeated("key", keys, one.place)
        return GroupedBy.model_construct(name=self._column(one.iri, one.place), keys=keys)

    def _refuse_repeated(self, what: str, texts: Sequence[str], place: Place) -> None:
        """Note texts that are given twice, such as 5 and "5": cells are compared as texts."""
        for text, times in Counter(texts).items():
            if times > 1:
                message = (
                    f"The {what} {text!r} is given {times} times: cells are compared as texts."
                )
                self.add("M018", message, place)

    def _check_groups(
        self, query: Query, group_by: Sequence[GroupedBy], values: Mapping[str, Any]
    ) -> None:
        with_keys = [one.name for one in group_by if one.keys]
        has_all = len(with_keys) == len(group_by)
        if not group_by:
            if values.get("maxGroupsPerUnit", 1) != 1:
                message = "Without groups, pe:maxGroupsPerUnit is 1. Given: "
                message += f"{values['maxGroupsPerUnit']}."
                self.add("M003", message, self.parts["maxGroupsPerUnit"].place)
            return
        if with_keys and not has_all:
            rest = [one.name for one in group_by if not one.keys]
            message = f"Given are keys of {join_names(with_keys)}, none of {join_names(rest)}. "
            self.add("M018", f"{message}Every column has keys, or none has.", query.place)
        if not query.keys and not with_keys and not values.get("delta"):
            message = "Groups without public keys are selected, which needs a delta above 0. "
            hint = "Add pe:keys, or a refinement with the leftOperand pe:delta."
            self.add("M018", f"{message}Given: no keys, no delta.", query.place, hint)

    def _check_names(
        self,
        query: Query,
        unit: str,
        group_by: Sequence[GroupedBy],
        figures: Sequence[Statistic],
    ) -> None:
        if not query.aggregates:
            self.add("M018", "A query has at least one aggregate.", query.place)
        names = [*(one.name for one in group_by), *(one.name for one in figures)]
        for name, times in Counter(filter(None, names)).items():
            if times > 1:
                message = f"{times} columns of the output are called {name!r}."
                self.add("M018", message, query.place, "Give each a name of its own: pe:name.")
        # Of all aggregates, of those with another fault as well.
        used: list[str | None] = [one.name for one in group_by]
        used += [column_name(self.target, terms.canonical(one.of)) for one in query.aggregates]
        if unit in used:
            message = f"{unit!r} is the unit of privacy, and would be in the output."
            self.add("M018", message, query.place, "Count units: pe:function count-units.")

    def _figure(self, one: Aggregate) -> Statistic | None:
        """Return an aggregate, None where something is wrong with it."""
        before = len(self.problems)
        column = self._column(one.of, one.place) if one.of else ""
        parts = {"of": one.of, "candidates": one.candidates, **one.settings}
        needed = _NEEDED.get(one.function, ())
        hint = "Bounds, grids and candidates are public: they are not taken from the data."
        if one.function == SYNTHETIC:
            needed = ("of",)
            bounds = [name for name in ("lower", "upper", "grid") if not parts.get(name)]
            if not one.candidates and bounds:
                message = "A synthetic column needs its values: pe:candidates; or, of numbers, "
                message += "pe:lower, pe:upper and pe:grid. "
                lacking = " and no ".join(f"pe:{name}" for name in bounds)
                message += f"Given: no pe:candidates, no {lacking}."
                self.add("M018", message, one.place, hint)
        for name in needed:
            if not parts.get(name):
                self.add("M018", f"A {_noun(one)} needs pe:{name}.", one.place, hint)
        if len(self.problems) > before:
            return None
        if one.function in (*OF_CANDIDATES, SYNTHETIC):
            self._refuse_repeated("candidate", [*map(_text, one.candidates)], one.place)
        exact = {name: _decimal(value) or Decimal(0) for name, value in one.settings.items()}
        self._check_numbers(one, exact)
        if len(self.problems) > before:
            return None
        k, share = exact.pop("k", None), exact.pop("share", Decimal(1))
        return Statistic(
            name=one.column,
            function=one.function,
            of=column,
            candidates=tuple(map(_text, one.candidates)),
            k=None if k is None else int(k),
            share=share,
            **exact,
        )

    def _check_numbers(self, one: Aggregate, exact: Mapping[str, Decimal]) -> None:
        if one.function in OF_NUMBERS or (one.function == SYNTHETIC and not one.candidates):
            self._check_bounds(one, exact)
        elif one.function == SYNTHETIC:
            self._check_values(one)
        elif one.function == "quantile":
            self._check_quantile(one, exact["at"])
        elif one.function == "top-k" and not 0 < exact["k"] <= len(one.candidates):
            message = f"pe:k is a whole number from 1 to {len(one.candidates)}, the number of "
            message += f"candidates. Given: {plain(exact['k'])}."
            self.add("M018", message, one.settings["k"].place)

    def _check_bounds(self, one: Aggregate, exact: Mapping[str, Decimal]) -> None:
        lower, upper, grid = (exact[name] for name in ("lower", "upper", "grid"))
        problem = countable_problem(_noun(one), lower, upper, grid)
        if problem:
            self.add("M018", problem, one.place, "Give a coarser pe:grid, or other units.")
        elif lower % grid or upper % grid:
            message = "The bounds are multiples of the grid. Given: "
            numbers = f"{plain(lower)} to {plain(upper)} in steps of {plain(grid)}"
            self.add("M018", f"{message}{numbers}.", one.place)

    def _check_values(self, one: Aggregate) -> None:
        """Note what is wrong with the values of a synthetic column."""
        if any(name in one.settings for name in ("lower", "upper", "grid")):
            message = "The values of a synthetic column are its pe:candidates, or those of pe:grid "
            self.add("M018", f"{message}from pe:lower to pe:upper. Given: both.", one.place)
        elif len(one.candidates) == 1:
            message = "A synthetic column has at least two values. Given: 1."
            self.add("M018", message, one.candidates[0].place)

    def _check_quantile(self, one: Aggregate, at: Decimal) -> None:
        first, last, step = (Decimal(_text(value)) for value in one.candidates)
        digits = -int(at.as_tuple().exponent)
        if not 0 < at < 1 or digits > _MOST_DIGITS:
            message = f"pe:at is above 0 and below 1, with at most {_MOST_DIGITS} digits. Given: "
            self.add("M018", f"{message}{plain(at)}.", one.settings["at"].place)
        problem = countable_problem(one.function, first, last, step)
        if problem:
            hint = "Give a larger step, or other units."
            self.add("M018", problem, one.candidates[0].place, hint)
        elif (last - first) / step >= _MOST_CANDIDATES:
            message = f"A quantile has at most {_MOST_CANDIDATES:,} candidates. Given: "
            message += f"{int((last - first) / step) + 1:,}."
            self.add("M018", message, one.candidates[0].place, "Give a larger step.")


_MOST_DIGITS = 4
"""A quantile at 0.9999 is told from the maximum; more digits make scores that nobody tells."""
_NEEDED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(OF_NUMBERS, ("of", "lower", "upper", "grid")),
    "quantile": ("of", "at", "candidates"),
    "histogram": ("of", "candidates"),
    "top-k": ("of", "candidates", "k"),
}
"""What each function needs; what it may have is the vocabulary's."""


def _with_prefix(finding: Finding) -> str:
    """Return what is wrong with a parameter, which has the prefix that policies give it."""
    name = finding.parameter
    message = finding.message.replace(repr(name), repr(f"pe:{name}"))
    return f"pe:{message}" if message.startswith(f"{name} ") else message


def _noun(one: Aggregate) -> str:
    return "synthetic column" if one.function == SYNTHETIC else one.function


def _plain(value: Value) -> Any:
    """Return what a refinement gives: a number exactly, a name or a text as it is."""
    number = None if value.is_iri or isinstance(value.value, bool) else _decimal(value)
    if number is None:
        return str(value.value)
    return int(number) if number == number.to_integral_value() else number


def _decimal(value: Value) -> Decimal | None:
    return _number(_text(value))


def _text(value: Value) -> str:
    """Return a literal as it is written: a float by its shortest decimal."""
    raw = getattr(value.value, "text", value.value)
    return str(raw).lower() if isinstance(raw, bool) else str(raw)


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number.normalize(_EXACT) if number.is_finite() else None


_EXACT = Context(prec=1_000)
"""Nothing is rounded: policies write numbers of up to 400 digits."""
