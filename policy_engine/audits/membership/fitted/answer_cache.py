"""Answers of the models that a fitted one is compared with, kept for interrupted audits."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import numpy as np

from policy_engine.audits.membership.cache import Form, ModelAnswers, ModelCache, key_of
from policy_engine.audits.membership.fitted.shadowing import Rows, Trainer
from policy_engine.audits.membership.fitted.views import Logits
from policy_engine.audits.membership.records import digest_of
from policy_engine.audits.membership.shadows import Chunk, ignore_chunk
from policy_engine.engines.versions import version_of


@dataclass(frozen=True, eq=False)
class ViewAnswers:
    """A model's answers by view, and whether the same facts give the same answers again."""

    logits: list[Logits]
    is_reproducible: bool


@dataclass(frozen=True)
class AnswerCache:
    """A folder of answers; without a folder nothing is kept.

    `on_chunk` is called after each model; `facts` are what decides the answers of all models.
    """

    folder: Path | None = None
    on_chunk: Callable[[Chunk], None] = ignore_chunk
    facts: tuple[str | int, ...] = ()

    def with_facts(self, *facts: str | int) -> "AnswerCache":
        """Return the same cache for models that are determined by further facts."""
        return replace(self, facts=(*self.facts, *facts))

    def without_folder(self) -> "AnswerCache":
        """Return a cache that keeps nothing, for models without a digest."""
        return replace(self, folder=None)

    def answers(
        self, shape: tuple[int, int, int], ask: Callable[[], ViewAnswers], place: tuple[int, int]
    ) -> list[Logits]:
        """Return a model's answers, (views, n, C), from the cache or by asking it now.

        New answers are kept where the same facts give the same ones again. `place` is the number of
        the model and how many there are. Raises OutputError (O002), and whatever `ask` raises.
        """
        cache, key = ModelCache(self.folder), key_of(version_of("policy-engine"), *self.facts)
        stored = cache.find(key, {"logits": Form(shape)})
        if stored is not None:
            return [*stored.logits]
        begun = time.monotonic()
        answers = ask()
        if answers.is_reproducible:
            cache.keep(key, ModelAnswers({"logits": np.stack(answers.logits)}))
        self.on_chunk(Chunk(1, time.monotonic() - begun, *place))
        return answers.logits


def cached_trainer(
    train: Trainer,
    is_settled: Callable[[], bool],
    kept: AnswerCache,
    models: int,
    shape: tuple[int, int, int],
) -> Trainer:
    """Return a trainer of models that trains each of them once, even if it is interrupted.

    After each model `is_settled` says whether it would be the same again.
    """
    numbers = count(1)

    def trained(rows: Rows, seed: int) -> list[Logits]:
        kept_answers = kept.with_facts(digest_of(rows), seed)

        def ask() -> ViewAnswers:
            return ViewAnswers(train(rows, seed), is_settled())

        return kept_answers.answers(shape, ask, (next(numbers), models))

    return trained
