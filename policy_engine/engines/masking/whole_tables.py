"""Mask a whole table in this process, and judge one that was written."""

from types import MappingProxyType

import pyarrow as pa

from policy_engine.engines import tables
from policy_engine.engines.arrays import has_many_values, is_text, unchunk, value_type
from policy_engine.engines.masking.cells import count_unchanged, count_unmasked, mask_column
from policy_engine.engines.masking.evidence import (
    ColumnJudgement,
    MaskingEvidence,
    check_changed,
    column_mark,
    evidence_of,
    group_evidence,
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
    masking_key,
)
from policy_engine.engines.masking.recoding import (
    Recoded,
    Recoder,
    RecodingEvidence,
    Taxonomies,
)
from policy_engine.engines.masking.surveys import (
    count_rare,
    facts_of_output,
    find_moments,
    survey_output,
)
from policy_engine.engines.masking.tails import (
    TailEvidence,
    code_to_judge,
    look_at_coded,
    rule_of,
    survey_tail,
    tail_evidence,
)
from policy_engine.engines.text_types import infer_column_type
from policy_engine.methods.masking import CellRule
from policy_engine.plan.steps import Mask


def mask_table(
    table: pa.Table, step: Mask, key: bytes | None, taxonomies: Taxonomies = MappingProxyType({})
) -> tuple[pa.Table, MaskingEvidence]:
    """Return a table with columns masked, and what was seen of them.

    What is random is drawn by the owner's `key`, or by one that is kept nowhere. Raises DataError
    (R013) where a column does not hold what its masking takes.
    """
    masked_table, counts, images, groups = table, {}, {}, []
    tails, recoded = _tails(table, step), _recoded(table, step, taxonomies)
    for masking in step.cell_maskings:
        field, values = _mask_cells(table, rule_of(masking, tails))
        counts[masking.name] = count_unchanged(table.column(masking.name), values)
        masked_table = _with_column(masked_table, field, values)
    for image_masking in step.image_maskings:
        name = image_masking.name
        values = mask_images(table.column(name), image_masking)
        images[name] = see_images(table.column(name), values, image_masking)
        masked_table = _with_column(masked_table, table.schema.field(name), values)
    kinds = _text_kinds(table, step) if step.groups or step.recodings else {}
    for recoding in step.recodings:
        name = recoding.name
        values = Recoder.of(recoding, taxonomies).mask(table.column(name), kinds.get(name))
        masked_table = _with_column(masked_table, pa.field(name, values.type), values)
    if step.groups:
        check_types(table.schema, step.groups, kinds)
        keys = RowKeys.of(table, masking_key(key))
    for group in step.groups:
        known = KnownGroup.of(table, group, kinds)
        for name, values in known.mask(table, kinds, keys).items():
            field = _masked_field(table.schema.field(name), values.type)
            masked_table = _with_column(masked_table, field, values)
        pairs = see_pairs(known, table, masked_table, kinds)
        check_changed(group, pairs)
        groups.append(group_evidence(known, table, kinds, pairs))
    evidence = MaskingEvidence(tuple(groups), counts, images=images, tails=tails, recoded=recoded)
    return masked_table, evidence


def look_at_table(
    table: pa.Table, step: Mask, taxonomies: Taxonomies = MappingProxyType({})
) -> MaskingEvidence:
    """Return what an input tells of the columns of a step. Raises DataError as `mask_table`."""
    kinds = _text_kinds(table, step)
    known_groups = (KnownGroup.of(table, group, kinds) for group in step.groups)
    groups = tuple(group_evidence(one, table, kinds) for one in known_groups)
    tails = _tails(table, step)
    rules = [rule_of(one, tails) for one in step.cell_maskings]
    masked_cells = {one.name: _mask_cells(table, one)[1] for one in rules}
    marks = {name: column_mark(values, kinds.get(name)) for name, values in masked_cells.items()}
    images = _look_at_images(table, step)
    return MaskingEvidence(
        groups,
        rows=table.num_rows,
        marks=marks,
        images=images,
        tails=tails,
        recoded=_recoded(table, step, taxonomies),
    )


def _recoded(table: pa.Table, step: Mask, taxonomies: Taxonomies) -> dict[str, RecodingEvidence]:
    """Return what a table tells of the columns that are recoded by a taxonomy."""
    kinds = _text_kinds(table, step) if step.recodings else {}
    return {
        one.name: RecodingEvidence.of(
            Recoder.of(one, taxonomies), Recoded.of(table.column(one.name), kinds.get(one.name))
        )
        for one in step.recodings
    }


def _tails(table: pa.Table, step: Mask) -> dict[str, TailEvidence]:
    """Return what a table tells of the columns whose tails are coded."""
    tails = {}
    for coding in step.tail_codings:
        column, kind = _exact_column(table, coding.name)
        seen = survey_tail(column, coding, kind)
        tails[coding.name] = tail_evidence(coding, seen, kind or value_type(column.type))
    return tails


