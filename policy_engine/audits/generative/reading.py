"""Reads what an audit of a generator is given into one code, and checks that it fits together."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.generative.columns import (
    BySide,
    ReadColumn,
    Texts,
    column_kind,
    read_column,
)
from policy_engine.audits.generative.fitting import (
    array_scales,
    array_warnings,
    class_order,
    classes_without_samples,
    feature_warnings,
    misfits,
    new_categories,
    precision_problems,
    scale_warnings,
    scaled_arrays,
)
from policy_engine.audits.generative.material import Material, RecordSet
from policy_engine.audits.generative.released_digests import records_digest, rows_digest
from policy_engine.audits.membership.records import (
    FEATURES,
    LABELS,
    digest_of,
    first_array,
    plain_number,
    read_npz,
    source_table,
)
from policy_engine.data.places.spelling import source_name
from policy_engine.engines.persons import alike_persons, person_marks
from policy_engine.engines.reading_back import index_texts
from policy_engine.errors import AuditError, Problem, did_you_mean, join_names

SIDES = ("members", "holdout", "synthetic", "reference")


@dataclass(frozen=True)
class GivenRecords:
    """The files or tables of an audit: those that are not given are None.

    `label` is the column of the classes within which records are compared, `secrets` are columns
    that nobody should learn. The `unit` is the column that tells persons apart, who may have
    several records; only the members, the holdout and the references need it.
    """

    members: Any
    holdout: Any
    synthetic: Any = None
    reference: Any = None
    label: str = ""
    secrets: tuple[str, ...] = ()
    unit: str = ""

    @property
    def sides(self) -> dict[str, Any]:
        """What is given, by its side."""
        sources = (self.members, self.holdout, self.synthetic, self.reference)
        return {name: one for name, one in zip(SIDES, sources, strict=True) if one is not None}

    @property
    def files(self) -> tuple[Path, ...]:
        """Those that are files."""
        return tuple(Path(one) for one in self.sides.values() if isinstance(one, str | Path))


@dataclass(frozen=True)
class ReadMaterial:
    """The material of an audit, with the digest of each side and what is to be said of it.

    `released` tells the synthetic records from those of other models, in whatever order they and
    their columns are; it is empty where there are none.
    """

    material: Material
    digests: Mapping[str, str]
    warnings: tuple[str, ...]
    released: str = ""


def read_material(records: GivenRecords, model: Any = None, seed: int = 0) -> ReadMaterial:
    """Return the records of all sides in one code.

    Files are tables (CSV, Parquet) or arrays (npz: `features` or `x`, and `labels` or `y`); frames
    and tables in memory are read as they are. Columns are those of the synthetic records, or else
    of the members; a column is of numbers, dates or times if every cell of every file is one.

    Raises DataError where a file cannot be read, AuditError with all problems at once: for columns,
    categories, scales, classes or shapes that do not fit (A031), for records that name no person
    (A031), and for labels that are missing (A002).
    """
    return (_read_arrays if are_arrays(records) else _read_tables)(records, model, seed)


def are_arrays(records: GivenRecords) -> bool:
    """Return whether the records are arrays. Raises AuditError (A031) where only some are."""
    sources = records.sides.values()
    forms = {_is_path(one) and str(one).lower().endswith(".npz") for one in sources}
    if len(forms) > 1:
        message = "Some records are tables, and others are arrays (npz)."
        raise AuditError.of("A031", message, "Give all in one form.")
    return True in forms


def _is_path(source: Any) -> bool:
    return isinstance(source, str | Path)


def _title(source: Any, side: str) -> str:
    return source_name(source) if _is_path(source) else f"{side} in memory"


# -- tables ----------------------------------------------------------------------------------------


def _read_tables(records: GivenRecords, model: Any, seed: int) -> ReadMaterial:
    tables = {side: source_table(one) for side, one in records.sides.items()}
    digests = {side: _table_digest(table) for side, table in tables.items()}
    released = rows_digest(tables["synthetic"]) if "synthetic" in tables else ""
    alike = [*_alike_warning(tables, records.unit)]
    persons, tables = _told_apart(tables, records.unit)
    names, left_out = _columns_of(tables, records)
    every = [*names, *([records.label] if records.label else [])]
    columns = _read_columns(tables, every)
    label = columns[-1] if records.label else None
    if problems := [*misfits(columns), *_missing_labels(label)]:
        raise AuditError(*problems)
    columns = columns[: len(names)]
    classes, labels = _classes(label.texts) if label else ((), {})
    sets = {
        side: RecordSet(
            _title(records.sides[side], side),
            np.column_stack([one.values[side] for one in columns]),
            labels.get(side),
            persons.get(side),
            cells=None if side == "synthetic" else tables[side].select(every),
        )
        for side in tables
    }
    if problems := [*classes_without_samples(sets, classes)]:
        raise AuditError(*problems)
    warnings = [
        *alike,
        *_left_out_warning(left_out),
        *new_categories(columns),
        *scale_warnings(columns),
        *(warning for one in columns for warning in one.warnings),
    ]
    return ReadMaterial(
        Material(
            members=sets["members"],
            holdout=sets["holdout"],
            synthetic=sets.get("synthetic"),
            reference=sets.get("reference"),
            columns=tuple(one.column for one in columns),
            classes=classes,
            secrets=tuple(names.index(one) for one in records.secrets),
            model=model,
            seed=seed,
            unit=records.unit,
        ),
        digests,
        tuple(warnings),
        released,
    )


def _columns_of(
    tables: Mapping[str, pa.Table], records: GivenRecords
) -> tuple[list[str], tuple[str, ...]]:
    """Return the columns that are compared, and those of the members that are not released."""
    first = tables.get("synthetic", tables["members"])
    problems = []
    for side, table in tables.items():
        lacking = [name for name in first.column_names if name not in table.column_names]
        if lacking:
            noun = "column" if len(lacking) == 1 else "columns"
            message = f"The file of the {side} lacks the {noun} {join_names(lacking)}"
            message += " of the synthetic records." if "synthetic" in tables else "."
            problems.append(Problem("A031", message, did_you_mean(lacking[0], table.column_names)))
    for name in (*([records.label] if records.label else []), *records.secrets):
        if name not in first.column_names:
            code = "A002" if name == records.label else "A031"
            message = f"There is no column {name!r} in all of the files."
            problems.append(Problem(code, message, did_you_mean(name, first.column_names)))
    names = [name for name in first.column_names if name != records.label]
    if not names:
        problems.append(Problem("A031", "There is no column to compare."))
    if records.label and records.label in records.secrets:
        message = f"{records.label!r} is the label, and a secret, too."
        problems.append(Problem("A031", message))
    if problems:
        raise AuditError(*problems)
    left_out = [one for one in tables["members"].column_names if one not in first.column_names]
    return names, tuple(left_out)


def _told_apart(
    tables: Mapping[str, pa.Table], unit: str
) -> tuple[dict[str, NDArray[np.int64]], dict[str, pa.Table]]:
    """Return the numbers of persons by side, and the tables without the column of persons."""
    if not unit:
        return {}, {**tables}
    original = [side for side in tables if side != "synthetic"]
    problems = []
    for side in original:
        if unit not in tables[side].column_names:
            message = f"The file of the {side} lacks {unit!r}, the column of persons."
            problems.append(Problem("A031", message, did_you_mean(unit, tables[side].column_names)))
    if problems:
        raise AuditError(*problems)
    numbers = person_marks([tables[side].column(unit) for side in original], unit)
    for side, own in zip(original, numbers, strict=True):
        if nobody := int((own < 0).sum()):
            message = f"{nobody:,} of the {side} name no person: of {unit!r} they have no value."
            problems.append(Problem("A031", message, "Leave them out, or give each a person."))
    if problems:
        raise AuditError(*problems)
    plain = {side: without_unit(table, unit) for side, table in tables.items()}
    return dict(zip(original, numbers, strict=True)), plain


def _alike_warning(tables: Mapping[str, pa.Table], unit: str) -> Iterator[str]:
    columns = [
        table.column(unit)
        for side, table in tables.items()
        if side != "synthetic" and unit in table.column_names
    ]
    if unit and (alike := alike_persons(columns, unit)):
        yield (
            f"{alike:,} persons have another's {unit!r} but for case, blanks or characters that "
            "are not seen: if they are the same, they are counted as others, and attacks find less "
            "than there is."
        )


def without_unit(table: pa.Table, unit: str) -> pa.Table:
    """Return a table without the column of persons, which is not compared, nor learnt."""
    return table.drop_columns([unit]) if unit in table.column_names else table


def _read_columns(tables: Mapping[str, pa.Table], names: Sequence[str]) -> list[ReadColumn]:
    """Return columns in one code. Raises AuditError (A031) with all that are of two kinds."""
    texts = {name: {side: _texts(name, table) for side, table in tables.items()} for name in names}
    kinds = {name: column_kind(name, by_side) for name, by_side in texts.items()}
    if problems := [problem for _, own in kinds.values() for problem in own]:
        raise AuditError(*problems)
    return [read_column(name, by_side, kinds[name][0]) for name, by_side in texts.items()]


def _texts(name: str, table: pa.Table) -> Texts:
    rows, texts = index_texts(name, table.column(name))
    is_used = np.bincount(rows, minlength=len(texts)) > 0  # a dictionary may have more than cells
    return rows, [text or None if used else None for text, used in zip(texts, is_used, strict=True)]


def _missing_labels(label: ReadColumn | None) -> Iterator[Problem]:
    if label is None:
        return
    for side, values in label.values.items():
        missing = int((np.isnan(values) if label.column.is_number else values < 0).sum())
        if missing:
            yield Problem("A002", f"{missing:,} of the {side} have no label.")


def _classes(
    by_side: BySide,
) -> tuple[tuple[str, ...], dict[str, NDArray[np.int64]]]:
    names = sorted(
        {plain_number(one) for _, texts in by_side.values() for one in texts if one is not None},
        key=class_order,
    )
    places = {text: place for place, text in enumerate(names)}
    return tuple(names), {
        side: np.array([places[plain_number(one or "")] for one in texts], np.int64)[rows]
        for side, (rows, texts) in by_side.items()
    }


def _left_out_warning(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"Not released, and not compared: {join_names(names)}."


def _table_digest(table: pa.Table) -> str:
    """Return the sha-256 of the cells as texts, whatever the file's format."""
    digest = hashlib.sha256()
    for name in table.column_names:
        rows, texts = index_texts(name, table.column(name))
        digest.update(repr((name, texts)).encode())
        digest.update(np.ascontiguousarray(rows).data)
    return digest.hexdigest()


