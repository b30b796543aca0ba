"""Rows of a model that makes whole tables, with texts: drawn up front, and read like a file."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.generative.material import Ints
from policy_engine.audits.generative.models.own_code import own_array
from policy_engine.audits.generative.models.protocols import Densities
from policy_engine.audits.generative.sampling import ask_samples
from policy_engine.audits.membership.records import source_table
from policy_engine.engines.synthesising.released_generator import ReleasedGenerator
from policy_engine.errors import AuditError, Problem, did_you_mean, join_names

_BATCH = 10_000
_PROBE = 20
_FORM = "Allowed are a frame, a list of dicts, or an array, with the columns of the files."


@dataclass(frozen=True)
class DrawnModel:
    """The name of a model whose rows are drawn already: it is asked for no more of them."""

    name: str


@dataclass(frozen=True)
class DrawnDensities(DrawnModel):
    """A model whose rows are drawn already, and that tells how probable rows are."""

    model: Densities

    def log_density(self, x: Any, *, label: Ints | int | None = None) -> NDArray[Any]:
        """Return what the model says of the rows of a table."""
        return self.model.log_density(x, label=label)


def drawn_model(model: Any) -> DrawnModel:
    """Return what is left to be asked of a model once its rows are drawn."""
    name = name_of(model)
    return DrawnDensities(name, model) if isinstance(model, Densities) else DrawnModel(name)


def is_released(model: Any) -> bool:
    """Return whether a model is a generator that a policy released, its rows drawn or not."""
    own = model.model if isinstance(model, DrawnDensities) else model
    return isinstance(own, ReleasedGenerator)


def name_of(model: Any) -> str:
    """Return what a model is called in reports."""
    return f"a model, {type(model).__module__}.{type(model).__qualname__}"


def draws_tables(model: Any, columns: Sequence[str], seed: int, *, has_classes: bool) -> bool:
    """Return whether a model makes rows with the names, or the texts, of the files.

    One that cannot be asked without a class makes none. Raises AuditError (A032) for what it
    raises with or without one, and for a released generator of other columns.
    """
    if not hasattr(model, "sample"):
        return False
    if isinstance(model, ReleasedGenerator):
        _check_columns(model.columns, columns)
        return True
    try:
        made = ask_samples(model, _PROBE, None, seed)
    except AuditError:
        if not has_classes:
            raise
        ask_samples(model, _PROBE, 0, seed)
        return False
    if _is_frame(made):
        return bool({*map(str, _names(made))} & {*columns})
    if isinstance(made, list):
        return bool(made) and all(isinstance(row, dict) for row in made)
    values = own_array(made, "The model")
    return values.dtype.kind in "OUST" and values.shape == (_PROBE, len(columns))


def _check_columns(own: Sequence[str], columns: Sequence[str]) -> None:
    if lacking := [one for one in own if one not in columns]:
        noun = "column" if len(lacking) == 1 else "columns"
        message = f"The generator makes up the {noun} {join_names(lacking)}, which members lack."
        raise AuditError.of("A032", message, did_you_mean(lacking[0], columns))


def drawn_table(
    model: Any, columns: Sequence[str], samples: int, seconds: float | None, seed: int
) -> pa.Table:
    """Return so many rows of a model.

    Arrays have the `columns` in their order. Raises AuditError (A032) for rows that cannot be used,
    (A033) where so many seconds end before all rows are drawn: a part of them cannot be added to.
    """
    end = time.monotonic() + seconds if seconds is not None else np.inf
    parts: list[pa.Table] = []
    for start in range(0, samples, _BATCH):
        count = min(_BATCH, samples - start)
        number = int(np.random.SeedSequence([seed, start]).generate_state(1)[0] >> 1)
        made = ask_samples(model, count, None, number)
        parts.append(_checked(as_table(made, columns), count))
        if time.monotonic() > end and start + count < samples:
            message = f"{seconds:g} s ended after {start + count:,} of {samples:,} rows."
            raise AuditError.of("A033", message, "Allow more time, or draw fewer rows.")
        if start and parts[-1].equals(parts[0].slice(0, count)):
            message = "The model gives the same rows for other seeds."
            raise AuditError.of("A032", message, "It is to use its seed.")
    table = _joined(parts)
    if table.num_rows >= _PROBE and all(len(one.unique()) == 1 for one in table.columns):
        message = f"{table.num_rows:,} samples of the model are all the same."
        raise AuditError.of("A032", message, "Does it use its seed, and was it trained?")
    return table


def _is_frame(made: Any) -> bool:
    return hasattr(made, "__arrow_c_stream__")


def _names(made: Any) -> Sequence[Any]:
    names: Sequence[Any] = made.column_names if hasattr(made, "column_names") else made.columns
    return names


def makes_tables(made: Any) -> bool:
    """Return whether something is a frame, or a list of dicts or an array of objects."""
    return _is_frame(made) or isinstance(made, list | np.ndarray)


def as_table(made: Any, columns: Sequence[str]) -> pa.Table:
    """Return a frame, a list of dicts, or an array with the `columns` in their order, as a table.

    Raises AuditError (A032) where it is none of them.
    """
    try:
        if isinstance(made, list):
            return _plain(pa.Table.from_pylist(made))
        if _is_frame(made):
            return _plain(source_table(made))
        values = np.asarray(made, object)
        texts = [[_text(cell) for cell in column] for column in values.T]
        return pa.table([pa.array(one, pa.string()) for one in texts], names=list(columns))
    except Exception as error:
        message = "What the model samples is not a table."
        raise AuditError(Problem("A032", message, _FORM, values=(str(error),))) from error


def _plain(table: pa.Table) -> pa.Table:
    """Return a table whose texts are of one type, so that batches can be joined."""
    texts = [index for index, one in enumerate(table.schema) if not _is_numeric(one.type)]
    for index in texts:
        plain = table.column(index).cast(pa.string())
        table = table.set_column(index, table.column_names[index], plain)
    return table


def _is_numeric(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _text(cell: Any) -> str | None:
    is_missing = cell is None or (isinstance(cell, float) and np.isnan(cell))
    return None if is_missing else str(cell)


def _checked(table: pa.Table, count: int) -> pa.Table:
    if table.num_rows != count:
        message = f"The model gives {table.num_rows:,} rows where {count:,} are asked for."
        raise AuditError.of("A032", message, _FORM)
    return table


def _joined(parts: Sequence[pa.Table]) -> pa.Table:
    try:
        return pa.concat_tables(parts, promote_options="permissive")
    except pa.ArrowInvalid as error:
        message = "The model samples other columns each time."
        raise AuditError(Problem("A032", message, _FORM, values=(str(error),))) from error
