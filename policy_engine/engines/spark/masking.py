"""Mask columns on a cluster, and judge masked ones there."""

import pickle
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial, reduce
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 (its name everywhere)
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

from policy_engine.engines.arrays import from_numpy, to_numpy, unchunk
from policy_engine.engines.masking.columns import ColumnJudgement
from policy_engine.engines.masking.common_forms import (
    CommonForm,
    StoredType,
    common_forms,
    identifying_words,
)
from policy_engine.engines.masking.evidence import MaskingEvidence
from policy_engine.engines.masking.judging import judge_columns
from policy_engine.engines.masking.known import KnownColumns, masked_name
from policy_engine.engines.masking.matching import (
    MATCHED,
    MatchedRows,
)
from policy_engine.engines.masking.parts import Look, Parts
from policy_engine.engines.masking.perturbing import (
    KnownGroup,
    RowKeys,
    content_keys,
    masking_key,
)
from policy_engine.engines.masking.recoding import Taxonomies
from policy_engine.engines.masking.surveys import (
    Group,
    Kinds,
    SharedValues,
    columns_of,
    stay_texts,
)
from policy_engine.engines.masking.unmatched import UnmatchedRows, WordsOf
from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.spark.near_rows import NearRows, tables_by_part
from policy_engine.engines.spark.values import (
    Task,
    arrow_schema,
    gather_tables,
    map_in_tasks,
    quote_name,
    text_types,
)
from policy_engine.kernels.microaggregation import Scale
from policy_engine.plan.steps import Mask

ROW_KEYS = ("\ufffdhigh", "\ufffdlow", "\ufffdrepeat")
"""Columns for what tells rows apart; no text that is read from a file is named so."""
ROW_WORDS = ROW_KEYS[:2]
Hold = Callable[[DataFrame], DataFrame]


