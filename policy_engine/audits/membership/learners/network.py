"""Dense networks from their description, trained together, with or without privacy."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.learners.learner import NOT_PRIVATE
from policy_engine.audits.membership.observations import CONFIDENCE_ANSWERS, Terms
from policy_engine.audits.membership.records import Records
from policy_engine.audits.membership.released.files import read_weights, write_keras
from policy_engine.audits.membership.training.parameters import Design, Parameters, logits_of
from policy_engine.audits.membership.training.released import train_for_release
from policy_engine.audits.membership.training.runtime import need_keras
from policy_engine.audits.membership.training.spending import Spending, most_spent, spending_of
from policy_engine.audits.membership.training.stacks import (
    TrainingJob,
    bytes_of_a_model,
    draws_on_device,
    train,
)
from policy_engine.audits.privacy.epsilon import EpsilonUpper
from policy_engine.engines.engine import Progress, silent
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.audits.classifier import Network

_ROWS_AT_ONCE = 8192
_TENSORFLOW = 700 << 20


@dataclass(frozen=True, eq=False)
class Networks:
    """Trained networks of one design: their parameters, kernel and bias of each layer in turn.

    `spendings` are there, one for each, where they were trained with differential privacy;
    `is_secret` tells whether its noise follows from no seed.
    """

    design: Design
    models: tuple[Parameters, ...]
    spendings: tuple[Spending, ...] = ()
    is_secret: bool = False

    @cached_property
    def epsilon(self) -> EpsilonUpper | NotApplicable:
        """The differential privacy of what was run, of the model that spent most."""
        return most_spent(self.spendings) if self.spendings else NOT_PRIVATE

    def logits(self, features: NDArray[Any]) -> NDArray[np.float32]:
        """Return what goes into the softmax for records (n, d): (S, n, C)."""
        shape = (len(self.models), len(features), self.design.widths[-1])
        logits = np.empty(shape, np.float32)
        for start in range(0, len(features), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            values = np.asarray(features[part], np.float32)
            for model, parameters in enumerate(self.models):
                logits[model, part] = logits_of(parameters, self.design.activations, values)
        return logits

    def save(self, path: Path, model: int = 0) -> "Networks":
        """Write one model as a `.keras` file, which gives probabilities, and read it back.

        Without dropout, which is for the training alone. Raises OutputError (O002).
        """
        network = keras_network(replace(self.design, dropouts=(0.0,) * len(self.design.dropouts)))
        network.set_weights(list(self.models[model]))
        write_keras(network, path)
        return replace(self, models=(read_weights(path),))


@dataclass(frozen=True)
class NetworkLearner:
    """Trains dense networks as their description says (see `training`).

    With `privacy` every model is trained by DP-SGD or DP-Adam (Abadi et al., CCS 2016): records
    drawn by Poisson sampling, gradients clipped exactly, noise on their sum. The noise comes of
    the seed: a model is private only towards those who do not know it. Where it is `secret`, as
    that of a model to be released is to be, it comes of the operating system, and is exact to
    the last bit (see `training.released`); the same seed then gives other models.
    """

    network: Network
    secret: bool = False
    gives: ClassVar[Terms] = CONFIDENCE_ANSWERS

    @property
    def name(self) -> str:
        """The description as JSON, and how the noise is drawn, if not from the seed on a CPU."""
        if self.is_secret:
            return f"{self.network.model_dump_json()} in secret"
        is_of_device = self.network.privacy is not None and draws_on_device()
        return self.network.model_dump_json() + " by a GPU's noise" * is_of_device

    @property
    def is_secret(self) -> bool:
        """Whether there is noise, and none of it follows from a seed."""
        privacy = self.network.privacy
        return self.secret and privacy is not None and privacy.noise_multiplier != 0

    def release_learner(self) -> "NetworkLearner":
        """Return what trains the model that is released: as this does, with secret noise."""
        return replace(self, secret=True)

    def train(
        self,
        records: Records,
        rows: Sequence[NDArray[np.int64]],
        seeds: Sequence[int],
        progress: Progress = silent,
    ) -> Networks:
        """Return a network for each set of rows; sets may differ in size.

        Raises AuditError where a loss is no longer a number (A013), or an epsilon cannot be
        reached (A006); DataError (C011) without TensorFlow.
        """
        design = Design.of(self.network, records.features.shape[1], len(records.classes))
        spent = self._spendings([len(own) for own in rows])
        job = TrainingJob(
            self.network, design, records.features, records.labels, rows, seeds, spent
        )
        trained = train_for_release(job, progress) if self.is_secret else train(job, progress)
        return Networks(design, tuple(trained), spent, is_secret=self.is_secret)

    def _spendings(self, sizes: Sequence[int]) -> tuple[Spending, ...]:
        privacy = self.network.privacy
        if privacy is None:
            return ()
        batch, epochs = self.network.batch_size, self.network.epochs
        of_size = {size: spending_of(privacy, size, batch, epochs) for size in dict.fromkeys(sizes)}
        return tuple(of_size[size] for size in sizes)

    def memory(self, records: Records, rows: int, models: int) -> int:
        """Return about how many bytes training takes at its peak."""
        design = Design.of(self.network, records.features.shape[1], len(records.classes))
        order = 16 * rows
        each = bytes_of_a_model(design, self.network) + order + 4 * design.count()
        return _TENSORFLOW + records.features.nbytes + models * each


def keras_network(design: Design) -> Any:
    """Return a Keras model of a design, a softmax at its end, its weights not yet set."""
    keras = need_keras()
    layers = [keras.layers.Input((design.widths[0],), name="features")]
    hidden = zip(design.widths[1:-1], design.activations, design.dropouts, strict=True)
    for number, (units, activation, dropout) in enumerate(hidden, start=1):
        name = f"hidden_{number}"
        layers.append(keras.layers.Dense(units, activation=activation, name=name))
        if dropout:
            layers.append(keras.layers.Dropout(dropout, name=f"dropout_{number}"))
    layers.append(keras.layers.Dense(design.widths[-1], activation="softmax", name="classes"))
    return keras.Sequential(layers, name="network")
