"""What keeps the ledger from deciding about cells, in figures: for owners and auditors alone."""

from collections.abc import Callable, Iterable
from functools import partial

from policy_engine.release.output_ledger.answers import LimitKind, MetLimit, ToldFigures
from policy_engine.release.output_ledger.judging_time import TimeLimit
from policy_engine.release.output_ledger.linear_systems import CELLS, LinearSystem


def met(of: LimitKind, size: float | None = None, most: float | None = None) -> ToldFigures:
    """Return that there are so many of something, or more than are decided about."""
    return ToldFigures("undecided", 0, 0, limit=MetLimit(of, size, most))


def too_many_populations(system: LinearSystem) -> Callable[[], ToldFigures]:
    """Return what tells how many populations belong together in a system."""
    return partial(met, "populations", system.rows.count + system.targets.count, CELLS)


def too_dense(populations: int, atoms: int, most: float) -> Callable[[], ToldFigures]:
    """Return what tells of how many populations and groups of units bounds were to be computed."""
    return partial(met, "populations times atoms", populations * atoms, most)


def no_solver() -> ToldFigures:
    """Return that the library is missing that solves linear programmes."""
    return met("solver", 0, None)


def out_of_time(limit: TimeLimit) -> ToldFigures:
    """Return how many processor seconds were spent on an answer, and may be."""
    return met("seconds", round(limit.used * limit.seconds, 3), limit.seconds)


def follows_from(columns: Iterable[str]) -> ToldFigures:
    """Return that a figure follows from several columns, of which something is withheld."""
    return ToldFigures("related", 0, 0, names=tuple(sorted(columns)))


def about_other_data(digests: Iterable[str]) -> ToldFigures:
    """Return the digests of the data that earlier answers were about, each once."""
    names = tuple(dict.fromkeys(digests))
    return ToldFigures("data", 0, 0, names=names)
