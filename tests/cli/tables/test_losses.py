"""Epsilons and deltas as texts."""

from decimal import Decimal

import pytest

from policy_engine.cli.tables.losses import loss_text, part_text


@pytest.mark.parametrize(
    ("number", "text"),
    [("2E+1", "20"), ("0.50", "0.5"), ("0.0001", "0.0001"), ("0.00001", "1e-5"), ("0", "0")],
)
def test_a_loss_has_one_form(number, text):
    assert loss_text(Decimal(number)) == text


def test_parts_are_no_more_than_the_whole():
    third = Decimal("0.333333333334")  # a third, rounded up
    assert part_text(third) == "0.333333"
    assert 3 * Decimal(part_text(third)) <= 1
