"""Several releases of one original: what they tell together, and what each is still good for."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.attacks.joint import joint_likelihood_linkage
from policy_engine.audits.disclosure.files import KnownColumn, TwoFiles
from policy_engine.audits.disclosure.result import ReleasesTogether
from policy_engine.kernels.estimates import Estimate, NotApplicable, share_of_parts
from policy_engine.kernels.grouping import classes_of
from policy_engine.kernels.releases import ABSENT, accumulated
from policy_engine.kernels.spread import exact
from policy_engine.kernels.utility import ValueDomain, query_errors, range_queries
from policy_engine.methods.masking import CellMasking

Ints = NDArray[np.int64]
QUERIES, SELECTIVITY = 300, 0.05
_DECIMALS = 5


def releases_together(
    names: Sequence[str], releases: Sequence[TwoFiles]
) -> tuple[ReleasesTogether, ...]:
    """Return what the releases tell one after the other of the persons of one original.

    The intruder knows which releases have a person, and finds there the class of the person's
    known values: the rows that are equal in all columns whose cells say what is true. The
    person is one of those who are in the same classes of all releases.
    """
    truthful = [truthful_columns(files) for files in releases]
    pairs = list(zip(truthful, releases, strict=True))
    classes = np.column_stack([classes_by(columns, files) for columns, files in pairs])
    persons = len(classes)
    alone = [accumulated(classes[:, [place]])[0].linked for place in range(len(pairs))]
    return tuple(
        ReleasesTogether(
            release=names[place],
            columns=tuple(column.name for column in truthful[place]),
            alone=round(alone[place] / persons, _DECIMALS),
            linked=share_of_parts(one.linked, persons).rounded(_DECIMALS),
            least=one.least,
            uniques=one.uniques,
            gained=one.gained,
            combined=one.combined,
            joined=_joined(releases[: place + 1]),
        )
        for place, one in enumerate(accumulated(classes))
    )


def _joined(releases: Sequence[TwoFiles]) -> Estimate | None:
    """Return whom the likelihood of all releases together finds; None where it does not apply."""
    links = joint_likelihood_linkage(releases)
    if isinstance(links, NotApplicable):
        return None
    return share_of_parts(float(links.sum()), len(links)).rounded(_DECIMALS)


def truthful_columns(files: TwoFiles) -> list[KnownColumn]:
    """Return the known columns by which a person's class in the release is found."""
    return [one for one in files.columns if _is_truthful(one, files)]


def _is_truthful(column: KnownColumn, files: TwoFiles) -> bool:
    """Tell whether a person's class is found by what is known of the column.

    It was masked value by value, or no released cell excludes what is true of its person.
    """
    if isinstance(column.masking, CellMasking):
        return True
    present = np.flatnonzero(files.own >= 0)
    cells = column.after.cell_of[files.own[present]].astype(np.int64)
    return bool(column.covers(cells, column.before[present].astype(np.int64)).all())


def classes_by(columns: Sequence[KnownColumn], files: TwoFiles) -> Ints:
    """Return by person the class of the own record in columns, (persons,), -1 for no record."""
    classes = np.full(len(files.own), ABSENT, dtype=np.int64)
    present = files.own >= 0
    cells = [one.after.cell_of[files.own[present]].astype(np.int32) for one in columns]
    classes[present] = classes_of(cells)[0] if cells else 0
    return classes


def median_query_error(files: TwoFiles) -> float:
    """Return the median relative error of random counts of rows by what is known, 0 if exact."""
    columns = files.columns
    domains = [
        ValueDomain(one.after.size, one.is_number, one.has_missing, is_generalised=True)
        for one in columns
    ]
    queries = list(range_queries(domains, QUERIES, SELECTIVITY))
    before = [exact(one.before.astype(np.int64), one.after.size) for one in columns]
    errors = query_errors(before, [one.after for one in columns], queries)
    return round(float(np.median(errors)), _DECIMALS)
