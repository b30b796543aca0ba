"""The fitted model that is attacked: in a file, or an object of the caller's."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.membership.fitted.answers import AnswerReading, Outputs
from policy_engine.audits.membership.fitted.blocks import Block
from policy_engine.audits.membership.fitted.kinds import fitted_file
from policy_engine.audits.membership.fitted.library_calls import ask_in_process, call_library, fit
from policy_engine.audits.membership.fitted.loading import OpeningOptions
from policy_engine.audits.membership.fitted.model import Answer, AskableModel, ModelDescription
from policy_engine.audits.membership.fitted.models import model_of
from policy_engine.audits.membership.fitted.process import open_process
from policy_engine.audits.membership.result import FittedTarget
from policy_engine.errors import ArgumentError, AuditError, Problem, did_you_mean, join_names

TIME_LIMIT = 600.0


@dataclass(frozen=True)
class FittedModel:
    """A model that is already fitted, and how to open it and get its answers.

    `model` is a file (skops, XGBoost, LightGBM, Keras 3, TorchScript, a state_dict, ONNX), or an
    object with predict_proba or predict, or a function from features to answers. `trust_pickle`
    opens files that run code when they are opened; `model_class` is the class of a state_dict,
    `net.py:Net` or `package.module:Net`. `features` names the columns that it takes, `classes`
    its classes in the order of its answers, `outputs` the kind of its answers, if it does not tell
    these itself. `time_limit` is how many seconds opening it, and each answer, may take.

    With `retrain`, models of its kind are trained as shadow models, with its own settings;
    `references` are other models of its kind, none of which was trained on the given records. Each
    record is given to the model in several `views`: images, (n, height, width) or with channels
    last, unchanged, mirrored, and shifted by a pixel; other records with some noise.
    """

    model: Any
    trust_pickle: bool = False
    model_class: str = ""
    features: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    outputs: Outputs = ""
    time_limit: float = TIME_LIMIT
    retrain: bool = False
    references: tuple[Any, ...] = ()
    views: int = 1

    def __post_init__(self) -> None:
        for name in ("features", "classes", "references"):
            value = getattr(self, name)
            if isinstance(value, str | Path):
                message = f"{name} is of the wrong type. Given: {type(value).__name__}."
                raise ArgumentError.of("U002", f"{message} {name} may be a tuple.")
        object.__setattr__(self, "features", tuple(map(str, self.features)))
        object.__setattr__(self, "classes", tuple(map(str, self.classes)))
        if self.outputs not in ("", "probabilities", "logits"):
            message = f"Outputs are 'probabilities' or 'logits'. Given: {self.outputs!r}."
            raise AuditError.of("A014", message)
        if not self.time_limit > 0:
            message = f"The time limit must be above 0 seconds. Given: {self.time_limit!r}."
            raise AuditError.of("A014", message)

    @property
    def opening(self) -> OpeningOptions:
        """How its file may be opened."""
        return OpeningOptions(self.trust_pickle, self.model_class)

    @property
    def reading(self) -> AnswerReading:
        """How its answers are read."""
        return AnswerReading(self.classes, self.outputs)

    @property
    def is_file(self) -> bool:
        """Whether it is in a file."""
        return isinstance(self.model, str | Path)


class Target(Protocol):
    """An open model that can be asked."""

    @property
    def description(self) -> ModelDescription:
        """What it says of itself."""
        ...

    @property
    def is_reproducible(self) -> bool:
        """Whether the digest of its file, and versions, decide all that it said."""
        ...

    def ask(self, block: Block) -> Answer:
        """Return its answers about some records. Raises AuditError where it has none."""
        ...

    def refit(self, block: Block, labels: NDArray[np.int64], seed: int) -> "Target":
        """Return its kind, retrained on records with labels 0 to C-1. Raises AuditError."""
        ...


@dataclass(frozen=True, eq=False)
class InProcessModel:
    """A model of this very process: an object of the caller's."""

    model: AskableModel
    description: ModelDescription = field(init=False)

    def __post_init__(self) -> None:
        description = call_library(
            lambda: self.model.description, "A014", "The model does not tell what it is"
        )
        object.__setattr__(self, "description", description)

    @property
    def is_reproducible(self) -> bool:
        """Never: an object has no digest."""
        return False

    def ask(self, block: Block) -> Answer:
        """Return the model's answers. Raises AuditError (A008, A009)."""
        return ask_in_process(self.model, block)

    def refit(self, block: Block, labels: NDArray[np.int64], seed: int) -> "InProcessModel":
        """Return the same kind of model, retrained. Raises AuditError (A008, A009, A014)."""
        return InProcessModel(fit(self.model, block, labels, seed))


@contextmanager
def open_target(fitted: FittedModel) -> Iterator[tuple[Target, FittedTarget]]:
    """Open a model, in a process of its own where it is in a file, and say what it is.

    Raises DataError (C002, C003, C011), AuditError (A008, A014, A015, A016).
    """
    if not fitted.is_file:
        target = InProcessModel(model_of(fitted.model))
        yield target, _describe(target.description, "object", "")
        return
    file = fitted_file(Path(fitted.model))
    with open_process(file, fitted.opening, fitted.time_limit) as process:
        yield process, _describe(process.description, file.kind, file.digest, file.path.name)


def _describe(model: ModelDescription, kind: str, digest: str, name: str = "") -> FittedTarget:
    return FittedTarget(
        kind=kind,
        library=model.library,
        model=model.name,
        file=name,
        digest=digest,
        versions=dict(model.versions),
    )


def align(records: Block, model: ModelDescription) -> Block:
    """Return records with the features that a model takes: columns by name where it has names.

    Raises AuditError (A003) where columns are not there, or are too many or too few.
    """
    if isinstance(records, pa.Table) and model.features:
        names = records.column_names
        lacking = [one for one in model.features if one not in names]
        if not lacking:
            return records.select(list(model.features))
        if len(lacking) < len(model.features):
            raise AuditError(*[_missing_column(one, names) for one in lacking[:10]])
        message = f"The model takes other columns: {join_names(model.features)}. "
        hint = "Name the columns as the model does: their order is not used."
        raise AuditError.of("A003", f"{message}The data has {join_names(names)}.", hint)
    width = records.num_columns if isinstance(records, pa.Table) else records[0].size
    if model.width and width != model.width:
        message = f"The model takes {model.width:,} features. The records have {width:,}."
        hint = "Name those that it takes: features=(COLUMN, ...)."
        raise AuditError.of("A003", message, hint)
    return records


def _missing_column(name: str, names: list[str]) -> Problem:
    message = f"The model takes a column {name!r}, which the data does not have."
    return Problem("A003", message, did_you_mean(name, names))
