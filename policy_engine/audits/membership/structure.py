"""What a model's answers show without any attack: rare answers, and memorised records.

These are the structural checks that SACRO-ML makes of a model before it leaves a safe haven, as far
as they can be made of answers; what the model's files hold is not looked at here.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from policy_engine.audits.membership.observations import Bools, Observations
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.audits.classifier import Network

FEW = 10
"""Of fewer records nothing is to be told (Data without Boundaries, 2015)."""
_GAP = 0.1
_LEVEL = 0.025
_DIGITS = 6


class Structure(BaseModel):
    """What the answers about the target's members have in common.

    Members with one answer are a group: `answers` is how many groups there are, `smallest` the size
    of the least, `in_small_groups` how many members are in groups of fewer than `few`. Of the
    groups of `few` or more, `of_one_class` have members of one class alone, so that the answer
    tells it of each of them, and `few_of_a_class` some class with members, but fewer than `few`.
    `is_memorised` tells whether all members are classified rightly, and of the `others` clearly
    fewer; `freedom` is how many members there are beyond the model's parameters.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    few: int
    members: int
    answers: int
    smallest: int
    in_small_groups: int
    of_one_class: int
    few_of_a_class: int
    right_on_members: Annotated[float, Field(ge=0, le=1)]
    right_on_others: Annotated[float, Field(ge=0, le=1)]
    others: int
    freedom: int | NotApplicable

    @property
    def is_memorised(self) -> bool:
        """Whether the model is right about all members, and clearly less often about non-members.

        By Fisher's exact test; fewer than ten records of a side show nothing.
        """
        if self.right_on_members < 1 or self.right_on_others > 1 - _GAP:
            return False
        return min(self.members, self.others) >= FEW and self._chance() < _LEVEL

    def _chance(self) -> float:
        """Return how likely the members would be as often right, were they like the non-members."""
        from scipy.stats import fisher_exact  # noqa: PLC0415 (slow to import, an extra)

        right = round(self.right_on_others * self.others)
        counts = [[self.members, 0], [right, self.others - right]]
        return float(fisher_exact(counts, alternative="greater").pvalue)

    @property
    def answers_are_shared(self) -> bool:
        """Whether the members' answers are for the most part those of non-members too."""
        return 2 * self.answers <= self.members


def structure_of(
    target: Observations,
    is_member: Bools,
    architecture: Any = None,
    features: int = 0,
    few: int = FEW,
) -> Structure:
    """Return what a target's answers show; answers are one where six digits of all shares are."""
    labels = target.labels[is_member]
    _, group = np.unique(_shares(target)[is_member], axis=0, return_inverse=True)
    cells = np.zeros((group.max() + 1, target.classes), np.int64)
    np.add.at(cells, (group.ravel(), labels), 1)
    sizes = cells.sum(axis=1)
    large = cells[sizes >= few]
    return Structure(
        few=few,
        members=len(labels),
        answers=len(sizes),
        smallest=int(sizes.min()),
        in_small_groups=int(sizes[sizes < few].sum()),
        of_one_class=int(((large > 0).sum(axis=1) == 1).sum()),
        few_of_a_class=int(((large > 0) & (large < few)).any(axis=1).sum()),
        right_on_members=float(target.is_right[is_member].mean()),
        right_on_others=float(target.is_right[~is_member].mean()),
        others=int((~is_member).sum()),
        freedom=_freedom(len(labels), architecture, features, target.classes),
    )


def structure_sentences(structure: Structure) -> Iterator[str]:
    """Yield what the answers of a model alone show about it."""
    if structure.is_memorised:
        yield (
            f"The model is right about all {structure.members:,} members and about "
            f"{structure.right_on_others:.0%} of the non-members: it has memorised its records."
        )
    if structure.answers_are_shared and structure.in_small_groups:
        yield (
            f"{structure.in_small_groups:,} of {structure.members:,} members have an answer that "
            f"fewer than {structure.few} members share."
        )
    elif structure.in_small_groups == structure.members:
        yield (
            f"No answer is shared by {structure.few} members; {structure.answers:,} of "
            f"{structure.members:,} are different, so an answer identifies its record. Rounded "
            "answers, or only labels, reveal less."
        )
    if isinstance(structure.freedom, int) and structure.freedom < structure.few:
        yield (
            f"The model has {structure.members - structure.freedom:,} parameters for "
            f"{structure.members:,} records: it has room for each of them."
        )


def _shares(target: Observations) -> NDArray[np.float64]:
    logits = target.logits.astype(np.float64)
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    rounded: NDArray[np.float64] = np.round(shares / shares.sum(axis=1, keepdims=True), _DIGITS)
    return rounded


def _freedom(members: int, architecture: Any, features: int, classes: int) -> int | NotApplicable:
    if not isinstance(architecture, Network):
        return NotApplicable(reason="how many parameters the model has is not known")
    widths = [features, *(layer.units for layer in architecture.layers), classes]
    return members - sum((one + 1) * other for one, other in pairwise(widths))
