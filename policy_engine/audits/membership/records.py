"""Records that models are trained on: features, labels, and where they come from."""

import hashlib
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.membership.encoding import Encoding, Leaves
from policy_engine.audits.membership.result import EncodedColumn
from policy_engine.data.catalog import make_catalog
from policy_engine.data.places.spelling import source_name
from policy_engine.engines.encoding import encode
from policy_engine.engines.field_marks import is_untyped
from policy_engine.engines.reading_back import index_texts
from policy_engine.engines.tables import plain_texts, read_table
from policy_engine.errors import AuditError, DataError, Problem, did_you_mean

FEATURES = ("features", "x", "X", "x_train", "X_train", "data")
LABELS = ("labels", "y", "y_train", "label", "target")
_FEWEST = 4
"""How many records of a class there must be: one for each side of a target and of a shadow."""


@dataclass(frozen=True, eq=False)
class Records:
    """What models are trained on.

    `features` (n, d) are uint8, or float32 where they are not all small whole numbers; `labels`
    (n,) count the `classes`, from 0. `columns` gives the texts of a column of the table that
    they come from, (n,), by its name. `digest` is the sha-256 of features and labels.
    """

    features: NDArray[Any]
    labels: NDArray[np.int64]
    classes: tuple[str, ...]
    columns: Mapping[str, NDArray[np.object_]]
    encoding: tuple[EncodedColumn, ...]
    name: str
    digest: str
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.labels)

    def with_features(self, features: NDArray[Any]) -> "Records":
        """Return the same records with other features, as after a perturbation of them."""
        return Records(
            features=features,
            labels=self.labels,
            classes=self.classes,
            columns=self.columns,
            encoding=self.encoding,
            name=self.name,
            digest=digest_of(features, self.labels),
            warnings=self.warnings,
        )


@dataclass(frozen=True)
class FittedFeatures:
    """How a table becomes records: its columns' encoding, its label column and the classes."""

    encoding: Encoding
    label: str
    classes: tuple[str, ...]
    warnings: tuple[str, ...] = field(default=())

    @classmethod
    def of(cls, table: pa.Table, label: str, fewest: int = 1) -> "FittedFeatures":
        """Fit on a table, values that `fewest` rows or more have each to a feature of its own.

        Raises AuditError where labels (A002) or features (A003) are not usable.
        """
        _check_label(table, label)
        classes, warnings = _classes_of(table, label)
        encoding = Encoding.fit(table.drop_columns([label]), fewest)
        return cls(encoding, label, classes, (*warnings, *encoding.warnings))

    def records(self, table: pa.Table, name: str, leaves: Leaves | None = None) -> Records:
        """Return the records of a table: the one fitted on, or a release of it."""
        _check_label(table, self.label)
        features = self.encoding.apply(table, leaves)
        rows, texts = index_texts(self.label, table.column(self.label))
        number = {label: place for place, label in enumerate(self.classes)}
        places = np.array([number.get(plain_number(text or ""), -1) for text in texts], np.int64)
        labels = places[rows]
        if (labels < 0).any():
            message = (
                f"{int((labels < 0).sum()):,} rows have no label, or one that is not a class. "
                f"{self.label!r} has {len(self.classes):,} classes."
            )
            raise AuditError.of("A002", message)
        return Records(
            features=features,
            labels=labels,
            classes=self.classes,
            columns=FeatureTexts(table),
            encoding=self.encoding.summaries(),
            name=name,
            digest=digest_of(features, labels),
            warnings=self.warnings,
        )


def read_records(source: Any, label: str = "", name: str = "") -> Records:
    """Return the records of a file (CSV, CSV.gz, Parquet, npz) or a table in memory.

    `label` names the column of the labels; without one it is the last column. An npz file has
    `features` and `labels` (or `x` and `y`, `x_train` and `y_train`). Raises DataError where the
    file cannot be read, AuditError where labels (A002) or features (A003) are not usable.
    """
    title = name or (source_name(source) if isinstance(source, str | Path) else "a table in memory")
    if isinstance(source, str | Path) and str(source).lower().endswith(".npz"):
        return _records_of_npz(Path(source), title)
    table = source_table(source)
    return FittedFeatures.of(table, label or table.column_names[-1]).records(table, title)


