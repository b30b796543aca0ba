"""What trains the target and its shadows: networks, estimators, any Keras model."""

from policy_engine.architecture import Estimator, Network
from policy_engine.audits.membership.learners.learner import Learner, Trained

__all__ = ["Learner", "Trained", "learner_of"]


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
