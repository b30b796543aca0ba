"""Answers for tests of the output ledger: tables of counts and sums over few units."""

import numpy as np

from policy_engine.release.output_ledger import OutputAnswer, OutputCell, Populations

DATASET = "http://example.com/People"


def answer(populations, *cells, scopes=("organisation:x",), data="1", **options):
    """Return an answer of cells about populations."""
    return OutputAnswer(DATASET, data, scopes, populations, cells, **options)


def counts(populations, threshold=3, hidden=(), measure="count", **options):
    """Return an answer that counts the units of populations, of which some are suppressed."""
    cells = [
        OutputCell(
            number, measure, float(members.sum()), threshold, is_released=number not in hidden
        )
        for number, members in enumerate(masks(populations))
    ]
    return answer(populations, *cells, **options)


def masks(populations):
    """Return whether each unit is in each population: (populations, units)."""
    rows = []
    for block in populations.blocks:
        if hasattr(block, "labels"):
            rows += [block.labels == number for number in range(block.count)]
        else:
            rows += [*np.unpackbits(block.bits, axis=1, count=populations.units).astype(bool)]
    return np.array(rows)


def one_of(units, members):
    """Return a single population of some of the units."""
    mask = np.zeros((1, units), bool)
    mask[0, [*members]] = True
    return Populations.of_masks(mask)
