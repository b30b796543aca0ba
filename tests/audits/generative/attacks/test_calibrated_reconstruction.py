from dataclasses import replace

import numpy as np
from generative_models import Memory, material

from policy_engine.audits.generative.attacks.calibrated_reconstruction import (
    calibrated_reconstruction,
)
from policy_engine.audits.generative.attacks.reconstruction import reconstruction
from policy_engine.audits.generative.material import RecordSet
from policy_engine.audits.membership.curves import curve, falling_order
from policy_engine.kernels.estimates import NotApplicable


class Blurring:
    """A model whose error grows with the size of a record, and is smaller for members."""

    def __init__(self, members):
        self.members = {tuple(row) for row in members}

    def reconstruct(self, x, **_):
        shares = [0.8 if tuple(row) in self.members else 0.7 for row in x]
        return x * np.array(shares)[:, None]


def records(count, seed):
    random = np.random.default_rng(seed)
    return random.normal(size=(count, 3)) * random.lognormal(sigma=1, size=(count, 1))


def area(scores, is_member):
    order = falling_order(scores)
    return curve(scores[order], is_member[order]).area()


def test_how_hard_records_are_is_taken_off_what_the_attack_sees():
    members, holdout = records(300, 0), records(300, 1)
    one = material(
        members, holdout, model=Blurring(members), reference=RecordSet("r", records(1_000, 2))
    )
    plain = area(reconstruction(one), one.is_member)
    assert plain < 0.65
    assert area(calibrated_reconstruction(one), one.is_member) > plain + 0.2


def test_what_is_lacking_is_said():
    members = records(10, 0)
    without = material(members, records(10, 1), model=Memory(members))
    reference = RecordSet("r", records(100, 2))
    for one in (without, replace(without, reference=reference)):
        assert isinstance(calibrated_reconstruction(one), NotApplicable)
    one = replace(without, model=None, reference=reference)
    assert "reconstruct" in calibrated_reconstruction(one).reason
