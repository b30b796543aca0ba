"""What a bound is held against: the figure of an attack, whichever way round its scores are."""

from types import SimpleNamespace

import pytest
from audits_made import attack

from policy_engine.methods.audits.membership_inference import AttackBound
from policy_engine.release.attack_measurements import measurements


@pytest.mark.parametrize("shift", [2.0, -2.0])
def test_scores_that_rank_members_below_others_count_as_if_turned_round(shift):
    found = attack("loss", shift=shift)
    bound = AttackBound(measure="auc", sense="at most", asked=0.6)
    step = SimpleNamespace(method=SimpleNamespace(attacks_run=("loss",), bounds=(bound,)))
    [one] = measurements([step], SimpleNamespace(attack=lambda _name: found))
    own = found.figures.auc
    assert one.reached.value == pytest.approx(max(own.value, 1 - own.value), abs=1e-3)
    assert one.reached.low <= one.reached.value <= one.reached.high
    assert not one.holds
