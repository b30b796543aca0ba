from policy_engine.audits.reports.charts.disclosure import distribution_chart, linkage_chart
from policy_engine.kernels.estimates import Estimate

ATTACKS = [f"attack {number}" for number in range(20)]


def test_more_attacks_than_colours_are_all_drawn():
    points = [(1, Estimate(value=0.1, low=0.05, high=0.2))]
    picture = linkage_chart(dict.fromkeys(ATTACKS, points), 0.01)
    assert all(name in picture for name in ATTACKS)
    picture = distribution_chart(dict.fromkeys(ATTACKS, ([0.1, 0.5], [1.0, 0.2])))
    assert all(name in picture for name in ATTACKS)
