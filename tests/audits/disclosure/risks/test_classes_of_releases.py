import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.audits.disclosure.files import KnownColumn, known_columns
from policy_engine.audits.disclosure.risks.classes import KnownClasses, population_counts
from policy_engine.kernels.spread import Spread

RELEASE = pa.table({"age": [20, 20, 30, 40], "city": ["Bern", "Bern", "Bern", "Oslo"]})


def columns(original=RELEASE, release=RELEASE):
    return known_columns(original, release, release.column_names, None, {})


def ranged(name, population, cells, runs):
    """Return a column of codes whose cells are runs of codes, a list of them for each cell."""
    starts = np.append(0, np.cumsum([len(one) for one in runs]))
    low, high = np.array([pair for one in runs for pair in one]).T
    size = int(max(high.max(), max(population) + 1))
    after = Spread(np.array(cells), starts, low, high, size)
    labels = np.array([str(code) for code in range(size)], dtype=object)
    values = np.arange(size, dtype=float)
    return KnownColumn(
        name, np.array(population), after, labels, values, is_number=True, has_missing=False
    )


def test_classes_are_the_records_of_the_same_cells():
    classes = KnownClasses.of(columns())
    assert (classes.known, classes.records) == (("age", "city"), 4)
    assert classes.sizes[classes.class_of].tolist() == [2, 2, 1, 1]
    assert classes.totals(np.array([1.5, 2, 3, 4]))[classes.class_of].tolist() == [3.5, 3.5, 3, 4]


def test_a_suppressed_cell_may_be_any_value():
    # Cell 2 may be 0 or 1: its record could be any of the three, and each of the others it.
    column = ranged("age", [0, 1], [0, 1, 2], [[(0, 1)], [(1, 2)], [(0, 2)]])
    classes = KnownClasses.of([column], [2])
    assert classes.frequencies[classes.class_of].tolist() == [2, 2, 3]
    assert classes.totals(np.array([1.0, 10, 100]))[classes.class_of].tolist() == [101, 110, 111]


def test_persons_are_counted_by_equal_values():
    population = pa.table({"age": [20] * 5 + [30, 50], "city": ["Bern"] * 6 + ["Oslo"]})
    both = columns(pa.concat_tables([RELEASE, population]))
    persons = [KnownColumn(**{**vars(one), "before": one.before[4:]}) for one in both]
    classes = KnownClasses.of(persons)
    assert population_counts(classes, persons)[classes.class_of].tolist() == [5, 5, 1, 0]


def test_persons_are_counted_in_ranges_and_in_sets_of_several_parts():
    age = ranged("age", [0, 1, 2, 3, 3], [0, 1], [[(0, 2)], [(2, 4)]])
    city = ranged("city", [0, 1, 2, 0, 1], [0, 1], [[(0, 1), (2, 3)], [(0, 3)]])
    classes = KnownClasses.of([age, city])
    # Age below 2 in the city 0 or 2: the first person. Age of 2 and more anywhere: three.
    assert population_counts(classes, [age, city])[classes.class_of].tolist() == [1, 3]


@given(st.integers(0, 2**32 - 1))
def test_counts_in_ranges_are_those_of_looking_at_all(seed):
    random = np.random.default_rng(seed)
    known = []
    for name in "ab":
        low = random.integers(0, 5, 6)
        runs = [
            [(one, one + wide)] for one, wide in zip(low, random.integers(1, 4, 6), strict=True)
        ]
        known.append(ranged(name, random.integers(0, 8, 30), random.integers(0, 6, 12), runs))
    classes = KnownClasses.of(known)
    found = population_counts(classes, known)[classes.class_of]
    inside = np.ones((12, 30), dtype=bool)
    for one in known:
        low, high = one.after.low[one.after.cell_of], one.after.high[one.after.cell_of]
        inside &= (low[:, None] <= one.before) & (one.before < high[:, None])
    assert found.tolist() == inside.sum(axis=1).tolist()
