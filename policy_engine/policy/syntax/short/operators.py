"""The operator that is meant where none is written."""

from collections.abc import Sequence

_SETS = ("isAllOf", "isAnyOf", "isNoneOf")


def implied_operator(allowed: Sequence[str], *, is_several: bool) -> str:
    """Return the operator of one value, or of several, among those that an operand takes.

    Where any may be taken, they are `eq` and `isAllOf`.
    """
    sets = [one for one in allowed if one in _SETS]
    others = [one for one in allowed if one not in _SETS]
    preferred = [*sets, *others] if is_several else [*others, *sets]
    return preferred[0] if preferred else ("isAllOf" if is_several else "eq")
