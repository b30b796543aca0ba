"""What attack models answer: log-odds, kept finite."""

import numpy as np
from sklearn.dummy import DummyClassifier

from policy_engine.audits.membership.attacks.attack_models import (
    ClassifierModel,
    TrainingSet,
    confidences,
)


class Sure(DummyClassifier):
    """A classifier that is certain, in float32, as networks of float32 are."""

    def predict_proba(self, asked):
        return np.tile(np.array([0, 1], np.float32), (len(asked), 1))


def test_a_model_that_is_certain_in_float32_gives_finite_odds():
    shown = np.zeros((4, 2), np.float32)
    model = ClassifierModel("sure", confidences, lambda _: Sure())
    (odds,) = model.odds([TrainingSet(shown, np.arange(4) < 2)], [shown], 0)
    assert np.isfinite(odds).all()
    assert (odds > 20).all()
