"""The same networks by one Keras `fit` each: slow, and there to be compared with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.learners.network import Networks, keras_network
from policy_engine.audits.membership.observations import CONFIDENCE_ANSWERS, Terms
from policy_engine.audits.membership.records import Records
from policy_engine.audits.membership.training.parameters import Design
from policy_engine.audits.membership.training.runtime import need_keras
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import InternalError
from policy_engine.methods.audits.classifier import Network


@dataclass(frozen=True)
class OneByOne:
    """Trains a network with Keras's own `fit`, its own optimizer and its own losses."""

    network: Network
    gives: ClassVar[Terms] = CONFIDENCE_ANSWERS

    @property
    def name(self) -> str:
        """The description as JSON, and that `fit` trains it."""
        return f"fit {self.network.model_dump_json()}"

    def train(
        self,
        records: Records,
        rows: Sequence[NDArray[np.int64]],
        seeds: Sequence[int],
        progress: Progress = silent,
    ) -> Networks:
        """Return a network for each set of rows. Private training is not done here."""
        if self.network.privacy is not None:
            raise InternalError.of("X001", "One by one, networks are trained without privacy.")
        design = Design.of(self.network, records.features.shape[1], len(records.classes))
        models = []
        for model, (own, seed) in enumerate(zip(rows, seeds, strict=True)):
            models.append(self._fit(design, records, own, seed))
            progress("training", model + 1, len(rows))
        return Networks(design, tuple(models))

    def memory(self, records: Records, rows: int, models: int) -> int:
        """Return about how many bytes training takes at its peak."""
        kept = 4 * Design.of(self.network, records.features.shape[1], len(records.classes)).count()
        return (1 << 30) + 8 * rows * int(records.features.shape[1]) + kept * models

    def _fit(
        self, design: Design, records: Records, rows: NDArray[np.int64], seed: int
    ) -> tuple[NDArray[np.float32], ...]:
        keras = need_keras()
        model = keras_network(design)
        for number, layer in enumerate(model.layers):
            _prepare(keras, layer, self.network.l2, seed + number)
        model.compile(self._optimizer(keras), "sparse_categorical_crossentropy")
        order = np.random.default_rng(seed).permutation(rows)
        model.fit(
            records.features[order].astype(np.float32),
            records.labels[order],
            batch_size=self.network.batch_size,
            epochs=self.network.epochs,
            verbose=0,
        )
        return tuple(one.value.numpy() for one in model.weights)

    def _optimizer(self, keras: Any) -> Any:
        if self.network.optimizer == "adam":
            return keras.optimizers.Adam(self.network.learning_rate)
        return keras.optimizers.SGD(self.network.learning_rate, self.network.momentum)


def _prepare(keras: Any, layer: Any, l2: float, seed: int) -> None:
    """Give a layer its own first weights, and its kernel the penalty."""
    if hasattr(layer, "kernel"):
        initial = keras.initializers.GlorotUniform(seed)
        layer.kernel.assign(initial(layer.kernel.shape))
        layer.kernel.regularizer = keras.regularizers.L2(l2) if l2 else None
