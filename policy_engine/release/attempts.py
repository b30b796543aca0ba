"""Attempts: the attacked models of one dataset, and their pooled evidence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import NormalDist, fmean
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from policy_engine.audits.gate import is_figure
from policy_engine.data.commitment import Hexadecimal
from policy_engine.kernels.estimates import CONFIDENCE, Estimate, ceiling
from policy_engine.methods.audits.membership_inference import AttackMeasurement, MembershipInference

_MISSED = (1 - CONFIDENCE) / 2
"""The probability that the upper end of an interval is below the true value."""


class Attempt(BaseModel):
    """A model that was made and attacked: its attack figures, and whether its bounds held.

    Everything but the figures and the `time` is an HMAC under the owner's key: `data` of the
    records and `records` of sketches of them, either of which groups attempts (see
    `shares_records`), `way` of how the model was trained, which groups figures, `seed` of its seed,
    `made` of everything that decides the figures, `asked` of the audits' bounds. An attempt without
    figures, started or abandoned, counts too.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    data: Hexadecimal
    way: Hexadecimal
    seed: Hexadecimal
    made: Hexadecimal
    asked: Hexadecimal
    time: datetime
    held: bool = False
    attacks: tuple[AttackMeasurement, ...] = ()
    records: tuple[str, ...] = ()


def shares_records(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether half of the records of the larger of two sets are in the other, too.

    Both are given by sketches, each the digests of a few records in sequence; sketches of the same
    choice of columns share digests, and half of them if they share half of the records.
    """
    theirs = [frozenset(_digests(text)) for text in other]
    ours = [frozenset(_digests(text)) for text in one]
    return any(2 * len(a & b) >= max(len(a), len(b)) > 0 for a in ours for b in theirs)


DIGITS = 8
"""The length of each digest in a sketch."""


def _digests(text: str) -> list[str]:
    return [text[start : start + DIGITS] for start in range(0, len(text), DIGITS)]


@dataclass(frozen=True)
class AttemptedModel:
    """A model about to be made, with everything that decides the figures of its attacks.

    `way` says how the model is trained, without anything that changes nothing about it; `data` is a
    digest of the records in any order, `former` the digest of older ledgers, which identified
    records by their text, `records` are sketches, `exactly` is everything besides the seed that
    decides a figure; `audits` are the audits, `repeats` says whether the same model may be made
    again.
    """

    way: str
    data: str
    exactly: str
    seed: int
    audits: tuple[MembershipInference, ...]
    repeats: bool
    records: tuple[tuple[int, ...], ...] = ()
    former: str = ""


@dataclass(frozen=True)
class JudgedAttempts:
    """The attack figures judged with the attempts before, and these attempts, this one last."""

    attacks: tuple[AttackMeasurement, ...]
    attempts: tuple[Attempt, ...]

    @property
    def number(self) -> int:
        """The number of this attempt, from 1 on: a model counts once, however often judged."""
        return max(len({one.made for one in self.attempts}), 1)


def allow_any(_number: int) -> None:
    """Allow an attempt of any number to begin."""


class AttemptHistory(Protocol):
    """Keeps an owner's attempts, and judges each one with those before it."""

    def begin(self, model: AttemptedModel, check: Callable[[int], None] = allow_any) -> int:
        """Record that an attempt began, and return its number, from 1 on.

        An error raised by `check` for that number prevents the attempt. Raises AuditError (A020) if
        the policy allows no more, and CertificateError (V007) if the same model was already made
        and refused.
        """

    def judge(self, model: AttemptedModel, attacks: Sequence[AttackMeasurement]) -> JudgedAttempts:
        """Record the figures of an attempt, and return what they show with those before it."""


def pool_attempts(
    attacks: Sequence[AttackMeasurement], earlier: Sequence[Attempt], way: str | None = None
) -> tuple[AttackMeasurement, ...]:
    """Return the attack figures pooled with those of earlier attempts on the same records.

    This stops an owner from trying until a bound holds by chance, in two ways. The upper end of
    attempt k is taken at a confidence at which it misses the true value with 2.5% / (k (k - 1)), so
    that all attempts together pass wrongly with 5% at most. And the mean of the upper ends of all
    attempts at the same `way` (of all attempts, if not given) must hold too, which is wider than
    the end of their mean, since attempts share records.
    """
    if not earlier:
        return tuple(attacks)
    number = number_after(earlier)
    same_way = [one for one in earlier if way in (None, one.way)]
    return tuple(_pool(one, same_way, number) for one in attacks)


def number_after(earlier: Sequence[Attempt]) -> int:
    """Return the number of the next attempt: a model counts once, however often it is judged."""
    return len({one.made for one in earlier}) + 1


def _pool(one: AttackMeasurement, earlier: Sequence[Attempt], number: int) -> AttackMeasurement:
    if not isinstance(one.reached, Estimate):
        return one
    ends = {past.made: end for past in earlier for end in _ends(past, one)}
    mean = fmean((one.reached.high, *ends.values()))
    return one.model_copy(
        update={"pooled": max(attempt_upper_end(one.reached, number), ceiling(mean, _PLACES))}
    )


_PLACES = 6


def _ends(attempt: Attempt, measurement: AttackMeasurement) -> list[float]:
    """Return the upper end of an attempt for the same attack and measure, if it has one."""
    subject = (measurement.attack, measurement.bound.measure, measurement.bound.fpr)
    return [
        attack.reached.high
        for attack in attempt.attacks
        if is_figure(attack)
        and isinstance(attack.reached, Estimate)
        and (attack.attack, attack.bound.measure, attack.bound.fpr) == subject
    ]


def attempt_upper_end(estimate: Estimate, number: int) -> float:
    """Return the upper end of an interval at the confidence of attempt `number`, from 1 on.

    The distance to the end grows with the square of the normal deviate. That is more than needed
    for any share: shares near 0 grow with the logarithm, others with the deviate itself.
    """
    if number == 1:
        return estimate.high
    deviate = NormalDist().inv_cdf
    ratio = deviate(1 - _MISSED / (number * (number - 1))) / deviate(1 - _MISSED)
    width = max(estimate.high - estimate.value, (estimate.high - estimate.low) / 2)
    return min(ceiling(estimate.high + (ratio**2 - 1) * width, _PLACES), 1.0)
