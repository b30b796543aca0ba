"""Attempts: the models of one dataset that were attacked, and their pooled evidence."""

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
"""How often the upper end of an interval lies below the truth."""


class Attempt(BaseModel):
    """A model that was made and attacked: what its attacks reached, and whether that was held.

    All but the figures and the `time` are HMACs under a key of the owner's: `data` of the records,
    and `records` of sketches of them, by either of which attempts are counted together (see
    `shares_records`), `way` of how it was trained on them, by which figures are, `seed` of its
    seed, `made` of all that decides every figure, `asked` of what the audits asked for. One that
    was begun and has no figures yet, or never had any, is an attempt too.
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

    Both are given by sketches, each the digests of a few records one after another; those of one
    choice of columns have digests in common, and half of them where half of the records are.
    """
    theirs = [frozenset(_digests(text)) for text in other]
    ours = [frozenset(_digests(text)) for text in one]
    return any(2 * len(a & b) >= max(len(a), len(b)) > 0 for a in ours for b in theirs)


DIGITS = 8
"""Of each digest in a sketch."""


def _digests(text: str) -> list[str]:
    return [text[start : start + DIGITS] for start in range(0, len(text), DIGITS)]


@dataclass(frozen=True)
class AttemptedModel:
    """What is about to be made: everything that decides the figures of its attacks.

    `way` says how a model is trained, whatever changes nothing of it left out; `data` is a digest
    of the records in any order, `former` the one that ledgers had before they knew records by what
    they say, `records` are sketches of them, `exactly` of all that decides a figure beside the
    seed, as it is; `audits` are the audits, `repeats` whether the same may be made again.
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
    """What attacks reached with the attempts before, and these attempts, this one the last."""

    attacks: tuple[AttackMeasurement, ...]
    attempts: tuple[Attempt, ...]


def allow_any(_number: int) -> None:
    """Let an attempt of any number begin."""


class AttemptHistory(Protocol):
    """Keeps the attempts of an owner, and has every one judged with those before it."""

    def begin(self, model: AttemptedModel, check: Callable[[int], None] = allow_any) -> int:
        """Keep that an attempt was begun, and return its number, from 1 on.

        What `check` raises of that number ends it before it is one. Raises AuditError (A020)
        where the policy allows no more, and CertificateError (V007) where the very same was made
        already and refused.
        """

    def judge(self, model: AttemptedModel, attacks: Sequence[AttackMeasurement]) -> JudgedAttempts:
        """Keep the figures of an attempt, and return what they show with those before it."""


def pool_attempts(
    attacks: Sequence[AttackMeasurement], earlier: Sequence[Attempt], way: str | None = None
) -> tuple[AttackMeasurement, ...]:
    """Return what attacks reached with what they reached in earlier attempts on the same records.

    Whoever tries until a bound holds by chance is held up in two ways. The upper end of attempt k
    is taken at a confidence at which it misses the truth with 2.5% / (k (k - 1)), so that all
    attempts together pass wrongly with 5% at most; and the mean of the upper ends of all attempts
    at the same `way` (all of them, if not given) has to hold too, which is wider than the end of
    their mean, for attempts share records.
    """
    if not earlier:
        return tuple(attacks)
    number = number_after(earlier)
    same_way = [one for one in earlier if way in (None, one.way)]
    return tuple(_pool(one, same_way, number) for one in attacks)


def number_after(earlier: Sequence[Attempt]) -> int:
    """Return which attempt it is after those: a model counts once, however often it is judged."""
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

    The distance to the end grows with the square of the normal deviate, which is more than it
    does for any share: those near 0 grow with the logarithm, the others with the deviate itself.
    """
    if number == 1:
        return estimate.high
    deviate = NormalDist().inv_cdf
    ratio = deviate(1 - _MISSED / (number * (number - 1))) / deviate(1 - _MISSED)
    width = max(estimate.high - estimate.value, (estimate.high - estimate.low) / 2)
    return min(ceiling(estimate.high + (ratio**2 - 1) * width, _PLACES), 1.0)
