"""Attacks are made by the columns that tell most, whatever their order."""

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.disclosure import auditing
from policy_engine.audits.disclosure.auditing import attack
from policy_engine.audits.disclosure.files import TwoFiles, known_columns
from policy_engine.audits.disclosure.settings import AttackSettings
from policy_engine.audits.disclosure.telling import best_first, how_telling

BY_DISTANCE = AttackSettings(named=("distance-linkage",))


def files_of(before, after, rows=None):
    """Return two tables of as many rows, the release with its rows in another order."""
    rows = np.arange(len(next(iter(before.values())))) if rows is None else rows
    released = {name: [values[row] for row in rows] for name, values in after.items()}
    columns = known_columns(pa.table(before), pa.table(released), list(before), None, {})
    return TwoFiles(columns, np.argsort(rows), len(rows))


def told(before, after):
    files = files_of({"x": before}, {"x": after})
    return how_telling(files.columns[0], files.own)


def test_a_column_tells_by_the_share_of_records_that_are_not_farther_than_the_own_one():
    assert told([0.0, 10, 20, 30], [0.0, 10, 20, 30]) == pytest.approx(np.log(4))
    assert told(["a", "a", "b", "b"], ["a", "a", "b", "b"]) == pytest.approx(np.log(2))
    assert told(["a", "b", "c", "d"], ["b", "a", "d", "c"]) == 0


def test_missing_cells_are_as_near_as_each_other_alone():
    values = [0.0, 10.0, None, None]
    assert told(values, values) == pytest.approx((2 * np.log(4) + 2 * np.log(2)) / 4)
    assert told([0.0, None], [None, 1.0]) == 0


def test_what_a_matrix_always_turns_a_category_into_tells_as_the_category_does():
    before = ["a", "b"] * 10
    assert told(before, ["b", "a"] * 10) == pytest.approx(np.log(2))


def hiding_files(rows=None, names=("a", "b", "c", "x")):
    """Return three columns that are drawn anew, and one that is kept."""
    draws = np.random.default_rng(3)
    before = {name: draws.normal(size=60).round(3).tolist() for name in "abcx"}
    after = {name: draws.permutation(values).tolist() for name, values in before.items()}
    before["x"] = after["x"] = list(range(60))
    return files_of(*({name: part[name] for name in names} for part in (before, after)), rows)


def test_columns_at_random_hide_no_column_behind_them():
    reached, _ = attack(hiding_files(), settings=BY_DISTANCE)
    assert (reached[0].known, reached[0].linked.value) == (("x",), 1)
    assert [len(one.known) for one in reached] == [1, 2, 3, 4]
    assert reached[3].linked.value < 0.5


def test_neither_the_order_of_rows_nor_that_of_columns_decides_anything():
    rows = np.random.default_rng(4).permutation(60)
    files = [hiding_files(), hiding_files(rows), hiding_files(names=("x", "c", "a", "b"))]
    assert len({attack(one, settings=BY_DISTANCE)[0] for one in files}) == 1
    assert len({(one.names, told) for one, told in map(best_first, files)}) == 1


def test_on_many_persons_the_columns_that_tell_most_are_attacked_alone_too(monkeypatch):
    monkeypatch.setattr(auditing, "MOST_PERSONS_IN_STEPS", 59)
    reached, _ = attack(hiding_files(), settings=BY_DISTANCE)
    assert [len(one.known) for one in reached] == [1, 4]
    assert reached[0].linked.value == 1
