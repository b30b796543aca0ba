"""What the masked columns of an output show, as they were written."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import is_text
from policy_engine.engines.masking.columns import ColumnJudgement
from policy_engine.engines.masking.evidence import (
    GroupEvidence,
    MaskingEvidence,
    SingleEvidence,
    evidence_of,
    judge,
)
from policy_engine.engines.masking.known import marks_look, moments_looks, single_columns
from policy_engine.engines.masking.marks import mark_key
from policy_engine.engines.masking.numbers import count_decimals, number_form
from policy_engine.engines.masking.parts import Faults, Look, Parts, side_by_side
from policy_engine.engines.masking.published_forms import count_finer
from policy_engine.engines.masking.recoding import Taxonomies
from policy_engine.engines.masking.spellings import count_misspelled
from policy_engine.engines.masking.surveys import (
    Group,
    Kinds,
    SharedValues,
    Survey,
    columns_of,
    facts_of_output,
    floats_of,
    is_present,
    survey_output,
)
from policy_engine.methods.perturbation import Perturbation
from policy_engine.plan.steps import Mask


def judge_columns(
    parts: Parts,
    step: Mask,
    evidence: MaskingEvidence | None,
    taxonomies: Taxonomies,
) -> tuple[ColumnJudgement, ...]:
    """Return what the masked columns of an output show, in the order of the step.

    `evidence` is what is known of the input. Raises DataError (V006) where the output alone does
    not show it.
    """
    groups = _judge_groups(parts, step, evidence)
    singles = _judge_singles(parts, step, evidence, taxonomies)
    by_name = {one.masking.name: one for one in (*groups, *singles)}
    return tuple(by_name[name] for name in step.names)


def _judge_singles(
    parts: Parts,
    step: Mask,
    evidence: MaskingEvidence | None,
    taxonomies: Taxonomies,
) -> Iterator[ColumnJudgement]:
    """Yield what the columns show that are masked by themselves."""
    singles = dict(evidence.singles) if evidence else {}
    if not singles:
        faults = Faults()
        columns = single_columns(step, taxonomies, {}, mark_key(), faults)
        faults.check(step.names)
        singles = {name: SingleEvidence(column) for name, column in columns.items()}
    seen = parts.look({n: one.column.output(parts.kinds.get(n)) for n, one in singles.items()})
    for name, one in singles.items():
        judgement = one.column.judge(seen[name], one.compared)
        yield judgement._replace(broken=max(judgement.broken, one.misplaced))


def _judge_groups(
    parts: Parts, step: Mask, evidence: MaskingEvidence | None
) -> Iterator[ColumnJudgement]:
    """Yield what the columns show that are masked together."""
    known_groups = {one.group[0].name: one for one in evidence_of(step.groups, evidence)}
    groups = {name: one.group for name, one in known_groups.items()}
    key = evidence.key if evidence else b""
    seen = parts.look({name: _output(one, parts.kinds, key) for name, one in known_groups.items()})
    surveys = {name: survey for name, (survey, *_) in seen.items()}
    moments = parts.look(moments_looks(surveys, groups))
    for name, one in known_groups.items():
        survey, marks, finer, misspelled = seen[name]
        after = facts_of_output(survey, moments.get(name), one.before)
        is_shared = one.group[0].shared_by > 1
        sizes = parts.class_sizes(one.group) if is_shared else SharedValues()
        finer += np.array([counts.min() for counts in misspelled], dtype=np.int64)
        yield from judge(one, after, marks, sizes, finer)


def survey_as_written(table: pa.Table, group: Group, kinds: Kinds) -> Survey:
    """Return what a part of an output tells of the columns of a group.

    Numbers of more decimals than their masking makes are none that it made, though their floats
    may be.
    """
    seen = survey_output(table, group, kinds)
    longer = np.stack([_is_longer(table, one, seen) for one in group], axis=1)
    if not longer.any():
        return seen
    values = np.where(longer, np.nan, floats_of(table, seen.forms))
    present = is_present(table, columns_of(group))
    return replace(seen, summary=group[0].summarise(values[present]))


def _is_longer(table: pa.Table, masking: Perturbation, seen: Survey) -> NDArray[np.bool_]:
    if masking.decimals is None or seen.forms[masking.name].kind != "decimal":
        return np.zeros(table.num_rows, dtype=np.bool_)
    return np.asarray(count_decimals(table.column(masking.name)) > masking.decimals)


def _output(evidence: GroupEvidence, kinds: Kinds, key: bytes) -> Look[tuple[Any, ...]]:
    """Return the look at the survey of a group, the marks of its columns, and how many cells of
    each are written more finely, and spelled otherwise, than its masking writes them."""
    group = evidence.group
    names = tuple(one.name for one in group)
    # Texts stay texts, though those that are drawn may all look like times.
    texts = {name: pa.string() for name, kind in evidence.types.items() if is_text(kind)}
    kinds = {**kinds, **texts}
    survey = Look(names, partial(survey_as_written, group=group, kinds=kinds), Survey.merge)
    finer = Look(names, partial(_count_finer, evidence=evidence, kinds=kinds), np.add)
    return side_by_side(survey, marks_look(group, kinds, key), finer, _misspelled(evidence))


def _misspelled(evidence: GroupEvidence) -> Look[tuple[NDArray[np.int64], ...]]:
    """Return the look at how many cells of each column are spelled otherwise than in each of the
    ways that a release has."""
    names = tuple(one.name for one in evidence.group)

    def see(table: pa.Table) -> tuple[NDArray[np.int64], ...]:
        return tuple(
            count_misspelled(table.column(name), evidence.types[name])
            if name in evidence.types
            else np.zeros(1, dtype=np.int64)
            for name in names
        )

    def merge(
        one: tuple[NDArray[np.int64], ...], other: tuple[NDArray[np.int64], ...]
    ) -> tuple[NDArray[np.int64], ...]:
        return tuple(map(np.add, one, other))

    return Look(names, see, merge)


def _count_finer(table: pa.Table, evidence: GroupEvidence, kinds: Kinds) -> NDArray[np.int64]:
    """Return how many cells of each column are written more finely than their masking writes them,
    (columns,)."""
    counts = np.zeros(len(evidence.group), dtype=np.int64)
    for place, one in enumerate(evidence.group if evidence.before.rows else ()):
        # The others have decimals of their own, which are judged with their multiples.
        if one.name in evidence.forms and one.decimals is None:
            column = table.column(one.name)
            written = number_form(one.name, column, kinds.get(one.name))
            counts[place] = count_finer(one.name, column, evidence.forms[one.name], written)
    return counts
