"""How shadows of a fitted model are trained: by its own settings, or by a given recipe."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.fitted.answers import logits_of
from policy_engine.audits.membership.fitted.blocks import Block, as_matrix
from policy_engine.audits.membership.fitted.estimators import EstimatorModel
from policy_engine.audits.membership.fitted.questions import blocks_of, rows_of
from policy_engine.audits.membership.fitted.shadowing import Rows, Trainer
from policy_engine.audits.membership.fitted.target import InProcessModel, Target
from policy_engine.audits.membership.fitted.views import Logits, views_of
from policy_engine.audits.membership.learners import Learner
from policy_engine.audits.membership.records import Records, digest_of
from policy_engine.errors import AuditError


@dataclass(frozen=True, eq=False)
class ShadowData:
    """What shadows learn from: records as the target takes them, and their labels (n,).

    They are asked about records in as many `views` as the target is, the same ones by the `seed`.
    """

    features: Block
    labels: Rows
    classes: tuple[str, ...]
    views: int = 1
    seed: int = 0

    def view_blocks(self) -> Iterator[Block]:
        """Yield the records in each view."""
        yield from views_of(self.features, self.views, self.seed)


def refit_trainer(target: Target, lesson: ShadowData) -> Trainer:
    """Return a trainer of models with the settings that the target carries itself."""

    def train(rows: Rows, seed: int) -> list[Logits]:
        records = rows_of(lesson.features, rows)
        like = target.refit(records, lesson.labels[rows], seed)
        ask = partial(_place_logits, like, len(lesson.classes))
        return [np.concatenate([*map(ask, blocks_of(view))]) for view in lesson.view_blocks()]

    return train


def _place_logits(like: Target, classes: int, block: Block) -> Logits:
    """Return a model's logits of all classes, -inf for those that it has not seen.

    It was trained on the places of the classes, not on their names.
    """
    answers = logits_of(like.ask(block), len(block))
    classes_seen = list(map(int, like.description.classes)) or list(range(answers.shape[1]))
    if answers.shape[1] != len(classes_seen):
        message = f"A retrained model answers with {answers.shape[1]:,} numbers a record."
        raise AuditError.of("A004", message)
    placed = np.full((len(block), classes), -np.inf, dtype=np.float32)
    placed[:, classes_seen] = answers
    return placed


def estimator_trainer(estimator: Any, lesson: ShadowData) -> Trainer:
    """Return a trainer of clones of a classifier of scikit-learn's kind."""
    return refit_trainer(InProcessModel(EstimatorModel(estimator)), lesson)


def learner_trainer(learner: Learner, lesson: ShadowData) -> Trainer:
    """Return a trainer of models of a description, on the numbers as the target takes them.

    Raises AuditError (A003) where records are not all numbers.
    """
    features = _flat(lesson.features)
    records = Records(
        features=features,
        labels=lesson.labels,
        classes=lesson.classes,
        columns={},
        encoding=(),
        name="",
        digest=digest_of(features, lesson.labels),
    )

    def train(rows: Rows, seed: int) -> list[Logits]:
        trained = learner.train(records, [rows], [seed])
        return [trained.logits(_flat(view))[0] for view in lesson.view_blocks()]

    return train


def _flat(block: Block) -> NDArray[np.float32]:
    matrix = as_matrix(block, np.float32)
    return matrix.reshape(len(matrix), -1)
