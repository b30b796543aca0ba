import numpy as np

from policy_engine.audits.membership.disturbing import disturb, disturbed_views, view_strengths
from policy_engine.audits.membership.result import EncodedColumn


def column(kind, width):
    return EncodedColumn(name="c", kind=kind, width=width, says="")


def test_numbers_move_by_the_strength_in_deviations_of_their_column():
    given = np.random.default_rng(0).normal(0, [1, 10], (4000, 2)).astype(np.float32)
    found = disturb(
        given, [column("number", 1), column("number", 1)], 0.4, np.random.default_rng(1)
    )
    np.testing.assert_allclose((found - given).std(axis=0), [0.4, 4], rtol=0.05)
    assert found.dtype == np.float32


def test_a_quarter_of_the_strength_is_the_share_of_bits_that_flip():
    given = np.random.default_rng(0).integers(0, 2, (2000, 10)).astype(np.uint8)
    found = disturb(given, [column("bits", 10)], 0.8, np.random.default_rng(1))
    assert set(np.unique(found)) == {0, 1}
    assert 0.18 < (found != given).mean() < 0.22


def test_a_column_of_values_keeps_having_one_of_them():
    given = np.eye(3, dtype=np.float32)[np.arange(3000) % 3]
    found = disturb(given, [column("one-hot", 3)], 0.8, np.random.default_rng(1))
    assert (found.sum(axis=1) == 1).all()
    # a fifth is drawn anew, and a third of these from the same value
    assert 0.11 < (found != given).any(axis=1).mean() < 0.16


def test_bytes_stay_bytes():
    given = np.array([[0], [255]] * 50, np.uint8)
    found = disturb(given, [column("kept", 1)], 0.8, np.random.default_rng(1))
    assert found.dtype == np.uint8
    assert {0, 255} < set(found.ravel().tolist())


def test_every_model_is_asked_about_the_same_views():
    given = np.random.default_rng(0).normal(size=(5, 2))
    first, again = (list(disturbed_views(given, [column("kept", 2)], 7)) for _ in range(2))
    assert len(first) == len(view_strengths())
    assert all((one == other).all() for one, other in zip(first, again, strict=True))
    assert not (first[0] == first[1]).any()
