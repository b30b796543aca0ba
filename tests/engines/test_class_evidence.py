"""What cells of classes replace, and marks by which classes are known again."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from policy_engine.engines.class_evidence import Replaced, cells_mark, see_replaced, spread_of
from policy_engine.engines.encoding import encode
from policy_engine.kernels.microaggregation import information_loss
from policy_engine.kernels.mondrian import Partition


def coded(values):
    return encode("x", pa.chunked_array([pa.array(values)]), numbers=False)


def in_classes(sizes):
    return Partition(np.arange(sum(sizes)), np.concatenate([[0], np.cumsum(sizes)]))


def seen(values, sizes, texts):
    return see_replaced(coded(values), in_classes(sizes), (np.arange(len(texts)), texts))


def test_squared_differences_are_in_hundredths():
    # 1 and 2 are .5 from 1.5, 50 hundredths; 7 is as it was.
    assert seen([1, 2, 7], [2, 1], ["1.5", "7"]) == Replaced(3, 1, 2 * 50**2)


def test_decimals_have_hundredths_of_their_last_place():
    assert seen([0.1, 0.2], [2], ["0.15"]) == Replaced(2, 0, 2 * 50**2)


def test_missing_values_count_nowhere():
    assert seen([None, 4, None], [2, 1], ["4 or missing", None]) == Replaced(1, 0, 0)


def test_texts_and_dates_are_unchanged_or_not():
    assert seen(["a", "b", "b"], [3], ["b"]) == Replaced(3, 2, None)
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-05"], dtype="datetime64[D]")
    assert seen(days, [3], ["2020-01-02"]) == Replaced(3, 1, None)


def test_numbers_of_any_size_are_exact():
    assert seen([10**18, 3], [2], ["500000000000000001.5"]) == Replaced(
        2, 0, 2 * (5 * 10**19 - 150) ** 2
    )


def test_the_spread_is_that_about_the_mean():
    assert spread_of(coded([1, 2, None, 6])) == 14 * 100**2
    assert spread_of(coded([0.1, 0.2])) == Fraction(100**2, 2)
    assert spread_of(coded(["a"])) is None


def test_parts_are_added_up():
    parts = [seen([1, 2], [2], ["1.5"]), seen([7], [1], ["7"])]
    assert parts[0].merge(parts[1]) == seen([1, 2, 7], [2, 1], ["1.5", "7"])
    texts = [seen(["a"], [1], ["a"]), seen(["b"], [1], ["c"])]
    assert texts[0].merge(texts[1]) == Replaced(2, 1, None)


CLASSES = st.lists(st.lists(st.integers(-50, 50), min_size=1, max_size=9), min_size=1, max_size=9)


@given(CLASSES)
def test_the_loss_of_means_is_that_of_the_kernel(classes):
    sizes, values = [len(one) for one in classes], [one for each in classes for one in each]
    texts = [f"{np.mean(one):.2f}" for one in classes]
    found, spread = seen(values, sizes, texts), spread_of(coded(values))
    table = np.array(values, dtype=np.float64)[:, np.newaxis]
    expected = information_loss(table, np.repeat(np.arange(len(sizes)), sizes))
    # Means are rounded to hundredths here, which adds half a percent at most.
    assert not spread or 0 <= float(100 * found.within / spread) - expected + 1e-9 < 0.6


def exact_mean(numbers):
    """The mean with two decimals, in hundredths."""
    return round(Fraction(100 * sum(numbers), len(numbers)))


def as_decimal(number, places):
    digits = str(abs(number)).rjust(places + 1, "0")
    return "-" * (number < 0) + f"{digits[:-places]}.{digits[-places:]}"


SIZES = st.sampled_from([10**15, 2**53, 10**16, 2**56, 10**17, 2**62])
LARGE = SIZES.flatmap(lambda most: st.integers(-most, most))
LARGE_CLASSES = st.lists(st.lists(LARGE, min_size=1, max_size=5), min_size=1, max_size=5)


@given(LARGE_CLASSES)
@example([[-11931287080057847, -36156281226450343]])
def test_differences_of_large_numbers_are_those_of_integers(classes):
    values = [one for each in classes for one in each]
    means = [exact_mean(one) for one in classes]
    found = seen(values, [len(one) for one in classes], [as_decimal(mean, 2) for mean in means])
    pairs = zip(classes, means, strict=True)
    assert found.within == sum((100 * one - mean) ** 2 for each, mean in pairs for one in each)


def test_a_class_of_long_decimals_loses_the_whole_spread():
    numbers = [-0.11931287080057847, -0.36156281226450343]
    whole = [-11931287080057847, -36156281226450343]
    found = seen(numbers, [2], [as_decimal(exact_mean(whole), 19)])
    assert found.within == spread_of(coded(numbers))


CELLS = ["21", "21.5", None, "a", "21 or missing"]


def mark(cells, sizes):
    return cells_mark([(np.arange(len(cells)), cells)], np.array(sizes))


@given(st.permutations(list(zip(CELLS, [1, 2, 3, 4, 5], strict=True))))
def test_a_mark_depends_on_no_order(pairs):
    cells, sizes = zip(*pairs, strict=True)
    assert mark(list(cells), sizes) == mark(CELLS, [1, 2, 3, 4, 5])


def test_marks_of_parts_are_added_up():
    parts = mark(["a", "b"], [2, 3]) + mark(["b", "c"], [1, 1])
    assert parts % 2**64 == mark(["a", "b", "c"], [2, 4, 1])


def test_a_number_has_one_mark_however_it_is_written():
    assert mark(["21"], [3]) == mark(["21.0"], [3]) == mark(["2.1e1"], [3])
    assert mark(["21"], [3]) != mark(["21.5"], [3])
    assert mark(["-0"], [1]) == mark(["0"], [1])


def test_a_mark_tells_sizes_and_columns_apart():
    numbers = np.array([0])
    first = cells_mark([(numbers, ["a"]), (numbers, ["b"])], np.array([2]))
    assert first != cells_mark([(numbers, ["b"]), (numbers, ["a"])], np.array([2]))
    assert mark(["a"], [2]) != mark(["a"], [3])
