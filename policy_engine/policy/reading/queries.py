"""Tables of aggregates and budgets, read off the nodes of a policy (`policy/queries.py`)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

from policy_engine import terms
from policy_engine.errors import Fix, Place, Problem, did_you_mean, join_names, nearest
from policy_engine.policy.model import ANONYMIZE, Constraint, Policy, Value
from policy_engine.policy.queries import Aggregate, Budget, GroupColumn, Query
from policy_engine.policy.reading.nodes import format_value
from policy_engine.policy.reading.numbers import (
    ANY_NUMBER,
    COUNT,
    DELTA,
    EPSILON,
    INNER_SHARE,
    POSITIVE,
    SHARE,
    ExactReader,
    Range,
)
from policy_engine.policy.reading.walker import Walker
from policy_engine.policy.structure import (
    AGGREGATE,
    BUDGET,
    GROUP_BY,
    QUERIES,
    QueryPart,
    query_properties,
)
from policy_engine.policy.syntax.json_ld import POINTER, Node
from policy_engine.policy.xsd.literals import order, read_literal
from policy_engine.policy.xsd.values import Duration

_PE = terms.PE
_KEYS, _FUNCTION, _OF, _NAME, _CANDIDATES = (
    f"{_PE}{name}" for name in ("keys", "function", "of", "name", "candidates")
)
_OVER, _EPSILON, _DELTA, _SCOPE, _RENEWAL = (
    f"{_PE}{name}" for name in ("over", "epsilon", "delta", "scope", "renewal")
)
_LIFETIME_EPSILON, _LIFETIME_DELTA = f"{_PE}lifetimeEpsilon", f"{_PE}lifetimeDelta"
_RELEASE, _ROWS = f"{_PE}release", f"{_PE}rows"
_SETTINGS: dict[str, Range] = {
    "lower": ANY_NUMBER,
    "upper": ANY_NUMBER,
    "grid": POSITIVE,
    "at": INNER_SHARE,
    "k": COUNT,
    "share": SHARE,
}
_OF_ALL = (_FUNCTION, f"{_PE}share", _NAME)
"""The properties that every aggregate has, whatever its function."""
_RANGE_OF_NUMBERS = 3
"""How many numbers say which there are: the first, the last and the step."""

_Named = TypeVar("_Named", Query, Budget)


class QueryReader:
    """Reads the queries and the budgets of policies."""

    def __init__(self, walker: Walker) -> None:
        self.walker = walker
        self.exact = ExactReader(walker)

    def queries(self, node: Node) -> tuple[Query, ...]:
        """Return the tables of aggregates that a policy declares."""
        queries = ((child, self._query(child)) for child in self.walker.nodes(node, QUERIES))
        pairs = ((child, one, one.uid) for child, one in queries if one)
        return self._distinct(pairs, "Two queries have the uid", "Give each its own.")

    def budgets(self, node: Node) -> tuple[Budget, ...]:
        """Return the bounds of what all releases of datasets together may cost."""
        budgets = ((child, self._budget(child)) for child in self.walker.nodes(node, BUDGET))
        pairs = ((child, one, one.over) for child, one in budgets if one)
        return self._distinct(pairs, "Two budgets are over", "A dataset has one.")

    def _distinct(
        self, parts: Iterable[tuple[Node, _Named, str]], fault: str, hint: str
    ) -> tuple[_Named, ...]:
        """Return the first part of each name, and report the others."""
        firsts: dict[str, _Named] = {}
        for node, part, name in parts:
            first = firsts.setdefault(name, part)
            if first is not part:
                message = f"{fault} {name!r}; the first is in line {first.place.line}."
                self.walker.add("P023", message, hint, node)
        return tuple(firsts.values())

    # -- queries ------------------------------------------------------------------------------

    def _query(self, node: Node) -> Query | None:
        needed, others = query_properties("Query")
        self.walker.check_properties(node, {*needed, *others}, "a query")
        self._check_class(node, "Query")
        uid = self._uid(node)
        self.exact.note_missing(node, needed, "A query")
        group_by = self._distinct_columns(node, [*self._group_columns(node)])
        keys = self.exact.plain_name(node, _KEYS)
        if keys and any(column.keys for column in group_by):
            message = "The keys are in a file or beside the columns, not both."
            self.walker.add("P023", message, "", node, _KEYS)
        elif keys and not group_by:
            message = "pe:keys says which groups there are, and nothing is grouped."
            self.walker.add("P023", message, "Add pe:groupBy.", node, _KEYS)
        aggregates = [*self._aggregates(node)]
        number = self.exact.number(node, _ROWS, COUNT)
        rows = None if number is None else Value(int(number), self.walker.graph.place(node, _ROWS))
        place = self.walker.graph.place(node)
        return Query(uid, group_by, keys, tuple(aggregates), rows, place) if uid else None

    def _check_class(self, node: Node, kind: QueryPart) -> None:
        """Note a class of the language that a node is not of; foreign ones say nothing."""
        for index, name in enumerate(node.data.get("@type", ())):
            iri = terms.canonical(name)
            is_foreign = terms.is_absolute(iri) and not terms.has_known_namespace(iri)
            if iri != f"{_PE}{kind}" and not is_foreign:
                message = f"The type must be 'pe:{kind}'. Given: {terms.compact(iri)!r}."
                self.walker.add("P007", message, "", node, "@type", index)

    def _uid(self, node: Node) -> str:
        uid = terms.canonical(node.data.get("@id", ""))
        if not uid or uid.startswith("_:"):
            hint = 'Add "uid": "http://...", an IRI of its own.'
            self.walker.add("P023", "A query needs a uid, by which rules name it.", hint, node)
            return ""
        if not terms.is_absolute(uid):
            self.walker.add("L006", *terms.relative_iri_problem(uid), node, "@id")
            return ""
        return uid

    def _group_columns(self, node: Node) -> Iterator[tuple[int, GroupColumn]]:
        needed, others = query_properties("GroupColumn")
        for index, item in enumerate(self.exact.ordered(node, GROUP_BY)):
            iri = self.exact.name_of(item, node, GROUP_BY, index)
            column = self.walker.resolve(item) if "@id" in item else Node(item, "")
            keys: list[Value] = []
            if "@id" in item and column.data.keys() - {"@id", POINTER}:
                self.walker.check_properties(column, {*needed, *others}, "a column in pe:groupBy")
                keys = [*self._literals(column, _KEYS)]
                self._refuse_repeated(column, _KEYS, keys)
            if iri:
                place = self.walker.graph.place(node, GROUP_BY, index)
                yield index, GroupColumn(iri, tuple(keys), place)

    def _distinct_columns(
        self, node: Node, columns: list[tuple[int, GroupColumn]]
    ) -> tuple[GroupColumn, ...]:
        distinct: dict[str, GroupColumn] = {}
        for index, column in columns:
            if column.iri in distinct:
                message = f"The rows are grouped by {column.iri!r} twice."
                self.walker.add("P023", message, "", node, GROUP_BY, index)
            distinct.setdefault(column.iri, column)
        return tuple(distinct.values())

    def _literals(self, node: Node, prop: str) -> Iterator[Value]:
        for index, item in enumerate(self.exact.ordered(node, prop)):
            value = self.exact.value_of(item, node, prop, index)
            if value is not None:
                yield value

    def _refuse_repeated(self, node: Node, prop: str, values: Sequence[Value]) -> None:
        seen: list[tuple[type, Any]] = []
        for index, value in enumerate(values):
            key = (type(value.value), value.value)
            if key in seen:
                message = f"{terms.compact(prop)} has {str(value.value)!r} twice."
                self.walker.add("P023", message, "", node, prop, index)
            seen.append(key)

    # -- aggregates ---------------------------------------------------------------------------

    def _aggregates(self, node: Node) -> Iterator[Aggregate]:
        first_lines: dict[str, int] = {}
        self.exact.ordered(node, AGGREGATE)
        for child in self.walker.nodes(node, AGGREGATE):
            aggregate = self._aggregate(child)
            if aggregate is None:
                continue
            name = aggregate.column
            if name in first_lines:
                message = f"Two figures are called {name!r}; "
                message += f"the first is in line {first_lines[name]}."
                self.walker.add("P023", message, "Give one of them a pe:name.", child)
            first_lines.setdefault(name, aggregate.place.line)
            yield aggregate

    def _aggregate(self, node: Node) -> Aggregate | None:
        needed, others = query_properties("Aggregate")
        self._check_class(node, "Aggregate")
        if _FUNCTION not in node.data:
            self.walker.check_properties(node, {*needed, *others}, "an aggregate")
            self.exact.note_missing(node, needed, "An aggregate")
            return None
        function = self.exact.word(node, _FUNCTION, "AggregateFunction")
        own = (*needed, *others)
        if function:
            term = terms.vocabulary()[f"{_PE}{function}"]
            own = (*_OF_ALL, *term.iris("requires"), *term.iris("allows"))
            self.exact.note_missing(node, term.iris("requires"), f"The function {function!r}")
        subject = f"an aggregate with the function {function!r}" if function else "an aggregate"
        self.walker.check_properties(node, {*own}, subject)
        of, name = self.exact.plain_name(node, _OF), self.exact.text(node, _NAME)
        settings = dict(self._settings(node, own))
        candidates = tuple(self._literals(node, _CANDIDATES)) if _CANDIDATES in own else ()
        self._check_candidates(node, function, candidates)
        if "lower" in settings and "upper" in settings:
            self._check_bounds(node, settings["lower"], settings["upper"])
        place = self.walker.graph.place(node)
        return Aggregate(function, of, name, settings, candidates, place) if function else None

    def _settings(self, node: Node, own: Sequence[str]) -> Iterator[tuple[str, Value]]:
        for name, allowed in _SETTINGS.items():
            prop = f"{_PE}{name}"
            number = self.exact.number(node, prop, allowed) if prop in own else None
            if number is not None:
                value = int(number) if allowed.is_integer else number
                yield name, Value(value, self.walker.graph.place(node, prop))

    def _check_bounds(self, node: Node, lower: Value, upper: Value) -> None:
        if not lower.value < upper.value:  # type: ignore[operator]
            message = f"pe:lower is below pe:upper. Given: {lower.value} and {upper.value}."
            self.walker.add("P023", message, "", node, f"{_PE}upper")

    def _check_candidates(self, node: Node, function: str, values: tuple[Value, ...]) -> None:
        """Note what is wrong with candidates: those of a quantile are numbers in equal steps."""
        if not values:
            return
        numbers = [one.value for one in values if isinstance(one.value, Decimal)]
        is_range = len(numbers) == len(values) == _RANGE_OF_NUMBERS
        if function != "quantile":
            if not (function == "histogram" and is_range):
                self._refuse_repeated(node, _CANDIDATES, values)
            return
        if not is_range or numbers[2] <= 0 or numbers[0] >= numbers[1]:
            text = ", ".join(str(one.value) for one in values)
            allowed = "three numbers for a quantile: the first, a greater last, a step above 0"
            self.exact.check(node, _CANDIDATES, allowed, text, -1)
        elif (Fraction(numbers[1]) - Fraction(numbers[0])) % Fraction(numbers[2]):
            message = f"From {numbers[0]} to {numbers[1]} there is no whole number of steps of "
            self.walker.add("P023", f"{message}{numbers[2]}.", "", node, _CANDIDATES)

    # -- budgets ------------------------------------------------------------------------------

    def _budget(self, node: Node) -> Budget | None:
        needed, others = query_properties("Budget")
        self.walker.check_properties(node, {*needed, *others}, "a budget")
        self._check_class(node, "Budget")
        self.exact.note_missing(node, needed, "A budget")
        over = self.exact.plain_name(node, _OVER)
        epsilon = self.exact.number(node, _EPSILON, EPSILON)
        delta = self.exact.number(node, _DELTA, DELTA)
        scope = self.exact.word(node, _SCOPE, "BudgetScope")
        lifetime_epsilon = self.exact.number(node, _LIFETIME_EPSILON, EPSILON)
        lifetime_delta = self.exact.number(node, _LIFETIME_DELTA, DELTA)
        renewal = self._renewal(node)
        if not over or epsilon is None or not scope:
            return None
        budget = Budget(
            over,
            epsilon,
            delta or Decimal(0),
            scope,
            renewal,
            lifetime_epsilon,
            lifetime_delta,
            self.walker.graph.place(node),
        )
        self._check_lifetime(node, budget)
        return budget

    def _renewal(self, node: Node) -> str:
        """Return after what time a budget is full again, as it is written."""
        item = self.exact.single(node, _RENEWAL, "a duration")
        if item is None:
            return ""
        if not _is_duration(item):
            self.exact.check(node, _RENEWAL, "a duration such as 'P1Y'", format_value(item))
            return ""
        return str(item["@value"]).strip()

    def _check_lifetime(self, node: Node, budget: Budget) -> None:
        """Note a budget that is renewed for ever, and lifetimes that bound nothing."""
        lifetime = (
            (_LIFETIME_EPSILON, budget.lifetime_epsilon, budget.epsilon),
            (_LIFETIME_DELTA, budget.lifetime_delta, budget.delta),
        )
        for prop, most, each in lifetime:
            name = terms.compact(prop)
            if _RENEWAL in node.data and prop not in node.data and each:
                message = f"A budget that is renewed needs {name}, "
                message += "or all its times together have no bound."
                self.walker.add("P023", message, "", node, _RENEWAL)
            elif _RENEWAL not in node.data and prop in node.data:
                message = f"{name} is about a budget that is renewed, and this one is not."
                self.walker.add("P023", message, "Add pe:renewal, or remove it.", node, prop)
            elif most is not None and most < each:
                message = f"{name} is at least what each time has. Given: {most}, below {each}."
                self.walker.add("P023", message, "", node, prop)


_DURATIONS = tuple(
    f"{terms.XSD}{name}" for name in ("duration", "dayTimeDuration", "yearMonthDuration")
)


def _is_duration(item: Mapping[str, Any]) -> bool:
    """Tell whether a value is a duration above zero, as a text or of one of its types."""
    kind = item.get("@type") or _DURATIONS[0]
    if not isinstance(item.get("@value"), str) or kind not in _DURATIONS:
        return False
    try:
        duration = read_literal(item["@value"], kind)
    except ValueError:
        return False
    zero = Duration(0, Decimal(0))
    return isinstance(duration, Duration) and duration != zero and order(zero, duration, UTC) == -1


# -- all that a policy has, with what it inherits ------------------------------------------------


def query_problems(
    policies: Sequence[Policy], replace_text: Callable[[Place, str], Fix | None]
) -> Iterator[Problem]:
    """Yield the queries with the uid of another, and the releases of queries that no policy has."""
    for policy in policies:
        queries: dict[str, Query] = {}
        for query in policy.queries:
            if queries.setdefault(query.uid, query) != query:
                message = f"Two queries have the uid {query.uid!r}, one of them inherited."
                yield Problem("P023", message, "Give each its own.", policy.place)
        for release in _releases(policy):
            uid = str(release.value)
            if uid not in queries:
                names = f"It has {join_names(queries)}." if queries else "It has none."
                message = f"{uid!r} is not a query of the policy. {names}"
                fixes = (
                    replace_text(release.place.moved(release.place.pointer + step), name)
                    for name in filter(None, [nearest(uid, queries)])
                    for step in ("", "/@id", "/uid")
                )
                fix = next((one for one in fixes if one), None)
                yield Problem("P023", message, did_you_mean(uid, queries), release.place, fix)


def _releases(policy: Policy) -> Iterator[Value]:
    for rule in policy.rules:
        for action in rule.actions if any(one.iri == ANONYMIZE for one in rule.actions) else ():
            for part in action.refinements:
                if isinstance(part, Constraint) and part.left_operand == _RELEASE:
                    yield from part.right_operands
