"""What an attack is: scores of records, and from which score on one is called a member."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.observations import (
    FEWEST_SHADOWS,
    LABEL_ANSWERS,
    SHADOW_MEMBERS,
    Bools,
    Evidence,
    Floats,
    Observations,
    Terms,
)
from policy_engine.errors import AuditError, Problem


@dataclass(frozen=True, eq=False)
class Judgement:
    """What an attack says of the audited records.

    `scores` (2m,) are finite; members should have higher ones. A record is called a member where
    its score is above the `threshold`: one for all records, or one for each, (2m,); None where
    there was nothing to learn it from. `dead` is the reason why the attack did not work, although
    members could be distinguished: its figures then prove nothing. `notes` are sentences about the
    run of the attack.
    """

    scores: Floats
    threshold: Floats | float | None
    dead: str = ""
    notes: tuple[str, ...] = ()


class Attack(Protocol):
    """A membership-inference attack: the term `notation` of the vocabulary.

    `needs` are the terms of what evidence has to offer it, `uses` of what it does better with.
    Whether it is calibrated, and whether it ranks the records, the vocabulary says.
    """

    notation: ClassVar[str]
    needs: ClassVar[Terms]
    uses: ClassVar[Terms]

    def judge(self, evidence: Evidence[Any]) -> Judgement:
        """Return scores and threshold. Raises AuditError (A005, A007) on too little evidence."""
        ...


def format_terms(gives: Terms) -> str:
    """Return what a model gives, as `confidences and labels`."""
    return "labels alone" if gives == LABEL_ANSWERS else " and ".join(sorted(gives))


class Offer(Protocol):
    """What evidence of any domain says of itself."""

    @property
    def gives(self) -> Terms:
        """The terms of all that it offers."""
        ...

    @property
    def counts(self) -> Mapping[str, int]:
        """How many there are of each term that may be too rare."""
        ...


def check(attack: Attack, offer: Offer) -> None:
    """Raise AuditError for all that an attack lacks: too few shadows (A007), all else (A005)."""
    lacking = attack.needs - offer.gives
    problems = [
        Problem(
            "A007",
            f"The attack {attack.notation!r} needs {term}. There are {offer.counts[term]}, "
            f"{FEWEST_SHADOWS} or more are allowed.",
        )
        for term in sorted(lacking & set(offer.counts))
    ]
    missing = sorted(lacking - set(offer.counts))
    if missing:
        needed, has = " and ".join(missing), format_terms(offer.gives)
        message = f"The attack {attack.notation!r} needs {needed}. The model gives {has}."
        hint = "Run 'label-only'." if offer.gives >= LABEL_ANSWERS else ""
        problems.insert(0, Problem("A005", message, hint))
    if problems:
        raise AuditError(*problems)


def best_threshold(scores: Floats, is_member: Bools) -> float:
    """Return the threshold that separates known members from known non-members best.

    Best by balanced accuracy, the mean of the true-positive and true-negative rates; halfway
    between two scores, and the highest of several. Infinite where all or none are best called
    members, and where all or none are.
    """
    order = np.argsort(-scores, kind="stable")
    ordered, members = scores[order], is_member[order]
    total, non_members = int(members.sum()), int((~members).sum())
    if not total or not non_members:
        return -np.inf if total else np.inf
    gain = np.cumsum(np.where(members, 1 / total, -1 / non_members))
    ends = np.flatnonzero(np.append(ordered[:-1] > ordered[1:], True))
    best = ends[gain[ends].argmax()]
    if gain[best] <= 0:
        return np.inf
    return -np.inf if best == len(scores) - 1 else _midpoint(ordered[best + 1], ordered[best])


def _midpoint(low: float, high: float) -> float:
    halfway = float(low + (high - low) / 2)
    return halfway if low <= halfway < high else float(low)


def learnt_threshold(evidence: Evidence, score: Callable[[Observations], Floats]) -> float | None:
    """Return the best threshold on the shadows' own records; None where none are known."""
    if SHADOW_MEMBERS not in evidence.gives:
        return None
    scores = np.concatenate([score(shadow.own) for shadow in evidence.shadows])
    return best_threshold(scores, np.concatenate([one.is_member for one in evidence.shadows]))


def threshold_by_class(
    evidence: Evidence, score: Callable[[Observations], Floats]
) -> Floats | None:
    """Return each judged record's threshold, (2m,): the best of its class on the shadows' own.

    A class of which the shadows have no members, or no others, has that of all classes. None
    where none are known.
    """
    if SHADOW_MEMBERS not in evidence.gives:
        return None
    scores = np.concatenate([score(shadow.own) for shadow in evidence.shadows])
    is_member = np.concatenate([shadow.is_member for shadow in evidence.shadows])
    labels = np.concatenate([shadow.own.labels for shadow in evidence.shadows])
    thresholds = np.full(evidence.target.classes, best_threshold(scores, is_member))
    for label, rows in enumerate(rows_by_class(labels, len(thresholds))):
        if 0 < is_member[rows].sum() < len(rows):
            thresholds[label] = best_threshold(scores[rows], is_member[rows])
    return thresholds[evidence.target.labels]


def rows_by_class(labels: NDArray[np.int64], classes: int) -> list[NDArray[np.int64]]:
    """Return the rows of each class, in their order."""
    ends = np.bincount(labels, minlength=classes).cumsum()
    return np.split(np.argsort(labels, kind="stable"), ends[:-1])
