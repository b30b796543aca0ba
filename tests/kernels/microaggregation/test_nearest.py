import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.microaggregation.nearest import nearest_classes


def among_all(means, asked):
    first = np.zeros(len(asked), np.int64)
    return nearest_classes(means, asked, first, first + len(means))


def nearest(means, asked):
    found, distances = among_all(np.array(means, dtype=np.float64), np.array(asked))
    return found.tolist(), distances.tolist()


def test_the_nearest_is_by_all_columns_and_never_the_class_itself():
    assert nearest([[0, 0], [0, 9], [3, 4]], [0, 1]) == ([2, 2], [25, 34])


def test_of_equally_near_classes_it_is_that_of_the_nearest_then_of_the_lower_number():
    assert nearest([[1]] * 4, [0, 1, 2, 3]) == ([1, 0, 1, 2], [0] * 4)
    assert nearest([[0], [2], [1], [2]], [2]) == ([1], [1])


def test_it_is_sought_among_the_classes_of_a_part():
    means, asked = np.array([[0.0], [9], [1], [5]]), np.array([0, 2])
    found, distances = nearest_classes(means, asked, np.array([0, 2]), np.array([2, 4]))
    assert (found.tolist(), distances.tolist()) == ([1, 3], [81, 16])


@given(st.data(), st.integers(1, 3), st.sampled_from([4.0, 1e3]))
def test_many_classes_have_the_nearest_of_all(data, columns, high):
    seed = data.draw(st.integers(0, 2**32))
    means = np.random.default_rng(seed).uniform(0, high, size=(700, columns))
    means = np.floor(means) if high < 9 else means
    asked = np.arange(0, 700, 7)
    found, distances = among_all(means, asked)
    for one, other, distance in zip(asked, found, distances, strict=True):
        squares = ((means - means[one]) ** 2).sum(axis=1)
        squares[one] = np.inf
        numbers = np.arange(700)
        expected = min(zip(squares, abs(numbers - one), numbers, strict=True))
        assert (distance, other) == (expected[0], expected[2])
