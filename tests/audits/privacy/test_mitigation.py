"""The mitigation efficiency, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.audits.privacy.mitigation import mitigation_efficiency
from policy_engine.kernels.estimates import NotApplicable


@pytest.mark.parametrize(
    ("accuracies", "attacks", "phi"),
    [
        ((0.9, 0.9), (0.7, 0.7), 1.0),  # nothing changes
        ((0.9, 0.5), (0.7, 0.7), 0.5),  # half of the accuracy for nothing
        ((0.9, 0.9), (0.7, 0.6), 2.0),  # half of the attack for nothing
        ((0.9, 0.5), (0.7, 0.6), 1.0),
        ((0.9, 0.05), (0.7, 0.6), 0.0),  # below a guess is a guess
        ((0.5, 0.9), (0.7, 0.6), 4.0),  # perturbation may regularise
        ((0.9, 0.9), (0.6, 0.7), 0.5),  # the attack gains
    ],
)
def test_efficiency_as_equation_4_2_has_it(accuracies, attacks, phi):
    assert mitigation_efficiency(accuracies, attacks, 10) == pytest.approx(phi)


@pytest.mark.parametrize(
    ("accuracies", "attacks", "reason"),
    [
        ((0.1, 0.1), (0.7, 0.6), "original model"),
        ((0.9, 0.8), (0.5, 0.5), "attack on the original"),
        ((0.9, 0.8), (0.3, 0.2), "attack on the original"),
        (
            (0.9, 0.8),
            (0.7, 0.5),
            "attack on the mitigated model cannot be distinguished from guessing",
        ),
        (
            (0.9, 0.8),
            (0.7, 0.4),
            "attack on the mitigated model cannot be distinguished from guessing",
        ),
    ],
)
def test_where_there_is_no_efficiency_it_says_why(accuracies, attacks, reason):
    phi = mitigation_efficiency(accuracies, attacks, 10)
    assert isinstance(phi, NotApplicable)
    assert reason in phi.reason


shares = st.floats(0.51, 1)


@given(before=st.tuples(shares, shares), after=st.tuples(shares, shares))
def test_above_one_the_attacker_loses_more_than_the_owner(before, after):
    phi = mitigation_efficiency((before[0], after[0]), (before[1], after[1]), 2)
    owner_loses = (before[0] - after[0]) / (before[0] - 0.5)
    attacker_loses = (before[1] - after[1]) / (before[1] - 0.5)
    if abs(owner_loses - attacker_loses) > 1e-9:
        assert (phi > 1) == (attacker_loses > owner_loses)
