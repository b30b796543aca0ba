"""Records that are nearly the same as others: in all texts, and in numbers to some of a deviation.

Records with few columns may be as near by chance. So near records are counted only where there are
far more of them than of records that are three cells apart in one column of numbers, and as near in
all others: copies are close to their original, similar records may be anywhere.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.records import Records
from policy_engine.audits.membership.splits import Splits

Bools = NDArray[np.bool_]
Keys = NDArray[np.uint64]

CELLS = (5, 20, 100)
"""How many cells a deviation is cut into."""
_APART = 3
_ENOUGH = 20
"""Of fewer cells a column is not a measure of chance: its values are far apart."""
_MOST = 20
_EXCESS, _FEW = 3, 3
_LEAST = 1e-12
_NUMBERS = ("number", "levels", "kept")
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def repeated_members(keys: Keys, splits: Splits) -> Bools:
    """Return which members' keys are among the others', and which in the shadows' pool, (2, m)."""
    members = keys[splits.target_train]
    pools = [*splits.shadow_train, *splits.shadow_test]
    pool = keys[np.unique(np.concatenate(pools))] if pools else keys[:0]
    return np.stack([np.isin(members, keys[splits.target_test]), np.isin(members, pool)])


def nearly_repeated_members(
    records: Records, splits: Splits, text_codes: NDArray[np.int64], same: Bools
) -> tuple[Bools, int]:
    """Return which members are nearly repeated among the others, and in the shadows' pool, (2, m).

    `text_codes` (n,) is a number for each record, the same for those whose texts and label are;
    `same`, (2, m), tells of which members that is known of the very same records. Numbers are put
    into cells of several sizes, and of each into two grids, half a cell apart. False of all of a
    side where chance does it. The second value is into how many cells a deviation was cut, for the
    largest that found any.
    """
    repeated, coarsest = np.zeros((2, len(splits.target_train)), dtype=np.bool_), 0
    if any(one.kind in _NUMBERS for one in records.encoding):
        columns = [*_numbers(records)]
        for size in CELLS:
            near = _near_members(columns, size, splits, (text_codes, same))
            repeated |= near
            coarsest = coarsest or (size if near.any() else 0)
    return repeated, coarsest


def _near_members(
    columns: list[NDArray[np.float64]],
    size: int,
    splits: Splits,
    text_codes_and_same: tuple[NDArray[np.int64], Bools],
) -> Bools:
    repeated = np.zeros((2, len(splits.target_train)), dtype=np.bool_)
    for shift in (0.0, 0.5):
        cells = [np.floor(one * size + shift).astype(np.int64) for one in columns]
        sums = _mix(text_codes_and_same[0].astype(np.uint64))
        for place, one in enumerate(cells):
            sums = sums + _hash_cells(one, place)
        near, chance = (
            repeated_members(sums, splits) & ~text_codes_and_same[1],
            _chance_matches(cells, sums, splits),
        )
        if chance is not None:
            is_more = near.sum(axis=1) > _EXCESS * chance + _FEW
            repeated |= near & is_more[:, None]
    return repeated


def _chance_matches(
    cells: list[NDArray[np.int64]], sums: Keys, splits: Splits
) -> NDArray[np.int64] | None:
    """Return how many members have another some cells apart in a column, of that with most, (2,).

    None where no column tells.
    """
    sizes = [len(np.unique(one)) for one in cells]
    finest = sorted(range(len(cells)), key=lambda place: -sizes[place])[:_MOST]
    counts = []
    for place in finest:
        if sizes[place] >= _ENOUGH:
            shifted = sums.copy()
            rows, cell = splits.target_train, cells[place][splits.target_train]
            shifted[rows] += _hash_cells(cell + _APART, place) - _hash_cells(cell, place)
            counts.append(repeated_members(shifted, splits).sum(axis=1))
    return np.max(counts, axis=0) if counts else None


def _numbers(records: Records) -> Iterator[NDArray[np.float64]]:
    """Yield every column of numbers in deviations, (n,), as it was read where that is known.

    Bits are yielded unchanged.
    """
    start = 0
    for one in records.encoding:
        end = start + one.width
        numbers = None
        if one.kind in ("number", "levels") and one.name in records.columns:
            numbers = _as_numbers(records.columns[one.name])
        if numbers is not None:
            yield _standardise(numbers)
        elif one.kind in (*_NUMBERS, "bits"):
            for place in range(start, end):
                values = records.features[:, place].astype(np.float64)
                yield values if one.kind == "bits" else _standardise(values)
        start = end


def _as_numbers(texts: NDArray[np.object_]) -> NDArray[np.float64] | None:
    codes: dict[str, int] = {}
    rows = np.array([codes.setdefault(text, len(codes)) for text in texts.tolist()], np.int64)
    try:
        return np.array([float(text) if text else np.nan for text in codes])[rows]
    except ValueError:
        return None


def _standardise(values: NDArray[np.float64]) -> NDArray[np.float64]:
    finite = values[np.isfinite(values)]
    scale = max(float(finite.std()) if len(finite) else 0.0, _LEAST)
    return np.clip(np.nan_to_num(values / scale, nan=_MISSING), -_MISSING, _MISSING)


_MISSING = 1e9


def _hash_cells(cells: NDArray[np.int64], column: int) -> Keys:
    return _mix(cells.astype(np.uint64) ^ _mix(np.array([column + 1], np.uint64)))


def _mix(values: Keys) -> Keys:
    values = (values ^ (values >> np.uint64(30))) * _FIRST
    values = (values ^ (values >> np.uint64(27))) * _SECOND
    return values ^ (values >> np.uint64(31))
