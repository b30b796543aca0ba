"""What models to compare a fitted one with said, kept so that an interrupted audit goes on."""

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
    """What a model said, by view, and whether it would say the same as long as its facts are."""

    logits: list[Logits]
    is_reproducible: bool


@dataclass(frozen=True)
class AnswerCache:
    """A folder in which it is kept, and who is told of each model; without a folder nothing is.

    `facts` are what decides what all of these models say.
    """

    folder: Path | None = None
    on_chunk: Callable[[Chunk], None] = ignore_chunk
    facts: tuple[str | int, ...] = ()

    def with_facts(self, *facts: str | int) -> "AnswerCache":
        """Return the same for models of which more is known."""
        return replace(self, facts=(*self.facts, *facts))

    def without_folder(self) -> "AnswerCache":
        """Return the same where nothing is kept, for models that no digest is known of."""
        return replace(self, folder=None)

    def answers(
        self, shape: tuple[int, int, int], ask: Callable[[], ViewAnswers], place: tuple[int, int]
    ) -> list[Logits]:
        """Return what a model said, (views, n, C), or what it says now, which is kept.

        What may be otherwise though all facts are the same is not. `place` is which of how many
        models it is. Raises OutputError (O002), and whatever `ask` does.
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
    """Return what trains as many models as that, each one once, however often it is interrupted.

    Whether they are settled is asked after each.
    """
    numbers = count(1)

    def trained(rows: Rows, seed: int) -> list[Logits]:
        known = kept.with_facts(digest_of(rows), seed)

        def ask() -> ViewAnswers:
            return ViewAnswers(train(rows, seed), is_settled())

        return known.answers(shape, ask, (next(numbers), models))

    return trained
