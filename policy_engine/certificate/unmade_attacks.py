"""Attacks on a table that a certificate says do not apply, though its plan shows that they do."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.audits.disclosure.settings import (
    MOST_EXACT,
    MOST_PERSONS_IN_STEPS,
    MOST_PERSONS_UNNAMED,
)
from policy_engine.methods.maskings.rank_swapping import RankSwapping

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate
    from policy_engine.plan.plan import Plan


def applies_always(attack: str, records: int, columns: int) -> bool:
    """Tell whether an attack is made on every release of so many records, by so many columns.

    Of not too many records it is made by a single one of them, too.
    """
    if attack == "assignment-linkage":
        return records <= MOST_PERSONS_UNNAMED
    if attack in ("probabilistic-linkage", "exact-linkage"):
        from policy_engine.kernels.linkage.fellegi_sunter import (  # noqa: PLC0415 (compiled)
            MOST_COLUMNS,
        )

        most = MOST_EXACT >> columns if attack == "exact-linkage" else records
        return records <= MOST_PERSONS_IN_STEPS or (columns <= MOST_COLUMNS and records <= most)
    return attack in ("distance-linkage", "value-linkage", "likelihood-linkage")


def may_not_apply(
    attack: str, reason: str, records: int, names: set[str], certificate: "Certificate"
) -> bool:
    """Tell whether an attack by the columns of these `names` may have a reason not to be made.

    It is made by those of them that it can use, more and more, so that one or two are enough. Of
    other attacks than these two, every reason is believed.
    """
    if attack == "intersection-linkage":
        # Whatever is swapped is compared by its ranks.
        is_swapped = bool(names & _swapped_columns(certificate.plan))
        return not is_swapped and reason == "no known column is declared to be rank-swapped"
    if attack != "mahalanobis-linkage":
        return True
    least = len(names & _columns_of_numbers(certificate.plan))
    return reason in _mahalanobis_reasons(records, range(least, len(names) + 1))


def _mahalanobis_reasons(records: int, counts: range) -> Iterator[str]:
    """Yield why no Mahalanobis distance is taken if so many columns as in `counts` are usable."""
    from policy_engine.audits.disclosure.attacks.mahalanobis import (  # noqa: PLC0415 (compiled)
        BY_ONE,
        WITHOUT_NUMBERS,
        too_few_persons,
    )

    yield from (reason for at, reason in enumerate((WITHOUT_NUMBERS, BY_ONE)) if at in counts)
    if too_few_persons(records, 2):
        yield from (too_few_persons(records, count) for count in counts if count > 1)


def _swapped_columns(plan: "Plan") -> set[str]:
    masked = plan.mask.columns if plan.mask else ()
    return {one.name for one in masked if isinstance(one, RankSwapping)}


def _columns_of_numbers(plan: "Plan") -> set[str]:
    """Return the columns that can be compared as numbers for certain, by their maskings.

    Which of the other columns are numbers, no certificate tells.
    """
    masked = plan.mask.columns if plan.mask else ()
    return _swapped_columns(plan) | {one.name for one in masked if one.makes_numbers}
