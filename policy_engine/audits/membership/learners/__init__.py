"""What trains the target and its shadows: networks, estimators, any Keras model."""

from policy_engine.architecture import Estimator, Network
from policy_engine.audits.membership.learners.learner import Learner, Trained

__all__ = ["Learner", "Trained", "learner_of"]


def learner_of(architecture: Network | Estimator) -> Learner:
    """Return what trains models of a description. Raises DataError (C011) without its library."""
    if isinstance(architecture, Network):
        from policy_engine.audits.membership.learners.network import (  # noqa: PLC0415 (an extra)
            NetworkLearner,
        )

        return NetworkLearner(architecture)
    from policy_engine.audits.membership.learners.scikit import (  # noqa: PLC0415 (an extra)
        EstimatorLearner,
    )

    return EstimatorLearner.of(architecture)
