import pytest
from audits_made import NONE, point, tradeoff

from policy_engine.charts import canvas
from policy_engine.charts.tradeoff import tradeoff_chart
from policy_engine.errors import DataError


def test_each_kind_of_privacy_has_its_row_of_panels():
    central, local = point("central", 2.74, phi_precision=1.25), point("local", 6_000.0)
    both = tradeoff_chart(tradeoff(central, local), "svg").decode()
    assert both.count("Precision over accuracy, DP training") == 1
    assert both.count("Precision over accuracy, randomized response") == 1
    assert all(f">{name}<" in both for name in ("orig.", "2.74", "6,000"))


def test_the_same_figures_make_the_same_picture_without_rows_of_nothing():
    found = tradeoff(point("central", 2.74))
    picture = tradeoff_chart(found, "svg")
    assert picture == tradeoff_chart(found, "svg")
    assert b"randomized response" not in picture


def test_figures_that_there_are_not_leave_their_place_empty():
    none = point("central", 1.0, precision=NONE, mean_precision=NONE, mean_recall=NONE)
    assert tradeoff_chart(tradeoff(none), "png").startswith(b"\x89PNG")


def test_a_picture_needs_matplotlib(monkeypatch):
    monkeypatch.setattr(canvas, "find_spec", lambda _: None)
    with pytest.raises(DataError, match="C011"):
        tradeoff_chart(tradeoff(), "svg")
