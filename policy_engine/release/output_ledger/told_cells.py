"""Released cells that tell something together, and by how much their values differ."""

from collections.abc import Callable, Collection, Iterator

from policy_engine.release.output_ledger.answers import (
    COUNT,
    ToldCell,
    column_of,
    systems_of,
)
from policy_engine.release.output_ledger.knowledge import Knowledge


def told_cells(
    after: Knowledge, numbers: Collection[int], is_meant: Callable[[str], bool]
) -> tuple[ToldCell, ...]:
    """Return the released cells of some populations whose measures are meant, the earliest of each
    population."""
    return tuple(
        min(own, key=lambda one: (one.entry == 0, one.entry, one.measure, one.condition))
        for number in sorted(numbers)
        if (own := [*_cells_of(after, number, is_meant)])
    )


def _cells_of(after: Knowledge, number: int, is_meant: Callable[[str], bool]) -> Iterator[ToldCell]:
    for measure, numbers in after.released.items():
        if number in numbers and is_meant(measure):
            conditions = sorted(after.conditions.get((measure, number), ())) or [""]
            entry = after.entries.get((measure, number), 0)
            yield ToldCell(measure, after.sizes[number], conditions[0], entry)


def released_value(after: Knowledge, name: str, number: int) -> float | None:
    """Return the sum of a population that was released, as such or as a mean: who knows that may
    know of how many units it is."""
    for measure in (name, f"mean:{column_of(name)}"):
        value = after.values.get((measure, number))
        if value is not None and number in after.released.get(measure, ()):
            return value if measure == name else value * after.sizes[number]
    return None


def difference_value(after: Knowledge, measure: str, one: int, other: int) -> float | None:
    """Return by how much a total or a count of one population is more than that of another, which
    it has all units of, or less; None for other measures."""
    names = systems_of(measure)
    if not names:
        return None
    if names[-1] == COUNT:
        return float(abs(after.sizes[one] - after.sizes[other]))
    values = [released_value(after, names[-1], number) for number in (one, other)]
    if values[0] is None or values[1] is None:
        return None
    larger = after.sizes[one] >= after.sizes[other]
    return values[0] - values[1] if larger else values[1] - values[0]
