"""Models that were made by several samples without a record in common."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.integral_privacy import (
    Leaf,
    Split,
    generated_models,
    most_accurate,
)

NO = Leaf(0.0)
SMALL, LARGE = Split(0, 1.5, NO, Leaf(1.0)), Split(0, 2.5, NO, Leaf(1.0))


def rows(*numbers):
    return np.array(numbers)


def test_equal_models_are_put_together():
    samples = [rows(0, 1), rows(2, 3), rows(4, 5), rows(1, 2)]
    found = generated_models([SMALL, SMALL, LARGE, SMALL], samples, [0.8, 0.7, 0.9, 0.8])
    assert [(one.model, one.generators, one.common) for one in found] == [
        (SMALL, 3, 0),
        (LARGE, 1, 2),
    ]
    assert found[0].accuracy == 0.7
    assert [found[0].is_integrally_private(k) for k in (3, 4)] == [True, False]


def test_row_of_all_generators_is_told():
    found, *_ = generated_models([SMALL] * 3, [rows(0, 1), rows(0, 2), rows(0, 3)], [0.5] * 3)
    assert (found.generators, found.common) == (3, 1)
    assert not found.is_integrally_private(2)


def test_equal_and_larger_samples_are_not_generators_more():
    samples = [rows(0, 1), rows(1, 0), rows(0, 1, 2), rows(3), rows(3, 3)]
    found, *_ = generated_models([SMALL] * 5, samples, [0.5] * 5)
    assert (found.generators, found.common) == (2, 0)


def test_most_accurate_is_chosen_among_the_private_ones():
    third = Leaf(1.0)
    samples = [rows(0), rows(1), rows(2), rows(3), rows(4)]
    models, accuracies = [SMALL, SMALL, LARGE, LARGE, third], [0.7, 0.7, 0.8, 0.8, 0.9]
    found = generated_models(models, samples, accuracies)
    assert most_accurate(found, 2).model == LARGE


def test_no_model_is_chosen_where_none_is_private():
    found = generated_models([SMALL, SMALL], [rows(0), rows(1)], [0.5, 0.5])
    none = most_accurate(found, 3)
    assert isinstance(none, NotApplicable)
    assert none.reason.endswith("the most found are 2")


@given(st.randoms(use_true_random=False), st.integers(0, 50))
def test_order_of_samples_does_not_matter(random, seed):
    generator = np.random.default_rng(seed)
    samples = [generator.choice(6, 2, replace=False) for _ in range(8)]
    models = [SMALL if generator.random() < 0.5 else LARGE for _ in samples]
    accuracies = generator.integers(5, 8, 8) / 10
    order = random.sample(range(8), 8)
    again = [[part[at] for at in order] for part in (models, samples, accuracies)]
    assert generated_models(models, samples, accuracies) == generated_models(*again)
