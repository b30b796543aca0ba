"""How high a record's margin is for one like it that was not trained on, learnt by regression."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.attacks.attack import Judgement, check
from policy_engine.audits.membership.observations import (
    CONFIDENCES,
    REFERENCES,
    Evidence,
    Floats,
    Observations,
    Terms,
)

_MIDDLE, _HIGH = 0.5, 0.9
_ALARMS = 0.05
"""The share of non-members that the threshold is to accuse: nothing is known of members."""
_LEARN = 2 / 3
_DRAW = 23


class Qmia:
    """A record whose margin is above a high quantile for records like it is called a member.

    Bertran et al., NeurIPS 2023: quantiles of the target's margins are learnt from the features
    and the label of records that it was not trained on; no shadow models are trained. The score
    is the margin's distance above the median, in units of that of the 90% quantile, so that one
    threshold stands for another margin of each record. It is the one that accuses 5% of those
    reference records that the quantiles were not learnt from.
    """

    notation: ClassVar[str] = "qmia"
    needs: ClassVar[Terms] = frozenset({CONFIDENCES, REFERENCES})
    uses: ClassVar[Terms] = frozenset()

    def judge(self, evidence: Evidence) -> Judgement:
        """Return the distances, and one threshold for all. Raises AuditError (A005, A007)."""
        check(self, evidence)
        references = evidence.references
        assert references is not None  # noqa: S101 (checked above)
        features = _add_labels(references.features, references.observations)
        order = np.random.default_rng([evidence.seed, _DRAW]).permutation(len(features))
        learn, held_out = np.split(order, [int(_LEARN * len(order))])
        middle, high = (
            _regressor(quantile, evidence.seed).fit(
                features[learn], references.observations.margin[learn]
            )
            for quantile in (_MIDDLE, _HIGH)
        )

        def score(rows: NDArray[Any], margin: Floats) -> Floats:
            centre = middle.predict(rows)
            width = np.maximum(high.predict(rows) - centre, least)
            distance: Floats = (margin - centre) / width
            return distance

        least = max(float(references.observations.margin.std()) / 100, 1e-9)
        scores_held_out = score(features[held_out], references.observations.margin[held_out])
        audited = _add_labels(references.audited, evidence.target)
        threshold = float(np.quantile(scores_held_out, 1 - _ALARMS))
        return Judgement(score(audited, evidence.target.margin), threshold)


def _add_labels(features: NDArray[Any], observed: Observations) -> NDArray[np.float32]:
    flat = features.reshape(len(features), -1).astype(np.float32)
    return np.concatenate([flat, observed.labels[:, None].astype(np.float32)], axis=1)


def _regressor(quantile: float, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: PLC0415 (slow, an extra)

    return HistGradientBoostingRegressor(
        loss="quantile",
        quantile=quantile,
        max_iter=60,
        max_leaf_nodes=8,
        early_stopping=False,
        random_state=seed % (1 << 32),
    )
