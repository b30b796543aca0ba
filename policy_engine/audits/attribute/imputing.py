"""Guesses at a secret by somebody who never saw the model: what is statistics, and no leak."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from policy_engine.audits.attribute.evidence import Codes
from policy_engine.audits.attribute.learning import Features, guess_by_forest, guess_by_network


@dataclass(frozen=True)
class Imputer:
    """A way to guess secrets from the other columns and the label.

    It learns from as many records of all kinds as the model learnt from or, if it `knows_members`,
    from the members whose secrets an attacker knows. `guess` takes features (n, d), secrets (n,),
    features (m, d) and a seed, and returns the guesses at the latter, (m,).
    """

    guess: Callable[[Features, Codes, Features, int], Codes]
    knows_members: bool = False


def guess_commonest(
    _features: Features,
    secrets: Codes,
    asked_features: Features,
    _seed: int,
) -> Codes:
    """Return the commonest of `secrets` for every record."""
    return np.full(len(asked_features), int(np.bincount(secrets).argmax()), dtype=np.int64)


IMPUTERS: Mapping[str, Imputer] = {
    "marginals": Imputer(guess_commonest),
    "population": Imputer(guess_by_forest),
    "forest": Imputer(guess_by_forest, knows_members=True),
    "network": Imputer(guess_by_network, knows_members=True),
}
"""The black-box attacks are `forest` and `network` with the model's answers added: they learn from
the same records. Who knows some members may know of others: where equal records are trained on
together, these are alike, and others are not. So an attack that knows no member is compared with
the first two alone."""
