"""The attack with shadow models and a model of their confidences for each class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from policy_engine.architecture import Layer, Network
from policy_engine.audits.membership.attacks.attack import Judgement, check
from policy_engine.audits.membership.observations import (
    CONFIDENCES,
    SHADOWS,
    Evidence,
    Floats,
    Observations,
    Terms,
)
from policy_engine.audits.membership.training.parameters import Design, logits_of
from policy_engine.audits.membership.training.stacks import Job, train

ATTACK_NETWORK = Network(
    layers=(Layer(units=64, activation="relu"),), epochs=50, batch_size=100, learning_rate=1e-2
)
"""64 relu units and 2 outputs, as in MOSAICrOWN's library; some hundred steps of Adam."""
FEWEST = 10
"""How many members, and how many others, of its class an attack model needs to learn from."""

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Shokri:
    """Learns from the shadows how a model's confidences look on records it was trained on.

    Shokri et al., IEEE S&P 2017; MOSAICrOWN D5.1, equations 3.1 to 3.6. An attack model for each
    true class takes the vector of all confidences, as the model gives it. It learns from what
    the shadows say of their own training (in) and test (out) records of the class, as many in as
    out, drawn with the evidence's seed where there are more of one. `model` is a network with
    two outputs, or any binary classifier of scikit-learn; a class with fewer than `FEWEST`
    records on a side is judged by one that learns from all classes. Scores are the log-odds of
    "in", the threshold is 0.
    """

    model: Network | Any = ATTACK_NETWORK
    notation: ClassVar[str] = "shokri"
    needs: ClassVar[Terms] = frozenset({CONFIDENCES, SHADOWS})
    uses: ClassVar[Terms] = frozenset()

    def judge(self, evidence: Evidence) -> Judgement:
        """Return the log-odds that a record is a member. Raises AuditError (A005, A007)."""
        check(self, evidence)
        known = _Known.of(evidence)
        sets, models = known.sets(np.random.default_rng([evidence.seed, _DRAW]))
        said = confidences(evidence.target)
        asked = [np.flatnonzero(models[evidence.target.labels] == one) for one in range(len(sets))]
        odds = self._learnt(known, sets, [said[rows] for rows in asked], evidence.seed)
        scores = np.empty(len(said))
        for rows, values in zip(asked, odds, strict=True):
            scores[rows] = values
        return Judgement(scores, 0.0)

    def _learnt(
        self, known: "_Known", sets: Sequence[Rows], asked: Sequence[NDArray[np.float32]], seed: int
    ) -> list[Floats]:
        """Return what models trained on the sets say of what each is asked about."""
        if isinstance(self.model, Network):
            return _of_networks(self.model, known, sets, asked, seed)
        return [
            _of_classifier(self.model, known.said[rows], known.is_in[rows], questions, seed)
            for rows, questions in zip(sets, asked, strict=True)
        ]


_DRAW = 17


@dataclass(frozen=True, eq=False)
class _Known:
    """What the attacker knows: confidences (n, C) of shadows, true classes, and who was in."""

    said: NDArray[np.float32]
    labels: Rows
    is_in: NDArray[np.bool_]

    @classmethod
    def of(cls, evidence: Evidence) -> "_Known":
        shadows = evidence.shadows
        return cls(
            np.concatenate([confidences(shadow.own) for shadow in shadows]),
            np.concatenate([shadow.own.labels for shadow in shadows]),
            np.concatenate([shadow.is_member for shadow in shadows]),
        )

    def sets(self, rng: np.random.Generator) -> tuple[list[Rows], Rows]:
        """Return balanced training sets, and for each class (C,) which of them is its own.

        Where a class is too small for one, the last set is of all classes together.
        """
        classes = self.said.shape[1]
        of_class = [np.flatnonzero(self.labels == one) for one in range(classes)]
        sides = [min(self._sides(rows)) for rows in of_class]
        large = [one for one in range(classes) if sides[one] >= FEWEST]
        models = np.full(classes, len(large))
        models[large] = np.arange(len(large))
        sets = [self._balanced(of_class[one], rng) for one in large]
        if len(large) < classes:
            sets.append(self._balanced(np.arange(len(self.labels)), rng))
        return sets, models

    def _sides(self, rows: Rows) -> tuple[int, int]:
        members = int(self.is_in[rows].sum())
        return members, len(rows) - members

    def _balanced(self, rows: Rows, rng: np.random.Generator) -> Rows:
        fewest = min(self._sides(rows))
        sides = [rows[self.is_in[rows]], rows[~self.is_in[rows]]]
        return np.concatenate([np.sort(rng.permutation(side)[:fewest]) for side in sides])


def confidences(observations: Observations) -> NDArray[np.float32]:
    """Return the confidence vectors of records, (n, C): the softmax of what a model says."""
    logits = observations.logits
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return np.asarray(shares, np.float32)


def _of_networks(
    network: Network,
    known: _Known,
    sets: Sequence[Rows],
    asked: Sequence[NDArray[np.float32]],
    seed: int,
) -> list[Floats]:
    """Train one network for each set, all at once, and return their logit differences."""
    design = Design.of(network, known.said.shape[1], 2)
    seeds = [int(one) for one in np.random.SeedSequence([seed, _DRAW]).generate_state(len(sets))]
    job = Job(network, design, known.said, known.is_in.astype(np.int64), sets, seeds)
    odds = []
    for parameters, questions in zip(train(job), asked, strict=True):
        logits = logits_of(parameters, design.activations, questions).astype(np.float64)
        odds.append(logits[:, 1] - logits[:, 0])
    return odds


def _of_classifier(
    model: Any,
    said: NDArray[np.float32],
    is_in: NDArray[np.bool_],
    asked: NDArray[np.float32],
    seed: int,
) -> Floats:
    """Return the log-odds of a clone of a scikit-learn classifier, kept finite."""
    from sklearn.base import clone  # noqa: PLC0415 (slow to import, an extra)

    own = clone(model)
    if "random_state" in own.get_params():
        own.set_params(random_state=seed % (1 << 32))
    if not len(asked):
        return np.empty(0)
    own.fit(said, is_in.astype(int))
    if not hasattr(own, "predict_proba"):
        return cast(Floats, np.asarray(own.decision_function(asked), np.float64))
    share = np.clip(own.predict_proba(asked)[:, 1], _LEAST, 1 - _LEAST)
    return cast(Floats, np.log(share) - np.log1p(-share))


_LEAST = 1e-12
