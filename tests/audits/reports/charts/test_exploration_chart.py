import re

from policy_engine.audits.reports.charts import line_chart
from policy_engine.audits.reports.charts.exploration import (
    MapPoint,
    RiskUtilityMap,
    risk_utility_file,
    risk_utility_picture,
)
from policy_engine.audits.reports.exploration import ExplorationPage, exploration_page
from policy_engine.kernels.estimates import Estimate

EVIL = "<script>alert(1)</script>"


def point(label, lost, linked):
    return MapPoint("", label, lost, lost, lost, Estimate(value=linked, low=linked, high=linked))


MAP = RiskUtilityMap("error", [point("a", 0.1, 0.3), point("b", 0.2, 0.4), point("c", 0.3, 0.1)])


def texts(svg):
    return re.sub(r"\s+", " ", " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg)))


def test_the_front_leaves_out_what_another_setting_beats():
    # b loses more than a, and links more, too.
    assert MAP.front == (0, 2)


def test_a_map_names_its_scales_and_its_front():
    told = texts(risk_utility_picture(MAP))
    assert "lost: error (linear scale)" in told
    assert "risk: records linked by the strongest attack (linear scale)" in told
    assert "Pareto front" in told
    alone = RiskUtilityMap("error", [point("a", 0.1, 0.3)])
    assert "Pareto front" not in texts(risk_utility_picture(alone))


def test_pictures_that_stand_alone_have_a_title():
    svg = risk_utility_file(MAP, "Risk against loss: p.yaml on people.csv", "svg").decode()
    assert "Risk against loss: p.yaml on people.csv" in texts(svg)
    lines = {"": ((2.0, 0.1), (5.0, 0.2))}
    svg = line_chart(lines, ("k", "loss"), "Loss against k: people.csv", "svg").decode()
    assert "Loss against k: people.csv" in texts(svg)
    assert "k (logarithmic scale)" in texts(svg)
    assert "loss (linear scale)" in texts(svg)


def test_a_page_says_of_what_it_is_and_escapes_it():
    page = exploration_page(
        ExplorationPage(EVIL, EVIL, {EVIL: EVIL}, MAP, (EVIL,), [(EVIL,)], notes=[EVIL])
    )
    assert "<script" not in page
    assert "<h3>Risk against loss: &lt;script&gt;" in page
    assert "://" not in page
