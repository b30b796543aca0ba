"""The target and its shadows: trained a few at a time, and asked about the records."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.cache import Form, ModelAnswers, ModelCache, key_of
from policy_engine.audits.membership.disturbing import disturbed_views, view_strengths
from policy_engine.audits.membership.learners.learner import Learner, Trained, release_learner
from policy_engine.audits.membership.memory import check_memory, models_at_once
from policy_engine.audits.membership.records import Records, digest_of
from policy_engine.audits.membership.splits import Rows
from policy_engine.data.available_memory import available_memory
from policy_engine.engines.engine import Progress, silent
from policy_engine.engines.versions import version_of

TARGET, SHADOW, ONLINE, FURTHER = range(4)
_SECRET = 1 << 64
_MOST_STACKED = 16
"""The most models trained together: more gain little."""
_SECONDS = 20.0
"""About how long the models of one chunk may take: what is interrupted loses no more."""
_BLOCK = 1 << 26
"""How many bytes of logits are asked for at once."""


@dataclass(frozen=True, eq=False)
class ShadowJob:
    """One model to be trained on some rows, and the rows that it is then asked about."""

    train: Rows
    asked_rows: Rows
    seed: int


@dataclass(frozen=True)
class Sanitiser:
    """What makes of some rows the records that a model is trained on in their place.

    `name` says which way, and is part of what models are kept under.
    """

    name: str
    sanitise: Callable[[Rows], Records]


@dataclass(frozen=True)
class Chunk:
    """Models that were trained and kept together: how many, and in how many seconds.

    `done` of `total` models are known by then, those that had been kept before among them.
    """

    models: int
    seconds: float
    done: int
    total: int


def ignore_chunk(_chunk: Chunk) -> None:
    """Do nothing with a chunk."""


def ignore_model(_model: Trained) -> None:
    """Do nothing with a model that was written."""


@dataclass(frozen=True, eq=False)
class ModelTrainer:
    """Trains models and stores their answers.

    Models learn from `records`, or from the sanitised ones; they answer about the rows of
    `features` (n, d). `on_saved` is called with the model that is written, as its file has it.
    `available` returns the free bytes of memory, `clock` the seconds that have
    passed; `on_chunk` is called with each chunk once it is stored. With `disturbed_views`,
    models also answer about the records disturbed from that seed.
    """

    learner: Learner
    records: Records
    features: NDArray[Any]
    cache: ModelCache = field(default_factory=ModelCache)
    sanitiser: Sanitiser | None = None
    available: Callable[[], int] = available_memory
    clock: Callable[[], float] = time.monotonic
    on_chunk: Callable[[Chunk], None] = ignore_chunk
    views: int | None = None
    on_saved: Callable[[Trained], None] = ignore_model

    def check(self, jobs: Sequence[ShadowJob]) -> None:
        """Raise AuditError (A008) where memory would not do for these models."""
        most = max(len(job.train) for job in jobs)
        needed = self._answer_bytes(jobs) + self.learner.memory(self.records, most, 1)
        hint = "Use fewer shadow models, fewer records, smaller batches or a smaller model."
        check_memory(needed, self.available(), hint)

    def run(
        self,
        jobs: Sequence[ShadowJob],
        stage: str,
        progress: Progress = silent,
        save: Path | None = None,
    ) -> list[ModelAnswers]:
        """Return the answers of the model of each job, training those whose answers are not stored.

        With `save`, the first model is always trained, by the `release_learner`, written there, and
        answers from that file. Progress is reported in hundredths of a model. The first model is
        trained alone, to measure the time; the others are then trained together, as many as about
        twenty seconds and the memory allow. The answers of a model do not depend on the others.
        """
        digests = (digest_of(self.features), self.records.digest)
        learners = [self.learner] * len(jobs)
        if save:
            learners[0] = release_learner(self.learner)
        keys = [self._key(*one, digests) for one in zip(learners, jobs, strict=True)]
        forms = [self._forms(len(job.asked_rows)) for job in jobs]
        answers = [self.cache.find(*one) for one in zip(keys, forms, strict=True)]
        open_jobs = [n for n, one in enumerate(answers) if one is None or (save and n == 0)]
        progress(stage, 100 * (len(jobs) - len(open_jobs)), 100 * len(jobs))
        size, fit = 1, self._models_that_fit(open_jobs, jobs) if open_jobs else 1
        while open_jobs:
            chunk, open_jobs, begun = open_jobs[:size], open_jobs[size:], self.clock()
            done = len(jobs) - len(open_jobs) - len(chunk)
            report = partial(_report_progress, progress, stage, (done, len(chunk), len(jobs)))
            trained = self._train(learners[chunk[0]], [jobs[n] for n in chunk], report)
            if save and chunk[0] == 0:
                trained = trained.save(save, 0)
                self.on_saved(trained)
            for n, answer in zip(chunk, self._ask(trained, [jobs[n] for n in chunk]), strict=True):
                self.cache.keep(keys[n], answer)
                answers[n] = answer
            seconds = self.clock() - begun
            self.on_chunk(Chunk(len(chunk), seconds, done + len(chunk), len(jobs)))
            progress(stage, 100 * (done + len(chunk)), 100 * len(jobs))
            size = max(1, min(fit, int(_SECONDS * len(chunk) / max(seconds, 1e-3))))
        return [one for one in answers if one is not None]

    def _forms(self, rows: int) -> dict[str, Form]:
        shape = (rows, len(self.records.classes))
        forms = {"logits": Form(shape)}
        return (
            forms
            if self.views is None
            else {**forms, "views": Form((len(view_strengths()), *shape))}
        )

    def _key(self, learner: Learner, job: ShadowJob, digests: tuple[str, str]) -> str:
        way = self.sanitiser.name if self.sanitiser else ""
        rows = digest_of(job.train, job.asked_rows)
        parts = (learner.name, *digests, way, rows, job.seed)
        disturbed: tuple[str | int, ...] = ()
        if self.views is not None:
            disturbed = (self.views, *map(str, view_strengths()))
        return key_of(version_of("policy-engine"), *parts, *disturbed)

    def _answer_bytes(self, jobs: Sequence[ShadowJob]) -> int:
        """Return how many bytes the words of all models take, and the attacks' work on them."""
        copies = 3 if self.views is None else 3 + len(view_strengths())
        return copies * 4 * len(self.records.classes) * sum(len(job.asked_rows) for job in jobs)

    def _models_that_fit(self, todo: list[int], jobs: Sequence[ShadowJob]) -> int:
        """Return how many models the memory can hold while they are trained."""
        most = max(len(jobs[n].train) for n in todo)
        one, two = (self.learner.memory(self.records, most, models) for models in (1, 2))
        return models_at_once(one, two, self.available(), _MOST_STACKED)

    def _train(self, learner: Learner, jobs: Sequence[ShadowJob], progress: Progress) -> Trained:
        records, rows = self.records, [job.train for job in jobs]
        if self.sanitiser:
            records, rows = _stack_records([self.sanitiser.sanitise(one) for one in rows])
        return learner.train(records, rows, [job.seed for job in jobs], progress)

    def _ask(self, trained: Trained, jobs: Sequence[ShadowJob]) -> list[ModelAnswers]:
        """Ask every model about its own rows, those that are asked the same ones together.

        The blocks of rows are those of the model alone: products are rounded by their shape.
        """
        notes = _notes(trained)
        logits = self._ask_alike(trained, jobs, self.features)
        if self.views is None:
            return [ModelAnswers({"logits": one}, notes) for one in logits]
        logits_of_views = [
            self._ask_alike(trained, jobs, features)
            for features in disturbed_views(self.features, self.records.encoding, self.views)
        ]
        return [
            ModelAnswers({"logits": one, "views": np.stack(each)}, notes)
            for one, *each in zip(logits, *logits_of_views, strict=True)
        ]

    def _ask_alike(
        self, trained: Trained, jobs: Sequence[ShadowJob], features: NDArray[Any]
    ) -> list[NDArray[np.float32]]:
        logits_by_job: dict[int, NDArray[np.float32]] = {}
        for rows_asked in {digest_of(job.asked_rows): job.asked_rows for job in jobs}.values():
            jobs_alike = [
                n for n, job in enumerate(jobs) if np.array_equal(job.asked_rows, rows_asked)
            ]
            logits = self._logits(trained, features, rows_asked, jobs_alike)
            logits_by_job.update(zip(jobs_alike, logits, strict=True))
        return [logits_by_job[n] for n in range(len(jobs))]

    def _logits(
        self, trained: Trained, features: NDArray[Any], rows_asked: Rows, models: list[int]
    ) -> NDArray[np.float32]:
        """Return what some of the models say of rows, (models, rows, classes)."""
        classes = len(self.records.classes)
        answers = np.empty((len(models), len(rows_asked), classes), dtype=np.float32)
        step = max(_BLOCK // (4 * classes * _MOST_STACKED), 1)
        for start in range(0, len(rows_asked), step):
            block = slice(start, start + step)
            answers[:, block] = trained.logits(features[rows_asked[block]])[models]
        return answers


def seed_of(seed: int, role: int, number: int = 0) -> int:
    """Return the seed of one model, a whole number below 2**31.

    It is below 2**127 where the seed itself is 2**64 or more, as one that is kept secret: who could
    try out all seeds of a model would know the noise of its private training.
    """
    sequence = np.random.SeedSequence([seed, role, number])
    words = sequence.generate_state(1 if seed < _SECRET else 4)
    return int.from_bytes(words.astype("<u4").tobytes(), "little") >> 1


def _report_progress(
    progress: Progress,
    stage: str,
    place: tuple[int, int, int],
    training: str,
    done: int,
    total: int,
) -> None:
    """Pass on how far some models are trained as a part of all, in hundredths of a model.

    What the training says of itself after a comma, such as the epsilon spent, is passed on too.
    """
    before, models, total_models = place
    share = done / total if total else 0.0
    _, comma, detail = training.partition(",")
    hundredths = round(100 * (before + models * min(share, 1.0)))
    progress(f"{stage}{comma}{detail}", hundredths, 100 * total_models)


def _notes(trained: Trained) -> Mapping[str, Any]:
    """Return the notes on a training: its proven epsilon and its warnings."""
    return {
        "epsilon": trained.epsilon.model_dump(mode="json"),
        "warnings": list(getattr(trained, "warnings", ())),
        "secret": bool(getattr(trained, "is_secret", False)),
    }


def _stack_records(parts: list[Records]) -> tuple[Records, list[Rows]]:
    """Return records one after the other as one, and the rows of each."""
    ends = np.cumsum([0, *map(len, parts)])
    rows = [np.arange(low, high) for low, high in pairwise(ends.tolist())]
    features = np.concatenate([part.features for part in parts])
    labels = np.concatenate([part.labels for part in parts])
    first = parts[0]
    together = Records(
        features=features,
        labels=labels,
        classes=first.classes,
        columns={},
        encoding=first.encoding,
        name=first.name,
        digest=digest_of(features, labels),
    )
    return together, rows
