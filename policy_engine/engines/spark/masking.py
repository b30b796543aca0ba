"""Mask columns on a cluster, and judge masked ones there."""

import pickle
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 (its name everywhere)
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import DataType, IntegerType, LongType, StringType, StructField, StructType

from policy_engine.engines.arrays import from_numpy, to_numpy, unchunk, value_type
from policy_engine.engines.masking.cells import count_by_spelling, count_unchanged, mask_column
from policy_engine.engines.masking.evidence import (
    ColumnJudgement,
    GroupEvidence,
    MaskingEvidence,
    Pairs,
    add_marks,
    check_changed,
    column_mark,
    evidence_of,
    judge,
    judge_cells,
    judge_images,
    judge_labels,
    judge_tail,
    see_pairs,
)
from policy_engine.engines.masking.images import (
    ImageEvidence,
    count_broken,
    image_mark,
    mask_images,
    see_images,
)
from policy_engine.engines.masking.perturbing import (
    KnownGroup,
    RowKeys,
    check_types,
    content_keys,
    masking_key,
)
from policy_engine.engines.masking.recoding import (
    Recoded,
    Recoder,
    RecodingEvidence,
    Taxonomies,
)
from policy_engine.engines.masking.surveys import (
    Group,
    Kinds,
    Survey,
    columns_of,
    facts_of,
    facts_of_output,
    find_moments,
    survey,
    survey_output,
)
from policy_engine.engines.masking.tails import (
    CodedCells,
    TailEvidence,
    code_to_judge,
    look_at_coded,
    merge_coded,
    merge_surveys,
    rule_of,
    survey_tail,
    tail_evidence,
)
from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.spark.values import (
    Task,
    arrow_schema,
    gather_tables,
    map_in_tasks,
    quote_name,
    text_types,
)
from policy_engine.methods.masking import CellMasking, CellRule, ImageMasking
from policy_engine.methods.tail_coding import TailCode, TailCoding, TailSurvey
from policy_engine.plan.steps import Mask

ROW_KEYS = ("\ufffdhigh", "\ufffdlow", "\ufffdrepeat")
"""Columns for what tells rows apart; no text that is read from a file is named so."""
_T = TypeVar("_T")
_M = TypeVar("_M", CellRule, ImageMasking)
Hold = Callable[[DataFrame], DataFrame]


def mask(
    frame: DataFrame,
    step: Mask,
    taxonomies: Taxonomies,
    *,
    is_csv: bool,
    key: bytes | None,
    hold: Hold,
) -> tuple[DataFrame, MaskingEvidence]:
    """Return a frame with columns masked, and what was seen of them. Raises as `mask_table` does.

    `is_csv` means that its texts are cells of a file without types; `hold` caches a frame.
    """
    kinds = _text_kinds(frame, step, is_csv=is_csv)
    check_types(arrow_schema(frame), step.groups, kinds)
    tails, recoded = _tails(frame, step, kinds), _recoded(frame, step, taxonomies, kinds)
    both = _with_masked_cells(frame, step, tails, kinds)
    both = _with_labels(both, [Recoder.of(one, taxonomies) for one in step.recodings], kinds)
    known_groups = [_known(frame, group, kinds) for group in step.groups]
    if known_groups:
        both = _with_perturbed(both, frame.columns, known_groups, kinds, masking_key(key))
    both = hold(both)
    names = step.names
    cells = _count_unchanged(both, step.cell_maskings)
    groups = []
    for known in known_groups:
        pairs = _pairs(both, known, kinds)
        check_changed(known.group, pairs)
        groups.append(_evidence(frame, known, kinds, pairs))
    columns = [
        F.col(quote_name(_masked(name) if name in names else name)).alias(name)
        for name in frame.columns
    ]
    images = {one.name: _see_images(both, one) for one in step.image_maskings}
    evidence = MaskingEvidence(tuple(groups), cells, images=images, tails=tails, recoded=recoded)
    return both.select(columns), evidence