def _look_at_images(table: pa.Table, step: Mask) -> dict[str, ImageEvidence]:
    columns = {one: table.column(one.name) for one in step.image_maskings}
    return {
        one.name: see_images(column, mask_images(column, one), one)
        for one, column in columns.items()
    }


def judge_table(
    table: pa.Table,
    step: Mask,
    evidence: MaskingEvidence | None,
    taxonomies: Taxonomies = MappingProxyType({}),
    *,
    all_rows: bool,
) -> tuple[ColumnJudgement, ...]:
    """Return what the masked columns of an output show, in the order of the step.

    Raises DataError (V006) where the output alone does not show it.
    """
    kinds, judgements = _kinds_to_judge(table, step), []
    tails = evidence.tails if evidence else {}
    for masking in step.plain_maskings:
        column = table.column(masking.name)
        broken, mark = count_unmasked(column, masking), column_mark(column, kinds.get(masking.name))
        judgements.append(judge_cells(masking, broken, mark, evidence, all_rows=all_rows))
    for coding in step.tail_codings:
        column, code = table.column(coding.name), code_to_judge(coding, tails)
        broken, mark = count_unmasked(column, code), column_mark(column, kinds.get(coding.name))
        seen_cells = look_at_coded(column, code)
        judgements.append(judge_tail(code, seen_cells, broken, mark, evidence, all_rows=all_rows))
    for recoding in step.recodings:
        seen_labels = Recoded.of(table.column(recoding.name), None)
        recoder = Recoder.of(recoding, taxonomies)
        judgements.append(judge_labels(recoder, seen_labels, evidence, all_rows=all_rows))
    judgements += [
        judge_images(
            *(one, count_broken(table.column(one.name), one), image_mark(table.column(one.name))),
            evidence,
            all_rows=all_rows,
        )
        for one in step.image_maskings
    ]
    for one in evidence_of(step.groups, evidence):
        seen = survey_output(table, one.group, kinds)
        after = facts_of_output(seen, find_moments(table, one.group, seen), one.before)
        marks = [column_mark(table.column(c.name), kinds.get(c.name)) for c in one.group]
        rare = count_rare(table, one.group) if one.group[0].shared_by > 1 else 0
        judgements += judge(one, after, marks, all_rows=all_rows, rare=rare)
    by_name = {one.masking.name: one for one in judgements}
    return tuple(by_name[name] for name in step.names)


def _mask_cells(table: pa.Table, rule: CellRule) -> tuple[pa.Field, pa.ChunkedArray]:
    """Return a column masked value by value, and its field."""
    field = table.schema.field(rule.name)
    column, kind = _exact_column(table, rule.name)
    values = mask_column(column, rule, kind)
    if rule.label:
        return _masked_field(field, values.type), values
    if pa.types.is_decimal(value_type(field.type)):
        field = tables.masked_field(field, values.type)
    return field, values


def _exact_column(table: pa.Table, name: str) -> tuple[pa.ChunkedArray, pa.DataType | None]:
    """Return a column as it is masked value by value, and the inferred type of its texts."""
    field, column = table.schema.field(name), table.column(name)
    if tables.is_untyped(field):
        return column, _text_kind(column)
    if tables.is_inferred(field):
        # The inferred type would disclose the digits of the original values.
        kind = value_type(field.type)
        return column.cast(kind).cast(pa.string()), kind
    return column, None


def _masked_field(field: pa.Field, kind: pa.DataType) -> pa.Field:
    if tables.is_untyped(field) or field.type == kind:
        return field.with_type(kind)
    if pa.types.is_decimal(kind):
        return tables.masked_field(field, kind)
    return pa.field(field.name, kind)


def _with_column(table: pa.Table, field: pa.Field, values: pa.ChunkedArray) -> pa.Table:
    return table.set_column(table.schema.get_field_index(field.name), field, values)


def _kinds_to_judge(table: pa.Table, step: Mask) -> dict[str, pa.DataType | None]:
    """Return the inferred types of texts in an output: numbers of many digits are texts there."""
    kinds = _text_kinds(table, step)
    numbers = [one.name for group in step.groups if group[0].takes == "numbers" for one in group]
    is_texts = {name: is_text(value_type(table.schema.field(name).type)) for name in numbers}
    texts = [name for name, is_one in is_texts.items() if is_one and name not in kinds]
    return kinds | {name: _text_kind(table.column(name)) for name in texts}


def _text_kinds(table: pa.Table, step: Mask) -> dict[str, pa.DataType | None]:
    """Return the inferred types of the columns of texts without a type that a step reads."""
    names = [name for name in step.values_read if name in table.column_names]
    return {
        name: _text_kind(table.column(name))
        for name in names
        if tables.is_untyped(table.schema.field(name))
    }


def _text_kind(column: pa.ChunkedArray) -> pa.DataType | None:
    # Only values that occur: a dictionary may still hold those of rows left out.
    texts = column.cast(pa.string())
    distinct = unchunk(texts) if has_many_values(column) else texts.unique()
    return infer_column_type(distinct, numbers=True)
