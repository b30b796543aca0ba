"""Bounds on the epsilon of a model: from above by its accountant, from below by attacks."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

MembersAre = Literal["drawn", "drawn-first", "told"]
"""By lot with nothing but the training depending on it, by lot before columns became features
by what the members hold, or not by lot."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class EpsilonUpper(_Frozen):
    """What the accountant proves: epsilon at delta, by RDP, by PLD, and as in 2019.

    `value` is the smaller of the first two; `classic` converts RDP as Mironov (CSF 2017) does.
    They are of data sets that differ by one record more or less; `substitution` is the epsilon,
    at `substitution_delta`, of data sets in which one record is exchanged for another.
    """

    delta: float
    noise_multiplier: float
    sampling_rate: float
    steps: int
    rdp: float
    pld: float
    classic: float
    value: float
    substitution: float
    substitution_delta: float


class EpsilonLower(_Frozen):
    """What the attack proves: with 95% confidence, epsilon is no less than `value` at `delta`.

    It is the epsilon of one record exchanged for another. Of `pairs` of a member and another of
    its class, `guesses` were guessed and `correct` of these guesses were right; no attack,
    however good, could have shown more than `ceiling` on so many. It holds where members were
    drawn by lot: of the training where they are `drawn`, of the training and what was read off
    the members before it where they are `drawn-first`. Where they were `told` it is what it would
    be, had they been drawn.
    """

    attack: str
    delta: float
    members: MembersAre
    pairs: int
    guesses: int
    correct: int
    value: float
    ceiling: float
