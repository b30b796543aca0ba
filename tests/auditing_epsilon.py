"""An auditor of epsilon: how much is shown by runs on two neighbouring tables.

Half of the runs choose what the auditor looks for, the other half show how often it happens; with a
confidence of 99.9 % the mechanism loses at least what Clopper and Pearson's bounds leave.
"""

import math

import numpy as np
from scipy.stats import beta

CONFIDENCE = 0.999


def thresholds(runs):
    """Return what the auditor may look for: answers up to or above each, or a single one."""
    answers = sorted(set(np.unique(np.quantile(runs, np.linspace(0, 1, 60), method="lower"))))
    for answer in answers:
        yield lambda run, answer=answer: run <= answer
        yield lambda run, answer=answer: run > answer
        yield lambda run, answer=answer: run == answer


def one_sided(hits, runs, *, is_upper):
    error = (1 - CONFIDENCE) / 2
    if is_upper:
        return 1.0 if hits == runs else float(beta.ppf(1 - error, hits + 1, runs - hits))
    return 0.0 if hits == 0 else float(beta.ppf(error, hits, runs - hits + 1))


def shown_epsilon(mechanism, tables, runs, delta=0.0, more=()):
    """Return the greatest epsilon that is shown by so many runs on either of two tables."""
    answers = [np.array(mechanism(table, runs)) for table in tables]
    half = runs // 2
    first, second = ([one[:half] for one in answers], [one[half:] for one in answers])
    events = [*thresholds(np.concatenate(first)), *more]

    def bound(event, sides, halves):
        low, high = (int(event(halves[side]).sum()) for side in sides)
        chance = one_sided(low, half, is_upper=False) - delta
        return math.log(chance / one_sided(high, half, is_upper=True)) if chance > 0 else 0.0

    choices = [(event, sides) for event in events for sides in ((0, 1), (1, 0))]
    event, sides = max(choices, key=lambda one: bound(*one, first))
    return bound(event, sides, second)
