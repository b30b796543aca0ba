"""The ranges of numbers in randomized response: as declared, or read off the records."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.randomized_response import Bins
from policy_engine.audits.membership.records import Records
from policy_engine.errors import AuditError, Problem, did_you_mean, join_names

Range = tuple[str, float, float]
"""A column, and the declared ends of the range of its numbers."""


def bins_of(records: Records, count: int, ranges: Sequence[Range] = ()) -> Bins:
    """Return so many bins for columns of numbers, declared ranges in the units of the features.

    Raises AuditError (A006) with all ranges of what is not a column of numbers.
    """
    ends_by_column, problems = {}, list[Problem]()
    names = {name for name, _ in _numeric_columns(records)}
    for name, low, high in ranges:
        if name in names:
            ends_by_column[name] = _feature_range(records, name, (low, high))
        else:
            message = f"There is no numeric column {name!r} to set a range for."
            problems.append(Problem("A006", message, did_you_mean(name, names)))
    if problems:
        raise AuditError(*problems)
    return Bins(count, ends_by_column)


def describe_bins(records: Records, bins: Bins) -> Iterator[str]:
    """Yield which columns are answered in bins, and whose ends were read off the records."""
    columns = [(name, place) for name, place in _numeric_features(records)]
    needed = list(
        dict.fromkeys(
            name for name, place in columns if bins.is_binned(name, records.features[:, place])
        )
    )
    observed = [name for name in needed if name not in bins.ranges]
    declared = [name for name in needed if name in bins.ranges]
    if declared:
        yield f"{_format_binned(declared, bins)}, between the ends that were declared."
    if observed:
        yield (
            f"{_format_binned(observed, bins)}, between the smallest and the largest number in the "
            "records, which were read off them without noise."
        )


def _format_binned(names: Sequence[str], bins: Bins) -> str:
    return f"Numbers of {join_names(names)} were answered as the middle of one of {bins.count} bins"


def _numeric_features(records: Records) -> Iterator[tuple[str, int]]:
    """Yield the name and the place of every feature that is a number."""
    start = 0
    for column in records.encoding:
        if column.kind in ("number", "levels", "kept"):
            yield from ((column.name, start + place) for place in range(column.width))
        start += column.width


def _numeric_columns(records: Records) -> Iterator[tuple[str, int]]:
    """Yield the name and the place of every column of a table that holds numbers as such."""
    for name, place in _numeric_features(records):
        if name in records.columns and _column_numbers(records, name) is not None:
            yield name, place


def _column_numbers(records: Records, name: str) -> NDArray[np.float64] | None:
    try:
        return records.columns[name].astype(np.float64)
    except (TypeError, ValueError):
        return None


def _feature_range(records: Records, name: str, ends: tuple[float, float]) -> tuple[float, float]:
    """Return ends in the units of a feature, which grows in proportion to the numbers."""
    numbers, place = _column_numbers(records, name), dict(_numeric_columns(records))[name]
    assert numbers is not None  # noqa: S101 (only such columns get here)
    features = records.features[:, place].astype(np.float64)
    least, most = int(numbers.argmin()), int(numbers.argmax())
    spread = numbers[most] - numbers[least]
    slope = (features[most] - features[least]) / spread if spread else 1.0
    low, high = (float(features[least] + slope * (end - numbers[least])) for end in ends)
    return low, high
