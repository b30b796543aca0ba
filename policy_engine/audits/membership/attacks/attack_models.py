"""Models of how members are answered, among which an attack chooses by shadows held out."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.observations import Bools, Floats, Observations
from policy_engine.audits.membership.training.parameters import Design, logits_of
from policy_engine.methods.audits.classifier import Network

Rows = NDArray[np.int64]
View = Callable[[Observations], NDArray[np.float32]]
"""What an attack model is shown of the records, (n, d)."""

_DRAW = 17
_LEAST = 1e-12
_STEPS = 200_000
_TREES = 60
_LARGEST_SAMPLE = 10_000


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """What one attack model learns from: features (n, d), and which records were members."""

    features: NDArray[np.float32]
    is_member: Bools


class AttackModel(Protocol):
    """A way to learn from shadows' answers who was a member.

    `name` is said in the notes of a result. Several classes are learnt at once, each from its
    own lesson.
    """

    @property
    def name(self) -> str:
        """What it is, and what it is shown."""
        ...

    @property
    def view(self) -> View:
        """What it is shown of the records."""
        ...

    def odds(
        self, lessons: Sequence[TrainingSet], questions: Sequence[NDArray[np.float32]], seed: int
    ) -> list[Floats]:
        """Learn each lesson, and return the log-odds of "in" for the records asked of each."""
        ...


def confidences(observed: Observations) -> NDArray[np.float32]:
    """Return the confidence vectors of records, (n, C): the softmax of what a model says."""
    logits = observed.logits
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return np.asarray(shares, np.float32)


def log_odds(observed: Observations) -> NDArray[np.float32]:
    """Return the logits of the confidences, log(p / (1 - p)), (n, C): none of them saturates."""
    return np.asarray(observed.log_odds, np.float32)


def ranked_log_odds(observed: Observations) -> NDArray[np.float32]:
    """Return the logits of the confidences, the true class's first, the others in falling order."""
    odds = np.asarray(observed.log_odds, np.float32)
    chosen = observed.labels[:, None]
    true_odds = np.take_along_axis(odds, chosen, axis=1)
    other_odds = odds.copy()
    np.put_along_axis(other_odds, chosen, -np.inf, axis=1)
    return np.concatenate([true_odds, -np.sort(-other_odds, axis=1)[:, :-1]], axis=1)


@dataclass(frozen=True)
class ClassifierModel:
    """A clone of a binary classifier with scikit-learn's interface for every lesson."""

    name: str
    view: View
    make: Callable[[int], Any]

    def odds(
        self, lessons: Sequence[TrainingSet], questions: Sequence[NDArray[np.float32]], seed: int
    ) -> list[Floats]:
        """Return the log-odds that each classifier gives, kept finite."""
        return [
            self._fit_and_score(lesson, features, seed)
            for lesson, features in zip(lessons, questions, strict=True)
        ]

    def _fit_and_score(
        self, lesson: TrainingSet, questions: NDArray[np.float32], seed: int
    ) -> Floats:
        if not len(questions):
            return np.empty(0)
        classifier = self.make(len(lesson.features))
        seeded = [
            name for name in classifier.get_params() if name.split("__")[-1] == "random_state"
        ]
        classifier.set_params(**dict.fromkeys(seeded, seed % (1 << 32)))
        with warnings.catch_warnings():
            # A network that would go on getting better has learnt enough, or is not chosen.
            warnings.simplefilter("ignore")
            classifier.fit(lesson.features, lesson.is_member.astype(int))
        if not hasattr(classifier, "predict_proba"):
            return cast(Floats, np.asarray(classifier.decision_function(questions), np.float64))
        # In float32, in which networks answer, 1 less the least share would be 1.
        shares = classifier.predict_proba(questions)[:, 1].astype(np.float64)
        clipped = np.clip(shares, _LEAST, 1 - _LEAST)
        return cast(Floats, np.log(clipped) - np.log1p(-clipped))


@dataclass(frozen=True)
class NetworkModel:
    """A dense network with two outputs, one for each lesson, all trained at once."""

    network: Network
    name: str = "the given network on confidences"
    view: View = confidences

    def odds(
        self, lessons: Sequence[TrainingSet], questions: Sequence[NDArray[np.float32]], seed: int
    ) -> list[Floats]:
        """Return the differences of the two logits."""
        from policy_engine.audits.membership.training.stacks import (  # noqa: PLC0415 (slow)
            TrainingJob,
            train,
        )

        features_of_all = np.concatenate([lesson.features for lesson in lessons])
        is_in = np.concatenate([lesson.is_member for lesson in lessons]).astype(np.int64)
        ends = np.cumsum([len(lesson.is_member) for lesson in lessons])
        rows = np.split(np.arange(len(is_in)), ends[:-1])
        design = Design.of(self.network, features_of_all.shape[1], 2)
        drawn = np.random.SeedSequence([seed, _DRAW]).generate_state(len(lessons))
        job = TrainingJob(
            self.network, design, features_of_all, is_in, rows, [int(one) for one in drawn]
        )
        odds = []
        for parameters, features in zip(train(job), questions, strict=True):
            logits = logits_of(parameters, design.activations, features).astype(np.float64)
            odds.append(logits[:, 1] - logits[:, 0])
        return odds


def custom_model(model: Network | Any) -> AttackModel:
    """Return a network with two outputs, or a binary classifier of scikit-learn, on confidences."""
    if isinstance(model, Network):
        return NetworkModel(model)

    def make(_: int) -> Any:
        from sklearn.base import clone  # noqa: PLC0415 (slow to import, an extra)

        return clone(model)

    return ClassifierModel(f"the given {type(model).__name__} on confidences", confidences, make)


def _network(records: int) -> Any:
    """Return 64 relu units, as in MOSAICrOWN's library, for some hundred steps of Adam."""
    from sklearn.neural_network import MLPClassifier  # noqa: PLC0415 (slow to import, an extra)

    epochs = int(np.clip(_STEPS // records, 5, 50))
    return MLPClassifier((64,), batch_size=min(100, records), max_iter=epochs)


def _scaled_network(records: int) -> Any:
    return _scaled(_network(records))


def _scaled(classifier: Any) -> Any:
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415 (slow to import, an extra)
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    return make_pipeline(StandardScaler(), classifier)


def _forest(records: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415 (slow to import, an extra)

    drawn = min(records, _LARGEST_SAMPLE)
    return RandomForestClassifier(_TREES, min_samples_leaf=5, max_samples=drawn)


def _linear(_: int) -> Any:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 (slow to import, an extra)

    return _scaled(LogisticRegression())


ATTACK_MODELS: tuple[AttackModel, ...] = (
    ClassifierModel("network on confidences", confidences, _network),
    ClassifierModel("network on log-odds", log_odds, _scaled_network),
    ClassifierModel("forest on log-odds", log_odds, _forest),
    ClassifierModel("forest on ranked log-odds", ranked_log_odds, _forest),
    ClassifierModel("logistic regression on ranked log-odds", ranked_log_odds, _linear),
)
"""Shokri's network as the papers have it, and what sees more where a softmax saturates."""
