"""Columns that are masked at random or by what other rows hold, in a whole table or a part of it.

Local and cluster engines take the same steps: look at the columns (`survey`), find their moments,
derive from both what is known of the whole (`facts_of`), and mask each part.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.data.notations import CORRECT_TEXTS
from policy_engine.engines.arrays import from_numpy, is_text, value_type
from policy_engine.engines.identifiers import check_key
from policy_engine.engines.masking.categories import codes_of, to_labels
from policy_engine.engines.masking.numbers import as_spelled, from_floats
from policy_engine.engines.masking.surveys import (
    Group,
    Kinds,
    Survey,
    columns_of,
    floats_of,
    is_present,
    ranks_of,
)
from policy_engine.engines.origins import is_carried
from policy_engine.engines.row_keys import row_keys
from policy_engine.errors import DataError
from policy_engine.kernels.streams import count_repeats, draw
from policy_engine.methods.perturbation import ColumnFacts, MaskedRows, Perturbation
from policy_engine.plan.joint import is_joint

if TYPE_CHECKING:
    from policy_engine.kernels.microaggregation import Scale

_DOMAIN = b"\xffpolicy-engine masking 1\n"
KEY_BYTES = 16


def masking_key(key: bytes | None) -> bytes:
    """Return the key of a release's random draws, 16 bytes: derived from the owner's key, or from
    the system's randomness, which is then kept nowhere.

    Raises DataError (C013) for an owner's key of fewer than 32 bytes.
    """
    secret = secrets.token_bytes(32) if key is None else check_key(key)
    return hmac.new(secret, _DOMAIN, hashlib.sha256).digest()[:KEY_BYTES]


@dataclass(frozen=True)
class RowKeys:
    """What tells rows apart, whatever their order: the keyed hash of a row's content, (rows, 2),
    and a number among the rows with equal content, (rows,)."""

    keys: NDArray[np.uint64]
    repeats: NDArray[np.int64]
    key: bytes

    @classmethod
    def of(cls, table: pa.Table, key: bytes) -> "RowKeys":
        """Return the keys of the rows of a whole table."""
        keys = content_keys(table, key)
        return cls(keys, count_repeats(keys), key)

    def words(self, label: int, number: int) -> NDArray[np.uint64]:
        """Return random words for every row, (rows, number); `label` tells draws apart."""
        halves = np.frombuffer(self.key, dtype="<u8").astype(np.uint64)
        return draw(self.keys, self.repeats, halves, label, number)


def content_keys(table: pa.Table, key: bytes) -> NDArray[np.uint64]:
    """Return the keyed hash of each row's content, whatever the order of the columns, (rows, 2)."""
    hidden = (name for name in table.column_names if is_carried(name) or is_joint(name))
    names = sorted({*table.column_names} - {*hidden})
    return row_keys([table.column(name) for name in names], key)


