import re

import pytest
from audits_made import attack

from policy_engine.audits.membership.figures import Roc
from policy_engine.audits.reports.charts.rates import RocLine, roc_chart

NAMES = ("lira-online", "lira-offline", "rmia", "shokri", "calibrated-loss", "loss", "entropy")


def line(one):
    return RocLine(one.attack, one.roc, one.figures.non_members, one.ranks)


def words(svg):
    return re.findall(r"<text[^>]*>([^<]+)</text>", svg)


def test_the_legend_is_in_the_order_of_the_curves():
    """Curves of the same form, each higher than the one before."""
    lines = [
        line(attack(name, roc=Roc(fpr=(0.0, 0.5, 1.0), tpr=(0.0, 0.5 + place / 20, 1.0))))
        for place, name in enumerate(NAMES)
    ]
    named = [word for word in words(roc_chart(lines, "rmia")) if word in NAMES]
    assert named == [*reversed(NAMES)]


def test_curves_differ_by_stroke_and_mark_and_not_by_colour_alone():
    svg = roc_chart([line(attack(name, 0.1 * place)) for place, name in enumerate(NAMES)], "rmia")
    curves = [part for part in svg.split('<g id="roc-line2d')[1:] if "var(--hue" in part]
    drawn = [part for part in curves if "clip-path" in part]
    looks = {
        (re.findall(r"stroke-dasharray: ([^;\"]*)", part)[:1] or ["-"])[0]
        + re.findall(r'<path id="roc-[^"]*" d="([^"]*)"', part, re.DOTALL)[0]
        for part in drawn
    }
    assert len(drawn) == len(looks) == len(NAMES)


@pytest.mark.parametrize("names", [NAMES, ("label-only",)])
def test_the_legend_stands_beside_the_axes(names):
    svg = roc_chart([line(attack(name, 0.4)) for name in names], names[0])
    edge = max(float(x) for x in re.findall(r"patch_2.*?L ([\d.]+) ", svg, re.DOTALL)[:1])
    legend = svg[svg.index("legend_1") :]
    assert min(float(x) for x in re.findall(r"M ([\d.]+) ", legend)[:1]) > edge


def test_between_two_thresholds_a_coin_decides():
    """From (0, 0) straight to (.5, 1): at half the rate half of the members are found."""
    straight = Roc(fpr=(0.0, 0.5, 1.0), tpr=(0.0, 1.0, 1.0))
    from policy_engine.audits.reports.charts.rates import _curve, _height

    fpr, tpr = _curve(straight, 0.01)
    assert all(y == pytest.approx(min(2 * x, 1)) for x, y in zip(fpr, tpr, strict=True))
    assert _height(straight, 0.01) > _height(Roc(fpr=(0.0, 1.0), tpr=(0.0, 1.0)), 0.01)
