import numpy as np
import pyarrow as pa
import pytest

from policy_engine.engines.overlaps import SIZE, sketches

ROWS = 1000


def table(seed=0, rows=ROWS, columns=8):
    random = np.random.default_rng(seed)
    numbers = {f"n{place}": random.normal(size=rows).round(2) for place in range(columns)}
    return pa.table({**numbers, "label": random.integers(0, 2, rows)})


def shared(one, other, labels=("label",)):
    """Return the largest share that a sketch of one has in common with one of the other."""
    ours, theirs = (list(map(set, sketches(each, labels))) for each in (one, other))
    return max(len(a & b) / SIZE for a in ours for b in theirs)


def changed(given, name, value, rows):
    column = given.column(name).to_pylist()
    column[:rows] = [value] * rows
    return given.set_column(given.schema.get_field_index(name), name, pa.array(column))


CHANGES = {
    "nothing": lambda one: one,
    "the order": lambda one: one.take(pa.array(range(ROWS - 1, -1, -1))),
    "a column less": lambda one: one.drop_columns(["n3"]),
    "two columns less": lambda one: one.drop_columns(["n3", "n5"]),
    "a column more": lambda one: one.append_column("new", pa.array(range(ROWS))),
    "a name": lambda one: one.rename_columns([f"x{n}" for n in range(8)] + ["label"]),
    "a column": lambda one: changed(one, "n2", 0.0, ROWS),
    "a digit": lambda one: changed(one, "n2", 0.001, 1),
    "a tenth of the rows": lambda one: one.slice(ROWS // 10),
    "a label": lambda one: changed(one, "label", 1, 10),
}


@pytest.mark.parametrize("change", CHANGES)
def test_records_are_known_again_whatever_was_changed_of_them(change):
    assert shared(table(), CHANGES[change](table())) >= 0.5


def test_other_records_have_next_to_nothing_in_common():
    assert shared(table(), table(1)) < 0.1
    assert shared(table(), table().slice(2 * ROWS // 3)) < 0.6  # a third of them
    other = table().rename_columns([*(f"n{place}" for place in range(8)), "another"])
    given = [set(one) for one in sketches(other, ["another"])]
    assert not any(set(ours) & one for ours in sketches(table(), ["label"]) for one in given)


def test_records_that_repeat_one_another_have_no_sketch():
    random = np.random.default_rng(0)
    few = pa.table({"a": random.integers(0, 9, ROWS), "label": random.integers(0, 2, ROWS)})
    assert sketches(few, ["label"]) == ()
    assert len(sketches(table(columns=1), ["label"])) <= 1
