"""A sample of the rows of a table, by the hashes of its rows or persons."""

from collections import Counter

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines import field_marks
from policy_engine.engines.arrays import from_numpy, unchunk
from policy_engine.engines.masking.perturbing import RowKeys, masking_key
from policy_engine.engines.masking.stratum_words import stratum_words
from policy_engine.engines.persons import person_texts
from policy_engine.engines.row_keys import row_keys
from policy_engine.engines.samples import SampleEvidence
from policy_engine.engines.text_types import infer_column_type
from policy_engine.errors import DataError, join_names
from policy_engine.kernels.sampling import (
    last_hashes,
    last_of_share,
    nearest_sizes,
    proportional_sizes,
)
from policy_engine.plan.steps import Sample

MOST_STRATA = 100_000
_LABEL = 0x73616D706C65
"""What tells the hashes of samples from the draws of maskings: the same for every sample, so that
of two samples of a table with one key, one contains the other."""
_Words = NDArray[np.uint64]


def sample_table(
    table: pa.Table, step: Sample, key: bytes | None
) -> tuple[pa.Table, SampleEvidence]:
    """Return a sample of a table, with a column of weights if the step has one, and its figures.

    The owner's `key` decides who is in it, or one that is kept nowhere. Raises the errors of
    `check_sample`, `check_strata` and `sizes_of`.
    """
    secret = masking_key(key)
    kind = _person_kind(table, step.unit) if step.unit else None
    units = unit_keys(table, step, kind, secret)
    hashes, strata_keys = unit_hashes(units), stratum_keys(table, step, secret)
    distinct_strata, strata = np.unique(strata_keys, axis=0, return_inverse=True)
    strata = strata.reshape(-1).astype(np.int64)
    firsts, unit_of, unit_rows = _units(units, step)
    check_strata(len(distinct_strata), int((strata[firsts][unit_of] != strata).sum()), step)
    counts = np.bincount(strata[firsts], minlength=len(distinct_strata)).astype(np.int64)
    sizes = sizes_of(step, counts)
    last = lasts_of_share(step, len(distinct_strata))
    if sizes is not None:
        last = last_hashes(hashes[firsts], strata[firsts], sizes)
    is_kept = hashes[firsts] <= last[strata[firsts]]
    rows_kept = hashes <= last[strata]
    weights = weights_of(
        counts, np.bincount(strata[firsts][is_kept], minlength=len(distinct_strata))
    )
    row_weights = weights[strata[rows_kept]]
    sampled = table.filter(from_numpy(rows_kept))
    evidence = SampleEvidence(
        rows_in=table.num_rows,
        rows=sampled.num_rows,
        units_in=len(firsts),
        units=int(is_kept.sum()),
        rows_of_units=int(unit_rows[is_kept].sum()),
        strata=len(distinct_strata),
        weights=Counter(row_weights.tolist()),
    )
    check_sample(evidence, step)
    if step.weight_column:
        sampled = sampled.append_column(step.weight_column, from_numpy(row_weights))
    return sampled, evidence


def units_of(table: pa.Table, step: Sample, secret: bytes) -> NDArray[np.int64]:
    """Return the first row of every unit of a table, (units,)."""
    kind = _person_kind(table, step.unit) if step.unit else None
    return _units(unit_keys(table, step, kind, secret), step)[0]


def _person_kind(table: pa.Table, name: str) -> pa.DataType | None:
    field, column = table.schema.field(name), unchunk(table.column(name))
    return infer_column_type(column, numbers=field_marks.is_untyped(field))


def _units(
    units: RowKeys, step: Sample
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the first row of every unit, the unit of every row, and the rows of every unit."""
    if not step.unit:
        rows = np.arange(len(units.repeats))
        return rows, rows, np.ones(len(rows), dtype=np.int64)
    _, firsts, unit_of, counts = np.unique(
        units.keys, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    return firsts, unit_of.reshape(-1), counts


# -- what both engines do -------------------------------------------------------------------------


def unit_keys(table: pa.Table, step: Sample, kind: pa.DataType | None, secret: bytes) -> RowKeys:
    """Return what tells apart what is sampled: rows by their content, persons by their texts.

    Rows that name nobody are one person. `kind` is what texts of persons can be read as.
    """
    if not step.unit:
        return RowKeys.of(table, secret)
    persons = person_texts(unchunk(table.column(step.unit)), kind)
    keys = row_keys([persons], secret)
    return RowKeys(keys, np.zeros(len(keys), dtype=np.int64), secret)


def unit_hashes(units: RowKeys) -> _Words:
    """Return the hash of every row's unit, (rows,), 64 bits that only the key tells."""
    return units.words(_LABEL, 1)[:, 0]


def stratum_keys(table: pa.Table, step: Sample, secret: bytes) -> _Words:
    """Return 128 bits for every row's stratum, (rows, 2), equal for equal ones."""
    if not step.stratified_by:
        return np.zeros((table.num_rows, 2), dtype=np.uint64)
    return stratum_words([table.column(name) for name in sorted(step.stratified_by)], secret)


def lasts_of_share(step: Sample, strata: int) -> _Words:
    """Return the greatest hash of a Bernoulli sample, for every stratum; 0 for other samples."""
    last = 0 if step.share is None else last_of_share(step.share)
    return np.full(strata, last, dtype=np.uint64)


def sizes_of(step: Sample, counts: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return how many units of each stratum are sampled, (strata,); None for a Bernoulli sample.

    `counts` are their units, (strata,), the strata in an order that their content decides. Raises
    DataError (R014) where there are fewer units than are asked for, and strata that would get none.
    """
    total = int(counts.sum())
    if step.size is not None and step.size > total:
        message = f"The sample has {step.size:,} {step.units}, and the table has {total:,}."
        raise DataError.of("R014", message, "Ask for a smaller sample.")
    if not step.is_exact:
        return None
    if step.size is not None:
        sizes = proportional_sizes(counts, step.size)
    else:
        assert step.share is not None  # noqa: S101 (a sample has a share or a size)
        sizes = nearest_sizes(counts, step.share)
    none = int((sizes == 0).sum())
    if none:
        smallest = int(counts[sizes == 0].min())
        message = f"{none:,} of {len(counts):,} strata are too small: they would get no "
        message += f"{step.units.removesuffix('s')}. The smallest has {smallest:,} {step.units}."
        raise DataError.of("R014", message, "Sample more, or stratify by fewer columns.")
    return sizes


def weights_of(counts: NDArray[np.int64], sampled: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how many units one sampled unit stands for, in every stratum, (strata,).

    A Bernoulli sample has one stratum.
    """
    return counts / np.maximum(sampled, 1)


def check_strata(strata: int, split: int, step: Sample) -> None:
    """Raise DataError (R014) for too many strata, and for rows of a person in several ones."""
    if strata > MOST_STRATA:
        message = f"There are {strata:,} strata. A sample has {MOST_STRATA:,} at most."
        raise DataError.of("R014", message, "Stratify by other columns.")
    if split:
        names = join_names(step.stratified_by)
        message = f"Persons have rows in several strata of {names}, and are sampled as a whole."
        raise DataError.of("R014", message, "Stratify by what is the same for all rows of one.")


def check_sample(evidence: SampleEvidence, step: Sample) -> None:
    """Raise DataError (R014) for a sample without rows."""
    if not evidence.rows:
        message = f"The sample of {evidence.units_in:,} {step.units} has none of them."
        raise DataError.of("R014", message, "Sample more.")
