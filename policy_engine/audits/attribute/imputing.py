"""Guesses at a secret by somebody who never saw the model: what is statistics, and no leak."""

from collections.abc import Callable, Mapping

import numpy as np

from policy_engine.audits.attribute.evidence import Codes
from policy_engine.audits.attribute.learning import Features, guess_by_forest, guess_by_network

Imputer = Callable[[Features, Codes, Features, int], Codes]
MARGINALS = "marginals"


def guess_commonest(
    _features: Features,
    secrets: Codes,
    asked_features: Features,
    _seed: int,
) -> Codes:
    """Return the commonest of `secrets` for every record."""
    return np.full(len(asked_features), int(np.bincount(secrets).argmax()), dtype=np.int64)


IMPUTERS: Mapping[str, Imputer] = {
    MARGINALS: guess_commonest,
    "forest": guess_by_forest,
    "network": guess_by_network,
}
"""Each guesses by the other columns and the label, the first by neither. The black-box attacks are
the other two with the model's answers added."""
