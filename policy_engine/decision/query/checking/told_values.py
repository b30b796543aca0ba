"""Which values of a column of few are asked about, of all rows that a query reads.

What is told of those with one value and of those with another one belongs together, whichever
answers it is in. So the ledger is told which value each row has.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import sqlglot

from policy_engine.decision.query.checking.answer_populations import DatasetRows
from policy_engine.decision.query.checking.contributions import tried
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.checking.sql_nodes import named
from policy_engine.decision.query.checking.unfiltered_rows import UnfilteredRows
from policy_engine.decision.query.grammar import to_sql
from policy_engine.release.output_ledger import SecretValues, ToldSet
from policy_engine.release.output_ledger.told_sets import NOBODYS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Masks = NDArray[np.bool_]

MOST_VALUES = 128
"""How many values a column may have; of one of more, each figure is judged by itself."""
_LEAST_KINDS = 3
"""Of two, whoever has not the one has the other: those are judged as one secret."""
_ROW, _VALUE = "u", "v"


@dataclass(frozen=True, eq=False)
class ToldValues:
    """The values of columns, and which rows of the dataset were read, by the text of a column."""

    unfiltered: UnfilteredRows
    rows: DatasetRows
    tables: "Mapping[str, pa.Table]"
    columns: dict[str, SecretValues | None] = field(default_factory=dict)
    is_read: dict[str, "Masks"] = field(default_factory=dict)

    @property
    def found(self) -> dict[str, SecretValues]:
        """The columns of few values that were asked for."""
        return {name: one for name, one in self.columns.items() if one is not None}

    def set_of(self, column: str, holders: "Masks", *, is_one_sided: bool) -> ToldSet | None:
        """Return the values that all of some `holders` and nobody else has, (rows,): None where
        there are no such, or the column has too many, or no more than two.

        Raises NotCheckableError (K022) if the values cannot be read.
        """
        if column not in self.columns:
            self.columns[column] = self._read(column)
        values = self.columns[column]
        if values is None:
            return None
        names, is_read = (*values.names, NOBODYS), self.is_read[column]
        codes = values.codes[is_read] % len(names)  # That of nobody's is the last one.
        sizes = np.bincount(codes, minlength=len(names))
        held = np.bincount(codes, holders[is_read], minlength=len(names))
        if ((held > 0) & (held < sizes)).any() or not held.any():
            return None
        own = frozenset(name for name, count in zip(names, held.tolist(), strict=True) if count)
        return ToldSet(column, own, is_one_sided)

    def _read(self, column: str) -> SecretValues | None:
        """Return the values of a column; None if there are too many, or no more than two kinds."""
        select = self.unfiltered.source.copy()
        value = sqlglot.parse_one(column, dialect="duckdb")
        row = self.unfiltered.resolved(self.rows.expression)
        select.set("expressions", [named(row, _ROW), named(tried(value), _VALUE)])
        table = run_checked({"": to_sql(select, "duckdb")}, self.tables)[""]
        table = table.filter(table[_ROW].is_valid())
        coded = table[_VALUE].combine_chunks().dictionary_encode()
        count, has_missing = len(coded.dictionary), coded.null_count > 0
        if count > MOST_VALUES or count + has_missing < _LEAST_KINDS:
            return None
        codes, numbers = np.full(self.rows.count, -1), self.rows.numbers(table[_ROW])
        codes[numbers] = coded.indices.fill_null(-1).to_numpy()
        self.is_read[column] = np.zeros(self.rows.count, np.bool_)
        self.is_read[column][numbers] = True
        # Of the same rows, no two values have the same first one.
        _, firsts = np.unique(codes[codes >= 0], return_index=True)
        names = np.flatnonzero(codes >= 0)[firsts].tolist()
        return SecretValues(codes, tuple(map(str, names)))
