"""A generator as it is released: whoever has it draws rows, and knows how probable it makes any."""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.engines.arrays import from_texts, is_text, to_numpy, unchunk, value_type
from policy_engine.engines.field_marks import is_untyped
from policy_engine.engines.generalizations.decimals import plain_number
from policy_engine.engines.moments import moment, time_of_day
from policy_engine.engines.synthesising.coding import Codes, ColumnValues, Floats, table_of
from policy_engine.engines.synthesising.counted import Arrays
from policy_engine.engines.synthesising.equal_cells import NUMBER_OR_NAN
from policy_engine.engines.text_types import TIME_OF_DAY
from policy_engine.errors import ArgumentError
from policy_engine.methods.synthesiser import Synthesiser

_SEED_BITS = 64


class Stored(Protocol):
    """What a generator has learnt, as a file holds it."""

    def rows(self, n: int, seed: int) -> Codes:
        """Return the codes of synthetic rows, (n, columns), all drawn by the seed."""
        ...

    def log_density(self, codes: Codes) -> Floats:
        """Return the logarithm of the probability of rows (n, columns), (n,); -1 means unknown."""
        ...


def stored(synthesiser: Synthesiser, columns: Sequence[ColumnValues], arrays: Arrays) -> Stored:
    """Return what a file holds. Raises ValueError where the arrays are not those of a generator."""
    one: Stored = _module(synthesiser).stored(columns, arrays)
    return one


def array_names(synthesiser: Synthesiser, columns: int) -> list[str]:
    """Return the names of the arrays that a file holds of a generator, without its values."""
    names: list[str] = _module(synthesiser).array_names(columns)
    return names


def _module(synthesiser: Synthesiser) -> Any:
    name = synthesiser.notation.replace("-", "_")
    return import_module(f"policy_engine.engines.synthesising.{name}")


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedGenerator:
    """A generator with the settings of its `synthesiser`, and the values of its columns, in the
    order in which it draws them.

    It holds true values of every column, and how they go together: see docs/synthetic-data.md. It
    `is_certified` if a certificate is beside its files, and they are those certified.
    """

    synthesiser: Synthesiser
    values: tuple[ColumnValues, ...]
    drawn: Stored
    is_certified: bool = False

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

        Cells are the generator's values that are written alike. Where a column has another type, or
        its type is still to be inferred, they may be equal otherwise, too: as numbers, as points in
        time (UTC where no zone is named) or times of day, and what is empty, missing or not a
        number is all the same.
        """
        codes = [
            _codes(one, x.schema.field(one.field.name), unchunk(x.column(one.field.name)))
            for one in self.values
        ]
        return self.drawn.log_density(np.column_stack(codes))


def _codes(column: ColumnValues, field: pa.Field, cells: pa.Array) -> Codes:
    """Return the places of cells among the values of a column, (cells,), -1 where there is none."""
    plain = cells.cast(value_type(cells.type))
    encoded = plain.dictionary_encode()
    own, some = _texts(column.values), _texts(encoded.dictionary)
    some = pa.concat_arrays([some, pa.nulls(1, some.type)])
    places = _places(some, own)
    kinds = (value_type(column.values.type), plain.type)
    if is_untyped(field) or (kinds[0] != kinds[1] and not all(map(is_text, kinds))):
        keys, others = (_keys(one, kinds) for one in (own, some))
        places = np.where(places < 0, _places(others, keys), places)
    codes: Codes = places[to_numpy(encoded.indices, missing=len(places) - 1)]
    return codes


def _texts(values: pa.Array) -> pa.Array:
    return values.cast(pa.string())


def _places(texts: pa.Array, values: pa.Array) -> Codes:
    """Return where texts first are among others, missing ones too, (texts,), -1 where they are not.

    Arrow compares them byte by byte: NumPy would take off zeros at their end.
    """
    places = pc.index_in(texts, value_set=values)
    return to_numpy(places, missing=-1).astype(np.int64)


def _keys(texts: pa.Array, kinds: Sequence[pa.DataType]) -> pa.Array:
    """Return a text for each one, the same for equal values however they are written: one of the
    `kinds` was their type."""
    has_floats = any(map(pa.types.is_floating, kinds))
    plain = [text or "" for text in texts.to_pylist()]
    if any(map(pa.types.is_boolean, kinds)):
        plain = [text.casefold() for text in plain]
    if has_floats or any(map(pa.types.is_integer, kinds)) or any(map(pa.types.is_decimal, kinds)):
        plain = [re.sub(_LEADING, r"\1", text) for text in plain]
    return from_texts([_key(text, has_floats=has_floats) for text in plain])


_LEADING = r"^\s*(?:\+|(-))?0*(?=[0-9])"
"""What numbers of codes, such as 007, begin with."""


def _key(text: str, *, has_floats: bool) -> str:
    bare = text.strip()
    if re.match(NUMBER_OR_NAN, bare):
        number = plain_number(bare)
        if number == "nan":
            return ""
        return f"number {float(bare) + 0.0!r}" if has_floats else f"number {number}"
    point = moment(bare)
    if point is not None:
        return f"moment {point}"
    if re.match(TIME_OF_DAY, bare):
        return f"time {time_of_day(bare)}"
    return f"text {text}" if text else ""
