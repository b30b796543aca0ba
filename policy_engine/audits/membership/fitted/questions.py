"""The records that a fitted model is asked about, unscaled, as it takes them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.membership.fitted.blocks import Block
from policy_engine.audits.membership.membership_labels import parse_membership
from policy_engine.audits.membership.records import (
    FEATURES,
    LABELS,
    FeatureTexts,
    digest_of,
    first_array,
    plain_number,
    read_npz,
    source_table,
)
from policy_engine.audits.membership.typed_columns import parse_numbers
from policy_engine.data.places.spelling import source_name
from policy_engine.engines.reading_back import index_texts
from policy_engine.engines.tables import table_digest
from policy_engine.errors import AuditError, Problem, did_you_mean, join_names

_BLOCK = 1 << 24
"""How many bytes a model is asked about at once."""
_MOST_ROWS = 4096
_MEMBERS = ("members", "member", "membership", "is_member")


@dataclass(frozen=True, eq=False)
class Questions:
    """Records with their labels, and who was in the model's training data.

    `features` is an array (n, ...) or a table, a column for each feature; `labels` (n,) are texts,
    `columns` those of the whole table by name, but the label and who is a member. `digest` is the
    sha-256 of all of it.
    """

    features: Block
    labels: tuple[str, ...]
    is_member: NDArray[np.bool_]
    columns: Mapping[str, NDArray[np.object_]]
    name: str
    digest: str

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def width(self) -> int:
        """How many features a record has."""
        if isinstance(self.features, np.ndarray):
            return int(np.prod(self.features.shape[1:]))
        return int(self.features.num_columns)

    def blocks(self) -> Iterator[Block]:
        """Yield the records some at a time, in their order."""
        yield from blocks_of(self.features)


def blocks_of(records: Block) -> Iterator[Block]:
    """Yield records some at a time, in their order."""
    count = len(records)
    step = min(max(_BLOCK * count // max(records.nbytes, 1), 1), _MOST_ROWS)
    for start in range(0, count, step):
        yield (
            records[start : start + step]
            if isinstance(records, np.ndarray)
            else records.slice(start, step)
        )


def rows_of(records: Block, rows: NDArray[np.int64]) -> Block:
    """Return some of the records."""
    return records[rows] if isinstance(records, np.ndarray) else records.take(pa.array(rows))


def read_questions(
    data: Any, label: str = "", members: str = "", features: Sequence[str] = ()
) -> Questions:
    """Return the records of a file or a frame with a column that says who is a member.

    The features are all columns other than the label (the last one, if not given) and the
    members', or those named, in that order; who is a member is never guessed. An npz file, or a
    tuple of arrays in memory, has features (n, ...), labels and members. Raises DataError where
    it cannot be read, AuditError on labels (A002) or features (A003) that are unusable, and without
    members (A011).
    """
    if isinstance(data, tuple):
        return _array_questions(*[*data, None][:3])
    if isinstance(data, str | Path) and str(data).lower().endswith(".npz"):
        arrays = read_npz(Path(data))
        member_names = (members,) if members else _MEMBERS
        parts = [first_array(arrays, names) for names in (FEATURES, LABELS, member_names)]
        if parts[2] is None:
            raise missing_members_error(members, tuple(arrays))
        if parts[0] is None or parts[1] is None:
            lacking = "features" if parts[0] is None else "labels"
            message = f"The file has no {lacking}. It has {', '.join(arrays)}."
            raise AuditError.of("A003", message, source=str(data))
        return _array_questions(parts[0], parts[1], parts[2], Path(data).name)
    return _table_questions(source_table(data), label, members, features, _name(data))


def _name(data: Any) -> str:
    return source_name(data) if isinstance(data, str | Path) else "a table in memory"


def _array_questions(
    features: Any, labels: Any, members: Any = None, name: str = "arrays in memory"
) -> Questions:
    if members is None:
        raise missing_members_error("", ())
    values, label_values = np.asarray(features), np.asarray(labels).ravel()
    inside = np.asarray(members).ravel()
    if values.ndim < 2 or not len(values) or values.dtype.kind not in "biuf":
        message = f"Features are numbers, one row per record. Given: {values.dtype}"
        raise AuditError.of("A003", f"{message} of shape {values.shape}.")
    if len(label_values) != len(values) or len(inside) != len(values):
        message = f"{len(values):,} records have {len(label_values):,} labels and "
        message += f"{len(inside):,} members."
        raise AuditError.of("A002", message, "Give one of each per record.")
    if label_values.dtype.kind not in "biufSU":
        raise AuditError.of("A002", f"Labels are numbers or texts. Given: {label_values.dtype}.")
    texts = tuple(plain_number(str(one)) for one in label_values.tolist())
    is_member = parse_membership(list(map(str, inside.tolist())))
    digest = digest_of(values, np.array(texts), is_member)
    return Questions(values, texts, is_member, {}, name, digest)


def _table_questions(
    table: pa.Table, label: str, members: str, features: Sequence[str], name: str
) -> Questions:
    names = table.column_names
    if not members or members not in names:
        raise missing_members_error(members, names)
    rest = [one for one in names if one != members]
    label = label or (rest[-1] if rest else "")
    if label not in rest:
        message = f"The data has no column {label!r} of labels."
        raise AuditError.of("A002", message, did_you_mean(label, rest))
    chosen = list(features) or [one for one in rest if one != label]
    _check_features(chosen, rest, label)
    rows, texts = index_texts(label, table.column(label))
    labels = tuple(plain_number(texts[row] or "") for row in rows.tolist())
    if "" in labels:
        message = f"{labels.count(''):,} rows have no label in {label!r}."
        raise AuditError.of("A002", message)
    rows, texts = index_texts(members, table.column(members))
    is_member = parse_membership([texts[row] or "" for row in rows.tolist()])
    features_given = parse_numbers(table.select(chosen)).combine_chunks()
    digest = digest_of(np.array([table_digest(features_given)]), np.array(labels), is_member)
    columns = FeatureTexts(table.drop_columns([members, label]))
    return Questions(features_given, labels, is_member, columns, name, digest)


def _check_features(chosen: list[str], names: list[str], label: str) -> None:
    problems = [
        Problem("A003", f"There is no column {one!r}.", did_you_mean(one, names))
        for one in chosen
        if one not in names
    ]
    if not chosen:
        problems = [Problem("A003", f"The data has no column but the labels {label!r}.")]
    if problems:
        raise AuditError(*problems)


def missing_members_error(members: str, names: Sequence[str]) -> Exception:
    """Return the error where nothing says which records a model was trained on."""
    if not members:
        message = "It is not stated which records the model was trained on."
        hint = "Give both kinds of records, and a column of 1 and 0: members=COLUMN."
        return AuditError.of("A011", message, hint)
    message = f"There is no {members!r} to say who is a member. Available are {join_names(names)}."
    return AuditError.of("A011", message, did_you_mean(members, names))
