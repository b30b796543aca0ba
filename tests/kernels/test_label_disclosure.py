from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.label_disclosure import LabelDisclosure, LabelTally, disclosure_of


def tally(class_of, codes, numbers=None):
    class_of, codes = np.array(class_of, np.int64), np.array(codes, np.int32)
    return LabelTally.of(class_of, int(class_of.max()) + 1, codes, numbers)


def test_rows_of_classes_are_counted_by_their_most_frequent_label():
    # A class of three labels 0, one of 0 and 1, and one of 1, 1, 2.
    counted = tally([0, 0, 0, 1, 1, 2, 2, 2], [0, 0, 0, 0, 1, 1, 1, 2])
    assert (counted.rows, counted.all_one, counted.mostly_one) == (8, 3, 3)
    assert counted.by_class == 3 + 1 + 2
    assert counted.squares_by_size == {}


@pytest.mark.parametrize(("others", "mostly"), [(0, 20), (1, 20), (2, 0)])
def test_a_class_is_mostly_of_one_label_if_19_of_20_rows_have_it(others, mostly):
    counted = tally([0] * 20, [1] * others + [0] * (20 - others))
    assert counted.mostly_one == mostly
    assert counted.all_one == (0 if others else 20)


def test_a_missing_label_is_a_label():
    counted = tally([0, 0, 1, 1, 1], [-1, -1, -1, 0, 0])
    assert (counted.all_one, counted.by_class) == (2, 4)
    told = disclosure_of(counted, np.array([2]), missing=3)
    assert told == LabelDisclosure(mostly_one=2, all_one=2, by_class=4, overall=3)


def test_classes_explain_the_variance_between_their_means():
    # The labels 1, 3 | 5, 7 have the mean 4: squares between (2 * 4 + 2 * 4) of 20.
    numbers = np.array([1, 3, 5, 7])
    counted = tally([0, 0, 1, 1], [0, 1, 2, 3], numbers)
    assert counted.squares_by_size == {2: 4**2 + 12**2}
    assert disclosure_of(counted, np.ones(4, np.int64), 0).explained == 16 / 20


def test_nothing_is_explained_of_equal_numbers_or_of_none():
    equal = tally([0, 0, 1], [0, 0, 0], np.array([5]))
    assert disclosure_of(equal, np.array([3]), 0).explained is None
    none = tally([0, 0, 1], [-1, -1, -1], np.array([], np.int64))
    assert disclosure_of(none, np.array([], np.int64), 3).explained is None


def test_numbers_of_any_size_are_added_up_exactly():
    numbers = np.array([-(10**30), 10**30, 10**30 + 1, None], dtype=object)[:-1]
    counted = tally([0, 0, 0], [0, 1, 2], numbers)
    assert counted.squares_by_size == {3: (10**30 + 1) ** 2}
    near = np.array([2**51, 2**51], np.int64)
    assert tally([0] * 4096, [0] * 4096, near).squares_by_size == {4096: (2**63) ** 2}


TABLES = st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 3)), min_size=1, max_size=40)
NUMBERS = np.array([-2, 0, 1, 7])


def counted_one_by_one(rows):
    """Return what is counted, by definition, class by class."""
    labels = defaultdict(list)
    for one, label in rows:
        labels[one].append(label)
    most = {one: max(Counter(some).values()) for one, some in labels.items()}
    sizes = {one: len(some) for one, some in labels.items()}
    return {
        "mostly_one": sum(n for one, n in sizes.items() if Fraction(most[one], n) >= 0.95),
        "all_one": sum(n for one, n in sizes.items() if most[one] == n),
        "by_class": sum(most.values()),
    }


def explained_one_by_one(rows):
    present = [(one, int(NUMBERS[label])) for one, label in rows if label >= 0]
    if not present:
        return None
    mean = Fraction(sum(number for _, number in present), len(present))
    spread = sum((number - mean) ** 2 for _, number in present)
    classes = defaultdict(list)
    for one, number in present:
        classes[one].append(number)
    between = sum(
        len(some) * (Fraction(sum(some), len(some)) - mean) ** 2 for some in classes.values()
    )
    return float(Fraction(between) / spread) if spread else None


@given(TABLES)
def test_what_is_counted_is_what_the_definition_says(rows):
    ones, labels = (list(part) for part in zip(*rows, strict=True))
    numbered = [sorted({*ones}).index(one) for one in ones]
    counted = tally(numbered, labels, NUMBERS)
    by_hand = counted_one_by_one(rows)
    assert {name: getattr(counted, name) for name in by_hand} == by_hand
    present = sum(label >= 0 for label in labels)
    assert counted.explained(present) == explained_one_by_one(rows)


@given(TABLES, st.integers(0, 3))
def test_parts_of_whole_classes_add_up_to_the_table(rows, split):
    def part(some):
        if not some:
            return LabelTally()
        ones, labels = (list(one) for one in zip(*some, strict=True))
        numbered = [sorted({*ones}).index(one) for one in ones]
        return tally(numbered, labels, NUMBERS)

    low = [row for row in rows if row[0] < split]
    high = [row for row in rows if row[0] >= split]
    assert part(low) + part(high) == part(rows)
