"""Whether two conditions hold of the same rows whatever a secret of somebody is.

As for cells by themselves, each set of columns of the two conditions is assumed to be secret, and
each row is combined with the secret values of all others: the conditions are the same if they hold
of the same combinations.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import pyarrow as pa
import sqlglot
from sqlglot import exp

from policy_engine.decision.query.checking.alike_rows import AlikeRows, alike_rows
from policy_engine.decision.query.checking.atom_answers import absent_answers
from policy_engine.decision.query.checking.checked_query import NotCheckableError
from policy_engine.decision.query.checking.condition_leaves import (
    ConditionLeaves,
    LeafExpression,
    columns_of,
)
from policy_engine.decision.query.checking.condition_texts import (
    condition_of,
    without_common_parts,
)
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.checking.population_conditions import MOST_COLUMNS
from policy_engine.decision.query.checking.possible_worlds import (
    ALIKE,
    MOST_PAIRS,
    does_hold,
)
from policy_engine.decision.query.grammar import to_sql

if TYPE_CHECKING:
    import pyarrow as pa

MOST_COMPARED = 100
"""How many pairs of conditions are compared for one answer: further ones count as other ones."""

ReadTable = Callable[[str, tuple[str, ...]], "pa.Table"]
"""Returns columns of a table by its name in SQL."""


@dataclass
class SameConditions:
    """Compares texts of conditions on the rows of their tables, each pair once.

    Only the parts are compared that two conditions do not have in common, such as values of keys:
    where those are the same, so are the conditions. What cannot be compared counts as not the same:
    other tables, unless those of one are the first of the other's; more columns or values than are
    looked at.
    """

    read: ReadTable
    results: dict[frozenset[str], bool] = field(default_factory=dict)

    def __call__(self, one: str, other: str) -> bool:
        """Return whether two conditions are the same."""
        one, other = without_common_parts(one, other)
        pair = frozenset((one, other))
        if pair not in self.results:
            is_possible = len(self.results) < MOST_COMPARED
            self.results[pair] = is_possible and self._are_same(one, other)
        return self.results[pair]

    def _are_same(self, one: str, other: str) -> bool:
        (first, condition), (second, other_condition) = condition_of(one), condition_of(other)
        source = max(first, second, key=len)
        if not source.startswith(min(first, second, key=len)):
            return False
        select = sqlglot.parse_one(source, dialect="duckdb")
        assert isinstance(select, exp.Select)  # noqa: S101 (so it was written)
        conditions = [condition.whole, other_condition.whole]
        try:
            return not _differ(select, conditions, read_tables(self.read, select, conditions))
        except NotCheckableError:
            return False


def read_tables(
    read: ReadTable, select: exp.Select, conditions: Sequence[exp.Expr]
) -> "dict[str, pa.Table]":
    """Return the columns of tables that conditions and joins read."""
    nodes = (select, *conditions)
    columns = [column for node in nodes for column in node.find_all(exp.Column)]
    tables: dict[str, dict[str, None]] = {}
    for table in select.find_all(exp.Table):
        names = {one.name: None for one in columns if one.table == table.alias}
        tables.setdefault(table.name, {}).update(names)
    return {name: read(name, tuple(names)) for name, names in tables.items()}


def _differ(
    select: exp.Select, conditions: Sequence[exp.Expr], tables: "dict[str, pa.Table]"
) -> bool:
    """Return whether two conditions differ for any row with any secret.

    Raises NotCheckableError (K022) if the query fails.
    """
    leaves = ConditionLeaves()
    pair = [leaves.condition(one) for one in conditions]
    columns = sorted(pair[0].columns | pair[1].columns)
    if len(columns) > MOST_COLUMNS:
        return True
    source = select.copy()
    rows = alike_rows(source, leaves.by_name(), {}, tables)
    if not leaves.nodes:
        return False
    if rows.table.num_rows**2 > MOST_PAIRS:
        return True
    read = {name: next(iter(columns_of(one))) for name, one in leaves.by_name().items()}
    comparison = _Comparison(rows, pair, read)
    for size in range(1, len(columns) + 1):
        for secret in combinations(columns, size):
            text = to_sql(comparison.query(frozenset(secret)), "duckdb")
            if run_checked({"": text}, {ALIKE: rows.table})[""].num_rows:
                return True
    return False


@dataclass(frozen=True)
class _Comparison:
    """Two conditions over leaves, and the column that each leaf reads."""

    rows: AlikeRows
    pair: Sequence[LeafExpression]
    leaf_columns: dict[str, str]

    def query(self, secret: frozenset[str]) -> exp.Select:
        """Return the query of a combination for which the conditions differ."""
        sides = {
            is_secret: [n for n, one in self.leaf_columns.items() if (one in secret) == is_secret]
            for is_secret in (False, True)
        }
        holds = [does_hold(one, self.rows) for one in self.pair]
        select = exp.select("1").from_(self._distinct(sides[False]).subquery("known"))
        select = select.join(self._secrets(sides[True], secret).subquery("s"), join_type="cross")
        return select.where(
            exp.NEQ(this=exp.paren(holds[0]), expression=exp.paren(holds[1]))
        ).limit(1)

    def _distinct(self, names: Sequence[str]) -> exp.Select:
        columns: list[exp.Expr] = [
            exp.column(one, quoted=True) for one in (*names, *self.rows.failing(tuple(names)))
        ]
        select = exp.select(*(columns or [exp.alias_(exp.true(), "z")]))
        return select.distinct().from_(exp.table_(ALIKE, quoted=True))

    def _secrets(self, names: Sequence[str], secret: frozenset[str]) -> exp.Query:
        selects = [self._assumed(names, one) for one in self._assumptions(secret)]
        return selects[0] if len(selects) == 1 else exp.union(*selects, distinct=False)

    def _assumed(self, names: Sequence[str], assumptions: dict[str, bool]) -> exp.Select:
        """Return the secret values in the data, with what is assumed of atoms."""
        select = self._distinct(names)
        for atom in (atom for one in self.pair for atom in one.atoms):
            answer = assumptions.get(atom.expression.sql("duckdb"))
            value = exp.null() if answer is None else exp.Boolean(this=answer)
            select = select.select(exp.alias_(exp.cast(value, "BOOLEAN"), atom.name, quoted=True))
        return select

    def _assumptions(self, secret: frozenset[str]) -> Iterator[dict[str, bool]]:
        """Yield what may be assumed of an atom in both conditions: nothing, and what no row is."""
        yield {}
        atoms = [a for one in self.pair for a in one.atoms if a.columns & secret and not a.is_key]
        texts = {one.name: one.expression.sql("duckdb") for one in atoms}
        for name, answers in absent_answers(atoms, self.rows.table).items():
            yield from ({texts[name]: answer} for answer in answers)
