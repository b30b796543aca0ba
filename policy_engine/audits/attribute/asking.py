"""Models as an attacker on a secret asks them: about records as they are, and with other values."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.attribute.evidence import Codes, SecretEvidence, Shares
from policy_engine.audits.attribute.secret import Secret
from policy_engine.audits.membership.encoding import Encoding
from policy_engine.audits.membership.fitted.answers import AnswerReading, ask_model
from policy_engine.audits.membership.fitted.blocks import Block
from policy_engine.audits.membership.fitted.target import Target
from policy_engine.audits.membership.learners import Trained
from policy_engine.audits.membership.observations import LABEL_ANSWERS, Terms


class AskedModel(Protocol):
    """A model that is asked about rows of a table."""

    @property
    def gives(self) -> Terms:
        """The terms of its answers."""
        ...

    def shares(self, columns: pa.Table) -> Shares:
        """Return the probabilities of the classes of some records, (n, C)."""
        ...


@dataclass(frozen=True, eq=False)
class TrainedTarget:
    """A model that was trained for the audit, and how records become its features."""

    trained: Trained
    gives: Terms
    features: Callable[[pa.Table], NDArray[Any]]

    def shares(self, columns: pa.Table) -> Shares:
        """Return the probabilities of the classes of some records, (n, C)."""
        return _shares(self.trained.logits(self.features(columns))[0], self.gives)


@dataclass(frozen=True, eq=False)
class FittedTargetModel:
    """A model that is fitted already; `select` gives it the columns that it takes."""

    target: Target
    gives: Terms
    labels: tuple[str, ...]
    reading: AnswerReading
    select: Callable[[pa.Table], Block]

    def shares(self, columns: pa.Table) -> Shares:
        """Return the probabilities of the classes of some records, (n, C)."""
        answers = ask_model(
            self.target.ask,
            self.target.description,
            self.select(columns),
            self.labels,
            self.reading,
        )
        return _shares(answers.logits, self.gives)


def _shares(logits: NDArray[np.float32], gives: Terms) -> Shares:
    """Return logits as probabilities; labels are 1 and 0 already."""
    numbers = logits.astype(np.float64)
    if gives == LABEL_ANSWERS:
        return numbers
    raised = np.exp(numbers - numbers.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class SecretMaterial:
    """The table that is audited: its columns, the secret among them, and the labels, (n,).

    `known` (n, d) are what attackers know of every record: the features of all other columns, and
    of the label.
    """

    table: pa.Table
    labels: Codes
    classes: tuple[str, ...]
    secret: Secret
    known: NDArray[np.float32]

    @classmethod
    def of(
        cls,
        columns: pa.Table,
        labels: Codes,
        classes: tuple[str, ...],
        secret: Secret,
        original: pa.Table | None = None,
    ) -> "SecretMaterial":
        """Return the material of a table without its label.

        Attackers know the `original` columns where a model is shown others. Raises AuditError
        (A003) where columns cannot be features.
        """
        others = (columns if original is None else original).drop_columns([secret.name])
        parts = [np.eye(len(classes), dtype=np.float32)[labels]]
        if others.num_columns:
            parts.append(Encoding.fit(others).apply(others).astype(np.float32))
        return cls(columns, labels, classes, secret, np.concatenate(parts, axis=1))

    def evidence(self, model: AskedModel, rows: Codes) -> SecretEvidence:
        """Ask a model about some rows, as they are and with each value of the secret."""
        columns = self.table.take(pa.array(rows))
        place = columns.schema.get_field_index(self.secret.name)
        field, cells = columns.schema.field(place), self.table.column(self.secret.name)
        tried = []
        for row in self.secret.stand_ins.tolist():
            same = cells.take(pa.array(np.full(len(rows), row)))
            tried.append(model.shares(columns.set_column(place, field, same)))
        return SecretEvidence(
            known=self.known[rows],
            labels=self.labels[rows],
            answers=model.shares(columns),
            tried=np.stack(tried, axis=1),
        )