def look_at_masked(
    frame: DataFrame, step: Mask, taxonomies: Taxonomies, *, is_csv: bool
) -> MaskingEvidence:
    """Return what an input tells of the columns of a step, without masking them."""
    kinds = _text_kinds(frame, step, is_csv=is_csv)
    known_groups = (_known(frame, group, kinds) for group in step.groups)
    groups = tuple(_evidence(frame, one, kinds, None) for one in known_groups)
    tails = _tails(frame, step, kinds)
    masked = _with_masked_cells(frame, step, tails, kinds)
    masked_names = {_masked(one.name): one.name for one in step.cell_maskings}
    marks = _marks(masked, tuple(masked_names), {m: kinds.get(n) for m, n in masked_names.items()})
    by_name = dict(zip(masked_names.values(), marks, strict=True))
    images = {one.name: _see_images(masked, one) for one in step.image_maskings}
    return MaskingEvidence(
        groups,
        rows=frame.count(),
        marks=by_name,
        images=images,
        tails=tails,
        recoded=_recoded(frame, step, taxonomies, kinds),
    )


def judge_frame(
    frame: DataFrame,
    step: Mask,
    evidence: MaskingEvidence | None,
    taxonomies: Taxonomies,
    *,
    is_csv: bool,
    all_rows: bool,
) -> tuple[ColumnJudgement, ...]:
    """Return what the masked columns of an output show, in the order of the step.

    Raises DataError (V006) where the output alone does not show it.
    """
    groups = evidence_of(step.groups, evidence)
    tails = evidence.tails if evidence else {}
    codes = {one.name: code_to_judge(one, tails) for one in step.tail_codings}
    broken = _count_unmasked_cells(frame, [*step.plain_maskings, *codes.values()])
    output = frame.select([quote_name(name) for name in step.names])
    kinds = _kinds_to_judge(output, step, is_csv=is_csv) if groups or evidence else {}
    cell_names = tuple(one.name for one in step.cell_maskings)
    found = _marks(output, cell_names, kinds) if evidence else (0,) * len(cell_names)
    cell_marks = dict(zip(cell_names, found, strict=True))
    judgements = [
        judge_cells(one, broken[one.name], cell_marks[one.name], evidence, all_rows=all_rows)
        for one in step.plain_maskings
    ]
    for name, code in codes.items():
        facts = _coded_cells(frame, code), broken[name], cell_marks[name]
        judgements.append(judge_tail(code, *facts, evidence, all_rows=all_rows))
    for recoding in step.recodings:
        recoder = Recoder.of(recoding, taxonomies)
        labels = _count_texts(frame, recoding.name, None)
        judgements.append(judge_labels(recoder, labels, evidence, all_rows=all_rows))
    for one in step.image_maskings:
        uneven, mark = _look_at_images(frame, one)
        judgements.append(judge_images(one, uneven, mark, evidence, all_rows=all_rows))
    for known in groups:
        see = partial(survey_output, group=known.group, kinds=kinds)
        seen = _in_parts(output, see, Survey.merge)
        moments = _moments(output, known.group, seen)
        marks = _marks(output, [one.name for one in known.group], kinds)
        after = facts_of_output(seen, moments, known.before)
        rare = _count_rare(output, known.group)
        judgements += judge(known, after, marks, all_rows=all_rows, rare=rare)
    by_name = {one.masking.name: one for one in judgements}
    return tuple(by_name[name] for name in step.names)


# -- masking --------------------------------------------------------------------------------------


def _masked(name: str) -> str:
    """Return the name of a masked column, while the original one is beside it."""
    return f"\ufffd{name}"


def _kinds_to_judge(output: DataFrame, step: Mask, *, is_csv: bool) -> Kinds:
    """Return the inferred types of texts in an output: numbers of many digits are texts there."""
    numbers = [one.name for group in step.groups if group[0].takes == "numbers" for one in group]
    names = output.columns if is_csv else numbers
    return text_types(output.select([quote_name(name) for name in names]), numbers=True)


