"""The protocols of learners and of the models that they train."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.observations import Terms
from policy_engine.audits.membership.records import Records
from policy_engine.audits.privacy.epsilon import EpsilonUpper
from policy_engine.engines.engine import Progress, silent
from policy_engine.kernels.estimates import NotApplicable


class Trained(Protocol):
    """The models of one training, in the order of their rows."""

    @property
    def epsilon(self) -> EpsilonUpper | NotApplicable:
        """The differential privacy of what was run, of the model that spent most."""
        ...

    def logits(self, features: NDArray[Any]) -> NDArray[np.float32]:
        """Return what the models say of records (n, d): (S, n, C), up to a constant a record.

        Label-only models give 1 for their label and 0 elsewhere.
        """
        ...

    def save(self, path: Path, model: int = 0) -> "Trained":
        """Write one model as a file that can be released, and return the model in the file."""
        ...


@runtime_checkable
class Learner(Protocol):
    """What trains models on records: two learners of one name train the same models."""

    @property
    def name(self) -> str:
        """All that the models depend on beside records, rows and seeds."""
        ...

    @property
    def gives(self) -> Terms:
        """The terms of the models' answers about a record: `OF_LABELS`, `OF_CONFIDENCES`."""
        ...

    def train(
        self,
        records: Records,
        rows: Sequence[NDArray[np.int64]],
        seeds: Sequence[int],
        progress: Progress = silent,
    ) -> Trained:
        """Return a model for each set of rows, trained with the seed beside it."""
        ...

    def memory(self, records: Records, rows: int, models: int) -> int:
        """Return about how many bytes it takes at most to train `models` models on `rows` rows."""
        ...


@runtime_checkable
class ReleaseLearner(Protocol):
    """A learner that trains a model to be released otherwise than those that only attack it."""

    def release_learner(self) -> Learner:
        """Return what trains the model that is released."""
        ...


def release_learner(learner: Learner) -> Learner:
    """Return the learner of a model that is released: a learner's own, or the learner itself."""
    return learner.release_learner() if isinstance(learner, ReleaseLearner) else learner


NOT_PRIVATE = NotApplicable(reason="The training is not differentially private.")
