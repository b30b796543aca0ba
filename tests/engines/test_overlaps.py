import numpy as np
import pyarrow as pa
import pytest

from policy_engine.engines.overlaps import SIZE, SIZE_COUNTED, sketches

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


@pytest.mark.one_in(4)
@pytest.mark.parametrize("change", CHANGES)
def test_records_are_known_again_whatever_was_changed_of_them(change):
    assert shared(table(), CHANGES[change](table())) >= 0.5


def test_other_records_have_next_to_nothing_in_common():
    assert shared(table(), table(1)) < 0.1
    assert shared(table(), table().slice(2 * ROWS // 3)) < 0.6  # a third of them
    other = table().rename_columns([*(f"n{place}" for place in range(8)), "another"])
    given = [set(one) for one in sketches(other, ["another"])]
    assert not any(set(ours) & one for ours in sketches(table(), ["label"]) for one in given)


def test_records_that_repeat_one_another_have_no_sketch_of_them_alone():
    random = np.random.default_rng(0)
    few = pa.table({"a": random.integers(0, 9, ROWS), "label": random.integers(0, 2, ROWS)})
    assert sketches(few, ["label"]) == ()
    assert len(sketches(table(columns=1), ["label"])) <= 1


# Without `age`, and without `job`, most of these records repeat others.
def persons(seed):
    random = np.random.default_rng(seed)
    job = np.minimum(random.geometric(0.1, 4 * ROWS), 40)
    columns = {"age": random.integers(18, 90, 4 * ROWS), "job": job}
    return pa.table(columns | {"town": random.integers(0, 40, 4 * ROWS)})


def most(one, other):
    """Return the largest share of a sketch that is in one of the other."""
    ours, theirs = (list(map(set, sketches(each, ()))) for each in (one, other))
    return max(len(a & b) / max(len(a), len(b)) for a in ours for b in theirs)


@pytest.mark.parametrize("name", ["age", "job", "town"])
def test_records_that_repeat_one_another_are_known_again_without_a_column(name):
    given = persons(0)
    assert most(given, given.drop_columns([name])) == 1
    assert most(given, changed(given, name, 0, 4 * ROWS)) == 1
    fewer = given.slice(ROWS // 5).drop_columns([name])
    assert most(given, fewer) > 0.6


@pytest.mark.parametrize("rows", [128, 256, 512])  # two columns have 256 kinds
def test_other_records_of_few_categories_do_not_look_alike(rows):
    def drawn(seed):
        random = np.random.default_rng(seed)
        return pa.table({name: random.integers(0, 16, rows) for name in "abc"})

    assert any(SIZE < len(one) <= SIZE_COUNTED for one in sketches(drawn(0), ()))
    assert max(most(drawn(seed), drawn(seed + 1)) for seed in range(0, 20, 2)) < 0.45
    assert max(most(persons(seed), persons(seed + 1)) for seed in range(0, 4, 2)) < 0.4
