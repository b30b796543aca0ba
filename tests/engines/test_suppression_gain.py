"""What everybody may know of what it gained to leave rows out."""

import pytest

from policy_engine.engines.suppression_gain import LoweredLoss, SuppressionGain


@pytest.mark.parametrize(
    ("without", "suppressing", "at_least"),
    [
        (0.5, 0.05, 0.9),
        (0.5, 0.051, 0.75),
        (0.4, 0.2, 0.5),
        (0.4, 0.201, 0.25),
        (0.4, 0.3, 0.25),
        (0.5, 0.449, 0.1),
        (0.5, 0.49, 0.0),
        (0.0, 0.0, 0.0),
    ],
)
def test_a_gain_is_told_in_steps(without, suppressing, at_least):
    gain = SuppressionGain(without=without, suppressing=suppressing)
    assert LoweredLoss.of(gain).at_least == at_least


def test_no_row_left_out_reads_like_a_small_gain():
    assert LoweredLoss.of(None) == LoweredLoss.of(SuppressionGain(without=0.5, suppressing=0.46))
    assert str(LoweredLoss.of(None)) == "by less than 10%, if at all"
    assert str(LoweredLoss(at_least=0.5)) == "by at least 50%"
