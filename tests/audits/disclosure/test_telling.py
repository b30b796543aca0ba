"""Attacks are made by the columns that tell most, whatever their order."""

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.disclosure import auditing
from policy_engine.audits.disclosure.auditing import attack
from policy_engine.audits.disclosure.files import TwoFiles, known_columns
from policy_engine.audits.disclosure.settings import AttackSettings
from policy_engine.audits.disclosure.telling import how_telling, most_telling_first

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


def test_a_column_tells_by_how_much_nearer_the_own_records_are_than_others():
    # The own record is 1 of 4; others are 2, 3 and 4 from the ends, and 3, 3 and 4 from within.
    numbers = [0.0, 10, 20, 30]
    others = (2 * (np.log(4 / 2) + np.log(4 / 3)) + 4 * np.log(4 / 3)) / 12
    assert told(numbers, numbers) == pytest.approx(np.log(4) - others)
    # The own one is 1 of 2; of 12 of others, 4 are, and 8 are no nearer than all are.
    assert told(["a", "a", "b", "b"], ["a", "a", "b", "b"]) == pytest.approx(np.log(2) * 2 / 3)
    assert told(["a", "b", "c", "d"], ["b", "a", "d", "c"]) == 0


def test_missing_cells_are_as_near_as_each_other_alone():
    # One person's value is missing: 1 of 4 records is as near as the own one, and so to the others.
    values = [0.0, 10.0, 20.0, None]
    assert told(values, values) > told([0.0, 0.0, 10.0, None], [0.0, 0.0, 10.0, None]) > 0
    assert told([0.0, None], [None, 1.0]) == 0


def test_what_a_matrix_always_turns_a_category_into_tells_as_the_category_does():
    before = ["a", "b"] * 10
    assert told(before, ["b", "a"] * 10) == pytest.approx(told(before, before))


def test_exact_categories_tell_more_than_numbers_at_random():
    draws = np.random.default_rng(6)
    numbers = draws.normal(size=400)
    at_random = told(numbers.tolist(), draws.permutation(numbers).tolist())
    assert at_random < 0.1 < told(["f", "m"] * 200, ["f", "m"] * 200)


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
    reached = [attack(one, settings=BY_DISTANCE)[0] for one in files]
    assert len({tuple((frozenset(r.known), r.linked) for r in one) for one in reached}) == 1
    assert len({tuple(most_telling_first(one.columns, one.own).items()) for one in files}) == 1


def test_on_many_persons_the_columns_that_tell_most_are_attacked_alone_too(monkeypatch):
    monkeypatch.setattr(auditing, "MOST_PERSONS_IN_STEPS", 59)
    reached, _ = attack(hiding_files(), settings=BY_DISTANCE)
    assert [len(one.known) for one in reached] == [1, 4]
    assert reached[0].linked.value == 1
