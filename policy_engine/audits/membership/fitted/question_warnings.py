"""Warnings about the records that a fitted model is asked about."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.membership.encoding import Encoding
from policy_engine.audits.membership.fitted.blocks import Block, as_matrix, is_number
from policy_engine.audits.membership.fitted.questions import Questions
from policy_engine.audits.membership.member_differences import (
    LabelClasses,
    answer_differences,
    side_differences,
)
from policy_engine.audits.membership.records import FeatureTexts, Records
from policy_engine.audits.membership.result import EncodedColumn
from policy_engine.audits.membership.soundness import data_warnings
from policy_engine.audits.membership.splits import Splits
from policy_engine.errors import AuditError, DataError

_WIDEST = 256
"""How many numbers of a record are compared one by one; of larger ones, as images, means are."""


def question_warnings(
    questions: Questions, records: Block, labels: NDArray[np.int64], classes: tuple[str, ...]
) -> Iterator[str]:
    """Yield what is wrong with records, as a model takes them, with their labels (n,).

    Repetitions and labels are sought in `records`, as the model is given them; what differs between
    members and non-members in all columns.
    """
    sides = np.flatnonzero(questions.is_member), np.flatnonzero(~questions.is_member)
    classes_of_labels = LabelClasses(labels, classes)
    try:
        feature_records = _records(records, classes_of_labels, questions)
    except (AuditError, DataError) as error:
        yield f"Whether records are repeated or contain their labels was not tested: {error}"
        yield from answer_differences(questions.columns, classes_of_labels, questions.is_member)
        return
    splits = Splits(*sides, shadow_train=(), shadow_test=(), online_train=(), digest="")
    model_columns = records.column_names if isinstance(records, pa.Table) else ()
    other_columns = {
        name: questions.columns[name] for name in questions.columns if name not in model_columns
    }
    yield from data_warnings(feature_records, splits)
    yield from side_differences(feature_records, splits, other_columns)


def _records(records: Block, label_classes: LabelClasses, questions: Questions) -> Records:
    """Return the records with features, whatever is missing below all that is there.

    Raises AuditError (A003) and DataError (C009) for columns that cannot be compared.
    """
    if isinstance(records, np.ndarray):
        features, encoded_columns = _numbers(records)
        columns = FeatureTexts(pa.table({}))
    else:
        table = _fill_missing(records)
        encoding = Encoding.fit(table)
        features, encoded_columns, columns = (
            encoding.apply(table),
            encoding.summaries(),
            FeatureTexts(records),
        )
    return Records(
        features=features,
        labels=label_classes.labels,
        classes=tuple(label_classes.names),
        columns=columns,
        encoding=encoded_columns,
        name=questions.name,
        digest=questions.digest,
    )


def _fill_missing(table: pa.Table) -> pa.Table:
    for place, field in enumerate(table.schema):
        if is_number(field.type):
            values = as_matrix(table.select([place]), np.float64)
            if not np.isfinite(values).all():
                table = table.set_column(
                    place, field.name, pa.array(_replace_missing(values)[:, 0])
                )
    return table


def _replace_missing(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers (n, d); missing or infinite ones become less than the least of the column."""
    is_finite = np.isfinite(values)
    least = np.min(values, axis=0, where=is_finite, initial=np.inf)
    least = np.where(np.isfinite(least), least - 1, 0)
    return np.where(is_finite, values, least)


def _numbers(records: NDArray[np.generic]) -> tuple[NDArray[np.generic], tuple[EncodedColumn, ...]]:
    flat = records.reshape(len(records), -1)
    width = flat.shape[1]
    size = -(-width // _WIDEST)
    if size > 1:
        starts = np.arange(0, width, size)
        sums = np.add.reduceat(flat, starts, axis=1, dtype=np.float64)
        flat = sums / np.diff([*starts, width])
    if flat.dtype.kind == "f":
        flat = _replace_missing(flat.astype(np.float64))
    name = "features" if size == 1 else f"features by {size}, number"
    says = f"{flat.shape[1]:,} numbers"
    return flat, (EncodedColumn(name=name, kind="kept", width=flat.shape[1], says=says),)
