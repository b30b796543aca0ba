"""Choosing attack models on shadows held out, and telling those that have learnt nothing.

A network may end with one score for all records, and one that sees confidences alone is blind
where they saturate. Neither says so itself: what it does not find would pass for privacy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.attacks.attack_models import (
    AttackModel,
    Rows,
    TrainingSet,
    View,
)
from policy_engine.audits.membership.curves import curve, falling_order
from policy_engine.audits.membership.intervals import area
from policy_engine.audits.membership.observations import Bools, Evidence, Floats
from policy_engine.kernels.estimates import Estimate

FEWEST = 10
"""How many members, and how many non-members, of its class an attack model needs to learn from."""
FEWEST_TO_CHOOSE = 100
"""How many of each have to be held out for a class to choose by itself."""
_MOST_CLASSES = 12
"""In how many classes the models are tried where no class can choose by itself."""
_MOST_TRIED = 3_000
_ONE_VALUE = 0.99
_CHANCE = 0.5


@dataclass(frozen=True, eq=False)
class AttackerKnowledge:
    """What the attacker knows: what shadows say of their own n records, and who was in.

    `labels`, `is_member` and `shadow`, (n,), are each record's class, whether it was a member, and
    of which shadow.
    """

    evidence: Evidence
    labels: Rows
    is_member: Bools
    shadow: Rows

    @classmethod
    def of(cls, evidence: Evidence) -> "AttackerKnowledge":
        """Return what is known of all shadows together."""
        shadows = evidence.shadows
        return cls(
            evidence,
            np.concatenate([one.own.labels for one in shadows]),
            np.concatenate([one.is_member for one in shadows]),
            np.repeat(np.arange(len(shadows)), [len(one.is_member) for one in shadows]),
        )

    def views(self, view: View) -> NDArray[np.float32]:
        """Return what an attack model is shown of the shadows' records, (n, d)."""
        return np.concatenate([view(one.own) for one in self.evidence.shadows])

    @cached_property
    def signals(self) -> Floats:
        """The signals that need no learning, (2, n): the margin, and how sure the model is."""
        own = [one.own for one in self.evidence.shadows]
        return np.stack(
            [
                np.concatenate([one.margin for one in own]),
                np.concatenate([-one.log_entropy for one in own]),
            ]
        )

    def sets(self, among: Bools, rng: np.random.Generator) -> tuple[list[Rows], Rows]:
        """Return balanced training sets, and for each class (C,) which of them is its own.

        They are of the records `among` which to learn. Where a class is too small for one, the
        last set is of all classes together.
        """
        classes = self.evidence.target.classes
        of_class = [np.flatnonzero(among & (self.labels == one)) for one in range(classes)]
        large = [one for one in range(classes) if min(self._side_sizes(of_class[one])) >= FEWEST]
        models = np.full(classes, len(large))
        models[large] = np.arange(len(large))
        sets = [self._draw_balanced(of_class[one], rng) for one in large]
        if len(large) < classes:
            sets.append(self._draw_balanced(np.flatnonzero(among), rng))
        return sets, models

    def _side_sizes(self, rows: Rows) -> tuple[int, int]:
        members = int(self.is_member[rows].sum())
        return members, len(rows) - members

    def _draw_balanced(self, rows: Rows, rng: np.random.Generator) -> Rows:
        fewest = min(self._side_sizes(rows))
        sides = [rows[self.is_member[rows]], rows[~self.is_member[rows]]]
        return np.concatenate([np.sort(rng.permutation(side)[:fewest]) for side in sides])


@dataclass(frozen=True)
class ModelChoice:
    """The attack models for one set of classes, the best first, each with its held-out AUC.

    `flaws` are those that have learnt nothing, and why. `is_own` tells whether the choice was
    made on these classes alone.
    """

    ranking: tuple[tuple[AttackModel, Estimate], ...]
    flaws: Mapping[str, str]
    is_own: bool


@dataclass(frozen=True, eq=False)
class Trials:
    """What every attack model says of records of shadows that it did not learn from.

    `rows` (h,) are those records; `scores` their log-odds by each model's name, `errors` what
    kept a model from giving any.
    """

    knowledge: AttackerKnowledge
    rows: Rows
    models: Mapping[str, AttackModel]
    scores: Mapping[str, Floats]
    errors: Mapping[str, str]

    def choice(self, classes: Sequence[int] | None = None) -> ModelChoice | None:
        """Return the models by how well they do on some classes, or on all.

        None where too few records of the classes are held out to tell.
        """
        chosen = (
            slice(None) if classes is None else np.isin(self.knowledge.labels[self.rows], classes)
        )
        rows = self.rows[chosen]
        is_in = self.knowledge.is_member[rows]
        if classes is not None and min(is_in.sum(), (~is_in).sum()) < FEWEST_TO_CHOOSE:
            return None
        flaws, ranked = dict(self.errors), []
        for name, scores in self.scores.items():
            reason = flaw(scores[chosen], self.knowledge.signals[:, rows], is_in)
            if reason:
                flaws[name] = reason
            else:
                ranked.append((self.models[name], auc(scores[chosen], is_in)))
        ranked.sort(key=lambda one: -one[1].value)
        return ModelChoice(tuple(ranked), flaws, classes is not None)


