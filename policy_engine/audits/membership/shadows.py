"""The target and its shadows: trained together as memory allows, and asked for what they say."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.cache import Form, ModelCache, Said, key_of
from policy_engine.audits.membership.learners.learner import Learner, Trained
from policy_engine.audits.membership.memory import (
    available_memory,
    check_memory,
    models_at_once,
)
from policy_engine.audits.membership.records import Records, digest_of
from policy_engine.audits.membership.splits import Rows
from policy_engine.engines.engine import Progress, silent
from policy_engine.versions import version_of

TARGET, SHADOW, ONLINE = range(3)
_SECRET = 1 << 64
_AT_ONCE = 16
"""The most models trained together. More gain little, and all of them are lost together."""
_BLOCK = 1 << 26
"""How many bytes of logits are asked for at once."""


@dataclass(frozen=True, eq=False)
class Job:
    """One model to be trained on some rows, and the rows that it is then asked about."""

    train: Rows
    asked: Rows
    seed: int


@dataclass(frozen=True)
class Sanitiser:
    """What makes of some rows the records that a model is trained on in their place.

    `name` says which way, and is part of what models are kept under.
    """

    name: str
    sanitise: Callable[[Rows], Records]


@dataclass(frozen=True, eq=False)
class Workshop:
    """Trains models and keeps what they say.

    Models learn from `records`, or from what a sanitiser makes of their rows; they are asked
    about the rows of `shown` (n, d). `available` is told how many bytes of memory there are.
    """

    learner: Learner
    records: Records
    shown: NDArray[Any]
    cache: ModelCache = field(default_factory=ModelCache)
    sanitiser: Sanitiser | None = None
    available: Callable[[], int] = available_memory

    def check(self, jobs: Sequence[Job]) -> None:
        """Raise AuditError (A008) where memory would not do for these models."""
        most = max(len(job.train) for job in jobs)
        needed = self._kept(jobs) + self.learner.memory(self.records, most, 1)
        hint = "Use fewer shadow models, fewer records, smaller batches or a smaller model."
        check_memory(needed, self.available(), hint)

    def run(
        self,
        jobs: Sequence[Job],
        stage: str,
        progress: Progress = silent,
        save: Path | None = None,
    ) -> list[Said]:
        """Return what the model of each job says, training those whose words are not kept.

        With `save`, the first of them is trained in any case and written there. Progress is told
        in hundredths of a model.
        """
        digests = (digest_of(self.shown), self.records.digest)
        keys = [self._key(job, digests) for job in jobs]
        classes = len(self.records.classes)
        forms = [{"logits": Form((len(job.asked), classes))} for job in jobs]
        found = [self.cache.find(*one) for one in zip(keys, forms, strict=True)]
        todo = [n for n, one in enumerate(found) if one is None or (save and n == 0)]
        progress(stage, 100 * (len(jobs) - len(todo)), 100 * len(jobs))
        for chunk in self._chunks(todo, jobs):
            done = len(jobs) - len(todo) + todo.index(chunk[0])
            told = partial(_told, progress, stage, (done, len(chunk), len(jobs)))
            trained = self._train([jobs[n] for n in chunk], told)
            if save and chunk[0] == 0:
                trained.save(save, 0)
            for n, said in zip(chunk, self._ask(trained, [jobs[n] for n in chunk]), strict=True):
                self.cache.keep(keys[n], said)
                found[n] = said
            progress(stage, 100 * (done + len(chunk)), 100 * len(jobs))
        return [one for one in found if one is not None]

    def _key(self, job: Job, digests: tuple[str, str]) -> str:
        way = self.sanitiser.name if self.sanitiser else ""
        rows = digest_of(job.train, job.asked)
        return key_of(version_of("policy-engine"), self.learner.name, *digests, way, rows, job.seed)

    def _kept(self, jobs: Sequence[Job]) -> int:
        """Return how many bytes the words of all models take, and the attacks' work on them."""
        return 3 * 4 * len(self.records.classes) * sum(len(job.asked) for job in jobs)

    def _chunks(self, todo: list[int], jobs: Sequence[Job]) -> Iterator[list[int]]:
        if not todo:
            return
        most = max(len(jobs[n].train) for n in todo)
        one, two = (self.learner.memory(self.records, most, models) for models in (1, 2))
        most_at_once = models_at_once(one, two, self.available(), _AT_ONCE)
        chunks = -(-len(todo) // most_at_once)
        size = -(-len(todo) // chunks)  # of one size as far as can be: one compilation for all
        for start in range(0, len(todo), size):
            yield todo[start : start + size]

    def _train(self, jobs: Sequence[Job], progress: Progress) -> Trained:
        records, rows = self.records, [job.train for job in jobs]
        if self.sanitiser:
            records, rows = _stacked([self.sanitiser.sanitise(one) for one in rows])
        return self.learner.train(records, rows, [job.seed for job in jobs], progress)

    def _ask(self, trained: Trained, jobs: Sequence[Job]) -> list[Said]:
        """Ask every model about its own rows, all of them in blocks of rows."""
        classes = len(self.records.classes)
        said = [np.empty((len(job.asked), classes), dtype=np.float32) for job in jobs]
        every = np.unique(np.concatenate([job.asked for job in jobs]))
        step = max(_BLOCK // (4 * classes * len(jobs)), 1)
        for start in range(0, len(every), step):
            block = every[start : start + step]
            logits = trained.logits(self.shown[block])
            for model, job in enumerate(jobs):
                here = np.flatnonzero((job.asked >= block[0]) & (job.asked <= block[-1]))
                said[model][here] = logits[model, np.searchsorted(block, job.asked[here])]
        return [Said({"logits": logits}, _notes(trained)) for logits in said]


def seed_of(seed: int, role: int, number: int = 0) -> int:
    """Return the seed of one model, a whole number below 2**31.

    It is below 2**127 where the seed itself is 2**64 or more, as one that is kept secret: who could
    try out all seeds of a model would know the noise of its private training.
    """
    sequence = np.random.SeedSequence([seed, role, number])
    words = sequence.generate_state(1 if seed < _SECRET else 4)
    return int.from_bytes(words.astype("<u4").tobytes(), "little") >> 1


def _told(
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
    before, models, every = place
    share = done / total if total else 0.0
    _, comma, detail = training.partition(",")
    told = round(100 * (before + models * min(share, 1.0)))
    progress(f"{stage}{comma}{detail}", told, 100 * every)


def _notes(trained: Trained) -> Mapping[str, Any]:
    """Return what is to be remembered of a training: its proven epsilon and its warnings."""
    return {
        "epsilon": trained.epsilon.model_dump(mode="json"),
        "warnings": list(getattr(trained, "warnings", ())),
    }


def _stacked(parts: list[Records]) -> tuple[Records, list[Rows]]:
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
