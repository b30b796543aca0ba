"""How much more often an attack succeeds on members than on others."""

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from policy_engine.audits.generative.risks.successes import Successes
from policy_engine.audits.membership.intervals import difference
from policy_engine.kernels.estimates import CONFIDENCE, Estimate, NotApplicable
from policy_engine.kernels.excess import excess_of_shares

Bools = NDArray[np.bool_]
RiskName = Literal[
    "singling-out-univariate", "singling-out-multivariate", "linkability", "inference"
]

_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
_FEWEST_FAILURES = 10
"""Where fewer attacks fail on the holdout, hardly any are left to tell the members apart by."""


class SyntheticRisk(BaseModel):
    """What an attack by synthetic records gains on their members, beyond what it gains on anybody.

    `train` is the share of the `attacks` on members that succeed, `control` that of as many on the
    holdout, and `baseline` that of as many naive ones on members, which do not use the synthetic
    records, or only their values: with Wilson's intervals, of as many independent attacks as say as
    much (`successes`). The `value` is (train - control) /
    (1 - control), 0 for no gain and 1 for sure success (Giomi, Boenisch, Wehmeyer and Tasnádi: A
    unified framework for quantifying privacy risk in synthetic data, PoPETs 2023(2), section 4.1);
    it is below 0, and no less than -1, where attacks on members succeed less often. `attacks` were
    made of those that were `asked` for. A low value says something only if it `is_evidence`; else
    the `reason` says why not. Inference is of the values of a `column`, and `parties` are the
    columns that each of two knows whose rows are linked.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    risk: RiskName
    column: str = ""
    parties: tuple[tuple[str, ...], ...] = ()
    attacks: int
    asked: int
    train: Estimate
    control: Estimate
    baseline: Estimate
    value: Estimate
    is_evidence: bool
    reason: str = ""


def measure_risk(
    risk: RiskName, train: Bools, control: Bools, baseline: Bools, wanted: int, column: str = ""
) -> SyntheticRisk | NotApplicable:
    """Return a risk by which attacks succeed, (attacks,) each, of `wanted` ones.

    It is not applicable if there is no attack, or if all those on the holdout succeed.
    """
    if not len(train):
        return NotApplicable(reason=_nothing_measured(0))
    shares = [Successes(float(one.mean()), len(one)) for one in (train, control, baseline)]
    return risk_of_shares(risk, shares, len(train), wanted, column)


def risk_of_shares(
    risk: RiskName, shares: Sequence[Successes], attacks: int, wanted: int, column: str = ""
) -> SyntheticRisk | NotApplicable:
    """Return a risk by how often so many attacks on members, on the holdout, and naive ones
    succeed.

    It is not applicable if all those on the holdout do.
    """
    train, control, _ = shares
    value = excess_of_shares((train.share, train.size), (control.share, control.size))
    if isinstance(value, NotApplicable):
        return NotApplicable(reason=_nothing_measured(attacks))
    reached = [success_share(one.share, one.size) for one in shares]
    reason = _weakness(reached[0], reached[2])
    if value.low <= 0:
        # What leaks leaves members to tell apart, however few of the others.
        reason = reason or _lack_of_room(round((1 - control.share) * attacks), attacks)
    return SyntheticRisk(
        risk=risk,
        column=column,
        attacks=attacks,
        asked=wanted,
        train=reached[0],
        control=reached[1],
        baseline=reached[2],
        value=_bounded(value),
        is_evidence=not reason,
        reason=reason,
    )


def success_share(share: float, trials: float) -> Estimate:
    """Return a share of so many independent attacks that succeed, with Wilson's interval.

    E. B. Wilson: Probable inference, the law of succession, and statistical inference, Journal of
    the American Statistical Association 22, 1927.
    """
    square = _Z**2
    centre = (share + square / (2 * trials)) / (1 + square / trials)
    width = _Z * sqrt(share * (1 - share) / trials + square / (4 * trials**2))
    width /= 1 + square / trials
    low, high = max(centre - width, 0.0), min(centre + width, 1.0)
    return Estimate(value=share, low=min(low, share), high=max(high, share))


def _bounded(value: Estimate) -> Estimate:
    low, middle, high = (max(one, -1.0) for one in (value.low, value.value, value.high))
    return Estimate(value=middle, low=low, high=high)


def _nothing_measured(attacks: int) -> str:
    if not attacks:
        return "No attack could be made."
    return f"All {attacks:,} attacks on the holdout succeed: members cannot be told from it."


def _weakness(train: Estimate, baseline: Estimate) -> str:
    if difference(train, baseline).low > 0:
        return ""
    return (
        f"The attack is not shown to be better than a naive one, which succeeds on "
        f"{baseline.value:.1%} of members where it succeeds on {train.value:.1%}: "
        "a stronger attack may find more."
    )


def _lack_of_room(failures: int, attacks: int) -> str:
    if failures >= _FEWEST_FAILURES:
        return ""
    return (
        f"Only {failures} of {attacks:,} attacks on the holdout fail: too few to tell how "
        "much more often they succeed on members."
    )
