"""The conditions of an answer's cells as texts, which the ledger keeps and compares."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from policy_engine.decision.query.checking.gathering_evidence import GatheredAnswer
from policy_engine.decision.query.checking.population_conditions import (
    PopulationCondition,
    base_condition,
    population_condition,
)
from policy_engine.decision.query.checking.unfiltered_rows import UnfilteredRows


@dataclass(frozen=True)
class ConditionTexts:
    """Writes which rows are in a cell: the tables, and all parts of the condition, sorted.

    Of a key, it is that the row has the cell's value. That a measured column has a value is no
    condition.
    """

    gathered: GatheredAnswer
    rows: UnfilteredRows

    def without_keys(self, number: int, *, is_own: bool) -> str:
        """Return the condition that all cells of an aggregate have in common; empty for none."""
        parts = self._parts(number, is_own=is_own)
        return json.dumps([self.rows.text, sorted(parts)]) if parts else ""

    def _parts(self, number: int, *, is_own: bool) -> list[str]:
        find = population_condition if is_own else base_condition
        return [_text(one) for one in find(self.gathered.queries, number, self.rows).parts]

    def of_cells(self, number: int, cells: Sequence[int], *, is_own: bool) -> list[str]:
        """Return the conditions of an aggregate's cells: its own, or those of its base."""
        queries, table = self.gathered.queries, self.gathered.table
        parts = self._parts(number, is_own=is_own)
        keys = [self.rows.resolved(one).unnest().sql("duckdb") for one in queries.query.keys]
        labels = [[key_literal(value) for value in values] for values in table.labels]
        sets = [frozenset(one) for one in queries.query.sets]
        texts = []
        for cell in cells:
            own = sets[self.gathered.sets[cell]]
            codes = table.codes[cell].tolist()
            values = [f"{keys[key]}{KEY_IS}{labels[key][codes[key]]}" for key in own]
            texts.append(json.dumps([self.rows.text, sorted({*parts, *values})]))
        return texts


KEY_IS = " IS NOT DISTINCT FROM "


def _text(node: exp.Expr) -> str:
    """Return a part of a condition: equal to a literal as if it were a key."""
    if isinstance(node, exp.EQ):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(one, exp.Column) and isinstance(other, exp.Literal):
                return f"{one.sql('duckdb')}{KEY_IS}{other.sql('duckdb')}"
    return node.sql("duckdb")


def key_literal(value: Any) -> str:
    """Return a value of a key in SQL; of what has no literal, what it is written as."""
    if type(value) is int:  # As below, in a hundredth of the time; so are texts.
        return str(value)
    if type(value) is str:
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, float) and value != value:  # noqa: PLR0124 (not a number)
        return "CAST('nan' AS DOUBLE)"
    try:
        return exp.convert(value).sql("duckdb")
    except ValueError:
        return exp.Literal.string(str(value)).sql("duckdb")


def without_common_parts(one: str, other: str) -> tuple[str, str]:
    """Return the texts of two conditions without the parts that both have."""
    (first, parts), (second, other_parts) = json.loads(one), json.loads(other)
    common = {*parts} & {*other_parts}
    rests = ([part for part in some if part not in common] for some in (parts, other_parts))
    texts = [
        json.dumps([source, rest]) for source, rest in zip((first, second), rests, strict=True)
    ]
    return texts[0], texts[1]


def condition_of(text: str) -> tuple[str, PopulationCondition]:
    """Return the tables and the condition that a text was written of."""
    source, parts = json.loads(text)
    nodes = tuple(exp.maybe_parse(one, dialect="duckdb") for one in parts)
    return source, PopulationCondition(nodes or (exp.true(),))
