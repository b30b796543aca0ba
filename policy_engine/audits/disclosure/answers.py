"""Answers to queries on the original: what they tell together with a release."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import TwoFiles
from policy_engine.audits.disclosure.result import (
    AnswerNotUsed,
    AnswersTogether,
    AnswerTogether,
)
from policy_engine.audits.disclosure.several import classes_by, truthful_columns
from policy_engine.kernels.estimates import NotApplicable, share_of_parts
from policy_engine.kernels.grouping import classes_of
from policy_engine.kernels.releases import ABSENT, Accumulated, accumulated, least_excess

Ints = NDArray[np.int64]
_DECIMALS = 5


@dataclass(frozen=True)
class AnsweredQuery:
    """The query of a `number` in its file, from 1, and the sets of persons that its answer is of.

    `cells` has the number of each person's cell, (persons,), -1 for persons whom the answer is not
    about. It follows from the `columns`. Not applicable where the intruder cannot tell it.
    """

    number: int
    columns: tuple[str, ...]
    cells: Ints | NotApplicable


def answers_together(
    release: str, files: TwoFiles, queries: Sequence[AnsweredQuery]
) -> AnswersTogether:
    """Return what answers tell, one after the other, of the persons of a release's original.

    The intruder knows which class of the release a person is in, and which cell of each answer: a
    person is one of those of the same class and cells. Of persons who are in no class, since the
    release lacks them, and whom no answer so far is about, nothing is told.
    """
    columns = truthful_columns(files)
    classes = classes_by(columns, files)
    used = [(one, one.cells) for one in queries if not isinstance(one.cells, NotApplicable)]
    [alone], persons = accumulated(classes[:, None]), len(classes)
    steps = _steps(classes, [cells for _, cells in used])
    names = [release, *(f"query {one.number}" for one, _ in used)]
    differences = _differences(names, [classes, *(cells for _, cells in used)])
    return AnswersTogether(
        columns=tuple(one.name for one in columns),
        linked=share_of_parts(alone.linked, persons).rounded(_DECIMALS),
        least=alone.least,
        uniques=alone.uniques,
        answers=tuple(
            _answer(one, cells, step, difference, persons)
            for (one, cells), step, difference in zip(used, steps, differences, strict=True)
        ),
        not_used=tuple(
            AnswerNotUsed(query=one.number, reason=one.cells.reason)
            for one in queries
            if isinstance(one.cells, NotApplicable)
        ),
    )


def _answer(
    query: AnsweredQuery,
    cells: Ints,
    step: Accumulated,
    difference: tuple[int, str] | None,
    persons: int,
) -> AnswerTogether:
    sizes = np.bincount(cells[cells != ABSENT])
    sizes = sizes[sizes > 0]
    return AnswerTogether(
        query=query.number,
        columns=query.columns,
        cells=len(sizes),
        smallest=int(sizes.min()) if len(sizes) else 0,
        difference=difference and difference[0],
        beside=difference and difference[1],
        linked=share_of_parts(step.linked, persons).rounded(_DECIMALS),
        least=step.least,
        uniques=step.uniques,
        gained=step.gained,
        combined=step.combined,
    )


def _steps(classes: Ints, cells: Sequence[Ints]) -> list[Accumulated]:
    """Return what is told by the classes and one answer more at a time."""
    steps, so_far = [], classes
    for one in cells:
        both = np.column_stack([so_far, one])
        steps.append(accumulated(both)[-1])
        so_far = _numbered(both)
        so_far[(both == ABSENT).all(axis=1)] = ABSENT
    return steps


def _differences(names: Sequence[str], sets: Sequence[Ints]) -> list[tuple[int, str] | None]:
    """Return by how many persons a cell of each answer exceeds a set before it, or the set the
    cell, at least, and what that set is of; None where neither is ever part of the other."""
    alike = _numbered(np.column_stack(sets))
    _, first, persons = np.unique(alike, return_index=True, return_counts=True)
    few = [one[first] for one in sets]
    differences: list[tuple[int, str] | None] = []
    for place in range(1, len(few)):
        excess = [
            (least_excess(few[place], one, persons), at) for at, one in enumerate(few[:place])
        ]
        least, at = min((one for one in excess if one[0]), default=(0, 0))
        differences.append((least, names[at]) if least else None)
    return differences


def _numbered(sets: Ints) -> Ints:
    return classes_of([(column + 1).astype(np.int32) for column in sets.T])[0].astype(np.int64)
