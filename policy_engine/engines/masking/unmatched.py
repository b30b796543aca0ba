"""Rows of an output that another run made, where the data have rows that no column tells apart."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from policy_engine.engines.masking.columns import SingleColumn
from policy_engine.engines.masking.common_forms import CommonForm, identifying_words
from policy_engine.engines.masking.evidence import MaskingEvidence
from policy_engine.engines.masking.marks import cell_words
from policy_engine.engines.masking.recoding import LabelColumn
from policy_engine.kernels.siphash import Words, key_words
from policy_engine.kernels.streams import mix_rows

WordsOf = Callable[[pa.Table], Words]


@dataclass(frozen=True)
class UnmatchedRows:
    """The columns that are masked by themselves, each row of which is known by those that are
    published as they are, in these `forms`: which row is which need not be."""

    singles: Mapping[str, SingleColumn[Any, Any]]
    forms: Mapping[str, CommonForm]
    key: bytes

    def add_to(
        self, evidence: MaskingEvidence, count_strange: Callable[[WordsOf, WordsOf], int]
    ) -> MaskingEvidence:
        """Return what is known of the columns, with how many of their cells are beside others than
        they have to be.

        `count_strange` tells how many rows of the output have words that none of the input has, or
        have them more often.
        """
        misplaced = {name: count_strange(*self._words_of(name)) for name in self.singles}
        if len(misplaced) > 1 and not any(misplaced.values()):
            misplaced = dict.fromkeys(misplaced, count_strange(*self._words_of(*misplaced)))
        singles = {
            name: replace(one, misplaced=misplaced[name]) for name, one in evidence.singles.items()
        }
        return replace(evidence, singles=singles)

    def _words_of(self, *names: str) -> tuple[WordsOf, WordsOf]:
        return partial(self._masked_words, names), partial(self._written_words, names)

    def _masked_words(self, names: tuple[str, ...], table: pa.Table) -> Words:
        """Return the words that the rows of an input have once some columns are masked."""
        return self._words(table, {name: self.singles[name].mask(table) for name in names})

    def _written_words(self, names: tuple[str, ...], output: pa.Table) -> Words:
        return self._words(output, {name: output.column(name) for name in names})

    def _words(self, table: pa.Table, masked: Mapping[str, pa.ChunkedArray]) -> Words:
        key = self.key
        words = [
            cell_words(
                one, pa.string() if isinstance(self.singles[name], LabelColumn) else None, key
            )
            for name, one in masked.items()
        ]
        words.append(identifying_words(table, self.forms, self.key))
        return mix_rows(words, key_words(self.key))
