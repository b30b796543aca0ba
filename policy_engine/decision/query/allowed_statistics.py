"""What a permission lets be asked under differential privacy: what its policy declares."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from sqlglot import exp

from policy_engine.data.group_keys import MOST_KEYS
from policy_engine.decision.query.asked_statistics import (
    AskedFigure,
    AskedStatistics,
    read_as_far_as_possible,
)
from policy_engine.decision.query.row_comparisons import NotAskableError, noted
from policy_engine.errors import PolicyEngineError, RequestError, join_names
from policy_engine.plan.aggregates.model import Aggregation, GroupedBy, Statistic
from policy_engine.plan.aggregates.narrowing import narrowed
from policy_engine.plan.aggregates.reading import Statistics
from policy_engine.policy import Policy
from policy_engine.policy.reading.numbers import DELTA, RELEASE_EPSILON, Range

_LONGEST = 60


@dataclass(frozen=True)
class AnswerLoss:
    """The epsilon and the delta that an answer may cost. Raises RequestError (D003) for others."""

    epsilon: Decimal
    delta: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        for name, number, allowed in (
            ("epsilon", self.epsilon, RELEASE_EPSILON),
            ("delta", self.delta, DELTA),
        ):
            if not (number.is_finite() and allowed.holds(number)):
                raise _loss_error(name, str(number), allowed)

    @classmethod
    def of(cls, epsilon: "str | int | Decimal", delta: "str | int | Decimal" = 0) -> "AnswerLoss":
        """Return exact numbers, from decimals or their texts. Raises RequestError (D003)."""
        return cls(_exact(epsilon, "epsilon", RELEASE_EPSILON), _exact(delta, "delta", DELTA))


def _exact(number: object, name: str, allowed: Range) -> Decimal:
    is_exact = isinstance(number, int | Decimal) and not isinstance(number, bool)
    try:
        if is_exact or (isinstance(number, str) and _DECIMAL.fullmatch(number)):
            exact = Decimal(number)  # type: ignore[arg-type]
            return exact or Decimal(0)  # of zeros, one: the same query is the same plan
    except InvalidOperation:
        pass
    hint = "Floats are rounded: give a Decimal, or a text." if isinstance(number, float) else ""
    raise _loss_error(name, repr(number), allowed, hint)


_DECIMAL = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)


def _loss_error(name: str, text: str, allowed: Range, hint: str = "") -> PolicyEngineError:
    """Return the error for a number that no policy may ask for, either."""
    short = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
    message = f"The {name} is {short}. Allowed is {allowed.words}."
    return RequestError.of("D003", message, hint)


@dataclass(frozen=True)
class AllowedStatistics:
    """A permission to release statistics, and the queries that it lets be asked."""

    policy: Policy
    declared: Statistics

    @property
    def whole(self) -> Aggregation:
        """All that the policy declares."""
        return self.declared.aggregation

    @property
    def askable(self) -> dict[AskedFigure, Statistic]:
        """The figures that SQL can ask for."""
        return {
            AskedFigure(one.function, one.of, one.at.normalize() if one.at else None): one
            for one in reversed(self.whole.figures)
            if one.function in _SQL
        }

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a query may name, but for the unit of privacy."""
        return tuple(one for one in self.whole.columns_used if one != self.whole.unit)

    def answered(self, tree: exp.Query, loss: AnswerLoss) -> tuple[AskedStatistics, Statistics]:
        """Return what a query asks for, and the statistics with noise that answer it.

        Raises NotAskableError, with every problem, where the permission does not let it be asked.
        """
        question, problems = read_as_far_as_possible(tree, self.columns, self.whole.unit)
        askable, group_by = self.askable, []
        for one in question.figures:
            if one not in askable:
                problems.append(f"{figure_sql(one, self.whole.unit)} is not declared.")
        with noted(problems):
            group_by = self._groups(question, loss)
        most = AnswerLoss(self.whole.epsilon, self.whole.delta)
        if loss.epsilon > most.epsilon or loss.delta > most.delta:
            problems.append(f"At most {_words(most)} may be asked for.")
        if problems:
            raise NotAskableError(*problems)
        figures = [askable[one] for one in question.figures]
        try:
            part = narrowed(
                self.declared, figures, group_by, question.conditions, loss.epsilon, loss.delta
            )
        except ValueError as error:
            raise NotAskableError(f"There is no noise for {_words(loss)}: {error}") from None
        return question, part

    def _groups(self, question: AskedStatistics, loss: AnswerLoss) -> list[GroupedBy]:
        """Return the declared columns that a query groups by."""
        declared = {one.name: one for one in self.whole.group_by}
        unknown = [one for one in question.group_by if one not in declared]
        if unknown:
            message = "{!r} is not declared as a column to group by."
            raise NotAskableError(*map(message.format, unknown))
        if question.group_by and self.whole.key_table and len(question.group_by) < len(declared):
            names = join_names(declared)
            raise NotAskableError(f"The keys of {names} are declared together: group by all.")
        chosen = [declared[name] for name in question.group_by]
        number = 1
        for one in chosen:
            number *= max(len(one.keys), 1)
        if number > MOST_KEYS:
            raise NotAskableError(f"There would be more than {MOST_KEYS:,} groups.")
        if chosen and not self.whole.has_public_keys and not loss.delta:
            message = "Groups without public keys are selected, which needs a delta above 0."
            raise NotAskableError(message)
        return chosen

    def menu(self) -> str:
        """Return in words what may be asked for."""
        return " ".join(self._menu())

    def _menu(self) -> Iterator[str]:
        whole = self.whole
        figures = [figure_sql(one, whole.unit) for one in reversed(self.askable)]
        if not figures:
            yield "no queries, since SQL cannot ask for any of the declared figures."
            return
        yield f"SELECT any of {', '.join(figures)};"
        if whole.group_by:
            how = "all of" if whole.key_table else "any of"
            yield f"GROUP BY {how} {', '.join(whole.group_names)};"
        if self.columns:
            yield f"WHERE on any of {', '.join(self.columns)};"
        yield f"at most {_words(AnswerLoss(whole.epsilon, whole.delta))}."


_SQL = {
    "count-units": "COUNT(DISTINCT {})",
    "count": "COUNT({})",
    "sum": "SUM({})",
    "mean": "AVG({})",
    "variance": "VAR_POP({})",
    "quantile": "QUANTILE_CONT({}, {})",
}
"""How SQL asks for a figure."""


def figure_sql(one: AskedFigure, unit: str) -> str:
    """Return how SQL asks for a figure."""
    of = unit if one.function == "count-units" else one.of or "*"
    return _SQL[one.function].format(of, *([f"{one.at:f}"] if one.at is not None else []))


def _words(loss: AnswerLoss) -> str:
    delta = f" and delta {loss.delta.normalize():g}" if loss.delta else ""
    return f"epsilon {loss.epsilon.normalize():f}{delta}"
