"""Attacks on a table that a certificate says do not apply, though its plan shows that they do."""

from typing import TYPE_CHECKING

from policy_engine.audits.disclosure.settings import MOST_EXACT, MOST_PERSONS_UNNAMED
from policy_engine.methods.maskings.rank_swapping import RankSwapping

if TYPE_CHECKING:
    from policy_engine.plan.plan import Plan

_COMPARES_NUMBERS = "it compares numbers, each of which is one value"


def applies_always(attack: str, records: int, columns: int) -> bool:
    """Tell whether an attack is made on every release of so many records, by so many columns."""
    if attack == "assignment-linkage":
        return records <= MOST_PERSONS_UNNAMED
    if attack in ("probabilistic-linkage", "exact-linkage"):
        from policy_engine.kernels.linkage.fellegi_sunter import (  # noqa: PLC0415 (compiled)
            MOST_COLUMNS,
        )

        is_exact = attack == "exact-linkage"
        return columns <= MOST_COLUMNS and not (is_exact and records > MOST_EXACT >> columns)
    return attack in ("distance-linkage", "value-linkage", "likelihood-linkage")


def may_not_apply(attack: str, reason: str, records: int, names: set[str], plan: "Plan") -> bool:
    """Tell whether an attack by the columns of these `names` may have a reason not to be made.

    Types of columns are not in a plan: which columns are numbers is believed. Of other attacks than
    these two, every reason is.
    """
    if attack == "intersection-linkage":
        masked = plan.mask.columns if plan.mask else ()
        is_swapped = any(isinstance(o, RankSwapping) for o in masked if o.name in names)
        return reason == (
            _COMPARES_NUMBERS if is_swapped else "no known column is declared to be rank-swapped"
        )
    if attack != "mahalanobis-linkage" or reason == _COMPARES_NUMBERS:
        return True
    if len(names) == 1:
        return reason == "with one column known it is value-linkage"
    from policy_engine.audits.disclosure.attacks.mahalanobis import (  # noqa: PLC0415 (compiled)
        too_few_persons,
    )

    return bool(reason) and reason == too_few_persons(records, len(names))
