"""A model's answers, read from a file: enough for the attacks that need no shadow models."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.membership.answer_checks import WIDEST, check_logits, check_probabilities
from policy_engine.audits.membership.membership_labels import (
    describe_invalid_cells,
    imbalance_warnings,
    parse_membership,
)
from policy_engine.audits.membership.observations import CONFIDENCE_ANSWERS, LABEL_ANSWERS, Terms
from policy_engine.audits.membership.records import (
    FeatureTexts,
    digest_of,
    first_array,
    read_npz,
    source_table,
)
from policy_engine.audits.membership.typed_columns import parse_numbers
from policy_engine.data.places.spelling import source_name
from policy_engine.engines.arrays import to_numpy, unchunk
from policy_engine.engines.reading_back import index_texts
from policy_engine.errors import AuditError, join_names

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_TIED = 0.05
_LABELS = ("label", "labels", "y")
_MEMBERS = ("member", "members", "membership", "is_member")
_PREDICTED = ("predicted", "prediction", "predictions")


@dataclass(frozen=True, eq=False)
class Predictions:
    """A model's answers about n records, and which of these it was trained on.

    `logits` (n, C) are logarithms of probabilities, or 1 and 0 for labels alone; `labels` (n,)
    count the `classes`. `columns` gives the texts of other columns by name, (n,).
    """

    logits: NDArray[np.float32]
    labels: NDArray[np.int64]
    is_member: NDArray[np.bool_]
    classes: tuple[str, ...]
    columns: Mapping[str, NDArray[np.object_]]
    gives: Terms
    name: str
    digest: str
    warnings: tuple[str, ...] = ()


def read_predictions(source: Any, name: str = "") -> Predictions:
    """Read a model's answers from a file (CSV, CSV.gz, Parquet, npz) or a table in memory.

    A table has `label`, `member` (0 and 1, true and false, in and out) and one of: `p0` to
    `pC-1`, the probabilities; `p`, that of class 1 of two; `z0` to `zC-1`, the logits;
    `predicted`, the label alone; else all other columns of numbers are probabilities, each
    named as its class. An npz file has `labels`, `members` and `probabilities` (n, C), `logits`
    (n, C) or `predicted` (n,). Raises DataError where it cannot be read, AuditError on labels
    that are not classes (A002), what is not a probability (A004), and without members or without
    others (A011).
    """
    title = name or (source_name(source) if isinstance(source, str | Path) else "a table in memory")
    if isinstance(source, str | Path) and str(source).lower().endswith(".npz"):
        return _read_npz_predictions(Path(source), title)
    return _table_predictions(source_table(source), title)


class _Scores(NamedTuple):
    """The scores of each class, (n, C), their kind, and the classes' names."""

    values: Floats
    kind: Literal["probabilities", "logits", "labels"]
    classes: tuple[str, ...]
    used: frozenset[str]


def _read_npz_predictions(path: Path, name: str) -> Predictions:
    arrays = read_npz(path)
    labels, members = first_array(arrays, _LABELS), first_array(arrays, _MEMBERS)
    _check_present({"labels": labels, "members": members}, tuple(arrays))
    names_of_answers = ("probabilities", "logits", *_PREDICTED)
    answer = next((one for one in names_of_answers if one in arrays), None)
    if labels is None or members is None or answer is None:
        raise _missing_answers(tuple(arrays))
    texts = list(map(str, labels.ravel().tolist()))
    if answer in _PREDICTED:
        scores = _label_scores(list(map(str, arrays[answer].ravel().tolist())), texts)
    else:
        values = _two_columns(np.asarray(arrays[answer], dtype=np.float64), answer)
        names = _numbered_classes(texts, values.shape[1])
        scores = _Scores(values, "logits" if answer == "logits" else "probabilities", names, _NONE)
    return _predictions(scores, texts, list(map(str, members.ravel().tolist())), {}, name)


_NONE: frozenset[str] = frozenset()


def _numbered_classes(labels: Sequence[str], count: int) -> tuple[str, ...]:
    """Return the classes of an array's columns: 0 to C-1, or 1 to C where the labels are those."""
    from_one = tuple(str(number) for number in range(1, count + 1))
    numbers = {_strip_point(one) for one in labels}
    return from_one if {from_one[-1]} <= numbers <= {*from_one} else ("0", *from_one[:-1])


def _table_predictions(table: pa.Table, name: str) -> Predictions:
    names = tuple(table.column_names)
    label, member = _first_name(_LABELS, names), _first_name(_MEMBERS, names)
    _check_present({"label": label or None, "member": member or None}, names)
    typed = parse_numbers(table)
    labels = _texts(table, label)
    scores = _scores(typed, labels, (label, member))
    rest = [one for one in names if one not in (*scores.used, label, member)]
    return _predictions(
        scores, labels, _texts(table, member), FeatureTexts(table.select(rest)), name
    )


def _first_name(candidates: tuple[str, ...], names: tuple[str, ...]) -> str:
    return next((one for one in candidates if one in names), "")


