"""What an attack proves: a lower bound of epsilon from one model, with its ceiling."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.privacy.epsilon import EpsilonLower, MembersAre
from policy_engine.audits.privacy.one_run_bound import one_run_bound
from policy_engine.errors import AuditError
from policy_engine.kernels.estimates import CONFIDENCE

FEWEST_PAIRS = 2
_STREAM = 41
_SHARES = (1.0, 0.5, 0.25, 0.125, 1 / 16, 1 / 32, 1 / 64)
"""Which parts of the pairs may be guessed, the surest first."""
_CHOSEN_ON = 3
"""Every third pair is there to choose by: half of them would cost more than it gains."""


def epsilon_lower(
    attacks: Mapping[str, NDArray[np.float64]],
    is_member: NDArray[np.bool_],
    labels: NDArray[np.int64],
    delta: float,
    *,
    members: MembersAre = "drawn",
    seed: int = 0,
) -> EpsilonLower:
    """Return the epsilon that the best of some attacks proves of one model, with 95% confidence.

    Their scores (n,), by their notation, are higher for likelier members. Members are matched at
    random with others of their class. Where members were drawn at random, a number of every class,
    each of a pair is the member with probability one half, independently of all other pairs,
    given the pairs: so the attack's guesses, of each pair that record with the higher score,
    bound epsilon as those on canaries do (Steinke, Nasr and Jagielski, NeurIPS 2023, theorem
    5.2). What is bounded is the epsilon of one record exchanged for another, of the one model
    that there is, however its records depend on one another.

    Attack, and how many of the surest pairs are guessed, are the best ones on a third of the
    pairs; the guesses that count are on the rest, whose coins had no part in the choice. A pair
    of equal scores is guessed by a coin. Raises AuditError (A011) with fewer than two pairs.
    """
    pairs = _Pairs.of(is_member, labels, seed)
    chosen, guessed = pairs.halves()
    if len(pairs.members) < FEWEST_PAIRS:
        message = f"{len(pairs.members)} pairs of a member and another of its class are too few."
        raise AuditError.of("A011", message, "Give at least two of each in one class.")
    attack, share = _best_attack(attacks, chosen, len(guessed.members))
    correct = guessed.correct_guesses(attacks[attack])[: _guess_count(share, len(guessed.members))]
    return EpsilonLower(
        attack=attack,
        delta=delta,
        members=members,
        pairs=len(guessed.members),
        guesses=len(correct),
        correct=int(correct.sum()),
        value=one_run_bound(int(correct.sum()), len(correct), len(guessed.members), delta),
        ceiling=ceiling(len(guessed.members), delta),
    )


def pairs_of(is_member: NDArray[np.bool_], labels: NDArray[np.int64]) -> int:
    """Return how many members can be matched, each with another record of its class."""
    sides = (np.bincount(labels[side], minlength=labels.max() + 1) for side in _sides(is_member))
    return int(np.minimum(*sides).sum())


def default_delta(members: int) -> float:
    """Return the delta of a bound beside which no accountant names one: a hundredth of 1/n.

    So many guesses may all come of a delta of 1/n, and nothing would be shown.
    """
    return 1 / (100 * members)


def ceiling(pairs: int, delta: float) -> float:
    """Return the epsilon that an attack without mistakes would prove with a number of pairs."""
    return one_run_bound(pairs, pairs, pairs, delta)


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Rows of members and, at the same places, of others of their class; `coins` settle ties."""

    members: NDArray[np.int64]
    others: NDArray[np.int64]
    coins: NDArray[np.bool_]

    @classmethod
    def of(cls, is_member: NDArray[np.bool_], labels: NDArray[np.int64], seed: int) -> "_Pairs":
        """Match at random, within each class, as many as there are of both; in a random order."""
        random = np.random.default_rng([seed, _STREAM])
        sides: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        for label in np.unique(labels):
            inside, outside = (
                random.permutation(np.flatnonzero(side & (labels == label)))
                for side in _sides(is_member)
            )
            count = min(len(inside), len(outside))
            sides.append((inside[:count], outside[:count]))
        members, others = (np.concatenate(side) for side in zip(*sides, strict=True))
        order = random.permutation(len(members))
        return cls(members[order], others[order], random.random(len(order)) < 0.5)

    def halves(self) -> tuple["_Pairs", "_Pairs"]:
        """Return the pairs to choose by, and those that are counted."""
        is_chosen = np.arange(len(self.members)) % _CHOSEN_ON == 0
        parts = [
            _Pairs(self.members[part], self.others[part], self.coins[part])
            for part in (is_chosen, ~is_chosen)
        ]
        return parts[0], parts[1]

    def correct_guesses(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return whether each guess is right, the surest guesses first.

        Neither the order nor a coin knows which of the two is the member.
        """
        inside, outside = scores[self.members], scores[self.others]
        with np.errstate(invalid="ignore"):
            distance = np.abs(inside - outside)
        is_apart = distance > 0
        is_right = np.where(is_apart, inside > outside, self.coins)
        return is_right[np.argsort(np.where(is_apart, -distance, 0.0), kind="stable")]


def _best_attack(
    attacks: Mapping[str, NDArray[np.float64]], chosen: _Pairs, pair_count: int
) -> tuple[str, float]:
    """Return the attack, and the share of pairs to guess, that promise most on other pairs."""
    from scipy.stats import beta  # noqa: PLC0415 (slow to import, an extra)

    promises: dict[tuple[str, float], float] = {}
    for name, scores in attacks.items():
        cumulated = np.cumsum(chosen.correct_guesses(scores))
        for share in _SHARES:
            guesses, guesses_later = (
                _guess_count(share, len(cumulated)),
                _guess_count(share, pair_count),
            )
            expected = guesses_later * (cumulated[guesses - 1] + 0.5) / (guesses + 1)
            promises[name, share] = float(
                beta.ppf(1 - CONFIDENCE, expected, guesses_later - expected + 1)
            )
    return max(promises, key=promises.__getitem__)


def _sides(is_member: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    return is_member, ~is_member


def _guess_count(share: float, pairs: int) -> int:
    return max(1, round(share * pairs))
