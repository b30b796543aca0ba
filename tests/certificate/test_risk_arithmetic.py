"""Figures of risk, against all ways to divide a few records into classes."""

from itertools import product

import pytest

from policy_engine.certificate.risk_arithmetic import _have_classes


def divided(records, least=1):
    """Yield the sizes of classes of so many records, each in ascending order."""
    if records >= least:
        yield (records,)
    for size in range(least, records // 2 + 1):
        yield from ((size, *others) for others in divided(records - size, size))


def told(uniques, classes, smallest, records):
    return {
        "uniques": round(uniques / records, 9),
        "meanRisk": round(classes / records, 9),
        "largestRisk": round(1 / smallest, 9),
    }


@pytest.mark.parametrize("records", range(1, 9))
def test_figures_are_those_of_some_classes(records):
    ways = [told(one.count(1), len(one), one[0], records) for one in divided(records)]
    counts = range(1, records + 1)
    for uniques, classes, smallest in product((0, *counts), counts, counts):
        risks = told(uniques, classes, smallest, records)
        for names in (["uniques", "meanRisk"], ["meanRisk", "largestRisk"], [*risks]):
            some = {name: risks[name] for name in names}
            assert _have_classes(some, records) == any(some.items() <= one.items() for one in ways)


@pytest.mark.parametrize(
    ("largest", "mean", "is_possible"),
    [
        (1 / 400, 1 / 400, True),  # one class
        (0.5, 1 / 400, False),
        (1 / 399, 2 / 400, False),  # the other class would have one record
        (1 / 200, 2 / 400, True),
        (1 / 200, 3 / 400, False),
    ],
)
def test_the_smallest_of_several_classes_has_half_of_the_records_at_most(
    largest, mean, is_possible
):
    risks = {"largestRisk": round(largest, 9), "meanRisk": round(mean, 9)}
    assert _have_classes(risks, 400) == is_possible


def test_figures_of_many_records_are_rounded():
    sizes = (31_623, 31_624, 10**9)
    risks = {"largestRisk": round(1 / sizes[0], 9), "meanRisk": round(3 / sum(sizes), 9)}
    assert _have_classes({"uniques": 0.0, **risks}, sum(sizes))
