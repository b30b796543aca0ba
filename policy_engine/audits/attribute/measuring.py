"""Figures of guesses at a secret: against an imputation, of members against others, by value."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.attribute.evidence import Codes
from policy_engine.audits.attribute.result import (
    SecretAttackResult,
    SecretReach,
    SecretValueReach,
)
from policy_engine.audits.membership.intervals import quantile
from policy_engine.audits.membership.observations import Bools
from policy_engine.kernels.estimates import Estimate, NotApplicable, clopper_pearson

Gains = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Truths:
    """The secrets of the records that are attacked, (n,), and which of them are members, (n,)."""

    secrets: Codes
    is_member: Bools


def paired_difference(gains: Gains) -> Estimate:
    """Return the mean of -1, 0 and 1 of each record: of one share less another of the same records.

    The ends are the farther out of two: those of Agresti and Min (Statistics in Medicine 2005), and
    those by exact intervals of how often either one is ahead, their distances squared and added
    (Newcombe, Statistics in Medicine 1998), which are wider where that is hardly ever so.
    """
    records = len(gains)
    if not records:
        return Estimate(value=0.0, low=-1.0, high=1.0)
    ahead, behind = int((gains > 0).sum()), int((gains < 0).sum())
    value = (ahead - behind) / records
    padded = records + 2
    spread = (ahead + behind + 1) / padded - ((ahead - behind) / padded) ** 2
    half = quantile((1.0,), (padded - 1,)) * math.sqrt(spread / padded)
    up, down = clopper_pearson(ahead, records), clopper_pearson(behind, records)
    rise = math.hypot(up.high - up.value, down.value - down.low)
    fall = math.hypot(up.value - up.low, down.high - down.value)
    return Estimate(
        value=value,
        low=max(value - max(half, fall), -1.0),
        high=min(value + max(half, rise), 1.0),
    )


def apart(one: Estimate, other: Estimate, most: float) -> Estimate:
    """Return one figure less another, of different records, within `most` of 0.

    The distances from their own ends are squared and added (Newcombe 1998, method 10).
    """
    value = one.value - other.value
    fall = math.hypot(one.value - one.low, other.high - other.value)
    rise = math.hypot(one.high - one.value, other.value - other.low)
    return Estimate(value=value, low=max(value - fall, -most), high=min(value + rise, most))


class AttackNames(NamedTuple):
    """The names of an attack, of the best imputation, and of who guesses in the same way without
    the model."""

    attack: str
    best: str
    imputation: str


def attack_result(
    names: AttackNames,
    guesses: tuple[Codes, Codes, Codes],
    truths: Truths,
    values: tuple[str, ...],
) -> SecretAttackResult:
    """Return the figures of an attack.

    The guesses, each (n,), are those of the attack, of the best imputation, and of the attack
    without the model.
    """
    attack, best, own = guesses
    members, others = truths.is_member, ~truths.is_member
    of_members = _reach(attack[members], best[members], truths.secrets[members])
    of_others = _reach(attack[others], best[others], truths.secrets[others])
    is_right, own_is_right = (one[members] == truths.secrets[members] for one in (attack, own))
    return SecretAttackResult(
        attack=names.attack,
        best=names.best,
        imputation=names.imputation,
        members=of_members,
        others=of_others,
        excess=apart(of_members.advantage, of_others.advantage, 2.0),
        added=paired_difference(is_right.astype(np.int64) - own_is_right),
        values=tuple(
            _value_reach(value, number, attack, best, truths) for number, value in enumerate(values)
        ),
    )


def _reach(attack: Codes, imputed: Codes, secrets: Codes) -> SecretReach:
    is_right, imputed_is_right = attack == secrets, imputed == secrets
    return SecretReach(
        records=len(secrets),
        accuracy=share_right(attack, secrets),
        imputed=share_right(imputed, secrets),
        advantage=paired_difference(is_right.astype(np.int64) - imputed_is_right),
    )


def share_right(guesses: Codes, secrets: Codes) -> Estimate:
    """Return the share of right guesses."""
    return clopper_pearson(int((guesses == secrets).sum()), len(secrets))


def _value_reach(
    value: str, number: int, attack: Codes, imputed: Codes, truths: Truths
) -> SecretValueReach:
    says, imputed_says, has = (one == number for one in (attack, imputed, truths.secrets))
    gains = says.astype(np.int64) - imputed_says
    members, others = truths.is_member, ~truths.is_member
    of_members = _told_apart(gains[members], has[members])
    of_others = _told_apart(gains[others], has[others])
    own, imputed_own, has_own = (one[members] for one in (says, imputed_says, has))
    return SecretValueReach(
        value=value,
        records=int(has_own.sum()),
        precision=_share(has_own[own]),
        recall=clopper_pearson(int(own[has_own].sum()), int(has_own.sum())),
        imputed_precision=_share(has_own[imputed_own]),
        imputed_recall=clopper_pearson(int(imputed_own[has_own].sum()), int(has_own.sum())),
        advantage=of_members,
        others_advantage=of_others,
        excess=apart(of_members, of_others, 4.0),
    )


def _told_apart(gains: Gains, has: Bools) -> Estimate:
    """Return how much more often a value is said of who has it, less how much more of others."""
    return apart(paired_difference(gains[has]), paired_difference(gains[~has]), 2.0)


def _share(has: Bools) -> Estimate | NotApplicable:
    """Return the precision of a guess, by who has the value of those of whom it is said."""
    if not len(has):
        return NotApplicable(reason="it is never said")
    return clopper_pearson(int(has.sum()), len(has))
