"""Records of outputs drawn at random, half of each rule's to be released.

As in "Generation of synthetic training and test data" of J. Domingo-Ferrer and A. Blanco-Justicia
(2021): an output that fits the type of analysis, Confidential at random, the attributes that the
rule has by their meaning, all others blank, and the decision by the rule. The ranges are not
published; here they are parameters.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.output_records import (
    RecordArrays,
    decide_records,
    joined_records,
)
from policy_engine.methods.output_checks.fourteen_rules import (
    ATTRIBUTES,
    FOURTEEN_RULES,
    OutputRule,
)

_ATTEMPTS = 4
_CATEGORIES = 20
_ISOLATED = (-1.0, 0.0, 1.0)


@dataclass(frozen=True)
class DrawnRanges:
    """From where values are drawn, both ends included.

    Counts of units and degrees of freedom are drawn evenly from `counts`, or so that their
    logarithm is even; shares from 0 to 1, variables from `variables`. `isolated` is the share of
    correlations that are exactly -1, 0 or 1, and real outputs have the deviation `scale`.
    """

    counts: tuple[int, int] = (1, 10_000)
    is_logarithmic: bool = True
    variables: tuple[int, int] = (1, 10)
    isolated: float = 0.3
    scale: float = 100.0


@dataclass(frozen=True, eq=False)
class DecidedRecords:
    """Records of n outputs, and which of them were released, (n,)."""

    records: RecordArrays
    is_released: NDArray[np.bool_]

    def take(self, rows: NDArray[np.int64]) -> "DecidedRecords":
        """Return some rows, in their order."""
        return DecidedRecords(self.records.take(rows), self.is_released[rows])


DEFAULT_RANGES = DrawnRanges()


def draw_records(
    count: int,
    random: np.random.Generator,
    ranges: DrawnRanges = DEFAULT_RANGES,
    places: Sequence[int] = tuple(range(len(FOURTEEN_RULES))),
) -> DecidedRecords:
    """Return about `count` records of some rules in a random order, the same number of each.

    Of each rule half are released and half are not, so the number is rounded up to twice the
    number of rules. `places` are those of the rules in the table.
    """
    each = -(-count // (2 * len(places)))
    parts = [_balanced(place, each, random, ranges) for place in places]
    records = joined_records(parts)
    rows = random.permutation(len(records))
    return DecidedRecords(records, decide_records(records)).take(rows)


def _balanced(
    place: int, each: int, random: np.random.Generator, ranges: DrawnRanges
) -> RecordArrays:
    """Return so many records of a rule that are released, and as many that are not."""
    parts: dict[bool, list[RecordArrays]] = {True: [], False: []}
    needed = {True: each, False: each}
    while any(needed.values()):
        drawn = _draw_of_rule(place, _ATTEMPTS * each, random, ranges)
        is_released = decide_records(drawn)
        for decision in (True, False):
            rows = np.flatnonzero(is_released == decision)[: needed[decision]]
            parts[decision].append(drawn.take(rows))
            needed[decision] -= len(rows)
    return joined_records([*parts[True], *parts[False]])


def _draw_of_rule(
    place: int, count: int, random: np.random.Generator, ranges: DrawnRanges
) -> RecordArrays:
    rule = FOURTEEN_RULES[place]
    values = np.full((count, len(ATTRIBUTES)), np.nan)
    for column, attribute in enumerate(ATTRIBUTES):
        if attribute.name == "Output":
            values[:, column] = _outputs(rule, count, random, ranges)
        elif attribute.name == "NumberOfVariables" and attribute.name in rule.context:
            values[:, column] = random.integers(*ranges.variables, count, endpoint=True)
        elif attribute.name in rule.context:
            values[:, column] = _context(attribute.kind, count, random, ranges)
    return RecordArrays(np.full(count, place, np.int64), random.random(count) < 0.5, values)


def _context(
    kind: str, count: int, random: np.random.Generator, ranges: DrawnRanges
) -> NDArray[np.float64]:
    if kind == "answer":
        return random.integers(0, 2, count).astype(np.float64)
    if kind == "share":
        return random.random(count)
    low, high = ranges.counts
    if ranges.is_logarithmic:
        return np.floor(np.exp(random.uniform(np.log(low), np.log(high + 1), count)))
    return random.integers(low, high, count, endpoint=True).astype(np.float64)


def _outputs(
    rule: OutputRule, count: int, random: np.random.Generator, ranges: DrawnRanges
) -> NDArray[np.float64]:
    """Return outputs of the domain of a rule, categories as numbers."""
    match rule.domain:
        case "share":
            return random.random(count)
        case "share of two digits":
            return np.round(random.random(count), 2)
        case "category":
            return random.integers(0, _CATEGORIES, count).astype(np.float64)
        case "correlation":
            is_isolated = random.random(count) < ranges.isolated
            return np.where(
                is_isolated, random.choice(_ISOLATED, count), random.uniform(-1, 1, count)
            )
        case "real number":
            return random.normal(0, ranges.scale, count)
