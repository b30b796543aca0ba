"""Mask a whole table in this process, and judge one that was written."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from policy_engine.engines import field_marks
from policy_engine.engines.arrays import from_numpy, has_many_values, is_text, unchunk, value_type
from policy_engine.engines.masking.columns import ColumnJudgement, SingleColumn
from policy_engine.engines.masking.common_forms import CommonForm, common_forms, identifying_words
from policy_engine.engines.masking.evidence import MaskingEvidence
from policy_engine.engines.masking.judging import judge_columns
from policy_engine.engines.masking.kept_values import stored_types
from policy_engine.engines.masking.known import KnownColumns, masked_name
from policy_engine.engines.masking.matching import MATCHED, MatchedRows
from policy_engine.engines.masking.parts import WholeTable
from policy_engine.engines.masking.perturbing import RowKeys, masking_key
from policy_engine.engines.masking.recoding import LabelColumn, Taxonomies
from policy_engine.engines.masking.surveys import stay_texts
from policy_engine.engines.masking.unmatched import UnmatchedRows, WordsOf
from policy_engine.engines.text_types import infer_column_type
from policy_engine.kernels.row_matching import count_strange, match_rows
from policy_engine.plan.steps import Mask


def mask_table(
    table: pa.Table, step: Mask, key: bytes | None, taxonomies: Taxonomies = MappingProxyType({})
) -> tuple[pa.Table, MaskingEvidence]:
    """Return a table with columns masked, and what was seen of them.

    What is random is drawn by the owner's `key`, or by one that is kept nowhere. Raises DataError
    with all columns that do not hold what their masking takes.
    """
    kinds = _text_kinds(table, step)
    known_columns = KnownColumns.of(WholeTable(table, kinds), step, taxonomies)
    columns = known_columns.mask_singles(table)
    fields = {
        name: _single_field(table.schema.field(name), known_columns.singles[name], values.type)
        for name, values in columns.items()
    }
    if known_columns.groups:
        keys = RowKeys.of(table, masking_key(key))
    for group in known_columns.groups:
        masked_group = group.mask(table, kinds, keys)
        for name, values in masked_group.items():
            is_text_still = stay_texts(group.group, kinds.get(name))
            field = pa.field(name, pa.string()) if is_text_still else table.schema.field(name)
            fields[name] = _field(field, values.type)
        columns |= masked_group
    both = masked_table = table
    for name, values in columns.items():
        both = both.append_column(masked_name(name), values)
        place = table.schema.get_field_index(name)
        masked_table = masked_table.set_column(place, fields[name], values)
    return masked_table, known_columns.evidence(WholeTable(both, kinds), is_masked=True)


def look_at_table(
    table: pa.Table,
    step: Mask,
    taxonomies: Taxonomies = MappingProxyType({}),
    output: pa.Table | None = None,
    unmasked: Sequence[str] = (),
) -> MaskingEvidence:
    """Return what an input tells of the columns of a step. Raises DataError as `mask_table`.

    Where an `output` is given, and its columns in `unmasked` tell the rows of both apart, its rows
    are matched with those of the input, and show what became of them. Otherwise, they show it of
    the columns that are masked by themselves.
    """
    parts = WholeTable(table, _text_kinds(table, step))
    known_columns = KnownColumns.of(parts, step, taxonomies)
    evidence = replace(known_columns.evidence(parts, is_masked=False), rows=table.num_rows)
    if output is None or not {*step.names} <= {*output.column_names}:
        return evidence
    forms = common_forms(unmasked, *(stored_types(one.schema) for one in (table, output)))
    if not forms:
        return evidence
    both = _side_by_side(table, output, step, forms, known_columns.key)
    if both is None:
        unmatched = UnmatchedRows(known_columns.singles, forms, known_columns.key)
        return unmatched.add_to(evidence, partial(_count_strange, table, output))
    kinds = _kinds_to_judge(output, step)
    return MatchedRows(known_columns, WholeTable(both, parts.kinds), kinds).add_to(evidence)


def _side_by_side(
    table: pa.Table, output: pa.Table, step: Mask, forms: Mapping[str, CommonForm], key: bytes
) -> pa.Table | None:
    """Return an input with the masked columns of an output, None where rows do not match."""
    rows = match_rows(*(identifying_words(one, forms, key) for one in (table, output)))
    if rows is None:
        return None
    is_matched = rows >= 0
    places = from_numpy(np.where(is_matched, rows, 0), ~is_matched)
    for name in step.names:
        table = table.append_column(masked_name(name), output.column(name).take(places))
    return table.append_column(MATCHED, from_numpy(is_matched))


def _count_strange(
    table: pa.Table, output: pa.Table, words_of: WordsOf, output_words_of: WordsOf
) -> int:
    return count_strange(words_of(table), output_words_of(output))


def judge_table(
    table: pa.Table,
    step: Mask,
    evidence: MaskingEvidence | None,
    taxonomies: Taxonomies = MappingProxyType({}),
) -> tuple[ColumnJudgement, ...]:
    """Return what the masked columns of an output show, in the order of the step.

    Raises DataError (V006) where the output alone does not show it.
    """
    parts = WholeTable(table, _kinds_to_judge(table, step))
    return judge_columns(parts, step, evidence, taxonomies)


def _single_field(field: pa.Field, column: SingleColumn[Any, Any], kind: pa.DataType) -> pa.Field:
    """Return the field of a column that is masked by itself to values of a type."""
    if isinstance(column, LabelColumn):
        return pa.field(field.name, kind)  # labels stay texts, whatever they look like
    if pa.types.is_decimal(value_type(field.type)) and not column.makes_texts:
        return field_marks.masked_field(field, kind)
    return _field(field, kind)


def _field(field: pa.Field, kind: pa.DataType) -> pa.Field:
    if pa.types.is_decimal(kind) and not field_marks.is_untyped(field):
        return field_marks.masked_field(field, kind)
    if field_marks.is_untyped(field) or field.type == kind:
        return field.with_type(kind)
    return pa.field(field.name, kind)


def _kinds_to_judge(table: pa.Table, step: Mask) -> dict[str, pa.DataType | None]:
    """Return the inferred types of texts in an output: numbers of many digits are texts there."""
    kinds = _text_kinds(table, step)
    numbers = [one.name for group in step.groups if group[0].takes == "numbers" for one in group]
    is_texts = {name: is_text(value_type(table.schema.field(name).type)) for name in numbers}
    texts = [name for name, is_one in is_texts.items() if is_one and name not in kinds]
    return kinds | {name: _text_kind(table.column(name)) for name in texts}


def _text_kinds(table: pa.Table, step: Mask) -> dict[str, pa.DataType | None]:
    """Return the inferred types of the columns of texts without a type that a step reads."""
    return _kinds_of(table, [name for name in step.values_read if name in table.column_names])


def _kinds_of(table: pa.Table, names: Sequence[str]) -> dict[str, pa.DataType | None]:
    """Return the inferred types of those of some columns that are texts without a type."""
    return {
        name: _text_kind(table.column(name))
        for name in names
        if field_marks.is_untyped(table.schema.field(name))
    }


def _text_kind(column: pa.ChunkedArray) -> pa.DataType | None:
    # Only values that occur: a dictionary may still hold those of rows left out.
    texts = column.cast(pa.string())
    distinct = unchunk(texts) if has_many_values(column) else texts.unique()
    return infer_column_type(distinct, numbers=True)
