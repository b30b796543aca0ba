"""Finished tables of many cells are refused or read within seconds."""

import time

import pytest

from policy_engine.audits.outputs import reading_tables
from policy_engine.audits.outputs.possible_totals import possible_parents
from policy_engine.audits.outputs.reading_tables import read_finished
from policy_engine.errors import DataError


def read(tmp_path, head, *rows):
    (tmp_path / "t.csv").write_text("\n".join([head, *rows]) + "\n")
    return read_finished(tmp_path / "t.csv")


def test_tables_of_too_many_cells_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(reading_tables, "_MOST_CELLS", 5)
    with pytest.raises(DataError, match=r"C010.*at most 5 cells. It has 6"):
        read(tmp_path, "a,n", "x,30", "y,40", "z,50")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("is_equal", [True, False])
def test_many_lines_are_read_and_looked_through_at_once(tmp_path, is_equal):
    figures = [30 if is_equal else 20 + 7 * n % 5000 for n in range(3000)]
    start = time.process_time()
    wide = read(
        tmp_path,
        ",".join(["a", *(f"c{n}x" for n in range(3000))]),
        "x," + ",".join(map(str, figures)),
    )
    long = read(tmp_path, "a,n", *(f"c{n}x,{one}" for n, one in enumerate(figures)), "gap,.")
    assert [possible_parents(one, len(one.keys) - 1) for one in (wide, long)]
    assert time.process_time() - start < 20
