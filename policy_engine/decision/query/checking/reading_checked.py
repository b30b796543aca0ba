"""Reads a query as one whose answer can be checked: aggregates over rows, by keys.

What is allowed is written here; everything else is refused. Expressions over rows hold no
subqueries, so that what the evidence counts is what the query counts; what is shown, HAVING and
ORDER BY are expressions over keys and aggregates, computed when it is settled which are released.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations, product

from sqlglot import exp

from policy_engine.decision.query.checking.allowed_functions import (
    check_function,
    check_length,
)
from policy_engine.decision.query.checking.checked_query import (
    CheckedAggregate,
    CheckedQuery,
    NotCheckableError,
    ShownColumn,
)
from policy_engine.decision.query.checking.classifying import classify, is_aggregate
from policy_engine.decision.query.checking.measured_columns import check_pairs
from policy_engine.decision.query.checking.plain_arguments import computed_names

_CLAUSES = {
    *("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset"),
    "with_",
}
_MOST_KEYS = 12
_MOST_SETS = 64
_TOTALS = "GROUP BY ROLLUP (...) gives totals beside groups: compute shares of them afterwards."


def read_checked(tree: exp.Query, source_names: frozenset[str]) -> CheckedQuery:
    """Return a query of aggregates, taken apart.

    `source_names` are the columns of its tables, in lower case: such a name never stands for an
    alias of the select list, except in ORDER BY. Raises NotCheckableError: K024 for a query of
    rows, K018 for an aggregate that is not known, K017 for all else that cannot be checked.
    """
    if not isinstance(tree, exp.Select):
        raise _refusal("A set operation of queries")
    for name, value in tree.args.items():
        if value and name not in _CLAUSES:
            raise _refusal(name.strip("_").replace("_", " ").upper())
    return _Reader(tree, source_names).read()


def _refusal(part: str, hint: str = "") -> NotCheckableError:
    message = f"{part} is not allowed in a query whose answer is checked."
    allowed = "One SELECT of aggregates is allowed, over tables, joins and plain subqueries."
    return NotCheckableError("K017", message, hint or allowed)


class _Reader:
    """Takes one SELECT apart."""

    def __init__(self, tree: exp.Select, source_names: frozenset[str]) -> None:
        self.tree, self.source_names = tree, source_names
        self.aliases: dict[str, exp.Expr] = {}
        self.aggregates: dict[str, tuple[int, CheckedAggregate]] = {}
        self.keys: list[exp.Expr] = []
        self.computed = computed_names(tree)

    def read(self) -> CheckedQuery:
        for entry in self.tree.expressions:
            if isinstance(entry, exp.Alias):
                self.aliases.setdefault(entry.alias.lower(), self._named(entry.this))
        entries = [self._named(one.unalias()) for one in self.tree.expressions]
        sets = self._sets(entries)
        columns = tuple(
            self._shown(entry, _column_name(written))
            for entry, written in zip(entries, self.tree.expressions, strict=True)
        )
        having, order = self.tree.args.get("having"), self.tree.args.get("order")
        condition = self._shown(self._named(having.this), "") if having else None
        ordered = tuple(self._ordered(one, columns) for one in (order.expressions if order else ()))
        if not self.aggregates:
            message = "Rows are asked for. This policy lets only aggregates be read, checked."
            raise NotCheckableError("K024", message, self._hint())
        check_pairs([one for _, one in self.aggregates.values()])
        return CheckedQuery(
            source=self._source(),
            keys=tuple(self.keys),
            sets=sets,
            aggregates=tuple(one for _, one in self.aggregates.values()),
            columns=columns,
            condition=condition,
            order=ordered,
            limit=_constant(self.tree.args.get("limit")),
            offset=_constant(self.tree.args.get("offset")),
        )

    def _hint(self, hint: str = "Ask for COUNT, SUM, AVG and the like.") -> str:
        """Return a hint: which aggregates to select in place of plain columns."""
        inner = (one.this for one in self.tree.find_all(exp.CTE, exp.Subquery))
        is_grouped = any(one.args.get("group") for one in inner)
        return "Aggregate without a subquery, and choose groups by HAVING." if is_grouped else hint

    def _source(self) -> exp.Select:
        source = exp.Select()
        for name in ("with_", "from_", "joins", "where"):
            value = self.tree.args.get(name)
            if isinstance(value, list):
                source.set(name, [one.copy() for one in value])
            elif value is not None:
                source.set(name, value.copy())
        where = source.args.get("where")
        if where is not None:
            where.set("this", self._named(where.this))
            check_row_expression(where.this)
        for join in self.tree.find_all(exp.Join):
            if len(join.args.get("using") or ()) > 1:
                raise _refusal("A join by more than one pair of columns")
            if join.args.get("on") is not None:
                self._check_join(join.args["on"])
        return source

    def _check_join(self, node: exp.Expr) -> None:
        """Refuse a join by anything but one pair of equal columns: which row is joined to that of a
        person must not depend on a condition about the person, such as equality of a secret."""
        if isinstance(node.unnest(), exp.And):
            raise _refusal("A join by more than one pair of columns")
        part = node.unnest()
        sides = [part.left, part.right] if isinstance(part, exp.EQ) else []
        columns = [side for side in sides if isinstance(side, exp.Column)]
        is_plain = len(columns) == 2
        if not is_plain or any(one.name.lower() in self.computed for one in columns):
            raise _refusal("A join by anything but equal columns of tables")
        if columns[0].table.lower() == columns[1].table.lower() != "":
            raise _refusal("A join by two columns of one table")

    def _named(self, node: exp.Expr, names: frozenset[str] | None = None) -> exp.Expr:
        """Return an expression with aliases of the select list written out."""
        kept = self.source_names if names is None else names
        copied = exp.paren(node.copy(), copy=False)
        columns = [
            (column, self.aliases[column.name.lower()])
            for column in copied.find_all(exp.Column)
            if not column.table and column.name.lower() in self.aliases.keys() - kept
        ]
        check_length(chain([copied], (meaning for _, meaning in columns)))
        for column, meaning in columns:
            column.replace(exp.paren(meaning.copy()))
        inner: exp.Expr = copied.this
        return inner

    # -- groups -------------------------------------------------------------------------------

    def _sets(self, entries: Sequence[exp.Expr]) -> tuple[tuple[int, ...], ...]:
        """Record the keys; return the keys of each grouping set."""
        group = self.tree.args.get("group")
        if group is None:
            return ((),)
        if group.args.get("all") is True:
            keys = [one for one in entries if not _aggregates_in(one)]
            return (tuple(dict.fromkeys(self._key(one, entries) for one in keys)),)
        parts = [self._element(one, entries) for one in group.expressions]
        for name in ("grouping_sets", "rollup", "cube"):
            parts += [self._element(one, entries) for one in group.args.get(name) or ()]
        sets = [tuple(dict.fromkeys(n for part in one for n in part)) for one in product(*parts)]
        if len(sets) > _MOST_SETS:
            raise _refusal(f"More than {_MOST_SETS} grouping sets")
        return tuple(dict.fromkeys(tuple(sorted(one)) for one in sets))

    def _element(self, node: exp.Expr, entries: Sequence[exp.Expr]) -> list[tuple[int, ...]]:
        """Return the sets that one part of GROUP BY stands for."""
        if isinstance(node, exp.Rollup):
            keys = [self._tuple(one, entries) for one in node.expressions]
            return [_joined(keys[:size]) for size in range(len(keys), -1, -1)]
        if isinstance(node, exp.Cube):
            keys = [self._tuple(one, entries) for one in node.expressions]
            sizes = range(len(keys), -1, -1)
            return [_joined(some) for size in sizes for some in combinations(keys, size)]
        if isinstance(node, exp.GroupingSets):
            return [one for part in node.expressions for one in self._element(part, entries)]
        return [self._tuple(node, entries)]

    def _tuple(self, node: exp.Expr, entries: Sequence[exp.Expr]) -> tuple[int, ...]:
        if isinstance(node, exp.Tuple):
            return tuple(self._key(one, entries) for one in node.expressions)
        if isinstance(node, exp.Paren):
            return self._tuple(node.this, entries)
        return (self._key(node, entries),)

    def _key(self, node: exp.Expr, entries: Sequence[exp.Expr]) -> int:
        """Return the number of a key, by its expression, its alias or its place in the list."""
        if isinstance(node, exp.Literal):
            place = int(node.this) if not node.is_string and node.this.isdigit() else 0
            if not 0 < place <= len(entries):
                raise _refusal("A constant in GROUP BY")
            node = entries[place - 1]
        key = self._named(node).unnest()
        check_row_expression(key)
        number = self._number(key)
        if number is not None:
            return number
        if len(self.keys) == _MOST_KEYS:
            raise _refusal(f"A GROUP BY of more than {_MOST_KEYS} columns")
        self.keys.append(key)
        return len(self.keys) - 1

    def _number(self, node: exp.Expr) -> int | None:
        """Return the number of the key that an expression is, if any."""
        return next((i for i, key in enumerate(self.keys) if _is_same(key, node)), None)

    # -- what is shown ------------------------------------------------------------------------

    def _shown(self, node: exp.Expr, name: str) -> ShownColumn:
        """Return an expression over keys and aggregates. Raises NotCheckableError (K017, K018)."""
        numbers: set[int] = set()
        expression = self._rewritten(node, numbers)
        return ShownColumn(name, expression, frozenset(numbers))

    def _ordered(self, node: exp.Expr, columns: Sequence[ShownColumn]) -> exp.Expr:
        copied, key = node.copy(), node.this
        if isinstance(key, exp.Literal):
            place = int(key.this) if not key.is_string and key.this.isdigit() else 0
            if not 0 < place <= len(columns):
                raise _refusal("A constant in ORDER BY")
            item = columns[place - 1].expression.copy()
        else:
            item = self._shown(self._named(key, frozenset()), "").expression
        copied.set("this", item)
        return copied

    def _rewritten(self, node: exp.Expr, numbers: set[int]) -> exp.Expr:
        number = self._number(node)
        if number is not None:
            return exp.column(f"k{number}", quoted=True)
        if isinstance(node, exp.Grouping | exp.GroupingId):
            return self._grouping(node)
        if is_aggregate(node):
            place = self._aggregate(node)
            numbers.add(place)
            return exp.column(f"a{place}", quoted=True)
        _check_kind(node)
        if isinstance(node, exp.Column):
            message = f"{node.name!r} is neither in GROUP BY nor in an aggregate."
            raise NotCheckableError("K024", message, self._hint("Put it into one of the two."))
        copied = node.copy()
        for child in list(copied.iter_expressions()):
            child.replace(self._rewritten(child, numbers))
        return copied

    def _aggregate(self, node: exp.Expr) -> int:
        for argument in _row_parts(node):
            check_row_expression(argument)
        aggregate = classify(node)
        self._check_named(aggregate)
        if aggregate.condition is not None:
            aggregate = replace(aggregate, condition=self._named(aggregate.condition))
        place = self.aggregates.setdefault(aggregate.text, (len(self.aggregates), aggregate))
        return place[0]

    def _check_named(self, aggregate: CheckedAggregate) -> None:
        """Refuse an aggregate of values that a subquery computes; conditions may be of them."""
        if aggregate.kind in ("binary", "extreme"):
            return
        columns = [name for one in aggregate.arguments for name in one.find_all(exp.Column)]
        names = sorted({one.name for one in columns if one.name.lower() in self.computed})
        if names:
            message = f"{names[0]!r} is computed in a subquery, or is another column renamed."
            raise NotCheckableError("K018", message, "Aggregate the columns of the tables.")

    def _grouping(self, node: exp.Expr) -> exp.Expr:
        places = [self._number(one) for one in node.expressions]
        if not places or None in places:
            raise _refusal("GROUPING of what is not a key")
        bits: exp.Expr = exp.Literal.number(0)
        for place in places:
            doubled = exp.Mul(this=exp.paren(bits), expression=exp.Literal.number(2))
            bits = exp.Add(this=doubled, expression=exp.column(f"t{place}", quoted=True))
        return exp.paren(bits)


def check_row_expression(node: exp.Expr) -> None:
    """Refuse an expression over rows that holds anything but values of the row itself.

    Raises NotCheckableError (K017).
    """
    for part in node.walk():
        if is_aggregate(part):
            raise _refusal("An aggregate within an aggregate, or in WHERE, JOIN or GROUP BY,")
        _check_kind(part)


def _check_kind(node: exp.Expr) -> None:
    if isinstance(node, exp.Query | exp.Exists | exp.Any | exp.All | exp.Subquery):
        raise _refusal("A subquery outside of FROM", _TOTALS)
    if isinstance(node, exp.Window | exp.AggFunc):
        raise _refusal("A window function", _TOTALS)
    check_function(node)


def _row_parts(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield what an aggregate reads of each row: its arguments, conditions and order."""
    for child in node.iter_expressions():
        is_outer = isinstance(node, exp.Filter | exp.WithinGroup) and is_aggregate(child)
        if is_outer or isinstance(child, exp.Where | exp.Order | exp.Ordered | exp.Distinct):
            yield from _row_parts(child)
        elif not isinstance(child, exp.Star):
            yield child