def source_table(source: Any) -> pa.Table:
    """Return a file, or any frame with the Arrow PyCapsule interface, as a table.

    Raises DataError where it cannot be read, AuditError (A003) where it has no rows.
    """
    catalog = make_catalog({"": source})
    in_memory = next(iter(catalog.tables.values()), None)
    table = read_table(Path(source)) if in_memory is None else plain_texts(in_memory)
    if not table.num_rows:
        raise AuditError.of("A003", "The table has no rows. A model needs records to learn from.")
    return table


def records_of_arrays(
    features: NDArray[Any], labels: NDArray[Any], name: str = "arrays in memory"
) -> Records:
    """Return the records of two arrays: features (n, ...) of numbers, labels (n,).

    Features of 0 and 1 become uint8, other bytes stay as they are, all else becomes float32;
    none is scaled. Raises AuditError where labels (A002) or features (A003) are not usable.
    """
    features, labels = np.asarray(features), np.asarray(labels)
    kept_features, encoding = _plain_features(features)
    if labels.ndim == 2 and 1 in labels.shape:
        labels = labels.ravel()
    if labels.shape != (len(kept_features),):
        message = f"{len(kept_features):,} records have labels of shape {labels.shape}."
        raise AuditError.of("A002", message, "Give one label per record.")
    numbers, classes, warnings = _number_labels(labels)
    return Records(
        features=kept_features,
        labels=numbers,
        classes=classes,
        columns={},
        encoding=(encoding,),
        name=name,
        digest=digest_of(kept_features, numbers),
        warnings=warnings,
    )


def digest_of(*arrays: NDArray[Any]) -> str:
    """Return the sha-256 of arrays: their types, shapes and bytes, in hexadecimal."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


class FeatureTexts(Mapping[str, NDArray[np.object_]]):
    """The columns of a table as texts, each made when it is asked for."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __getitem__(self, name: str) -> NDArray[np.object_]:
        if name not in self._table.column_names:
            raise KeyError(name)
        rows, texts = index_texts(name, self._table.column(name))
        return np.array([text or "" for text in texts], dtype=object)[rows]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table.column_names)

    def __len__(self) -> int:
        return len(self._table.column_names)


def _check_label(table: pa.Table, label: str) -> None:
    if label not in table.column_names:
        message = f"The data has no column {label!r} of labels."
        raise AuditError.of("A002", message, did_you_mean(label, table.column_names))
    if table.num_columns < 2:
        raise AuditError.of("A003", f"The data has no column but the labels {label!r}.")


