"""A lower bound on epsilon from the guesses of one run, by Steinke, Nasr and Jagielski."""

import math
from functools import cache

import numpy as np

from policy_engine.errors import AuditError
from policy_engine.kernels.estimates import CONFIDENCE

_LARGEST = 1_000.0


@cache
def one_run_bound(correct: int, guesses: int, canaries: int, delta: float) -> float:
    """Return the epsilon that a number of correct guesses proves, with 95% confidence.

    Of `canaries` each was included by a fair coin of its own; `guesses` of them, as many as was
    fixed beforehand, were guessed to be in or out (Steinke, Nasr and Jagielski, NeurIPS 2023,
    theorem 5.2). 0 where nothing is proved.
    """
    if not 0 <= correct <= guesses <= canaries:
        message = f"{correct} of {guesses} guesses on {canaries} canaries cannot be right."
        raise AuditError.of("A011", message)
    if not _is_refuted(0.0, correct, guesses, canaries, delta):
        return 0.0
    low, high = 0.0, _LARGEST
    while high - low > 1e-6:
        middle = (low + high) / 2
        if _is_refuted(middle, correct, guesses, canaries, delta):
            low = middle
        else:
            high = middle
    return low


def p_value(epsilon: float, correct: int, guesses: int, canaries: int, delta: float) -> float:
    """Return the highest probability of as many correct guesses under (epsilon, delta)-DP.

    The tail of the binomial with e^epsilon / (e^epsilon + 1), and what delta adds to it: 2 delta
    for each canary times the largest mean of the probabilities just below the tail.
    """
    from scipy.stats import binom  # noqa: PLC0415 (slow to import, an extra)

    share = 1 / (1 + math.exp(-epsilon))
    tail = float(binom.sf(correct - 1, guesses, share))
    if delta == 0 or correct == 0:
        return tail
    below = np.cumsum(binom.pmf(np.arange(correct - 1, -1, -1), guesses, share))
    steepest = float(np.max(below / np.arange(1, correct + 1)))
    return min(1.0, tail + 2 * canaries * delta * steepest)


def _is_refuted(epsilon: float, correct: int, guesses: int, canaries: int, delta: float) -> bool:
    return p_value(epsilon, correct, guesses, canaries, delta) <= 1 - CONFIDENCE