def _aggregates_in(node: exp.Expr) -> bool:
    return any(is_aggregate(one) for one in node.walk())


def _joined(parts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(number for part in parts for number in part)


def _is_same(one: exp.Expr, other: exp.Expr) -> bool:
    """Return whether two expressions over rows are one, with and without names of tables."""
    one, other = one.unnest(), other.unnest()
    if type(one) is not type(other):
        return False
    pairs = zip(one.find_all(exp.Column), other.find_all(exp.Column), strict=False)
    if any(a.table and b.table and a.table.lower() != b.table.lower() for a, b in pairs):
        return False
    return _bare(one) == _bare(other)


def _bare(node: exp.Expr) -> str:
    copied = exp.paren(node.copy(), copy=False)
    for column in copied.find_all(exp.Column):
        column.set("table", None)
        column.set("this", exp.to_identifier(column.name.lower(), quoted=True))
    return copied.sql("duckdb")


def _column_name(entry: exp.Expr) -> str:
    """Return the name of a column of the answer: as it is written, where it has none."""
    if isinstance(entry, exp.Alias | exp.Column):
        return entry.alias_or_name
    is_rows = isinstance(entry, exp.Count) and isinstance(entry.this, exp.Star)
    return "count_star()" if is_rows else entry.sql("duckdb", comments=False).lower()


def _constant(node: exp.Expr | None) -> exp.Expr | None:
    """Return a LIMIT or OFFSET that is a number."""
    if node is None:
        return None
    value = node.args.get("expression")
    if not isinstance(value, exp.Literal) or value.is_string or node.args.get("limit_options"):
        raise _refusal("A LIMIT that is not a number")
    return node.copy()
