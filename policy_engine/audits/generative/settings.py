"""How an audit of a generator is made."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from policy_engine.audits.membership.measuring import FPRS
from policy_engine.errors import AuditError, Problem, did_you_mean

BY_SAMPLES = (
    "nearest-sample",
    "epsilon-ball",
    "epsilon-ball-distance",
    "density-ratio",
    "calibrated-nearest-sample",
)
OF_ANY_CLASS = ("nearest-sample-any-class", "exact-copies-any-class")
"""Attacks that look across classes, made where records have several: a copy under another label is
a copy."""
OTHER_BALLS = tuple(
    f"{kind}-{percentile}%"
    for kind in ("epsilon-ball", "epsilon-ball-distance")
    for percentile in ("0.01", "1", "10")
)
"""Balls with other radii, made where they are named: the best of several would be chosen on those
who are audited."""
OF_TABLES = ("exact-copies", "closest-record", "rare-values")
OF_MODELS = (
    *("reconstruction", "calibrated-reconstruction", "discriminator"),
    *("model-density", "calibrated-model-density"),
)
ON_REQUEST = ("auxiliary-gan", "shadow-generators")
"""Attacks that train models of their own: they take minutes, and are made where they are named."""
RISKS = ("singling-out", "linkability", "inference")
NAMES = (*BY_SAMPLES, *OF_ANY_CLASS, *OTHER_BALLS, *OF_TABLES, *OF_MODELS, *ON_REQUEST, *RISKS)

SAMPLES = 100_000
"""How many samples of a model are drawn, unless another number is asked for."""


@dataclass(frozen=True)
class GenerativeSettings:
    """How an audit is made: `attacks` by name, all where empty; `samples` of a model, drawn for at
    most `seconds`; figures at the false-positive rates `fprs`; `records` of a set, and `draws` of
    both games. Distances are taken in the `space`, or the default one. With `allow_shift`, members
    and holdout may be of two distributions. `epsilon` and `delta` are what is promised, if anything
    is."""

    attacks: Sequence[str] = ()
    samples: int = SAMPLES
    seconds: float | None = None
    fprs: Sequence[float] = FPRS
    records: int = 100
    draws: int = 400
    space: str = ""
    allow_shift: bool = False
    epsilon: float | None = None
    delta: float = 0.0


def read_settings(
    attacks: Sequence[str],
    samples: int,
    seconds: float | None,
    *,
    allow_shift: bool,
    space: str = "",
    promised: tuple[float, float] | None = None,
) -> GenerativeSettings:
    """Return how an audit is made.

    `promised` are an epsilon and a delta. Raises AuditError with all that is wrong: attacks that
    are not known (A012), no samples or no time (A033), an epsilon that none may be (A025).
    """
    problems = [
        Problem("A012", f"There is no attack {name!r} on generators.", did_you_mean(name, NAMES))
        for name in attacks
        if name not in NAMES
    ]
    if samples < 1:
        problems.append(Problem("A033", f"At least one sample is drawn. Given: {samples:,}."))
    if seconds is not None and not (isfinite(seconds) and seconds > 0):
        message = f"The time limit is {seconds:g} s. Allowed are more than 0."
        problems.append(Problem("A033", message))
    epsilon, delta = promised or (None, 0.0)
    if epsilon is not None and not (isfinite(epsilon) and epsilon >= 0):
        problems.append(Problem("A025", f"The epsilon is {epsilon:g}. Allowed are 0 and more."))
    if problems:
        raise AuditError(*problems)
    return GenerativeSettings(
        attacks=tuple(attacks),
        samples=samples,
        seconds=seconds,
        allow_shift=allow_shift,
        space=space,
        epsilon=epsilon,
        delta=delta,
    )