def try_models(knowledge: AttackerKnowledge, models: Sequence[AttackModel], seed: int) -> Trials:
    """Try every attack model: let it learn from some shadows, and ask it about the others.

    A third of the shadows is held out, at least one. Where there are many classes, and too few
    records of each to choose by, the models are tried in a dozen of them.
    """
    rng = np.random.default_rng([seed, _TRIED])
    is_held_out = knowledge.shadow >= knowledge.shadow.max() + 1 - max(
        (knowledge.shadow.max() + 1) // 3, 1
    )
    sets, own = knowledge.sets(~is_held_out, rng)
    lessons = [_sample(rows, rng) for rows in sets]
    of_set = own[knowledge.labels]
    held_out = [_sample(np.flatnonzero(is_held_out & (of_set == n)), rng) for n in range(len(sets))]
    numbers = _sets_to_try(knowledge, held_out)
    scores, errors = {}, {}
    for model in models:
        views = knowledge.views(model.view)
        scores_or_error = learn(
            model,
            [TrainingSet(views[lessons[n]], knowledge.is_member[lessons[n]]) for n in numbers],
            [views[held_out[n]] for n in numbers],
            seed,
        )
        if isinstance(scores_or_error, str):
            errors[model.name] = scores_or_error
        else:
            scores[model.name] = np.concatenate(scores_or_error)
    rows = np.concatenate([held_out[n] for n in numbers])
    return Trials(knowledge, rows, {one.name: one for one in models}, scores, errors)


_TRIED = 19


def learn(
    model: AttackModel,
    lessons: Sequence[TrainingSet],
    questions: Sequence[NDArray[np.float32]],
    seed: int,
) -> list[Floats] | str:
    """Return what a model says of the records asked, or what it raised in place of it.

    A model that anybody may have handed in is not to end an audit in which others can go on.
    """
    try:
        return [np.asarray(one, np.float64) for one in model.odds(lessons, questions, seed)]
    except Exception as error:  # noqa: BLE001 (see above)
        return f"it raised {type(error).__name__}"


def flaw(scores: Floats, signals: Floats, is_in: Bools) -> str:
    """Return why scores (n,) show that an attack model has learnt nothing; empty where not.

    They are compared with `signals` (s, n), simple scores that need no learning.
    """
    if reason := flatness(scores, signals[0]):
        return reason
    area = auc(scores, is_in)
    simple = max((auc(one, is_in) for one in signals), key=lambda one: one.value)
    if area.low <= _CHANCE and simple.low > max(_CHANCE, area.value):
        return (
            f"it ranks members no better than guessing (AUC {area.value:.3f}), and the plain "
            f"confidence does ({simple.value:.3f})"
        )
    return ""


def flatness(scores: Floats, margins: Floats) -> str:
    """Return why scores do not distinguish records, although their margins do; empty if they do."""
    if not np.isfinite(scores).all():
        return "its scores are not numbers"
    if _is_one_value(scores) and not _is_one_value(margins):
        return "it gives nearly all records one score"
    return ""


def auc(scores: Floats, is_in: Bools) -> Estimate:
    """Return how often a member scores higher than another record, with its interval."""
    order = falling_order(scores)
    points = curve(scores[order], is_in[order])
    return area(points.area(), points.members, points.non_members)


def _is_one_value(scores: Floats) -> bool:
    if not len(scores):
        return False
    return bool(np.unique(scores, return_counts=True)[1].max() >= _ONE_VALUE * len(scores))


def _sample(rows: Rows, rng: np.random.Generator) -> Rows:
    return rows if len(rows) <= _MOST_TRIED else np.sort(rng.permutation(rows)[:_MOST_TRIED])


def _sets_to_try(knowledge: AttackerKnowledge, held_out: Sequence[Rows]) -> list[int]:
    """Return the sets in which models are tried: all, or some where none could choose alone."""
    fewest = [
        min(knowledge.is_member[rows].sum(), (~knowledge.is_member[rows]).sum())
        for rows in held_out
    ]
    if len(held_out) <= _MOST_CLASSES or max(fewest) >= FEWEST_TO_CHOOSE:
        return list(range(len(held_out)))
    return [round(one) for one in np.linspace(0, len(held_out) - 1, _MOST_CLASSES).tolist()]