# -- arrays ----------------------------------------------------------------------------------------


def _read_arrays(records: GivenRecords, model: Any, seed: int) -> ReadMaterial:
    arrays = {side: read_npz(Path(one)) for side, one in records.sides.items()}
    features = {side: first_array(one, FEATURES) for side, one in arrays.items()}
    labels = {side: first_array(one, LABELS) for side, one in arrays.items()}
    problems = [*_array_problems(features), *_label_problems(features, labels)]
    if records.secrets:
        problems.append(Problem("A031", "Secrets are columns of tables, and the files are arrays."))
    if records.unit:
        message = "Persons are told apart by a column of tables, and the files are arrays."
        problems.append(Problem("A031", message))
    if problems:
        raise AuditError(*problems)
    arrays_by_side = {side: one for side, one in features.items() if one is not None}
    made = arrays_by_side.get("synthetic")
    released = "" if made is None else records_digest(made, labels.get("synthetic"))
    if problems := [*precision_problems(arrays_by_side)]:
        raise AuditError(*problems)
    classes, numbered = _numbered({side: one for side, one in labels.items() if one is not None})
    scaled = scaled_arrays(arrays_by_side)
    sets = {
        side: RecordSet(_title(records.sides[side], side), one, numbered.get(side))
        for side, one in scaled.items()
    }
    if problems := [*array_scales(scaled), *classes_without_samples(sets, classes)]:
        raise AuditError(*problems)
    return ReadMaterial(
        Material(
            members=sets["members"],
            holdout=sets["holdout"],
            synthetic=sets.get("synthetic"),
            reference=sets.get("reference"),
            shape=arrays_by_side["members"].shape[1:],
            classes=classes,
            model=model,
            seed=seed,
        ),
        {
            side: digest_of(*(one for one in (features[side], labels[side]) if one is not None))
            for side in arrays_by_side
        },
        tuple(_warnings_of(scaled, images=arrays_by_side["members"].ndim > 2)),
        released,
    )