def _scores(table: pa.Table, labels: list[str], other_columns: tuple[str, str]) -> _Scores:
    names = [one for one in table.column_names if one not in other_columns]
    for letter, kind in (("z", "logits"), ("p", "probabilities")):
        numbered = sorted(
            (one for one in names if re.fullmatch(rf"{letter}_?\d+", one)),
            key=lambda one: int(one.removeprefix(letter).removeprefix("_")),
        )
        if len(numbered) > 1:
            classes = tuple(map(str, range(len(numbered))))
            if [one.removeprefix(letter).removeprefix("_") for one in numbered] != [*classes]:
                message = f"The columns {join_names(numbered)} do not count the classes from 0 on."
                raise AuditError.of("A004", message, "Give one for each class, none left out.")
            return _Scores(_matrix(table, numbered), kind, classes, frozenset(numbered))  # type: ignore[arg-type]
    if "p" in names:
        values = _two_columns(_matrix(table, ["p"]), "probabilities")
        return _Scores(values, "probabilities", ("0", "1"), frozenset({"p"}))
    predicted = _first_name(_PREDICTED, tuple(names))
    if predicted:
        label_scores = _label_scores(_texts(table, predicted), labels)
        return label_scores._replace(used=frozenset({predicted}))
    numbers = [one for one in names if _is_number(table.schema.field(one).type)]
    if len(numbers) < 2:
        raise _missing_answers(tuple(table.column_names))
    values = _matrix(table, numbers)
    return _Scores(values, "probabilities", tuple(numbers), frozenset(numbers))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))


def _matrix(table: pa.Table, names: list[str]) -> Floats:
    wrong = [one for one in names if not _is_number(table.schema.field(one).type)]
    if wrong:
        raise AuditError.of(
            "A004", f"The columns {join_names(wrong)} hold texts, not probabilities."
        )
    columns = [
        to_numpy(unchunk(table.column(one)).cast(pa.float64()), missing=np.nan) for one in names
    ]
    return np.stack(columns, axis=1)


def _texts(table: pa.Table, name: str) -> list[str]:
    rows, texts = index_texts(name, table.column(name))
    return [texts[row] or "" for row in rows.tolist()]


def _two_columns(values: Floats, kind: str) -> Floats:
    """Return the scores of two classes where only one of them has a column."""
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2:
        raise AuditError.of("A004", f"The {kind} are of shape {values.shape}. Give (n, classes).")
    if values.shape[1] > 1:
        return values
    first = np.zeros_like(values) if kind == "logits" else 1 - values
    return np.concatenate([first, values], axis=1)


def _label_scores(predicted: list[str], labels: list[str]) -> _Scores:
    classes = tuple(sorted({*predicted, *labels}, key=_number_order))
    place = {label: number for number, label in enumerate(classes)}
    values = np.eye(len(classes))[[place[one] for one in predicted]]
    return _Scores(values, "labels", classes, _NONE)


def _number_order(text: str) -> tuple[float, str]:
    try:
        return float(text), text
    except ValueError:
        return np.inf, text


def _check_present(columns: Mapping[str, Any], names: tuple[str, ...]) -> None:
    lacking = [name for name, one in columns.items() if one is None]
    if lacking:
        message = (
            f"There is no {' and no '.join(map(repr, lacking))}. There are {join_names(names)}."
        )
        raise AuditError.of("A004", message)


def _missing_answers(names: tuple[str, ...]) -> AuditError:
    message = (
        f"There are neither probabilities, logits nor predicted labels in {join_names(names)}."
    )
    hint = "Name the probabilities p0, p1, and so on, in the order of the classes."
    return AuditError.of("A004", message, hint)  # type: ignore[return-value]


def _predictions(
    scores: _Scores,
    labels: list[str],
    members: list[str],
    columns: Mapping[str, NDArray[np.object_]],
    name: str,
) -> Predictions:
    rows = len(scores.values)
    if not rows or len(labels) != rows or len(members) != rows:
        message = (
            f"There are {rows:,} predictions, {len(labels):,} labels, {len(members):,} members."
        )
        raise AuditError.of("A004", message, "Give one of each per record.")
    if scores.kind == "probabilities":
        check_probabilities(scores.values)
    elif scores.kind == "logits":
        check_logits(scores.values)
    numbers = _class_numbers(labels, scores.classes)
    is_member = parse_membership(members)
    is_log = scores.kind == "probabilities"
    with np.errstate(divide="ignore"):
        clipped = np.log(scores.values) if is_log else np.maximum(scores.values, -WIDEST)
    logits = clipped.astype(np.float32)
    return Predictions(
        logits=logits,
        labels=numbers,
        is_member=is_member,
        classes=scores.classes,
        columns=columns,
        gives=LABEL_ANSWERS if scores.kind == "labels" else CONFIDENCE_ANSWERS,
        name=name,
        digest=digest_of(logits, numbers, is_member),
        warnings=_warnings(scores, is_member),
    )


def _class_numbers(labels: list[str], classes: tuple[str, ...]) -> NDArray[np.int64]:
    """Return labels as places of classes, by their names: columns in any order have these alone."""
    place = {name: number for number, name in enumerate(classes)}
    numbers = np.array(
        [place.get(_strip_point(one), place.get(one, -1)) for one in labels], np.int64
    )
    if (numbers < 0).any():
        unknown = [one for one, number in zip(labels, numbers.tolist(), strict=True) if number < 0]
        are = f"0 to {len(classes) - 1}" if classes[0] == "0" else "named as their columns"
        message = f"Labels are of {len(classes):,} classes, {are}. "
        hint = "Name the columns as the labels, or p0, p1, and so on, with labels 0, 1, and so on."
        raise AuditError.of(
            "A002", f"{message}{describe_invalid_cells(unknown, len(labels))}", hint
        )
    return numbers


def _strip_point(text: str) -> str:
    return text.removesuffix(".0")


def _warnings(scores: _Scores, is_member: NDArray[np.bool_]) -> tuple[str, ...]:
    sentences = [*imbalance_warnings(is_member)]
    tied = float((scores.values.max(axis=1) >= 1).mean()) if scores.kind == "probabilities" else 0
    if tied > _TIED:
        sentences.append(
            f"The model gives {tied:.0%} of the records a probability of 1, so these cannot be "
            "distinguished; its logits would show more."
        )
    return tuple(sentences)