@dataclass(frozen=True)
class KnownGroup:
    """Columns that are masked together, with what is known of all of their values."""

    group: Group
    seen: Survey
    facts: ColumnFacts

    @property
    def name(self) -> str:
        """The name of its first column."""
        return self.group[0].name

    @property
    def needs_all_rows(self) -> bool:
        """Whether its columns cannot be masked in parts of a table."""
        return self.group[0].needs_all_rows

    @property
    def label(self) -> int:
        """A number that tells its draws from those of any other masking under the same key."""
        # Of other data too: at another scale the same draws would tell the values.
        facts = self.facts
        identity = (
            facts.rows,
            facts.moments,
            None if facts.counts is None else facts.counts.tolist(),
        )
        text = "\n".join((*(f"{one.name}\t{one.group}" for one in self.group), repr(identity)))
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())

    @property
    def has_blocks(self) -> bool:
        """Whether a part of a table can be masked that is cut as the whole of it."""
        return self.group[0].is_by_block and len(self.group) > 1

    def mask(
        self, table: pa.Table, kinds: Kinds, keys: RowKeys, scale: "Scale | None" = None
    ) -> dict[str, pa.ChunkedArray]:
        """Return the masked columns of a table, or of a part where not all rows are needed.

        A part that is cut as the whole table would be has the `scale` of that.
        """
        names = [one.name for one in self.group]
        present = is_present(table, columns_of(self.group))
        if not present.any():
            return {name: self._empty(table, name) for name in names}
        rows = self.masked_rows(table, present, kinds, keys)
        made = self.group[0].perturb(replace(rows, scale=scale))
        return {
            name: self._publish(table.column(name), name, made[:, place], present, kinds)
            for place, name in enumerate(names)
        }

    def masked_rows(
        self, table: pa.Table, present: NDArray[np.bool_], kinds: Kinds, keys: RowKeys
    ) -> MaskedRows:
        """Return the rows of a table that have a value as they are masked."""
        masking = self.group[0]
        words = keys.words(self.label, len(self.group) * masking.words)[present]
        rows = table.select(columns_of(self.group)).filter(from_numpy(present))
        values, ranks = self.values(rows, kinds), ranks_of(rows, masking.given_columns, kinds)
        return MaskedRows(values, ranks, words, self.facts)

    def values(self, table: pa.Table, kinds: Kinds) -> NDArray[np.float64] | NDArray[np.int64]:
        """Return the values of a table as the masking takes them, (rows, columns)."""
        names = [one.name for one in self.group]
        if self.group[0].takes == "numbers":
            return floats_of(table, {name: self.seen.forms[name] for name in names})
        if self.group[0].takes == "order":
            return ranks_of(table, names, kinds)
        spelled = as_spelled(names[0], table.column(names[0]), kinds.get(names[0]))
        return codes_of(spelled, self.facts.labels)[:, None]

    def _publish(
        self,
        column: pa.ChunkedArray,
        name: str,
        made: NDArray[np.float64] | NDArray[np.int64],
        present: NDArray[np.bool_],
        kinds: Kinds,
    ) -> pa.ChunkedArray:
        """Return the column to publish; `made` is what became of its rows with a value."""
        takes = self.group[0].takes
        if takes == "numbers":
            values = np.full(len(column), np.nan)
            values[present] = made
            return from_floats(name, values, self.seen.forms[name], column)
        codes = np.full(len(column), -1, dtype=np.int64)
        if takes == "categories":
            codes[present] = made
            return to_labels(codes, self.facts.labels)
        codes[present] = np.flatnonzero(present)[made]
        is_missing = codes < 0
        rows = from_numpy(np.where(is_missing, 0, codes), is_missing)
        if kinds.get(name) is None:
            return column.take(rows)
        return pa.chunked_array([as_spelled(name, column, kinds[name]).take(rows)])

    def published_type(self, schema: pa.Schema, name: str) -> pa.DataType:
        """Return the type of a masked column, that of the input being in the schema."""
        if self.group[0].takes == "numbers" and self.seen.rows:
            return self.seen.forms[name].published_type
        return value_type(schema.field(name).type)

    def _empty(self, table: pa.Table, name: str) -> pa.ChunkedArray:
        """Return a column of a table in which no row has a value."""
        kind = self.published_type(table.schema, name)
        return pa.chunked_array([pa.nulls(table.num_rows, kind)])


def check_types(table_schema: pa.Schema, group: Group, kinds: Kinds) -> None:
    """Raise DataError (R013) for categories and ranks of values that Arrow does not compare, and
    for ranks of values that have no order, such as texts whose order nobody has chosen."""
    for name in columns_of(group) if group[0].takes != "numbers" else ():
        kind = kinds.get(name) or value_type(table_schema.field(name).type)
        is_order = group[0].takes == "order"
        if is_order and is_text(kind) and getattr(group[0], "order", None) is None:
            message = f"The column {name!r} holds texts, and nothing says in which order."
            raise DataError.of("R013", message, _order_hint(group[0]))
        if _is_unordered(kind) or (is_order and pa.types.is_boolean(kind)):
            lacking = "have no order" if is_order else "cannot be told apart"
            message = f"The column {name!r} holds values of the type {kind}, which {lacking}."
            raise DataError.of("R013", message, "Give the column another role.")


def _is_unordered(kind: pa.DataType) -> bool:
    """Tell whether values are nested or bytes, or of a type whose values Arrow does not compare."""
    is_bytes = pa.types.is_fixed_size_binary(kind) or pa.types.is_binary_view(kind)
    is_bytes = is_bytes or pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    is_narrow = pa.types.is_float16(kind) or (pa.types.is_decimal(kind) and kind.bit_width < 128)
    is_other = pa.types.is_duration(kind) or pa.types.is_interval(kind)
    is_other = is_other or isinstance(kind, pa.BaseExtensionType)
    return bool(pa.types.is_nested(kind) or is_bytes or is_narrow or is_other)


def _order_hint(masking: Perturbation) -> str:
    has_order = "order" in type(masking).model_fields
    if not has_order:
        return f"{CORRECT_TEXTS}give the column another masking."
    return (
        f'{CORRECT_TEXTS}add "pe:order": "lexicographic" if that order has a meaning, or give the '
        "column another masking."
    )