def _classes_of(table: pa.Table, label: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the values of a label column in their order, and what is to be said of them."""
    numbers = is_untyped(table.schema.field(label))
    encoded = encode(label, table.column(label), numbers=numbers, is_generalised=False)
    labels = encoded.labels.tolist()
    if "" in labels:
        count = int(encoded.counts()[labels.index("")])
        raise AuditError.of("A002", f"{count:,} rows have no label in {label!r}.")
    names = list(dict.fromkeys(plain_number(text) for text in labels))
    _check_classes(names, table.num_rows)
    return tuple(names), tuple(_numbering_warning(names))


def _number_labels(
    labels: NDArray[Any],
) -> tuple[NDArray[np.int64], tuple[str, ...], tuple[str, ...]]:
    """Return labels as 0..C-1, the classes by name, and what is to be said of them."""
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        count = int((~np.isfinite(labels)).sum())
        raise AuditError.of("A002", f"{count:,} labels are missing or infinite.")
    if labels.dtype.kind not in "biufSU":
        raise AuditError.of("A002", f"Labels are numbers or texts. Given: {labels.dtype}.")
    values, numbers = np.unique(labels, return_inverse=True)
    classes = [plain_number(str(value)) for value in values.tolist()]
    _check_classes(classes, len(labels))
    return numbers.astype(np.int64), tuple(classes), tuple(_numbering_warning(classes))


def plain_number(text: str) -> str:
    """Return a whole number without its point and zeros; any other text unchanged."""
    digits, point, zeros = text.partition(".")
    is_whole = point and not zeros.strip("0") and digits.removeprefix("-").isdigit()
    return digits if is_whole else text


def _check_classes(classes: list[str], rows: int) -> None:
    """Refuse labels that are constant, fractions, or nearly as many as records."""
    problems = []
    if len(classes) < 2:
        message = "All labels are the same." if classes else "There are no labels."
        problems.append(Problem("A002", f"{message} A classifier needs two classes."))
    fractions = [one for one in classes if _is_fraction(one)]
    if fractions:
        message = "Labels are classes, not quantities. "
        message += f"Of {len(classes):,} values, {len(fractions):,} are not whole numbers."
        problems.append(Problem("A002", message, "Name a column of classes, or group the values."))
    if len(classes) >= 2 and rows < _FEWEST * len(classes):
        message = (
            f"{len(classes):,} classes for {rows:,} records are too many: "
            f"each class needs at least {_FEWEST} records."
        )
        problems.append(Problem("A002", message, "Is this the column of labels?"))
    if problems:
        raise AuditError(*problems)


def _is_fraction(text: str) -> bool:
    try:
        return not float(text).is_integer()
    except (ValueError, OverflowError):
        return False


def _numbering_warning(classes: list[str]) -> Iterator[str]:
    """Yield a warning where labels are whole numbers other than 0..C-1."""
    try:
        numbers = [int(label) for label in classes]
    except ValueError:
        return
    if numbers != list(range(len(numbers))):
        yield (
            f"The labels are not 0 to {len(numbers) - 1}: the {len(numbers)} labels from "
            f"{min(numbers)} to {max(numbers)} were numbered in their order."
        )


def _are_bits(flat: NDArray[Any]) -> bool:
    """Return whether numbers from 0 to 1 are all 0 or 1; whole ones need not be examined."""
    return flat.dtype.kind in "bui" or bool(((flat == 0) | (flat == 1)).all())


def _plain_features(features: NDArray[Any]) -> tuple[NDArray[Any], EncodedColumn]:
    """Return features in the form they are kept in, (n, d), and a description of it."""
    if features.ndim < 2 or not features.size or features.dtype.kind not in "biuf":
        message = f"Features are numbers, one row per record. Given: {features.dtype}"
        raise AuditError.of("A003", f"{message} of shape {features.shape}.")
    flat = features.reshape(len(features), -1)
    if flat.dtype.kind == "f" and not np.isfinite(flat).all():
        bad = np.flatnonzero(~np.isfinite(flat).all(axis=0))
        columns_shown = ", ".join(map(str, bad[:10].tolist())) + (", ..." if len(bad) > 10 else "")
        message = f"Features are missing or infinite in {len(bad):,} columns: {columns_shown}."
        raise AuditError.of("A003", message, "Fill them in, or leave these columns out.")
    low, high = flat.min(), flat.max()
    if low >= 0 and high <= 1 and _are_bits(flat):
        says = f"{flat.shape[1]} bits, as they are"
        return flat.astype(np.uint8), EncodedColumn(
            name="features", kind="bits", width=flat.shape[1], says=says
        )
    says = f"{flat.shape[1]} numbers from {low:.6g} to {high:.6g}, as they are"
    kind = np.uint8 if flat.dtype == np.uint8 else np.float32
    column = EncodedColumn(name="features", kind="kept", width=flat.shape[1], says=says)
    return flat.astype(kind, copy=False), column


def _records_of_npz(path: Path, name: str) -> Records:
    arrays = read_npz(path)
    features = first_array(arrays, FEATURES)
    labels = first_array(arrays, LABELS)
    if features is None or labels is None:
        lacking = [
            f"no {content} ({', '.join(names[:4])})"
            for content, names, array in (
                ("features", FEATURES, features),
                ("labels", LABELS, labels),
            )
            if array is None
        ]
        message = f"The file has {' and '.join(lacking)}. It has {', '.join(arrays) or 'nothing'}."
        raise AuditError.of("A003", message, source=str(path))
    return records_of_arrays(features, labels, name)


def first_array(arrays: Mapping[str, NDArray[Any]], names: tuple[str, ...]) -> NDArray[Any] | None:
    """Return the first of some arrays that a file has, None where it has none."""
    return next((arrays[name] for name in names if name in arrays), None)


_UNREADABLE = (
    *(ValueError, EOFError, AttributeError, zipfile.BadZipFile, zlib.error),
    *(RuntimeError, MemoryError),  # of archives with passwords or unknown methods, absurd shapes
)


def read_npz(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an npz file; no object is ever unpickled.

    Raises DataError where the file is not there (C002) or cannot be read (C003).
    """
    if not path.is_file():
        raise DataError.of("C002", f"There is no file {str(path)!r}.")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, *_UNREADABLE):
        message = "The file is not an npz archive of numbers and texts."
        raise DataError.of("C003", message, source=str(path)) from None
