"""What a checker may let out gives away nothing that nobody lets out."""

import csv

import numpy as np
import pandas as pd
import pytest

from policy_engine import output_session
from policy_engine.errors import RequestError

COUNTS = {"ab": 30, "ac": 40, "bb": 26, "bc": 38, "cb": 25, "cc": 6, "db": 31, "dc": 29}


def people():
    keys = [key for key, count in COUNTS.items() for _ in range(count)]
    frame = pd.DataFrame({"g": [one[0] for one in keys], "s": [one[1] for one in keys]})
    random = np.random.default_rng(1)
    frame["pay"] = random.integers(500, 3000, len(frame)).astype(float)
    frame.loc[frame.index[(frame.g == "b") & (frame.s == "c")][0], "pay"] = -700.0
    return frame


def session(folder):
    return output_session(None, folder, data=people(), profile="sacro")


def figures(folder, name):
    """Return the figures that leave if all is accepted, by row and column; "" is withheld."""
    held = folder / "held" / f"{name}.csv"
    path = held if held.exists() else folder / "outputs" / f"{name}.csv"
    rows = list(csv.reader(path.read_text().splitlines()))
    return {(row[0], top): one for row in rows for top, one in zip(rows[0], row, strict=True)}


def test_accepting_a_cell_of_negative_values_does_not_tell_one_of_few(tmp_path):
    with session(tmp_path / "f") as made:
        output = made.pivot_table(
            values="pay", index="g", columns="s", aggfunc="sum", margins=True, name="t"
        )
        assert {"K007", "K049"} <= output.reasons.keys()
    shown = figures(tmp_path / "f", "t")
    column = [shown[group, "sum pay c"] for group in ("a", "b", "d", "All")]
    assert shown["c", "sum pay c"] == ""
    assert "" in column, "all of it less the others would be the cell of six persons"


def test_nor_does_a_cell_of_another_output(tmp_path):
    frame = people()
    with session(tmp_path / "f") as made:
        made.groupby("g", data=frame[frame.s == "c"], name="parts")["pay"].sum()
        made.groupby("s", name="totals")["pay"].sum()
    parts, total = figures(tmp_path / "f", "parts"), figures(tmp_path / "f", "totals")
    known = [parts.get((group, "sum pay"), "") for group in "abd"]
    assert "" in [*known, total.get(("c", "sum pay"), "")]


def test_a_cell_that_is_linked_with_none_is_for_the_checker(tmp_path):
    with session(tmp_path / "f") as made:
        made.pivot_table(values="pay", index="g", columns="s", aggfunc="sum", name="t")
    shown = figures(tmp_path / "f", "t")
    assert float(shown["b", "sum pay c"]) > 0
    assert shown["c", "sum pay c"] == ""


def test_an_exception_is_shown_whole(tmp_path):
    with session(tmp_path / "f") as made:
        made.pivot_table(
            values="pay", index="g", columns="s", aggfunc="sum", margins=True, name="t"
        )
        made.exception("t", "The groups are fictitious.")
    assert "" not in figures(tmp_path / "f", "t").values()


def test_a_table_of_nobody_has_nothing_for_a_checker(tmp_path):
    frame = people()
    with session(tmp_path / "f") as made, pytest.raises(RequestError, match="K025"):
        made.groupby("g", data=frame[frame.g == "z"]).size()
    assert not (tmp_path / "f" / "held").exists()
