"""Texts in an order, compared by their ranks: one that a policy names, or that of codes such as
S00123."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from policy_engine.methods.masking import ColumnMasking
from policy_engine.methods.maskings.rank_swapping import RankSwapping
from policy_engine.plan.plan import Plan

if TYPE_CHECKING:
    from policy_engine.audits.disclosure.files import KnownColumn

Ints = NDArray[np.int64]
TextOrder: TypeAlias = Literal["lexicographic", "frequency"]

_NUMBER = re.compile(r"(\d+)")
_FEWEST = 3
"""Of two codes, that they are equal or not says as much."""


def declared_orders(plan: Plan, maskings: Mapping[str, ColumnMasking]) -> dict[str, TextOrder]:
    """Return in which order the texts of columns were swapped, or their medians taken."""
    orders: dict[str, TextOrder] = {
        one.name: one.order
        for one in plan.require_anonymize().columns.quasi_identifier
        if one.order is not None
    }
    swapped_names = (name for name, one in maskings.items() if isinstance(one, RankSwapping))
    return orders | dict.fromkeys(swapped_names, "lexicographic")


def in_declared_order(column: "KnownColumn", order: TextOrder) -> "KnownColumn":
    """Return a column of texts by their ranks; any other column, or one of sets, as it is."""
    if column.is_number or not column.is_exact:
        return column
    codes = np.arange(int(column.has_missing), len(column.labels))
    if order == "frequency":
        counts = np.bincount(column.before[column.present], minlength=len(column.labels))
        codes = codes[np.argsort(-counts[codes], kind="stable")]
    return _ranked(column, codes)


def in_order_of_codes(column: "KnownColumn") -> "KnownColumn":
    """Return a column of texts by their ranks, if all are codes of one form that hold numbers.

    Such as S00123, 1990-A12 or 7:05, in the order of their letters and numbers from left to right.
    """
    if column.is_number or not column.is_exact:
        return column
    first = int(column.has_missing)
    parts = [_NUMBER.split(str(text)) for text in column.labels[first:]]
    if len(parts) < _FEWEST or len(parts[0]) == 1 or len({*map(_form, parts)}) > 1:
        return column
    keys = [_key(one) for one in parts]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return _ranked(column, first + np.array(order))


def _form(parts: list[str]) -> tuple[str, ...]:
    """Return what is between the numbers of a text, all letters alike."""
    return tuple(re.sub(r"[^\W\d_]", "a", one) for one in parts[::2])


def _key(parts: list[str]) -> tuple[str | int, ...]:
    return tuple(int(one) if place % 2 else one for place, one in enumerate(parts))


def _ranked(column: "KnownColumn", ordered: Ints) -> "KnownColumn":
    """Return a column whose values are the ranks that its codes, in an order, have among those
    released: each in the middle of its equals, others between their neighbours."""
    counts = np.bincount(column.released_codes(), minlength=len(column.labels))[ordered]
    values = np.zeros(len(column.labels))
    values[ordered] = np.cumsum(counts) - counts / 2
    return replace(column, values=values, is_number=True, is_ranked=True, is_ordinal=True)
