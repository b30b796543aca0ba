"""The exact statistics of groups, of rows whose contributions were bounded: never released."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_texts
from policy_engine.engines.person_spellings import encoded_persons
from policy_engine.engines.statistics.contributions import (
    ABSENT,
    Integers,
    Tallied,
    exact_sums,
    pair_counts,
    row_values,
    tallied,
)
from policy_engine.engines.statistics.row_cells import check_types, encoded, texts_of
from policy_engine.engines.statistics.row_conditions import counted_rows
from policy_engine.engines.value_words import dictionary_indices, value_words
from policy_engine.errors import InternalError
from policy_engine.kernels.differential_privacy.contributions import bound_contributions
from policy_engine.kernels.siphash import Words, key_words
from policy_engine.plan.aggregates.model import AddedNoise
from policy_engine.plan.steps import AggregateStep

Key = tuple[str, ...]


@dataclass(frozen=True)
class Tallies:
    """The exact statistics of every group: secret, and the only thing that noise is added to.

    `keys` are the groups, (groups,): all public ones in their order, or those of the data in the
    order of their texts. `units` are the units of privacy in each, (groups,). `sums` has one entry
    for each quantity of the plan: the sums, a list of (groups,) integers of any size or, where the
    quantity has options, how many rows chose each, (groups, options). Of a synthetic table, those
    of its pairs of columns follow.
    """

    keys: tuple[Key, ...]
    units: Sequence[int] = field(repr=False)
    sums: Sequence[Sequence[int] | Integers] = field(repr=False)


@dataclass(frozen=True)
class Coded:
    """A column as codes, `ABSENT` for missing values, and the text of each code."""

    codes: Integers
    texts: tuple[str, ...]


def code_texts(column: pa.ChunkedArray | pa.Array) -> Coded:
    """Return a column by the texts of its values; empty texts are missing."""
    values = encoded(column)
    texts = texts_of(values.dictionary)
    places: dict[str, int] = {}
    codes = [places.setdefault(text, len(places)) if text else ABSENT for text in texts]
    rows = dictionary_indices(values)
    return Coded(np.append(codes, ABSENT).astype(np.int64)[rows], tuple(places))


def code_units(column: pa.ChunkedArray) -> Coded:
    """Return the persons of rows by the texts by which they are known; blank ones are missing."""
    return code_texts(encoded_persons(column))


def group_rows(
    table: pa.Table, step: AggregateStep, public: Sequence[Key] | None
) -> tuple[Integers, tuple[Key, ...]]:
    """Return the group of every row, `ABSENT` for rows of none, (rows,), and the keys of groups."""
    if not step.group_by:
        return np.zeros(table.num_rows, dtype=np.int64), ((),)
    columns = [code_texts(table.column(name)) for name in step.group_names]
    combined = columns[0].codes.copy()
    for one in columns[1:]:
        combined, missing = (
            combined * (len(one.texts) + 1) + one.codes,
            ((combined == ABSENT) | (one.codes == ABSENT)),
        )
        combined = np.unique(combined, return_inverse=True)[1].astype(np.int64)
        combined[missing] = ABSENT
    present = combined != ABSENT
    distinct, first = np.unique(combined[present], return_index=True)
    rows = np.flatnonzero(present)[first]
    keys = [tuple(one.texts[one.codes[row]] for one in columns) for row in rows]
    order = {key: place for place, key in enumerate(public if public is not None else sorted(keys))}
    place_of = np.full((int(distinct[-1]) + 1) if len(distinct) else 1, ABSENT, dtype=np.int64)
    for code, key in zip(distinct, keys, strict=True):
        place_of[code] = order.get(key, ABSENT)
    groups = np.where(present, place_of[np.where(present, combined, 0)], ABSENT)
    return groups, tuple(order)


def tally_table(
    table: pa.Table, step: AggregateStep, public: Sequence[Key] | None, secret: bytes
) -> Tallies:
    """Return the exact statistics of a table, with the contributions of units bounded.

    `public` are the keys of groups, None where the data have them; `secret` decides which rows of a
    unit are used. Rows without a unit or a group, or that do not satisfy the conditions of the
    step, are left out; so are those that have no value of a synthetic column. Raises DataError
    (C009) for columns whose values have no text.
    """
    check_types(table.schema, step.columns_used)
    units = code_units(table.column(step.unit))
    groups, keys = group_rows(table, step, public)
    values = row_values(table, step)
    is_counted = counted_rows(table, step)
    if step.is_synthetic:
        is_counted &= np.all([one != ABSENT for one in values], axis=0)
    used = np.flatnonzero((units.codes != ABSENT) & (groups != ABSENT) & is_counted)
    chosen = _bounded(units, groups, keys, values, used, step, secret, step.max_rows)
    if step.max_rows > 1 and any(one.quantity == "counts" for one in tallied(step)):
        first = _bounded(units, groups, keys, values, used, step, secret, 1)
        values = _once(values, used[~first], step)
    kept = used[chosen]
    order = kept[np.argsort(groups[kept], kind="stable")]
    sorted_groups, own_values = groups[order], [one[order] for one in values]
    own_units = units.codes[order]
    check_contributions(own_units, sorted_groups, own_values, step)
    return _summed(own_units, sorted_groups, own_values, keys, step)


def _bounded(
    units: Coded,
    groups: Integers,
    keys: Sequence[Key],
    values: Sequence[Integers],
    used: NDArray[np.intp],
    step: AggregateStep,
    secret: bytes,
    max_rows: int,
) -> NDArray[np.bool_]:
    """Return which of the rows that have a unit and a group are used, within the bounds."""
    unit_words = text_words(units.texts, secret)[units.codes[used]]
    group_words = text_words([key_text(one) for one in keys], secret)[groups[used]]
    row_words = np.stack([one[used] for one in values], axis=1).view(np.uint64)
    return bound_contributions(
        unit_words, group_words, row_words, secret, step.max_groups, max_rows
    )


def _once(
    values: Sequence[Integers], others: NDArray[np.intp], step: AggregateStep
) -> list[Integers]:
    """Return what rows add, where all but one row of a unit in a group are in no histogram."""
    changed = []
    for one, added in zip(tallied(step), values, strict=True):
        once = added.copy() if one.quantity == "counts" else added
        if one.quantity == "counts":
            once[others] = ABSENT
        changed.append(once)
    return changed


def text_words(texts: Sequence[str], secret: bytes) -> Words:
    """Return two words for every text under a secret, (texts, 2)."""
    return value_words(from_texts(texts), key_words(secret))


def key_text(key: Key) -> str:
    """Return one text for the key of a group; those of different keys differ."""
    return json.dumps(key, ensure_ascii=False)


def check_contributions(
    units: Integers, groups: Integers, values: Sequence[Integers], step: AggregateStep
) -> None:
    """Raise InternalError (X001) where a unit adds more than the noise is for.

    `units` and `groups` are the codes of the rows that are used, `values` what they add. This is
    counted anew, by other means than they were chosen by, before any noise is drawn.
    """
    pairs, rows = np.unique(_pairs(units, groups), return_counts=True)
    groups_of_unit = np.unique(pairs // _width(groups), return_counts=True)[1]
    holds = not len(rows) or (
        rows.max() <= step.max_rows and groups_of_unit.max() <= step.max_groups
    )
    for one, noise, added in zip(
        tallied(step),
        (noise for figure in step.figures for noise in figure.noise),
        values,
        strict=True,
    ):
        if one.quantity == "counts":
            counted = _pairs(units, groups)[added != ABSENT]
            holds = holds and len(np.unique(counted)) == len(counted)
        low, high = (ABSENT, one.options - 1) if one.options else _range(noise, step)
        holds = holds and not ((added < low) | (added > high)).any()
    if not holds:
        raise InternalError.of("X001", "A unit of privacy adds more than the noise is for.")


def _pairs(units: Integers, groups: Integers) -> Integers:
    """Return one code for every unit in a group."""
    return units * _width(groups) + groups


def _width(groups: Integers) -> int:
    return int(groups.max(initial=0)) + 1


def _range(noise: AddedNoise, step: AggregateStep) -> tuple[int, int]:
    most = noise.sensitivity if noise.quantity == "units" else noise.sensitivity // step.max_rows
    return -most, most


def _summed(
    units: Integers,
    groups: Integers,
    values: Sequence[Integers],
    keys: tuple[Key, ...],
    step: AggregateStep,
) -> Tallies:
    """Return the statistics of rows in the order of their groups."""
    units_in_groups = np.unique(_pairs(units, groups)) % _width(groups)
    in_group = np.bincount(units_in_groups, minlength=len(keys)).tolist()
    starts = np.flatnonzero(np.diff(groups, prepend=-1)) if len(groups) else np.zeros(0, np.intp)
    sums = [
        in_group
        if one.quantity == "units"
        else _counts(groups, added, len(keys), one)
        if one.options
        else _sums(groups, added, starts, len(keys))
        for one, added in zip(tallied(step), values, strict=True)
    ]
    return Tallies(keys, in_group, [*sums, *pair_counts(values, step)])


def _counts(groups: Integers, options: Integers, number: int, one: Tallied) -> Integers:
    """Return how many rows of each group chose each option, (groups, options)."""
    chose = options != ABSENT
    places = groups[chose] * one.options + options[chose]
    counts = np.bincount(places, minlength=number * one.options)
    return counts.reshape(number, one.options).astype(np.int64)


def _sums(
    groups: Integers, values: Integers, starts: NDArray[np.intp], number: int
) -> Sequence[int]:
    sums = [0] * number
    if len(starts):
        for group, one in zip(groups[starts].tolist(), exact_sums(values, starts), strict=True):
            sums[group] = one
    return sums


def merged(parts: Sequence[Tallies], step: AggregateStep, public: Sequence[Key] | None) -> Tallies:
    """Return the statistics of parts of a table that have no unit in common."""
    all_keys = {key for part in parts for key in part.keys}
    keys = tuple(public) if public is not None else tuple(sorted(all_keys))
    place_of = {key: place for place, key in enumerate(keys)}
    units = [0] * len(keys)
    options = [one.options for one in tallied(step)]
    sizes = [one.options for one in step.figures]
    options += [sizes[one] * sizes[other] for one, other in step.pairs]
    sums = [
        np.zeros((len(keys), number), np.int64) if number else [0] * len(keys) for number in options
    ]
    for part in parts:
        for own, key in enumerate(part.keys):
            place = place_of[key]
            units[place] += part.units[own]
            for total, added in zip(sums, part.sums, strict=True):
                total[place] += added[own]
    return Tallies(keys, units, sums)
