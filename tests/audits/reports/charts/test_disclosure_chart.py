import re

import pytest

from policy_engine.audits.reports.charts.disclosure import (
    distribution_chart,
    linkage_chart,
    risk_utility_chart,
)
from policy_engine.kernels.estimates import Estimate

ATTACKS = [f"attack {number}" for number in range(20)]


@pytest.mark.nightly
def test_more_attacks_than_colours_are_all_drawn():
    points = [(1, Estimate(value=0.1, low=0.05, high=0.2))]
    picture = linkage_chart(dict.fromkeys(ATTACKS, points), 0.01)
    assert all(name in picture for name in ATTACKS)
    picture = distribution_chart(dict.fromkeys(ATTACKS, ([0.1, 0.5], [1.0, 0.2])))
    assert all(name in picture for name in ATTACKS)


def test_attacks_that_reach_the_same_do_not_hide_each_other():
    points = [(1, Estimate(value=0.1, low=0.05, high=0.2))]
    picture = linkage_chart({"first": points, "second": points}, 0.01)
    bars = [re.search(rf'linkage-LineCollection_{n}".*? d="M ([\d.]+)', picture, re.DOTALL)
            for n in (1, 2)]  # fmt: skip
    assert float(bars[0][1]) < float(bars[1][1])


def test_names_of_releases_are_above_their_picture():
    linked = Estimate(value=0.1, low=0.05, high=0.9)
    picture = risk_utility_chart([("a.csv", 0.1, linked), ("b.csv", 0.2, linked)])
    legend, bar = (
        float(re.search(rf'id="releases-{kind}_1".*? d="M [\d.]+ ([\d.]+)', picture, re.DOTALL)[1])
        for kind in ("legend", "LineCollection")
    )
    assert legend < bar
