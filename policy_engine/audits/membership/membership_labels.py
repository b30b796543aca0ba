"""Who is a member, read from texts such as 1 and 0."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.errors import AuditError, format_count

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


_YES = ("1", "true", "in", "yes", "member", "train")


_NO = ("0", "false", "out", "no", "non-member", "test")


def parse_membership(members: list[str]) -> Bools:
    """Return who is a member, of texts such as 1 and 0.

    Raises AuditError (A011) for other texts, and where all are members, or none.
    """
    is_member = parse_truths(members, "Membership")
    if is_member.all() or not is_member.any():
        lacking = "non-members" if is_member.all() else "members"
        message = (
            f"All {len(is_member):,} records are {'members' if is_member.all() else 'non-members'}."
        )
        raise AuditError.of("A011", message, f"An attack is measured on {lacking} too.")
    return is_member


def parse_truths(texts: Sequence[str], name: str) -> Bools:
    """Return which of some texts say yes. Raises AuditError (A011) where any says neither."""
    meanings = {**dict.fromkeys(_YES, True), **dict.fromkeys(_NO, False)}
    truths = [meanings.get(text.strip().lower().removesuffix(".0")) for text in texts]
    unknown = [text for text, one in zip(texts, truths, strict=True) if one is None]
    if unknown:
        pairs = ", ".join(f"{one} or {other}" for one, other in zip(_YES, _NO, strict=True))
        message = (
            f"{name} is {pairs}, whatever the case. {describe_invalid_cells(unknown, len(texts))}"
        )
        raise AuditError.of("A011", message)
    return np.array(truths, dtype=bool)


def describe_invalid_cells(wrong: Sequence[str], among: int) -> str:
    """Return how many cells hold something else, and of which kind, without their values."""
    different = {one.strip() for one in wrong}
    counts = {kind: sum(_cell_kind(one) == kind for one in different if one) for kind in _CELLS}
    parts = [f"{n:,} different {kind}{'s' if n > 1 else ''}" for kind, n in counts.items() if n]
    parts += ["empty cells"] if "" in different else []
    return f"{len(wrong):,} of {among:,} records have another value: {' and '.join(parts)}."


_CELLS = ("whole number", "number", "text")


def _cell_kind(text: str) -> str:
    try:
        number = float(text)
    except ValueError:
        return "text"
    return "whole number" if number.is_integer() else "number"


def imbalance_warnings(is_member: NDArray[np.bool_]) -> tuple[str, ...]:
    """Return what is to be said where there are not as many members as non-members."""
    members, non_members = int(is_member.sum()), int((~is_member).sum())
    if members == non_members:
        return ()
    mixture = f"{format_count(members, 'member')} and {format_count(non_members, 'non-member')}"
    return (f"{mixture} were given: precision is of this mixture, accuracy of a balanced one.",)
