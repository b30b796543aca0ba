"""Attempts: what was made of one dataset and attacked, models or rows, and the pooled evidence."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import NormalDist, fmean
from typing import Annotated, Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, Tag

from policy_engine.audits.gate import is_figure, shortfalls
from policy_engine.audits.generative.gate import synthetic_shortfalls
from policy_engine.data.commitment import Hexadecimal
from policy_engine.kernels.estimates import (
    CONFIDENCE,
    Estimate,
    NotApplicable,
    ceiling,
    floor,
)
from policy_engine.methods.audits.membership_inference import AttackMeasurement, MembershipInference
from policy_engine.methods.generative import GenerativeMeasurement, SyntheticInference

_MISSED = (1 - CONFIDENCE) / 2
"""The probability that the upper end of an interval is below the true value."""


AttackFigure = AttackMeasurement | GenerativeMeasurement
"""A figure of an attempt: of an attack on a model, or on rows."""
OwnFigure = TypeVar("OwnFigure", AttackMeasurement, GenerativeMeasurement)


def _kind_of(value: Any) -> str:
    """Return whether the figure is of a model, which says why it is no evidence, or of rows."""
    is_of_model = "unfit" in value if isinstance(value, dict) else hasattr(value, "unfit")
    return "model" if is_of_model else "rows"


AnyMeasurement = Annotated[
    Annotated[AttackMeasurement, Tag("model")] | Annotated[GenerativeMeasurement, Tag("rows")],
    Discriminator(_kind_of),
]


class Attempt(BaseModel):
    """A model or rows that were made and attacked: the attack figures, and whether the bounds held.

    Everything but the figures and the `time` is an HMAC under the owner's key: `data` of the
    records and `records` of sketches of them, either of which groups attempts (see
    `shares_records`), `way` of how the model was trained, or rows were made up, which groups
    figures, `seed` of its seed,
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
    attacks: tuple[AnyMeasurement, ...] = ()
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
class AttemptedRelease:
    """A model or rows about to be attacked, with everything that decides the attacks' figures.

    `way` says how the model is trained, or rows are made up, without anything that changes nothing
    about it; `data` is a digest of the records in any order, `former` the digest of older ledgers,
    which identified records by their text, `records` are sketches, `exactly` is everything besides
    the seed that decides a figure; `audits` are the audits, `repeats` says whether the same may be
    made again.
    """

    way: str
    data: str
    exactly: str
    seed: int
    audits: tuple[MembershipInference, ...] | tuple[SyntheticInference, ...]
    repeats: bool
    records: tuple[tuple[int, ...], ...] = ()
    former: str = ""

    @property
    def is_of_rows(self) -> bool:
        """Whether rows are made up, and no model is trained."""
        return any(isinstance(one, SyntheticInference) for one in self.audits)

    def shortfalls(self, attacks: Sequence[AttackFigure]) -> Iterator[str]:
        """Yield, in a sentence each, why the bounds of the audits have not been shown to hold."""
        of_models = [one for one in self.audits if isinstance(one, MembershipInference)]
        of_rows = [one for one in self.audits if isinstance(one, SyntheticInference)]
        yield from shortfalls(
            of_models, [one for one in attacks if isinstance(one, AttackMeasurement)]
        )
        yield from synthetic_shortfalls(
            of_rows, [one for one in attacks if isinstance(one, GenerativeMeasurement)]
        )


@dataclass(frozen=True)
class JudgedAttempts(Generic[OwnFigure]):
    """The attack figures judged with the attempts before, and these attempts, this one last."""

    attacks: tuple[OwnFigure, ...]
    attempts: tuple[Attempt, ...]

    @property
    def number(self) -> int:
        """The number of this attempt, from 1 on: a model counts once, however often judged."""
        return max(len({one.made for one in self.attempts}), 1)


def allow_any(_number: int) -> None:
    """Allow an attempt of any number to begin."""


class AttemptHistory(Protocol):
    """Keeps an owner's attempts, and judges each one with those before it."""

    def begin(self, model: AttemptedRelease, check: Callable[[int], None] = allow_any) -> int:
        """Record that an attempt began, and return its number, from 1 on.

        An error raised by `check` for that number prevents the attempt. Raises AuditError (A020) if
        the policy allows no more, and CertificateError (V007) if the same model was already made
        and refused.
        """

    def judge(
        self, model: AttemptedRelease, attacks: Sequence[OwnFigure]
    ) -> JudgedAttempts[OwnFigure]:
        """Record the figures of an attempt, and return what they show with those before it."""


def pool_attempts(
    attacks: Sequence[OwnFigure], earlier: Sequence[Attempt], way: str | None = None
) -> tuple[OwnFigure, ...]:
    """Return the attack figures pooled with those of earlier attempts on the same records.

    This stops an owner from trying until a bound holds by chance, in two ways. The upper end of
    attempt k is taken at a confidence at which it misses the true value with 2.5% / (k (k - 1)), so
    that all attempts together pass wrongly with 5% at most. And the mean of the upper ends of all
    attempts at the same `way` (of all attempts, if not given) must hold too, which is wider than
    the end of their mean, since attempts share records.

    A p-value below one half is divided by k (k - 1): what an attempt has to show grows with their
    number. And the least p-value of all attempts at the same way, times their number, must hold
    too: it is one of all of them, however they depend on one another (Bonferroni), so that no later
    attempt makes the evidence of an earlier one go away.
    """
    if not earlier:
        return tuple(attacks)
    number = number_after(earlier)
    same_way = [one for one in earlier if way in (None, one.way)]
    return tuple(_pool(one, same_way, number) for one in attacks)


def number_after(earlier: Sequence[Attempt]) -> int:
    """Return the number of the next attempt: a model counts once, however often it is judged."""
    return len({one.made for one in earlier}) + 1


def _pool(one: OwnFigure, earlier: Sequence[Attempt], number: int) -> OwnFigure:
    figure = _figure(one)
    if not isinstance(figure, Estimate):
        return one
    past: dict[str, Estimate] = {}
    for attempt in earlier:
        for each in _figures(attempt, one):
            past[attempt.made] = each
    pool = _pooled_p if one.bound.measure == "setPValue" else _pooled_end
    return one.model_copy(update={"pooled": pool(figure, [*past.values()], number)})


def _pooled_end(figure: Estimate, past: Sequence[Estimate], number: int) -> float:
    mean = fmean((figure.high, *(one.high for one in past)))
    return max(attempt_upper_end(figure, number), ceiling(mean, _PLACES))


def _pooled_p(figure: Estimate, past: Sequence[Estimate], number: int) -> float:
    spent = figure.low / (number * (number - 1)) if figure.low < _LIKELY else figure.low
    least = min(figure.low, *(one.low for one in past)) if past else figure.low
    return max(floor(min(spent, least * (len(past) + 1), 1.0), _PLACES_OF_P), 0.0)


_PLACES, _PLACES_OF_P = 6, 12
_LIKELY = 0.5


def _figure(one: AttackFigure) -> Estimate | NotApplicable:
    return one.figure if isinstance(one, GenerativeMeasurement) else one.reached


def _figures(attempt: Attempt, measurement: AttackFigure) -> list[Estimate]:
    """Return the figure of an attempt for the same attack and measure, if it has one."""
    subject = (measurement.attack, measurement.bound.measure, measurement.bound.fpr)
    figures = [
        _figure(attack)
        for attack in attempt.attacks
        if (isinstance(attack, GenerativeMeasurement) or is_figure(attack))
        and (attack.attack, attack.bound.measure, attack.bound.fpr) == subject
    ]
    return [one for one in figures if isinstance(one, Estimate)]


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
