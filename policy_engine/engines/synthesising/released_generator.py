"""A generator as it is released: whoever has it draws rows, and knows how probable it makes any."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import to_numpy, unchunk, value_type
from policy_engine.engines.synthesising.coding import Codes, ColumnValues, Floats, table_of
from policy_engine.engines.synthesising.counted import Arrays
from policy_engine.errors import ArgumentError
from policy_engine.methods.synthesiser import Synthesiser

_SEED_BITS = 64


class Stored(Protocol):
    """What a generator has learnt, as a file holds it."""

    def rows(self, n: int, seed: int) -> Codes:
        """Return the codes of synthetic rows, (n, columns), all drawn by the seed."""
        ...

    def log_density(self, codes: Codes) -> Floats:
        """Return the logarithm of the probability of rows (n, columns), (n,); -1 is no value."""
        ...


def stored(synthesiser: Synthesiser, columns: Sequence[ColumnValues], arrays: Arrays) -> Stored:
    """Return what a file holds. Raises ValueError where the arrays are not those of a generator."""
    name = synthesiser.notation.replace("-", "_")
    module = import_module(f"policy_engine.engines.synthesising.{name}")
    one: Stored = module.stored(columns, arrays)
    return one


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedGenerator:
    """A generator with the settings of its `synthesiser`, and the values of its columns, in the
    order in which it draws them.

    It holds true values of every column, and how they go together: see docs/synthetic-data.md.
    """

    synthesiser: Synthesiser
    values: tuple[ColumnValues, ...]
    drawn: Stored

    def __repr__(self) -> str:
        return f"<ReleasedGenerator {self.synthesiser}: {', '.join(self.columns)}>"

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in the order in which they are drawn."""
        return tuple(one.field.name for one in self.values)

    def sample(self, n: int, *, seed: int | None = None, label: int | None = None) -> pa.Table:
        """Return `n` rows that it makes up. The same seed gives the same; without one, the
        operating system gives one.

        Raises ArgumentError (U002) for less than no rows, a negative seed, or a label: it has none.
        """
        if n < 0 or (seed is not None and seed < 0) or label is not None:
            message = f"A number of rows and a seed are not negative. Given: {n} and {seed}."
            if label is not None:
                message = "The generator has no labels: a class is a column like others."
            raise ArgumentError.of("U002", message)
        number = secrets.randbits(_SEED_BITS) if seed is None else seed
        return table_of(self.values, self.drawn.rows(n, number))

    def log_density(self, x: pa.Table, *, label: None = None) -> Floats:  # noqa: ARG002 (it has none)
        """Return the logarithm of the probability that it makes up a row, (rows,), of a table with
        its columns; minus infinity where it never does.

        Where a column has another type than the generator's, numbers are compared as numbers, and
        all else by its text.
        """
        codes = [_codes(one, unchunk(x.column(one.field.name))) for one in self.values]
        return self.drawn.log_density(np.column_stack(codes))


def _codes(column: ColumnValues, cells: pa.Array) -> Codes:
    """Return the places of cells among the values of a column, (cells,), -1 where there is none."""
    values = column.values.drop_null()
    missing = len(values) if column.values.null_count else -1
    kind = value_type(cells.type)
    own: Floats | NDArray[np.str_]
    some: Floats | NDArray[np.str_]
    own, some = _texts(values), _texts(cells)
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if is_number and kind != values.type:
        own, some = np.array([*map(_number, own)]), np.array([*map(_number, some)])
    order = np.argsort(own, kind="stable")
    places = np.minimum(np.searchsorted(own[order], some), max(len(own) - 1, 0))
    codes = np.full(len(cells), -1, np.int64)
    if len(own):
        nearest = order[places]
        codes = np.where(own[nearest] == some, nearest, -1)
    return np.where(to_numpy(cells.is_null()), missing, codes).astype(np.int64)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan


def _texts(values: pa.Array) -> NDArray[np.str_]:
    texts = [text or "" for text in values.cast(pa.string()).to_pylist()]
    return np.array(texts, dtype=np.str_)
