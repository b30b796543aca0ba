"""Columns that are recoded by a taxonomy: values become labels."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.arrays import from_texts, is_text
from policy_engine.engines.encoding import check_listed, value_texts
from policy_engine.engines.masking.columns import ColumnJudgement, SingleColumn, rounded
from policy_engine.engines.masking.numbers import plain_array
from policy_engine.engines.masking.parts import Look
from policy_engine.errors import DataError
from policy_engine.methods.maskings.recoding import Recoding

Taxonomies = Mapping[str, Taxonomy]


@dataclass(frozen=True)
class Recoder:
    """What becomes of every value that a taxonomy lists: `labels` by value."""

    recoding: Recoding
    taxonomy: Taxonomy = field(repr=False)
    labels: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, recoding: Recoding, taxonomies: Taxonomies) -> "Recoder":
        """Return how a column is recoded.

        Raises DataError where its taxonomy is not given (C012), or is not so high (R013).
        """
        taxonomy = taxonomies.get(recoding.taxonomy)
        if taxonomy is None:
            message = f"No taxonomy is given for {recoding.taxonomy!r}."
            raise DataError.of("C012", message, "Give taxonomies={NAME: FILE}.")
        levels = taxonomy.levels()
        if recoding.level >= len(levels):
            message = f"The taxonomy of {recoding.name!r} has the levels 0 to {len(levels) - 1}. "
            message += f"Given: {recoding.level}."
            raise DataError.of("R013", message, "Choose another level.")
        labels = dict(zip(taxonomy.leaf_labels, levels[recoding.level], strict=True))
        return cls(recoding, taxonomy, labels)


@dataclass(frozen=True)
class Recoded:
    """How often each value or label occurs in a column."""

    counts: Mapping[str, int]

    @classmethod
    def of(cls, table: pa.Table, name: str, kind: pa.DataType | None) -> "Recoded":
        """Return the counts of a column, whose texts are inferred to be of a type.

        Raises DataError (R013) for values that no taxonomy lists.
        """
        counts = pc.value_counts(_texts(table, name, kind).drop_null())
        values = counts.field("values").to_pylist(), counts.field("counts").to_pylist()
        return cls(dict(zip(*values, strict=True)))

    def merge(self, other: "Recoded") -> "Recoded":
        """Return the counts of two parts of a column together."""
        return Recoded(Counter(self.counts) + Counter(other.counts))

    @property
    def rows(self) -> int:
        """How many rows have a value."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class RecodingEvidence:
    """What an input tells of a column that is recoded: how many rows have a value, how many of
    them keep it, and how often each label is published."""

    rows: int
    unchanged: int
    labels: Mapping[str, int]

    @classmethod
    def of(cls, recoder: Recoder, values: Recoded) -> "RecodingEvidence":
        """Return what all values tell. Raises DataError (R007) with all that are not listed."""
        check_listed(recoder.recoding.name, list(values.counts), recoder.taxonomy)
        labels: Counter[str] = Counter()
        for value, times in values.counts.items():
            labels[recoder.labels[value]] += times
        unchanged = sum(n for value, n in values.counts.items() if recoder.labels[value] == value)
        return cls(values.rows, unchanged, labels)


def _texts(table: pa.Table, name: str, kind: pa.DataType | None) -> pa.Array:
    """Return the values of a column as the texts that a taxonomy lists."""
    plain = plain_array(table.column(name))
    if pa.types.is_nested(plain.type) or pa.types.is_binary(plain.type):
        message = f"The column {name!r} holds values of the type {plain.type}, which no taxonomy "
        message += "lists."
        raise DataError.of("R013", message, "Give the column another masking, or another role.")
    if is_text(plain.type) and kind is not None and not is_text(kind):
        return pc.utf8_trim_whitespace(plain.cast(pa.string()))
    return value_texts(plain).cast(pa.string())


def judge_recoded(
    recoder: Recoder, seen: Recoded, evidence: RecodingEvidence | None
) -> tuple[int, dict[str, float]]:
    """Return how many cells of a published column break its masking, and its figures.

    Each cell is one of the labels of the level, and each label is as often as the input says.
    """
    allowed = set(recoder.labels.values())
    broken = sum(times for label, times in seen.counts.items() if label not in allowed)
    if evidence is not None:
        expected = Counter(evidence.labels)
        missed = Counter(seen.counts) - expected, expected - Counter(seen.counts)
        broken = max(broken, *(sum(counts.values()) for counts in missed))
    figures = {"labels": float(len(seen.counts))}
    if seen.counts:
        figures["smallestLabel"] = float(min(seen.counts.values()))
    if evidence is not None:
        figures = {"unchanged": evidence.unchanged / max(evidence.rows, 1), **figures}
    return broken, figures


@dataclass(frozen=True)
class LabelColumn(SingleColumn[None, Recoded]):
    """A column that is recoded by a taxonomy; `kind` is the type that its texts are inferred to be
    of, and `values` what is known of its values."""

    recoder: Recoder
    kind: pa.DataType | None
    values: RecodingEvidence | None = None

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.recoder.recoding.name

    @property
    def survey(self) -> Look[Recoded]:
        """How often each value occurs."""
        return self._counts(self.kind)

    def informed(self, seen: Recoded, kind: pa.DataType) -> Self:  # noqa: ARG002 (labels are texts)
        """Return the column with what is known of its values.

        Raises DataError (R007) with all that the taxonomy does not list.
        """
        return replace(self, values=RecodingEvidence.of(self.recoder, seen))

    @property
    def makes_texts(self) -> bool:
        """Whether the masked column is one of texts: labels are."""
        return True

    def mask(self, table: pa.Table) -> pa.ChunkedArray:
        """Return the column recoded, missing values missing. All its values have been checked."""
        distinct = _texts(table, self.name, self.kind).dictionary_encode()
        labels = [self.recoder.labels[value] for value in distinct.dictionary.to_pylist()]
        return pa.chunked_array([from_texts(labels).take(distinct.indices)])

    def compare(self, before: pa.ChunkedArray, after: pa.ChunkedArray) -> None:
        """Return nothing: the counts of values tell all."""

    def merge(self, one: None, other: None) -> None:
        """Return nothing: the counts of values tell all."""

    def output(self, kind: pa.DataType | None) -> Look[Recoded]:  # noqa: ARG002 (labels are texts)
        """Return how often each label of an output occurs."""
        return self._counts(None)

    def _counts(self, kind: pa.DataType | None) -> Look[Recoded]:
        return Look((self.name,), lambda table: Recoded.of(table, self.name, kind), Recoded.merge)

    def judge(self, seen: Recoded, compared: None) -> ColumnJudgement:  # noqa: ARG002 (as above)
        """Return what an output shows, as it was written."""
        broken, figures = judge_recoded(self.recoder, seen, self.values)
        return ColumnJudgement(self.recoder.recoding, broken, rounded(figures))
