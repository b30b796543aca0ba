"""The protocol of a fitted model, whichever library it comes from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.fitted.blocks import Block
from policy_engine.engines.versions import version_of

Answer = Mapping[str, NDArray[Any]]
"""What a model says of n records: `probabilities` (n, C), `logits` (n, C), `labels` (n,), or an
`output` of which the model does not tell what it is, (n,) or (n, C)."""


@dataclass(frozen=True)
class ModelDescription:
    """What a model says of itself, as far as it does.

    `library` and `name` say what it is, `versions` of which packages; `classes` are those of its
    answers in their order, `features` the names of what it takes, `width` how many these are.
    `notes` are warnings from its opening.
    """

    library: str
    name: str
    versions: Mapping[str, str] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    width: int = 0
    notes: tuple[str, ...] = ()


class AskableModel(Protocol):
    """A fitted model that can be asked."""

    @property
    def description(self) -> ModelDescription:
        """What the model says of itself."""
        ...

    def answer(self, block: Block) -> Answer:
        """Return the model's answers about some records. Raises whatever its library raises."""
        ...


def to_answer(result: Any) -> Answer:
    """Return a function's or a module's result as an answer; whole numbers and texts are labels."""
    values = np.asarray(result)
    if values.ndim == 1 and values.dtype.kind in "biuUSO":
        return {"labels": values.astype(str)}
    return {"output": values}


def softmax(logits: NDArray[Any]) -> NDArray[np.float64]:
    """Return the probabilities of logits (n, C)."""
    raised: NDArray[np.float64] = np.exp(logits - logits.max(axis=1, keepdims=True))
    raised /= raised.sum(axis=1, keepdims=True)
    return raised


def two_class_logits(raw: NDArray[Any]) -> NDArray[Any]:
    """Return the score of class 1 of two as logits of both."""
    raw = np.asarray(raw, dtype=np.float64)
    return np.stack([np.zeros(len(raw)), raw], axis=1) if raw.ndim == 1 else raw


def versions_of(*packages: str) -> dict[str, str]:
    """Return the versions of those packages that are installed."""
    versions = {name: version_of(name) for name in packages}
    return {name: one for name, one in versions.items() if one != "not installed"}