def _text_kinds(frame: DataFrame, step: Mask, *, is_csv: bool) -> Kinds:
    """Return the inferred types of the columns of texts without a type that a step reads."""
    names = [quote_name(name) for name in step.values_read if name in frame.columns]
    return text_types(frame.select(names), numbers=True) if is_csv else {}


def _tails(frame: DataFrame, step: Mask, kinds: Kinds) -> dict[str, TailEvidence]:
    """Return what a frame tells of the columns whose tails are coded."""
    schema = arrow_schema(frame)
    kinds_of = {
        one.name: kinds.get(one.name) or value_type(schema.field(one.name).type)
        for one in step.tail_codings
    }
    return {
        one.name: tail_evidence(one, _survey_tail(frame, one, kinds), kinds_of[one.name])
        for one in step.tail_codings
    }


def _survey_tail(frame: DataFrame, coding: TailCoding, kinds: Kinds) -> TailSurvey:
    """Return what a column tells of its tail."""
    name = coding.name

    def see(table: pa.Table) -> TailSurvey:
        return survey_tail(table.column(name), coding, kinds.get(name))

    columns = frame.select(quote_name(name))
    seen: TailSurvey = _in_parts(columns, see, partial(merge_surveys, coding))
    return seen


def _coded_cells(frame: DataFrame, code: TailCode) -> CodedCells:
    """Return what a published column shows whose tail is coded."""

    def see(table: pa.Table) -> CodedCells:
        return look_at_coded(table.column(code.name), code)

    columns = frame.select(quote_name(code.name))
    cells: CodedCells = _in_parts(columns, see, partial(merge_coded, code))
    return cells


def _recoded(
    frame: DataFrame, step: Mask, taxonomies: Taxonomies, kinds: Kinds
) -> dict[str, RecodingEvidence]:
    """Return what a frame tells of the columns that are recoded by a taxonomy."""
    return {
        one.name: RecodingEvidence.of(
            Recoder.of(one, taxonomies), _count_texts(frame, one.name, kinds.get(one.name))
        )
        for one in step.recodings
    }


def _count_texts(frame: DataFrame, name: str, kind: pa.DataType | None) -> Recoded:
    """Return how often each value of a column occurs, as a text."""

    def see(table: pa.Table) -> Recoded:
        return Recoded.of(table.column(name), kind)

    counts: Recoded = _in_parts(frame.select(quote_name(name)), see, Recoded.merge)
    return counts