class FrameParts(Parts):
    """A frame, whose parts are looked at by tasks."""

    def __init__(self, frame: DataFrame, kinds: Kinds) -> None:
        self._frame, self.kinds = frame, kinds

    @cached_property
    def schema(self) -> pa.Schema:
        """The types of its columns as tasks see them."""
        return arrow_schema(self._frame)

    def outcomes(self, looks: Mapping[str, Look[Any]], *, whole: bool) -> dict[str, Any]:
        """Return what each look sees of all rows, or the Faults that it meets; of a frame without
        rows, what it sees in none."""
        outcomes: dict[str, Any] = {}
        for by in dict.fromkeys(look.by if whole else () for look in looks.values()):
            some = {name: look for name, look in looks.items() if not whole or look.by == by}
            outcomes |= self._outcomes(some, by, whole=whole)
        return outcomes

    def _outcomes(
        self, looks: Mapping[str, Look[Any]], by: Sequence[str], *, whole: bool
    ) -> dict[str, Any]:
        names = list(dict.fromkeys(name for look in looks.values() for name in look.names))
        columns = self._frame.select([quote_name(name) for name in names])

        @carry_errors
        def see(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            parts = gather_tables(batches, sys.maxsize) if whole else gather_tables(batches)
            seen = [pickle.dumps([look(table) for look in looks.values()]) for table in parts]
            if seen:
                yield pa.record_batch([pa.array(seen, pa.binary())], names=["seen"])

        frame = columns
        if whole:
            cells = [quote_name(name) for name in by]
            frame = columns.repartition(*cells) if cells else columns.coalesce(1)
        pickled = map_in_tasks(frame, see, "seen binary").toArrow().column(0).to_pylist()
        rows = [pickle.loads(one) for one in pickled]  # noqa: S301 (our tasks')
        if not rows:
            nothing = arrow_schema(columns).empty_table()
            rows = [[look(nothing) for look in looks.values()]]
        return {
            name: reduce(look.merged, parts)
            for (name, look), parts in zip(looks.items(), zip(*rows, strict=True), strict=True)
        }

    def class_sizes(self, group: Group) -> SharedValues:
        """Return what `surveys.class_sizes` does, counted by the cluster."""
        names = [quote_name(one.name) for one in group]
        counts = self._frame.dropna(subset=[one.name for one in group]).groupBy(*names).count()
        size = F.col("count")
        rare = F.sum(F.when(size < group[0].shared_by, size))
        [sizes] = counts.agg(F.min(size), F.max(size), rare).collect()
        return SharedValues(*(int(one or 0) for one in sizes))


def mask(
    frame: DataFrame,
    step: Mask,
    taxonomies: Taxonomies,
    *,
    is_csv: bool,
    key: bytes | None,
    hold: Hold,
    rows_per_task: int,
) -> tuple[DataFrame, MaskingEvidence, tuple[str, ...]]:
    """Return a frame with columns masked, what was seen of them, and the names of those that are
    texts of any form. Raises as `mask_table` does.

    `is_csv` means that its texts are cells of a file without types; `hold` caches a frame. What has
    to be in one task by blocks has at most `rows_per_task` there.
    """
    parts = FrameParts(frame, _text_kinds(frame, step, is_csv=is_csv))
    known_columns = KnownColumns.of(parts, step, taxonomies)
    both = _with_singles(frame, known_columns)
    if known_columns.groups:
        work = _GroupWork(parts.kinds, masking_key(key), hold, rows_per_task)
        both = _with_perturbed(both, frame.columns, known_columns.groups, work)
    both = hold(both)
    evidence = known_columns.evidence(FrameParts(both, parts.kinds), is_masked=True)
    columns = [
        F.col(quote_name(masked_name(name) if name in step.names else name)).alias(name)
        for name in frame.columns
    ]
    texts = [one.name for one in step.recodings]
    for group in step.groups:
        texts += [one.name for one in group if stay_texts(group, parts.kinds.get(one.name))]
    return both.select(columns), evidence, tuple(texts)


class StoredRows(NamedTuple):
    """A table that is read; `is_csv` means that its texts are cells of a file without types."""

    frame: DataFrame
    is_csv: bool


def look_at_masked(
    table: StoredRows,
    step: Mask,
    taxonomies: Taxonomies,
    output: StoredRows,
    unmasked: Sequence[str],
    hold: Hold,
) -> MaskingEvidence:
    """Return what an input and an output tell of the columns of a step: `look_at_table`."""
    frame = table.frame
    parts = FrameParts(frame, _text_kinds(frame, step, is_csv=table.is_csv))
    known_columns = KnownColumns.of(parts, step, taxonomies)
    evidence = replace(known_columns.evidence(parts, is_masked=False), rows=frame.count())
    forms = common_forms(unmasked, *map(stored_types, (table, output)))
    if not forms or not {*step.names} <= {*output.frame.columns}:
        return evidence
    both = _side_by_side(frame, output.frame, step, forms, known_columns.key)
    if both is None:
        unmatched = UnmatchedRows(known_columns.singles, forms, known_columns.key)
        return unmatched.add_to(evidence, partial(count_strange, frame, output.frame))
    kinds = _kinds_to_judge(_masked_columns(output.frame, step), step, is_csv=output.is_csv)
    return MatchedRows(known_columns, FrameParts(hold(both), parts.kinds), kinds).add_to(evidence)


def _side_by_side(
    table: DataFrame, output: DataFrame, step: Mask, forms: Mapping[str, CommonForm], key: bytes
) -> DataFrame | None:
    """Return an input with the masked columns of an output, None where rows do not match."""
    words_of = partial(identifying_words, forms=forms, key=key)
    rows, others = (_with_words(one, words_of) for one in (table, output))
    if not _are_matched(rows, others):
        return None
    masked = [F.col(quote_name(name)).alias(masked_name(name)) for name in step.names]
    others = others.select(*ROW_WORDS, *masked, F.lit(True).alias(MATCHED))  # noqa: FBT003
    both = rows.join(others, [*ROW_WORDS], "left").drop(*ROW_WORDS)
    return both.withColumn(MATCHED, F.col(MATCHED).isNotNull())


def stored_types(table: StoredRows) -> dict[str, StoredType]:
    """Return the types of the columns of a table on a cluster."""
    fields = arrow_schema(table.frame)
    return {one.name: StoredType(one.type, is_untyped=table.is_csv) for one in fields}


def count_strange(
    table: DataFrame, output: DataFrame, words_of: WordsOf, output_words_of: WordsOf
) -> int:
    """Return how many rows of an output have words that no row of its input has, or more often."""
    rows = _with_words(table, words_of).select(*ROW_WORDS)
    return _with_words(output, output_words_of).select(*ROW_WORDS).exceptAll(rows).count()


def _with_words(frame: DataFrame, words_of: WordsOf) -> DataFrame:
    """Return a frame with the words of its rows."""

    @carry_errors
    def put(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for part in gather_tables(batches):
            words = words_of(part).view(np.int64)
            for place, name in enumerate(ROW_WORDS):
                part = part.append_column(name, from_numpy(words[:, place].copy()))  # noqa: PLW2901
            yield from part.to_batches()

    fields = [StructField(name, LongType()) for name in ROW_WORDS]
    return map_in_tasks(frame, put, StructType([*frame.schema.fields, *fields]))


def _are_matched(rows: DataFrame, others: DataFrame) -> bool:
    """Tell whether the words tell all rows of both frames apart, and each of the others is one of
    the rows."""
    ones = [F.lit(1).alias("mine"), F.lit(0).alias("theirs")]
    others_ones = [F.lit(0).alias("mine"), F.lit(1).alias("theirs")]
    mine, theirs = rows.select(*ROW_WORDS, *ones), others.select(*ROW_WORDS, *others_ones)
    times = (
        mine.union(theirs)
        .groupBy(*ROW_WORDS)
        .agg(F.sum("mine").alias("mine"), F.sum("theirs").alias("theirs"))
    )
    most = (F.max("mine"), F.max("theirs"), F.max(F.col("theirs") - F.col("mine")))
    [(own, other, lacking)] = times.agg(*most).collect()
    return own is not None and own <= 1 and other <= 1 and lacking <= 0


def judge_frame(
    frame: DataFrame,
    step: Mask,
    evidence: MaskingEvidence | None,
    taxonomies: Taxonomies,
    *,
    is_csv: bool,
) -> tuple[ColumnJudgement, ...]:
    """Return what the masked columns of an output show, in the order of the step.

    Raises DataError (V006) where the output alone does not show it.
    """
    output = _masked_columns(frame, step)
    kinds = _kinds_to_judge(output, step, is_csv=is_csv) if evidence else {}
    parts = FrameParts(output, kinds)
    return judge_columns(parts, step, evidence, taxonomies)


def _masked_columns(output: DataFrame, step: Mask) -> DataFrame:
    return output.select([quote_name(name) for name in step.names])


def _kinds_to_judge(output: DataFrame, step: Mask, *, is_csv: bool) -> Kinds:
    """Return the inferred types of texts in an output: numbers of many digits are texts there."""
    numbers = [one.name for group in step.groups if group[0].takes == "numbers" for one in group]
    names = output.columns if is_csv else numbers
    return text_types(output.select([quote_name(name) for name in names]), numbers=True)


def _text_kinds(frame: DataFrame, step: Mask, *, is_csv: bool) -> Kinds:
    """Return the inferred types of the columns of texts without a type that a step reads."""
    names = [quote_name(name) for name in step.values_read if name in frame.columns]
    return text_types(frame.select(names), numbers=True) if is_csv else {}


def _with_singles(frame: DataFrame, known_columns: KnownColumns) -> DataFrame:
    """Return a frame with the masked columns of those that are masked by themselves."""
    if not known_columns.singles:
        return frame

    @carry_errors
    def put(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            masked_table = table
            for name, values in known_columns.mask_singles(table).items():
                masked_table = masked_table.append_column(masked_name(name), values)
            yield from masked_table.to_batches()

    fields = [
        StructField(
            masked_name(name), StringType() if one.makes_texts else frame.schema[name].dataType
        )
        for name, one in known_columns.singles.items()
    ]
    return map_in_tasks(frame, put, StructType([*frame.schema.fields, *fields]))


class _GroupWork(NamedTuple):
    """How columns are masked together: the types of texts, the key of draws, how a frame is cached,
    and how many rows a task has at most where they are cut into parts."""

    kinds: Kinds
    key: bytes
    hold: Hold
    rows_per_task: int


def _with_perturbed(
    frame: DataFrame, content: Sequence[str], known_groups: Sequence[KnownGroup], work: _GroupWork
) -> DataFrame:
    """Return a frame with the masked columns of some groups; `content` are the columns by whose
    values rows are told apart."""
    keyed = with_row_keys(frame, content, work.key)
    for group in known_groups:
        schema, used = arrow_schema(frame), list(columns_of(group.group))
        fields = [
            StructField(
                masked_name(one.name), from_arrow_type(group.published_type(schema, one.name))
            )
            for one in group.group
        ]
        if not group.needs_all_rows:
            wider = StructType([*keyed.schema.fields, *fields])
            task = _masking_task(group, work, keyed.columns, gather_tables)
            keyed = map_in_tasks(keyed, task, wider)
            continue
        rows = keyed.select([quote_name(name) for name in (*ROW_KEYS, *used)])
        made_fields = StructType([*(keyed.schema[name] for name in ROW_KEYS), *fields])
        keyed = keyed.join(_masked_together(rows, group, work, made_fields), [*ROW_KEYS])
    return keyed.drop(*ROW_KEYS)


def _masked_together(
    rows: DataFrame, group: KnownGroup, work: _GroupWork, fields: StructType
) -> DataFrame:
    """Return the keys of rows with the columns of a group masked that need all rows: in one task
    or, if they can be cut into parts, part by part."""
    scale = None
    gather: Gather = partial(gather_tables, rows=sys.maxsize)
    if group.has_blocks and group.facts.rows > work.rows_per_task:
        near = NearRows(work.hold(rows), group, work.kinds, partial(keys_of_rows, key=work.key))
        blocks = near.cut(work.rows_per_task)
        rows, gather, scale = near.in_parts(blocks), tables_by_part, blocks.scale
    else:
        rows = rows.coalesce(1)
    return map_in_tasks(rows, _masking_task(group, work, ROW_KEYS, gather, scale), fields)


def with_row_keys(frame: DataFrame, content: Sequence[str], key: bytes) -> DataFrame:
    """Return a frame with what tells its rows apart: the keyed hash of their content, and a number
    among the rows with equal content."""

    @carry_errors
    def put(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            words = content_keys(table.select(list(content)), key).view(np.int64)
            for place, name in enumerate(ROW_KEYS[:2]):
                table = table.append_column(name, from_numpy(words[:, place].copy()))  # noqa: PLW2901
            yield from table.to_batches()

    fields = [StructField(name, LongType()) for name in ROW_KEYS[:2]]
    keyed = map_in_tasks(frame, put, StructType([*frame.schema.fields, *fields]))
    same = Window.partitionBy(*ROW_KEYS[:2]).orderBy(*ROW_KEYS[:2])
    return keyed.withColumn(ROW_KEYS[2], (F.row_number().over(same) - 1).cast(IntegerType()))


def keys_of_rows(table: pa.Table, key: bytes) -> RowKeys:
    """Return what tells the rows of a task apart, by the columns of `with_row_keys`."""
    high, low, repeats = (to_numpy(unchunk(table.column(name))) for name in ROW_KEYS)
    words = np.stack([high, low], axis=1).view(np.uint64)
    return RowKeys(words, repeats.astype(np.int64), key)


Gather = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.Table]]
"""Makes the tables that are masked of the batches of a task."""


def _masking_task(
    group: KnownGroup,
    work: _GroupWork,
    kept: Sequence[str],
    gather: Gather,
    scale: Scale | None = None,
) -> Task:
    """Return a task that appends the masked columns of a group to those that are kept."""
    kinds, key = work.kinds, work.key

    @carry_errors
    def put(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather(batches):
            masked_table = table.select(list(kept))
            for name, values in group.mask(table, kinds, keys_of_rows(table, key), scale).items():
                masked_table = masked_table.append_column(masked_name(name), values)
            yield from masked_table.to_batches()

    return put
