import numpy as np
import pytest

from policy_engine.engines.synthesising.stored_trees import StoredTree

LOG = np.log


def arrays(**changes):
    """Return a tree of two leaves: values of at most 1.5 go to the one with codes 0, 0 and 2."""
    own = {
        "left": [1, -1, -1],
        "right": [2, -1, -1],
        "feature": [0, -2, -2],
        "leaf": [1, 1, 2],
        "code": [0, 2, 1],
        "count": [2, 1, 4],
    }
    named = {f"{name}_1": np.array(value) for name, value in {**own, **changes}.items()}
    return {"threshold_1": np.array([1.5, -2.0, -2.0]), **named}


def features(*values):
    return np.array(values, np.float32)[:, None]


def test_a_code_is_as_probable_as_in_its_leaf():
    tree = StoredTree.of(arrays(), 1, 1, 3)
    logs = tree.log_shares(features(0, 1, 1.5, 0, 2, 2, 2), np.array([0, 2, 1, -1, 1, 0, -1]))
    assert logs[[0, 1, 4]] == pytest.approx([LOG(2 / 3), LOG(1 / 3), 0])
    assert np.isneginf(logs[[2, 3, 5, 6]]).all()


def test_codes_are_drawn_by_their_counts():
    tree = StoredTree.of(arrays(), 1, 1, 3)
    drawn = tree.drawn(features(*[0] * 30_000, 7), np.random.default_rng(1))
    assert drawn[-1] == 1
    shares = np.bincount(drawn[:-1]) / 30_000
    assert shares == pytest.approx([2 / 3, 0, 1 / 3], abs=0.01)


def test_a_tree_is_the_same_from_its_arrays():
    tree = StoredTree.of(arrays(), 1, 1, 3)
    again = StoredTree.of(tree.arrays(4), 4, 1, 3)
    assert all(np.array_equal(again.arrays(1)[name], one) for name, one in arrays().items())


@pytest.mark.parametrize(
    "changes",
    [
        {"left": [0, -1, -1]},  # leads back
        {"right": [3, -1, -1]},  # leads out
        {"left": [1, -1]},
        {"feature": [1, -2, -2]},
        {"feature": [-1, -2, -2]},
        {"code": [0, 3, 1]},
        {"code": [2, 0, 1]},
        {"count": [2, 0, 4]},
        {"count": [2, 2**62, 4]},
        {"count": [2.0, 1.0, 4.0]},
        {"leaf": [1, 1, 0]},
        {"leaf": [1, 1, 1]},
        {"leaf": [1, 1]},
    ],
)
def test_what_is_no_tree_is_refused(changes):
    with pytest.raises(ValueError, match=r"tree of column 1 is malformed|_1 are not"):
        StoredTree.of(arrays(**changes), 1, 1, 3)
