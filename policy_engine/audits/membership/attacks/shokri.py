"""The attack with shadow models and a model of their confidences for each class."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.attacks.attack import Judgement, check
from policy_engine.audits.membership.attacks.attack_models import (
    ATTACK_MODELS,
    AttackModel,
    Rows,
    TrainingSet,
    custom_model,
)
from policy_engine.audits.membership.attacks.choosing import (
    AttackerKnowledge,
    ModelChoice,
    flatness,
    flaw,
    learn,
    try_models,
)
from policy_engine.audits.membership.observations import (
    CONFIDENCES,
    SHADOW_MEMBERS,
    SHADOWS,
    Evidence,
    Terms,
)
from policy_engine.methods.audits.classifier import Network

_DRAW = 17


@dataclass(frozen=True)
class Shokri:
    """Learns from the shadows how a model's confidences look on records it was trained on.

    Shokri et al., IEEE S&P 2017; MOSAICrOWN D5.1, equations 3.1 to 3.6. An attack model for each
    true class learns from what the shadows say of their own training (in) and test (out) records
    of the class, as many in as out, drawn with the evidence's seed where there are more of one; a
    class with fewer than `FEWEST` records on a side is judged by one that learns from all
    classes. Scores are the log-odds of "in", the threshold is 0.

    Which attack model that is, of `models`, is chosen by its AUC on shadows held out, for each
    class that has enough records, and it then learns from all shadows. One that has learnt
    nothing gives way to the next; where none is left the judgement is `dead`. `model`, a network
    with two outputs or any binary classifier of scikit-learn on the plain confidences, takes the
    place of all.
    """

    model: Network | Any = None
    models: tuple[AttackModel, ...] = ATTACK_MODELS
    notation: ClassVar[str] = "shokri"
    needs: ClassVar[Terms] = frozenset({CONFIDENCES, SHADOWS, SHADOW_MEMBERS})
    uses: ClassVar[Terms] = frozenset()

    def judge(self, evidence: Evidence) -> Judgement:
        """Return the log-odds that a record is a member. Raises AuditError (A005, A007)."""
        check(self, evidence)
        knowledge = AttackerKnowledge.of(evidence)
        models = self.models if self.model is None else (custom_model(self.model),)
        trials = try_models(knowledge, models, evidence.seed)
        everything = np.ones(len(knowledge.labels), bool)
        sets, set_of_class = knowledge.sets(
            everything, np.random.default_rng([evidence.seed, _DRAW])
        )
        overall = trials.choice()
        assert overall is not None  # noqa: S101 (of all classes there always is one)
        classes = [np.flatnonzero(set_of_class == number).tolist() for number in range(len(sets))]
        choices = [trials.choice(one) or overall for one in classes]
        return _Refitting(knowledge, sets, set_of_class, choices).judge(classes)


class _Refitting:
    """The models chosen, which learn once more from all shadows; those that fail give way."""

    def __init__(
        self,
        knowledge: AttackerKnowledge,
        sets: Sequence[Rows],
        own: Rows,
        choices: Sequence[ModelChoice],
    ) -> None:
        self.knowledge, self.sets, self.choices = knowledge, sets, choices
        target = knowledge.evidence.target
        self.audited_rows = [np.flatnonzero(own[target.labels] == n) for n in range(len(sets))]
        self.rank = [0] * len(sets)
        self.flaws = [dict(one.flaws) for one in choices]
        self.scores = np.zeros(len(target.labels))

    def judge(self, classes: Sequence[Sequence[int]]) -> Judgement:
        """Return the scores of the audited records, and what is to be said of the models."""
        open_sets = [number for number in range(len(self.sets)) if len(self.audited_rows[number])]
        while open_sets := [number for number in open_sets if self._current_model(number)]:
            first = self._current_model(open_sets[0])
            assert first is not None  # noqa: S101 (those without one are left out above)
            sets = [number for number in open_sets if self._current_model(number) is first]
            failed = self._learn(first, sets)
            open_sets = [number for number in open_sets if number not in sets or number in failed]
        without_model = [
            n
            for n in range(len(self.sets))
            if len(self.audited_rows[n]) and not self._current_model(n)
        ]
        dead = self._failure(without_model, classes)
        return Judgement(self.scores, 0.0, dead, tuple(self._notes(classes)))

    def _current_model(self, number: int) -> AttackModel | None:
        ranking = self.choices[number].ranking
        return ranking[self.rank[number]][0] if self.rank[number] < len(ranking) else None

    def _learn(self, model: AttackModel, sets: Sequence[int]) -> list[int]:
        """Let a model learn some sets and judge by it; return those for which it has failed."""
        views, target = self.knowledge.views(model.view), model.view(self.knowledge.evidence.target)
        lessons = [
            TrainingSet(views[self.sets[n]], self.knowledge.is_member[self.sets[n]]) for n in sets
        ]
        questions = [
            np.concatenate([target[self.audited_rows[n]], views[self.sets[n]]]) for n in sets
        ]
        odds = learn(model, lessons, questions, self.knowledge.evidence.seed)
        failed = []
        for place, number in enumerate(sets):
            reason = odds if isinstance(odds, str) else self._flaw(number, odds[place])
            if reason:
                failed.append(number)
                self.flaws[number][model.name] = reason
                self.rank[number] += 1
            else:
                self.scores[self.audited_rows[number]] = odds[place][
                    : len(self.audited_rows[number])
                ]
        return failed

    def _flaw(self, number: int, odds: NDArray[np.float64]) -> str:
        """Return what is wrong with a model: with what it says of its own lesson, or of others."""
        rows, audited = self.sets[number], self.audited_rows[number]
        margins = self.knowledge.evidence.target.margin[audited]
        reason = flaw(
            odds[len(audited) :], self.knowledge.signals[:, rows], self.knowledge.is_member[rows]
        )
        return reason or flatness(odds[: len(audited)], margins)

    def _failure(self, sets: Sequence[int], classes: Sequence[Sequence[int]]) -> str:
        if not sets:
            return ""
        reasons = sorted(
            {f"{name}: {reason}" for n in sets for name, reason in self.flaws[n].items()}
        )
        which = "" if len(sets) == len(self.sets) else f" for {self._name_classes(sets, classes)}"
        return f"No attack model has learnt anything{which} ({'; '.join(reasons)})."

    def _notes(self, classes: Sequence[Sequence[int]]) -> Iterator[str]:
        """Yield which model judges which classes, how it did where it was held out, and why."""
        notes: dict[tuple[str, str], list[int]] = {}
        for number, choice in enumerate(self.choices):
            if self._current_model(number) is None or not len(self.audited_rows[number]):
                continue
            model, area = choice.ranking[self.rank[number]]
            scope = "" if choice.is_own else " over all classes"
            interval = f"AUC {area.value:.3f} ({area.low:.3f} to {area.high:.3f})"
            figures = f"{interval} on shadows held out{scope}"
            notes.setdefault((model.name, figures), []).append(number)
        for (name, figures), numbers in notes.items():
            yield f"{self._name_classes(numbers, classes)}: {name}, {figures}."
        flaws: dict[tuple[str, str], list[int]] = {}
        for number, found_flaws in enumerate(self.flaws):
            for flawed in found_flaws.items():
                flaws.setdefault(flawed, []).append(number)
        for (name, reason), numbers in flaws.items():
            yield f"{self._name_classes(numbers, classes)}: not {name}, for {reason}."

    def _name_classes(self, numbers: Sequence[int], classes: Sequence[Sequence[int]]) -> str:
        classes_named = [one for number in numbers for one in classes[number]]
        if len(classes_named) == len(self.knowledge.evidence.target.logits[0]):
            return "All classes"
        names = self.knowledge.evidence.names
        names_shown = ", ".join(names[one] if names else str(one) for one in classes_named[:5])
        more = f" and {len(classes_named) - 5} more" if len(classes_named) > 5 else ""
        return f"{'Class' if len(classes_named) == 1 else 'Classes'} {names_shown}{more}"
