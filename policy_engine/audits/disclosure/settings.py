"""Which attacks are made on a release, and how much time they have."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import get_args

from policy_engine.audits.disclosure.result import Agreement, Attack
from policy_engine.errors import DataError, Problem, join_names
from policy_engine.kernels.searching import Search, search_here

MOST_PERSONS_UNNAMED = 1_500
"""Attacks whose time grows fast with the persons are made on more only if they are named."""
MOST_EXACT = 100_000 * 2**7
"""Equal values are compared for so many persons times sets of columns, at most: those of distinct
numbers take longer than bins."""

MOST_PERSONS_IN_STEPS = 50_000
"""Up to so many, attacks are made with the most telling column known, the two most telling ones,
and so on; of more, with those that tell nearly as much as the best, and with all."""


@dataclass(frozen=True)
class AttackSettings:
    """The attacks `named`, all if none is, and the seconds that each family of distances has.

    By `agreement`, numbers agree where they are equal, or in the same of so many bins. Attacks are
    made with more and more columns known if they are made `in_steps`, else as on large files, and
    records looked for where `search` does.
    """

    named: tuple[Attack, ...] = ()
    seconds: float = 10.0
    agreement: Agreement = 10
    in_steps: bool = True
    search: Search = field(default=search_here, repr=False)

    def names(self, attack: Attack) -> bool:
        """Tell whether an attack is asked for by its name."""
        return attack in self.named


def read_settings(
    named: Sequence[str], seconds: float, agreement: Agreement = 10
) -> AttackSettings:
    """Return the settings. Raises DataError (A012) with every attack that is not known, for a time
    that is not above 0, and for an agreement that is neither "equal" nor a number of bins."""
    names = get_args(Attack)
    problems = [
        Problem("A012", f"The attack {name!r} is not known.", f"Known are {join_names(names)}.")
        for name in named
        if name not in names
    ]
    if not 0 < seconds <= _LONGEST:
        message = f"Distances cannot be learned in {seconds!r} seconds."
        problems.append(Problem("A012", message, f"Give more than 0, and {_LONGEST} at most."))
    if agreement != "equal" and not (isinstance(agreement, int) and 2 <= agreement <= _MOST_BINS):
        message = f"Numbers cannot agree by {agreement!r}."
        problems.append(Problem("A012", message, f"Give equal, or 2 to {_MOST_BINS:,} bins."))
    if problems:
        raise DataError(*problems)
    return AttackSettings(tuple(name for name in names if name in named), seconds, agreement)


_LONGEST, _MOST_BINS = 86_400, 10_000
DEFAULTS = AttackSettings()