def _with_labels(frame: DataFrame, recoders: Sequence[Recoder], kinds: Kinds) -> DataFrame:
    """Return a frame with the columns that are recoded by a taxonomy."""
    if not recoders:
        return frame
    names = [one.recoding.name for one in recoders]

    @carry_errors
    def put(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            masked_table = table
            for name, one in zip(names, recoders, strict=True):
                values = one.mask(table.column(name), kinds.get(name))
                masked_table = masked_table.append_column(_masked(name), values)
            yield from masked_table.to_batches()

    fields = [StructField(_masked(name), StringType()) for name in names]
    return map_in_tasks(frame, put, StructType([*frame.schema.fields, *fields]))


def _with_masked_cells(
    frame: DataFrame, step: Mask, tails: Mapping[str, TailEvidence], kinds: Kinds
) -> DataFrame:
    """Return a frame with the columns that are masked cell by cell, numbers and images."""

    def mask_cells(column: CellRule, values: pa.ChunkedArray) -> pa.ChunkedArray:
        return mask_column(values, column, kinds.get(column.name))

    def mask_image_cells(column: ImageMasking, values: pa.ChunkedArray) -> pa.ChunkedArray:
        return mask_images(values, column)

    rules = [rule_of(one, tails) for one in step.cell_maskings]
    both = _with_columns(frame, rules, mask_cells)
    return _with_columns(both, step.image_maskings, mask_image_cells)


def _with_columns(
    frame: DataFrame,
    columns: Sequence[_M],
    mask_one: Callable[[_M, pa.ChunkedArray], pa.ChunkedArray],
) -> DataFrame:
    if not columns:
        return frame
    fields = [*frame.schema.fields]
    fields += [StructField(_masked(one.name), _masked_type(frame, one)) for one in columns]

    @carry_errors
    def put(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            masked_table = table
            for column in columns:
                values = mask_one(column, table.column(column.name))
                masked_table = masked_table.append_column(_masked(column.name), values)
            yield from masked_table.to_batches()

    return map_in_tasks(frame, put, StructType(fields))


def _masked_type(frame: DataFrame, column: CellRule | ImageMasking) -> DataType:
    """Return the type of a column that is masked cell by cell: text, if a label may be in it."""
    has_label = not isinstance(column, ImageMasking) and bool(column.label)
    return StringType() if has_label else frame.schema[column.name].dataType


def _with_perturbed(
    frame: DataFrame,
    content: Sequence[str],
    known_groups: Sequence[KnownGroup],
    kinds: Kinds,
    key: bytes,
) -> DataFrame:
    """Return a frame with the masked columns of some groups; `content` are the columns by whose
    values rows are told apart."""
    keyed = with_row_keys(frame, content, key)
    for known in known_groups:
        schema, used = arrow_schema(frame), list(columns_of(known.group))
        fields = [
            StructField(_masked(one.name), from_arrow_type(known.published_type(schema, one.name)))
            for one in known.group
        ]
        if not known.group[0].needs_all_rows:
            wider = StructType([*keyed.schema.fields, *fields])
            keyed = map_in_tasks(keyed, _masking_task(known, kinds, key, keyed.columns), wider)
            continue
        rows = keyed.select([quote_name(name) for name in (*ROW_KEYS, *used)]).coalesce(1)
        made_fields = StructType([*(keyed.schema[name] for name in ROW_KEYS), *fields])
        made = map_in_tasks(
            rows, _masking_task(known, kinds, key, ROW_KEYS, all_rows=True), made_fields
        )
        keyed = keyed.join(made, [*ROW_KEYS])
    return keyed.drop(*ROW_KEYS)


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


def _masking_task(
    known: KnownGroup, kinds: Kinds, key: bytes, kept: Sequence[str], *, all_rows: bool = False
) -> Task:
    """Return a task that appends the masked columns of a group to those that are kept."""

    @carry_errors
    def put(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = gather_tables(batches, sys.maxsize) if all_rows else gather_tables(batches)
        for table in parts:
            keys = keys_of_rows(table, key)
            masked_table = table.select(list(kept))
            for name, values in known.mask(table, kinds, keys).items():
                masked_table = masked_table.append_column(_masked(name), values)
            yield from masked_table.to_batches()

    return put


# -- what is seen ---------------------------------------------------------------------------------


def _known(frame: DataFrame, group: Group, kinds: Kinds) -> KnownGroup:
    columns = frame.select([quote_name(name) for name in columns_of(group)])
    seen = _in_parts(columns, lambda table: survey(table, group, kinds), Survey.merge)
    return KnownGroup(group, seen, facts_of(group, seen, _moments(columns, group, seen)))


def _count_rare(frame: DataFrame, group: Group) -> int:
    """Return what `surveys.count_rare` does, counted by the cluster."""
    if group[0].shared_by < 2:
        return 0
    names = [quote_name(one.name) for one in group]
    counts = frame.dropna(subset=[one.name for one in group]).groupBy(*names).count()
    few = counts.where(F.col("count") < group[0].shared_by)
    return int(few.agg(F.coalesce(F.sum("count"), F.lit(0))).collect()[0][0])


def _moments(frame: DataFrame, group: Group, seen: Survey) -> Any:
    if seen.exponents is None:
        return None
    return _in_parts(
        frame, lambda table: find_moments(table, group, seen), lambda one, other: one + other
    )


def _evidence(
    frame: DataFrame, known: KnownGroup, kinds: Kinds, pairs: Pairs | None
) -> GroupEvidence:
    marks = _marks(frame, [one.name for one in known.group], kinds)
    return GroupEvidence(known.group, known.facts, marks, pairs)


def _marks(frame: DataFrame, names: Sequence[str], kinds: Kinds) -> tuple[int, ...]:
    if not names:
        return ()
    columns = frame.select([quote_name(name) for name in names])

    def mark(table: pa.Table) -> tuple[int, ...]:
        return tuple(column_mark(table.column(name), kinds.get(name)) for name in names)

    return _in_parts(columns, mark, add_marks)


def _pairs(both: DataFrame, known: KnownGroup, kinds: Kinds) -> Pairs:
    names, used = [one.name for one in known.group], columns_of(known.group)
    columns = both.select([quote_name(name) for name in (*used, *map(_masked, names))])

    def see(table: pa.Table) -> Pairs:
        after = table.select([_masked(name) for name in names]).rename_columns(names)
        return see_pairs(known, table.select(list(used)), after, kinds)

    is_whole = known.group[0].needs_all_rows
    return _in_parts(columns.coalesce(1) if is_whole else columns, see, Pairs.merge, whole=is_whole)


def _count_unchanged(
    both: DataFrame, columns: Sequence[CellMasking]
) -> Mapping[str, tuple[int, int]]:
    if not columns:
        return {}
    names = [name for one in columns for name in (one.name, _masked(one.name))]

    def count(table: pa.Table) -> list[tuple[int, int]]:
        pairs = ((table.column(one.name), table.column(_masked(one.name))) for one in columns)
        return [count_unchanged(before, after) for before, after in pairs]

    def add(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> list[tuple[int, int]]:
        return [(a + c, b + d) for (a, b), (c, d) in zip(one, other, strict=True)]

    counts = _in_parts(both.select([quote_name(name) for name in names]), count, add)
    return {one.name: pair for one, pair in zip(columns, counts, strict=True)}


def _see_images(both: DataFrame, masking: ImageMasking) -> ImageEvidence:
    """Return what the rows of a column of images show before and after masking."""
    names = (masking.name, _masked(masking.name))

    def see(table: pa.Table) -> ImageEvidence:
        before, after = (table.column(name) for name in names)
        return see_images(before, after, masking)

    return _in_parts(both.select([quote_name(name) for name in names]), see, ImageEvidence.merge)


def _look_at_images(frame: DataFrame, masking: ImageMasking) -> tuple[int, int]:
    """Return how many images of a column are not what its masking publishes, and its mark."""

    def look(table: pa.Table) -> tuple[int, int]:
        column = table.column(masking.name)
        return count_broken(column, masking), image_mark(column)

    def add(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
        return one[0] + other[0], (one[1] + other[1]) % 2**64

    return _in_parts(frame.select([quote_name(masking.name)]), look, add)


def _count_unmasked_cells(frame: DataFrame, columns: Sequence[CellRule]) -> dict[str, int]:
    """Return, by column, how many cells of a frame do not satisfy their masking."""
    if not columns:
        return {}

    def count(table: pa.Table) -> list[tuple[int, int]]:
        return [count_by_spelling(table.column(one.name), one) for one in columns]

    def add(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> list[tuple[int, int]]:
        return [(a + c, b + d) for (a, b), (c, d) in zip(one, other, strict=True)]

    names = [quote_name(one.name) for one in columns]
    counts = _in_parts(frame.select(names), count, add)
    return {one.name: min(pair) for one, pair in zip(columns, counts, strict=True)}


def _in_parts(
    frame: DataFrame,
    see: Callable[[pa.Table], _T],
    merge: Callable[[_T, _T], _T],
    *,
    whole: bool = False,
) -> _T:
    """Return what is seen in the parts of a frame, merged; of a frame without rows, in none."""

    @carry_errors
    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = gather_tables(batches, sys.maxsize) if whole else gather_tables(batches)
        seen = [pickle.dumps(see(table)) for table in parts]
        if seen:
            yield pa.record_batch([pa.array(seen, pa.binary())], names=["seen"])

    pickled = map_in_tasks(frame, look, "seen binary").toArrow().column(0).to_pylist()
    parts = [pickle.loads(one) for one in pickled]  # noqa: S301 (our tasks')
    return reduce(merge, parts) if parts else see(arrow_schema(frame).empty_table())
