"""The figures of an attack within each class: of whom members are told best."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from policy_engine.audits.generative.material import Bools, Ints, Material, Scores
from policy_engine.audits.generative.result import (
    ClassArea,
    FiguresByClass,
    GenerativeAttack,
)
from policy_engine.audits.generative.spreads import spread_over
from policy_engine.audits.generative.subjects import Subjects
from policy_engine.audits.generative.wording import is_inverted
from policy_engine.audits.membership.curves import curve, falling_order
from policy_engine.audits.membership.intervals import area_under, widen_for
from policy_engine.audits.membership.over_targets import widen_spread
from policy_engine.kernels.estimates import Estimate, NotApplicable

_FEWEST = 10
_GUESSING = 0.5
_NO_LABEL = NotApplicable(reason="no label is given")
_ONE_CLASS = NotApplicable(reason="all records are of one class")


@dataclass(frozen=True, eq=False)
class ClassScores:
    """The scores (n,) of the audited records of a model by each attack, and their classes; those of
    persons in each class of their records where these are told apart."""

    scores: Mapping[str, Scores]
    is_member: Bools
    labels: Ints | None
    classes: tuple[str, ...]

    @classmethod
    def of(cls, material: Material, scores: Mapping[str, Scores]) -> "ClassScores":
        """Return the scores of some material, given those of the audited records."""
        labels, places = material.audited.labels, material.subjects.places
        if labels is None or places is None:
            return cls(scores, material.is_member, labels, material.classes)
        # A person counts once in each class, by as many of its records there as on the other side.
        is_member, parts = material.subjects.is_member, []
        for label in np.unique(labels):
            own = np.flatnonzero(labels == label)
            persons, of_person = np.unique(places[own], return_inverse=True)
            in_class = Subjects(is_member[persons], of_person.reshape(-1))
            in_class = in_class if material.is_drawn else in_class.evened(material.seed)
            pooled = {name: in_class.pooled(one[own]) for name, one in scores.items()}
            parts.append((pooled, in_class.is_member, np.full(len(persons), label)))
        return cls(
            {name: np.concatenate([one[name] for one, _, _ in parts]) for name in scores},
            np.concatenate([flags for _, flags, _ in parts]),
            np.concatenate([each for _, _, each in parts]),
            material.classes,
        )

    def counts(self) -> Iterator[tuple[str, Bools, int, int]]:
        """Yield each class that somebody has: which records are of it, and how many of them are
        members, and of the holdout."""
        for place, name in enumerate(self.classes):
            of_class = self.labels == place
            total, members = int(np.sum(of_class)), int((of_class & self.is_member).sum())
            if total:
                yield name, np.asarray(of_class), members, total - members

    def areas(self, attack: str) -> dict[str, Estimate]:
        """Return the area under the ROC curve within each class that has enough records."""
        areas = {}
        for name, of_class, members, holdout in self.counts():
            if min(members, holdout) >= _FEWEST:
                scores = self.scores[attack][of_class]
                order = falling_order(scores)
                areas[name] = area_under(curve(scores[order], self.is_member[of_class][order]))
        return areas


def figures_by_class(
    best: GenerativeAttack | None,
    scored: Sequence[ClassScores],
    among: int,
    *,
    share_records: bool = False,
) -> FiguresByClass | NotApplicable:
    """Return what the strongest attack reaches within each class, on one model or on several.

    Intervals are of one class among so many. A class with fewer than 10 members, or records of
    the holdout, on one of the models is not told. The attack was one `among` so many.
    """
    own = [one for one in scored if best is not None and best.attack in one.scores]
    if best is None or not own or own[0].labels is None:
        return _NO_LABEL
    present = [
        {name: (members, others) for name, _, members, others in one.counts()} for one in own
    ]
    names = dict.fromkeys(name for one in present for name in one)
    if len(names) == 1:
        return _ONE_CLASS
    areas = [one.areas(best.attack) for one in own]
    large = [name for name in names if all(name in one for one in areas)]
    raw = {name: [one[name] for one in areas] for name in large}
    corrected = {
        name: _widened(each, len(large), share_records=share_records) for name, each in raw.items()
    }
    figures = tuple(
        ClassArea(
            name=name,
            members=sum(one[name][0] for one in present),
            holdout=sum(one[name][1] for one in present),
            auc=auc,
        )
        for name, auc in corrected.items()
    )
    worst = _worst(best, figures, among)
    tests = among * (1 + len(best.tpr_at_fpr)) * len(large)
    return FiguresByClass(
        attack=best.attack,
        classes=figures,
        untold=tuple(name for name in names if name not in large),
        worst=worst,
        is_worst_shown=bool(worst)
        and _is_shown(best, _widened(raw[worst], tests, share_records=share_records), among),
    )


def _widened(each: Sequence[Estimate], among: int, *, share_records: bool) -> Estimate:
    if len(each) > 1:
        wide = widen_spread(spread_over(each, share_records=share_records), among)
    else:
        wide = widen_for(each[0], among)
    return Estimate(value=wide.value, low=max(wide.low, 0.0), high=min(wide.high, 1.0))


def _worst(best: GenerativeAttack, figures: Sequence[ClassArea], among: int) -> str:
    """Return the class whose members are told best, where it is shown to be above all records."""
    if is_inverted(best, among):
        below = [one for one in figures if one.auc.high < best.auc.value]
        return min(below, key=lambda one: one.auc.value).name if below else ""
    above = [one for one in figures if one.auc.low > best.auc.value]
    return max(above, key=lambda one: one.auc.value).name if above else ""


def _is_shown(best: GenerativeAttack, auc: Estimate, among: int) -> bool:
    return auc.high < _GUESSING if is_inverted(best, among) else auc.low > _GUESSING
