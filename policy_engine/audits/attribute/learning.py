"""What is learnt of a secret from records of which it is known: by a forest, by a network."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.attribute.evidence import Codes

Features = NDArray[np.float32]

_TREES = 100
_TRIAL_TREES = 40
_LEAVES = (1, 5, 20, 100)
_MOST_SAMPLED = 10_000
_STEPS = 100_000
_UNITS = 64
_FEWEST = 10
"""Of fewer records no forest chooses its leaves."""


def guess_by_forest(
    features: Features, secrets: Codes, asked_features: Features, seed: int
) -> Codes:
    """Return what a forest that learnt `secrets` (n,) from `features` (n, d) says of others.

    Its trees have leaves of that size with which records left out of a tree are guessed best: where
    nothing tells the secret, one that follows every record would guess worse than the commonest
    value.
    """
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415 (slow to import, an extra)

    def forest(leaf: int, trees: int, *, is_trial: bool = False) -> Any:
        sampled = min(len(features), _MOST_SAMPLED)
        made = RandomForestClassifier(
            trees,
            min_samples_leaf=leaf,
            max_samples=sampled,
            oob_score=is_trial,
            random_state=seed % (1 << 32),
        )
        return _fitted(made, features, secrets)

    sizes = [one for one in _LEAVES if 4 * one <= len(features)] or [1]
    leaf = sizes[0]
    if len(sizes) > 1 and len(features) >= _FEWEST and len(np.unique(secrets)) > 1:
        scores = {one: forest(one, _TRIAL_TREES, is_trial=True).oob_score_ for one in sizes}
        leaf = max(sizes, key=lambda one: (round(scores[one], 9), one))
    return _guesses(forest(leaf, _TREES), asked_features)


def guess_by_network(
    features: Features, secrets: Codes, asked_features: Features, seed: int
) -> Codes:
    """Return what a network that learnt `secrets` (n,) from `features` (n, d) says of others.

    It has one layer of 64 units, and sees standardised features.
    """
    from sklearn.neural_network import MLPClassifier  # noqa: PLC0415 (slow to import, an extra)
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    epochs = int(np.clip(_STEPS // len(features), 5, 50))
    network = MLPClassifier(
        (_UNITS,),
        batch_size=min(100, len(features)),
        max_iter=epochs,
        random_state=seed % (1 << 32),
    )
    fitted = _fitted(make_pipeline(StandardScaler(), network), features, secrets)
    return _guesses(fitted, asked_features)


def _fitted(model: Any, features: Features, secrets: Codes) -> Any:
    with warnings.catch_warnings():
        # Of a network that would go on getting better, and of few records left out of any tree.
        warnings.simplefilter("ignore")
        return model.fit(features, secrets)


def _guesses(model: Any, features: Features) -> Codes:
    if not len(features):
        return np.zeros(0, dtype=np.int64)
    return np.asarray(model.predict(features), dtype=np.int64)
