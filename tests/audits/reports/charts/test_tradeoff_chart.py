from itertools import combinations

import pytest
from audits_made import NONE, point, tradeoff
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from policy_engine.audits.reports.charts import canvas
from policy_engine.audits.reports.charts.tradeoff import _name_points, _places, tradeoff_chart
from policy_engine.errors import DataError


@pytest.mark.nightly
def test_each_kind_of_privacy_has_its_row_of_panels():
    central, local = point("central", 2.74, phi_precision=50.0), point("local", 6_000.0, setting=8)
    both = tradeoff_chart(tradeoff(central, local), "svg").decode()
    assert both.count(">Noise in the training (central DP)<") == 1
    assert both.count(">Noise in the data (local DP, randomized response)<") == 1
    assert both.count(">Mitigation efficiency phi<") == 2
    assert both.count(">mean over classes<") == 4
    assert all(f">{name}<" in both for name in ("none", "2.74", "8", "6,000"))
    assert ">30<" in both  # phi over its order: 50 is large


@pytest.mark.nightly
def test_several_lines_have_their_names_and_share_what_they_have_in_common():
    one = tradeoff(point("central", 2.74))
    drawn = tradeoff_chart({"C = 10": one, "C = 20": one}, "svg").decode()
    assert all(drawn.count(f">{name}<") == 2 for name in ("C = 10", "C = 20"))
    assert "mean over classes" not in drawn
    assert drawn.count(">a guess<") == 5


@pytest.mark.nightly
def test_lines_of_other_grids_stand_each_at_its_own_epsilon():
    points = [
        point("central", epsilon).model_copy(update={"setting": noise})
        for noise, epsilon in ((2.0, 2.74), (4.0, 1.17), (16.0, 0.24))
    ]
    long = tradeoff(*points).model_copy(update={"classes": 9})
    lines = {"short": tradeoff(points[0], points[2]), "long": long}
    assert _places(lines, "central") == {2.0: 1, 4.0: 2, 16.0: 3}
    drawn = tradeoff_chart(lines, "svg").decode()
    assert all(drawn.count(f">{epsilon}<") == 4 for epsilon in ("2.74", "1.17", "0.24"))
    assert drawn.count(">a guess<") == 4


@pytest.mark.nightly
def test_the_same_figures_make_the_same_picture_without_rows_of_nothing():
    found = tradeoff(point("central", 2.74))
    picture = tradeoff_chart(found, "svg")
    assert picture == tradeoff_chart(found, "svg")
    assert b"randomized response" not in picture
    assert b"were answered as the middle of one of" not in picture


@pytest.mark.nightly
def test_figures_that_there_are_not_leave_their_place_empty():
    none = point("central", 1.0, precision=NONE, mean_precision=NONE, mean_recall=NONE)
    assert tradeoff_chart(tradeoff(none), "png").startswith(b"\x89PNG")


def test_points_that_lie_close_are_named_apart():
    figure = Figure((6.5, 4.2), dpi=100)
    axes = figure.add_axes((0.1, 0.12, 0.87, 0.75))
    near = [(0.8 + 0.002 * (n % 3), 0.5 + 0.002 * (n // 3), f"{n / 7:.2f}") for n in range(9)]
    axes.set_xlim(0.6, 0.9)
    axes.set_ylim(0.4, 0.7)
    _name_points(axes, [(0.7, 0.6, ""), *near])
    drawn = FigureCanvasAgg(figure).get_renderer()
    for one in axes.texts:
        one.update_positions(drawn)
    boxes = [Text.get_window_extent(one, drawn) for one in axes.texts]  # without their lines
    assert [one.get_text() for one in axes.texts] == [name for _, _, name in near]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


@pytest.mark.nightly
def test_bins_are_told_below_the_panels():
    said = "Numbers of 'age' were answered as the middle of one of 10 bins."
    drawn = tradeoff(point("local", 60.0, setting=3.0)).model_copy(update={"bins": (said,)})
    assert said in tradeoff_chart(drawn, "svg").decode().replace("&apos;", "'")


def test_a_picture_needs_matplotlib(monkeypatch):
    monkeypatch.setattr(canvas, "find_spec", lambda _: None)
    with pytest.raises(DataError, match="C011"):
        tradeoff_chart(tradeoff(), "svg")
