"""Tables with a row for each combination of their keys, of those that nobody has, too."""

import math
from collections.abc import Sequence
from itertools import permutations

import numpy as np

from policy_engine.audits.outputs.microdata import CodedColumn

MOST_FILLED = 10_000
"""Tables with more combinations of their keys have only those that occur."""
_PAIR = 2


def can_be_filled(keys: Sequence[CodedColumn]) -> bool:
    """Return whether a table by some keys may list all combinations: there are not too many, and no
    key decides about another, as a district does about its region."""
    if len(keys) < _PAIR or math.prod(len(key.labels) for key in keys) > MOST_FILLED:
        return False
    return not any(_decides(one, other) for one, other in permutations(keys, _PAIR))


def _decides(key: CodedColumn, other: CodedColumn) -> bool:
    """Return whether each value of a key has one of another one, and not all the same."""
    return lies_in(key, other) and len(other.labels) > 1


def lies_in(key: CodedColumn, other: CodedColumn) -> bool:
    """Return whether each value of a key has one of another one."""
    is_both = (key.codes >= 0) & (other.codes >= 0)
    pairs = np.unique(np.column_stack([key.codes[is_both], other.codes[is_both]]), axis=0)
    return len(np.unique(pairs[:, 0])) == len(pairs)
