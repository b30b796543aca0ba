"""Bounds on the epsilon of a model: from above by its accountant, from below by attacks."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

MembersAre = Literal["drawn", "drawn-first", "told"]
"""How members were determined: drawn at random, and only the training depends on them; drawn at
random before columns became features, which depend on them too; or given by the caller."""


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
    drawn at random: for the training where they are `drawn`, for the training and the encoding of
    features where they are `drawn-first`. Where they were `told`, it is what it would be if they
    had been drawn.
    """

    attack: str
    delta: float
    members: MembersAre
    pairs: int
    guesses: int
    correct: int
    value: float
    ceiling: float
