"""What a query asks of statistics under differential privacy: figures, groups and rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from sqlglot import exp

from policy_engine.decision.query.asked_grammar import check_parts, check_understood
from policy_engine.decision.query.row_comparisons import (
    NotAskableError,
    bare,
    noted,
    row_conditions,
    short_sql,
)
from policy_engine.plan.aggregates.model import Function, RowCondition


class AskedFigure(NamedTuple):
    """A function of a column, of all rows without one; of a quantile with the share it is at."""

    function: Function
    of: str = ""
    at: Decimal | None = None


@dataclass(frozen=True)
class AskedStatistics:
    """The figures, the columns that are grouped by, and the conditions on rows of a query.

    Columns have the names that the policy gives them. `shown` are the entries of the select list:
    the name of each, and the figure or the column that it is. `order` and `limits` are what is done
    with the rows that are released, and `order` names its entries in the same way.
    """

    figures: tuple[AskedFigure, ...]
    group_by: tuple[str, ...]
    conditions: tuple[RowCondition, ...]
    shown: tuple[tuple[str, "AskedFigure | str"], ...]
    order: tuple[tuple["AskedFigure | str", exp.Ordered], ...] = ()
    limits: tuple[exp.Expr, ...] = ()


class ColumnSpelling:
    """The columns that a query may name, in any case; the unit of privacy is one of them."""

    def __init__(self, names: Sequence[str], unit: str, table: exp.Table) -> None:
        self.unit = unit
        self._table = table.alias_or_name.lower()
        self._names = {name.lower(): name for name in reversed([*names, unit])}
        self._exact = {*names, unit}

    def knows(self, node: exp.Expr) -> bool:
        """Tell whether a node has the name of a column."""
        return isinstance(node, exp.Column) and node.name.lower() in self._names

    def name(self, node: exp.Expr) -> str:
        """Return the name of a column as the policy has it. Raises NotAskableError otherwise."""
        node = bare(node)
        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            raise NotAskableError(f"{short_sql(node)} is not a column.")
        if node.table and node.table.lower() != self._table:
            raise NotAskableError(f"{short_sql(node)} is not a column of {self._table!r}.")
        name = node.name if node.name in self._exact else self._names.get(node.name.lower())
        if name is None:
            raise NotAskableError(f"The column {node.name!r} is not among those of its statistics.")
        return name

    def open_name(self, node: exp.Expr) -> str:
        """Return the name of a column that is not the unit of privacy."""
        name = self.name(node)
        if name == self.unit:
            raise NotAskableError(
                f"{name!r} is the unit of privacy: it may be in COUNT(DISTINCT {name}) alone."
            )
        return name


def only_table(tree: exp.Query) -> exp.Table:
    """Return the table of a query of one table. Raises NotAskableError for any other query."""
    if not isinstance(tree, exp.Select):
        raise NotAskableError("Only one SELECT is answered, of one dataset.")
    start = tree.args.get("from_")
    source = start.this if start else None
    if not isinstance(source, exp.Table) or not isinstance(source.this, exp.Identifier):
        raise NotAskableError("Only a query of one dataset is answered, named in FROM.")
    if tree.args.get("joins") or source.args.get("joins"):
        raise NotAskableError("Joins are not answered.")
    return source


def read_asked(tree: exp.Query, names: Sequence[str], unit: str) -> AskedStatistics:
    """Return what a query asks for, of a dataset that has the columns `names` and the unit.

    Raises NotAskableError for what is not one SELECT of figures and columns that are grouped by.
    """
    question, problems = read_as_far_as_possible(tree, names, unit)
    if problems:
        raise NotAskableError(*problems)
    return question


def read_as_far_as_possible(
    tree: exp.Query, names: Sequence[str], unit: str
) -> tuple[AskedStatistics, list[str]]:
    """Return what a query asks for, and all that is not answered in it.

    Raises NotAskableError where it is not a query of one table.
    """
    reader = _Reader(tree, names, unit)
    return reader.read(), reader.problems


class _Reader:
    """Reads one SELECT; the figures, and the problems, grow on the way."""

    def __init__(self, tree: exp.Query, names: Sequence[str], unit: str) -> None:
        self.spelling = ColumnSpelling(names, unit, only_table(tree))
        self.tree = tree
        self.figures: list[AskedFigure] = []
        self.problems: list[str] = []

    def read(self) -> AskedStatistics:
        """Return what is asked for, as far as it can be read."""
        with noted(self.problems):
            check_parts(self.tree)
        if any(self.tree.find_all(exp.Subquery, exp.Exists)):
            self.problems.append("Subqueries are not answered.")
        entries: list[tuple[str, AskedFigure | str]] = []
        for one in self.tree.expressions:
            with noted(self.problems):
                entries.append(self._entry(one))
        is_whole = len(entries) == len(self.tree.expressions)
        group_by = self._group_by(entries, is_whole=is_whole)
        order: tuple[tuple[AskedFigure | str, exp.Ordered], ...] = ()
        if is_whole:
            with noted(self.problems):
                order = tuple(self._ordered(entries))
        conditions: tuple[RowCondition, ...] = ()
        where = self.tree.args.get("where")
        with noted(self.problems):
            conditions = row_conditions(where.this, self.spelling.open_name) if where else ()
        limits: tuple[exp.Expr, ...] = ()
        with noted(self.problems):
            limits = tuple(self._limits())
        if not self.problems:
            columns = (*(entry for _, entry in entries), *(entry for entry, _ in order))
            self._check_shown(columns, group_by)
        return AskedStatistics(
            tuple(dict.fromkeys(self.figures)), group_by, conditions, tuple(entries), order, limits
        )

    def _check_shown(self, columns: Sequence[AskedFigure | str], group_by: Sequence[str]) -> None:
        """Note what is shown without being grouped by, and what nothing has read."""
        for one in dict.fromkeys(columns):
            if isinstance(one, str) and one not in group_by:
                self.problems.append(f"{one!r} is not grouped by: no row is released as it is.")
        if not self.figures:
            self.problems.append("The query asks for no figure.")
        if not self.problems:
            # What the parser knows and nothing above has read would otherwise be ignored.
            with noted(self.problems):
                check_understood(self.tree)

    def _entry(self, node: exp.Expr) -> tuple[str, AskedFigure | str]:
        of = self._figure_or_column(node.this if isinstance(node, exp.Alias) else node)
        return node.alias if isinstance(node, exp.Alias) else "", of

    def _figure_or_column(self, node: exp.Expr) -> AskedFigure | str:
        inner = bare(node)
        if isinstance(inner, exp.Column) and not isinstance(inner.this, exp.Star):
            return self.spelling.open_name(inner)
        figure = self._figure(inner)
        self.figures.append(figure)
        return figure

    def _figure(self, node: exp.Expr) -> AskedFigure:
        if isinstance(node, exp.Count):
            return self._count(node)
        for kind, function in _FUNCTIONS.items():
            if isinstance(node, kind):
                return AskedFigure(function, self.spelling.open_name(node.this))
        share = _share(node)
        if share is not None:
            of, at = share
            return AskedFigure("quantile", self.spelling.open_name(of), at)
        raise NotAskableError(f"{short_sql(node)} is not a figure that is answered.")

    def _count(self, node: exp.Count) -> AskedFigure:
        of = node.this
        if of is None or isinstance(of, exp.Star):
            return AskedFigure("count")
        if not isinstance(of, exp.Distinct):
            return AskedFigure("count", self.spelling.open_name(of))
        counted = [self.spelling.name(one) for one in of.expressions]
        if counted != [self.spelling.unit]:
            unit = self.spelling.unit
            raise NotAskableError(f"Distinct values are those of the unit: COUNT(DISTINCT {unit}).")
        return AskedFigure("count-units")

    def _group_by(
        self, entries: Sequence[tuple[str, AskedFigure | str]], *, is_whole: bool
    ) -> tuple[str, ...]:
        """Return the columns that are grouped by; of a select list that is not read as a whole,
        those that are not entries of it by their number or alias."""
        group = self.tree.args.get("group")
        if group is None:
            return ()
        if group.args.get("all"):
            return tuple(dict.fromkeys(one for _, one in entries if isinstance(one, str)))
        if any(value for part, value in group.args.items() if part != "expressions"):
            self.problems.append("Groups are by columns: no sets of them, no cube, no rollup.")
        names: list[str] = []
        aliases = {one.alias.lower() for one in self.tree.expressions if one.alias}
        for node in group.expressions:
            is_known = self.spelling.knows(node)
            is_column = isinstance(node, exp.Column) and node.name.lower() not in aliases
            if is_whole or is_known or is_column:
                with noted(self.problems):
                    names.append(self._grouped(node, () if is_known else entries))
        return tuple(dict.fromkeys(names))

    def _grouped(self, node: exp.Expr, entries: Sequence[tuple[str, AskedFigure | str]]) -> str:
        """Return the column that an entry of GROUP BY is, or stands for among other entries."""
        entry = self._listed(node, entries) if entries else None
        if entry is None:
            return self.spelling.open_name(node)
        if not isinstance(entry, str):
            raise NotAskableError("Groups are by columns, not by figures.")
        return entry

    def _ordered(
        self, entries: Sequence[tuple[str, AskedFigure | str]]
    ) -> Iterator[tuple[AskedFigure | str, exp.Ordered]]:
        order = self.tree.args.get("order")
        for one in order.expressions if order else ():
            entry = self._listed(one.this, entries)
            yield self._figure_or_column(one.this) if entry is None else entry, one

    def _listed(
        self, node: exp.Expr, entries: Sequence[tuple[str, AskedFigure | str]]
    ) -> AskedFigure | str | None:
        """Return the entry of the select list that a number or an alias stands for, if any."""
        place = _whole(node)
        if place is not None:
            if not 0 < place <= len(entries):
                raise NotAskableError(f"There is no entry {place} in the select list.")
            return entries[place - 1][1]
        if isinstance(node, exp.Column) and not node.table:
            by_alias = {alias.lower(): entry for alias, entry in reversed(entries) if alias}
            return by_alias.get(node.name.lower())
        return None

    def _limits(self) -> Iterator[exp.Expr]:
        for part in ("limit", "offset"):
            one = self.tree.args.get(part)
            if one is None:
                continue
            if not isinstance(one, exp.Limit | exp.Offset) or _whole(one.expression) is None:
                message = f"{part.upper()} takes a whole number of at most {_MOST_ROWS:,}."
                raise NotAskableError(message)
            yield one


_FUNCTIONS: dict[type[exp.Expr], Function] = {
    exp.Sum: "sum",
    exp.Avg: "mean",
    exp.VariancePop: "variance",
}
_QUANTILES = (exp.PercentileCont, exp.PercentileDisc)


_MOST_ROWS = 2**63 - 1
"""What DuckDB can count: a limit above it would fail, once the answer is paid for."""


def _whole(node: exp.Expr) -> int | None:
    """Return the whole number that a literal is; None for anything else, and what is too large."""
    text = node.name if isinstance(node, exp.Literal) and not node.is_string else ""
    is_short = text.isascii() and text.isdecimal() and len(text) <= len(str(_MOST_ROWS))
    return int(text) if is_short and int(text) <= _MOST_ROWS else None


def _share(node: exp.Expr) -> tuple[exp.Expr, Decimal] | None:
    """Return what a quantile is of, and the share that it is at; None for anything else."""
    of, at = node.this, None
    if isinstance(node, exp.Median):
        return of, Decimal("0.5")
    if isinstance(node, exp.Quantile):
        at = node.args.get("quantile")
    elif isinstance(node, _QUANTILES) and node.expression:
        at = node.expression
    elif isinstance(node, exp.WithinGroup) and isinstance(node.this, _QUANTILES):
        ordered = node.expression.expressions
        if len(ordered) == 1 and not ordered[0].args.get("desc"):
            of, at = ordered[0].this, node.this.this
    if not isinstance(at, exp.Literal) or at.is_string:
        return None
    try:
        share = Decimal(at.name)
    except InvalidOperation:
        return None
    return (of, share.normalize()) if _LEAST_SHARE <= share < 1 else None


_LEAST_SHARE = Decimal("1e-9")
