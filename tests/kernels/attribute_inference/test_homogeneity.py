"""What classes tell of sensitive values, by hand."""

import numpy as np

from policy_engine.kernels.attribute_inference import Homogeneity, homogeneity


def test_class_of_one_value_tells_it_and_others_tell_the_commonest():
    classes = np.array([0, 0, 0, 1, 1, 1])
    ill = np.array([0, 0, 0, 0, 1, 2], dtype=np.int32)
    assert homogeneity(classes, ill) == Homogeneity(rows=6, certain=3, expected=4, baseline=4)


# Machanavajjhala et al. (2007), figure 2: a 4-anonymous table of 12 patients, those of the last
# class all with cancer; the first has 2 with heart disease and 2 with a viral infection, the second
# one each of cancer and heart disease, and 2 with a viral infection.
def test_published_4_anonymous_table_tells_four_of_twelve():
    ill = np.array([0, 0, 1, 1, 2, 0, 1, 1, 2, 2, 2, 2], dtype=np.int32)
    found = homogeneity(np.repeat([0, 1, 2], 4), ill)
    assert found == Homogeneity(rows=12, certain=4, expected=8, baseline=5)


def test_missing_value_is_one_as_any_other():
    ill = np.array([-1, -1, 0, -1], dtype=np.int32)
    found = homogeneity(np.array([0, 0, 1, 1]), ill)
    assert found == Homogeneity(rows=4, certain=2, expected=3, baseline=3)


def test_table_without_rows_tells_nothing():
    nobody = homogeneity(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32))
    assert nobody == Homogeneity(rows=0, certain=0, expected=0, baseline=0)