def _warnings_of(features: Mapping[str, NDArray[Any]], *, images: bool) -> Iterator[str]:
    """Yield what is to be said of the scales of arrays; the pixels of images have one."""
    yield from array_warnings(features)
    if not images:
        yield from feature_warnings(features)


def _array_problems(features: Mapping[str, NDArray[Any] | None]) -> Iterator[Problem]:
    shapes = {one.shape[1:] for one in features.values() if one is not None and one.ndim > 1}
    for side, one in features.items():
        if one is None:
            message = f"The file of the {side} has no features ({join_names(FEATURES, 'or')})."
            yield Problem("A031", message)
        elif one.ndim < 2 or not one.size or one.dtype.kind not in "biuf":
            message = f"The {side} are {one.dtype} of shape {one.shape}. "
            yield Problem(
                "A031", f"{message}Allowed are numbers, a row or an image for each record."
            )
        elif one.dtype.kind == "f" and not np.isfinite(one).all():
            yield Problem("A031", f"Some features of the {side} are missing or infinite.")
    if len(shapes) > 1:
        yield Problem("A031", f"Records have {len(shapes)} shapes: {sorted(shapes)}.")


def _label_problems(
    features: Mapping[str, NDArray[Any] | None], labels: Mapping[str, NDArray[Any] | None]
) -> Iterator[Problem]:
    with_labels = [side for side, one in labels.items() if one is not None]
    without = [side for side in labels if side not in with_labels]
    if with_labels and without:
        message = f"The {join_names(with_labels)} have labels, and the {join_names(without)} "
        yield Problem("A002", f"{message}have none.", "Distances are taken within a class.")
    for side in with_labels:
        one, records = labels[side], features[side]
        if one is not None and records is not None and one.shape != (len(records),):
            message = f"The {side} are {len(records):,} records, with labels of shape {one.shape}."
            yield Problem("A002", message, "Give one label per record.")
        elif one is not None and (missing := _missing_array_labels(one)):
            yield Problem("A002", f"{missing:,} of the {side} have no label.")


def _numbered(
    labels: Mapping[str, NDArray[Any]],
) -> tuple[tuple[str, ...], dict[str, NDArray[np.int64]]]:
    if not labels:
        return (), {}
    texts = {side: _label_texts(one) for side, one in labels.items()}
    names = sorted({one for side in texts.values() for one in side}, key=class_order)
    places = {text: place for place, text in enumerate(names)}
    return tuple(names), {
        side: np.array([places[one] for one in own], np.int64) for side, own in texts.items()
    }


def _label_texts(labels: NDArray[Any]) -> list[str]:
    return [plain_number(str(one)) for one in labels.tolist()]


def _missing_array_labels(labels: NDArray[Any]) -> int:
    if labels.dtype.kind == "f":
        return int((~np.isfinite(labels)).sum())
    return sum(str(one).strip().casefold() in ("", "nan", "none") for one in labels.ravel())
