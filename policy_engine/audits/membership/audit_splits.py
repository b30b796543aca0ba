"""Which records each model of an audit is trained on, by what its attacks need."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.attacks import Attack
from policy_engine.audits.membership.observations import (
    ONLINE_SHADOWS,
    SHADOWS,
)
from policy_engine.audits.membership.records import Records
from policy_engine.audits.membership.settings import (
    Settings,
)
from policy_engine.audits.membership.splits import ModelCounts, Splits, make_splits
from policy_engine.errors import AuditError, Problem


def audit_splits(
    records: Records,
    attacks: Sequence[Attack],
    settings: Settings,
    members: NDArray[np.integer] | None = None,
    non_members: NDArray[np.integer] | None = None,
    groups: NDArray[np.int64] | None = None,
) -> Splits:
    """Return the rows of every model of an audit.

    Where an attack needs online shadows, these serve all the others too, and there are no
    disjoint ones. Errors as `make_splits`; (A007) for more targets than online shadows can
    replace, (A011) for several of them where the members are given.
    """
    needed = frozenset[str]().union(*(one.needs for one in attacks))
    online = ONLINE_SHADOWS in needed
    if settings.targets > 1:
        _check_targets(
            settings, online=online, members_given=members is not None or non_members is not None
        )
    counts = ModelCounts(
        disjoint=settings.shadows if SHADOWS in needed and not online else 0,
        online=settings.shadows if online else 0,
        seed=settings.seed,
        further=0 if online else settings.targets - 1,
    )
    return make_splits(records.labels, records.classes, counts, members, non_members, groups)


def _check_targets(settings: Settings, *, online: bool, members_given: bool) -> None:
    problems = []
    if members_given:
        message = "Several targets are trained on parts drawn at random. The members were given."
        problems.append(Problem("A011", message, "Audit one target, or leave that out."))
    most = settings.shadows + 1 if settings.shadows >= _FEWEST_TURNS else 1
    if online and settings.targets > most:
        message = (
            f"Each online shadow model takes its turn as a target, the others being its shadows. "
            f"Given: {settings.targets} targets, {settings.shadows} shadow models."
        )
        needed = max(settings.targets - 1, _FEWEST_TURNS)
        problems.append(Problem("A007", message, f"Use at least {needed} shadow models."))
    if problems:
        raise AuditError(*problems)


_FEWEST_TURNS = 4
"""How many online shadows there are to be for each to be a target: its pair is left out."""
