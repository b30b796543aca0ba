"""Learners train the target and its shadows: networks, estimators, any Keras model."""

from typing import Any

import numpy as np

from policy_engine.audits.membership.learners.learner import Learner, Trained
from policy_engine.audits.membership.records import records_of_arrays
from policy_engine.audits.membership.training.parameters import Design
from policy_engine.methods.audits.classifier import Estimator, Network

__all__ = ["Learner", "Trained", "learner_of", "noise_model"]


def learner_of(architecture: Network | Estimator, fewest: int = 0) -> Learner:
    """Return what trains models of a description. Raises DataError (C011) without its library.

    With `fewest` the models are as they are released: so few records do not show in the figures
    that an estimator keeps (see `released`).
    """
    if isinstance(architecture, Network):
        from policy_engine.audits.membership.learners.network import (  # noqa: PLC0415 (an extra)
            NetworkLearner,
        )

        return NetworkLearner(architecture)
    from policy_engine.audits.membership.learners.scikit import (  # noqa: PLC0415 (an extra)
        EstimatorLearner,
    )

    return EstimatorLearner.of(architecture, fewest=fewest)


def noise_model(architecture: Network | Estimator, width: int, classes: int) -> Any:
    """Return a model of a description in released form, trained on noise or untrained.

    What its file holds, the file of every model of its kind holds.
    """
    if isinstance(architecture, Network):
        from policy_engine.audits.membership.learners.network import (  # noqa: PLC0415 (an extra)
            keras_network,
        )

        return keras_network(Design.of(architecture, width, classes))
    random = np.random.default_rng(0)
    labels = np.arange(_NOISE * classes) % classes
    noise = records_of_arrays(random.normal(size=(len(labels), width)), labels)
    learner = learner_of(architecture, 1)
    return learner.train(noise, [np.arange(len(labels))], [0]).models[0]  # type: ignore[attr-defined]


_NOISE = 50
"""How many records of each class a model of noise learns from."""
