"""Every figure of a comparison, from two tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa

from policy_engine.audits.disclosure.risks.result import FileRisks
from policy_engine.audits.utility.bins import chart_bins, coarse_bins
from policy_engine.audits.utility.masking import Masked, masking_loss
from policy_engine.audits.utility.matching import MatchedColumn, match
from policy_engine.audits.utility.model import (
    NO_RISKS,
    Classification,
    ColumnChange,
    Comparison,
    MaskingLoss,
    PairChange,
    QueryErrors,
    TableSide,
)
from policy_engine.audits.utility.prediction import Task, classification
from policy_engine.audits.utility.sharing import shareable_comparison
from policy_engine.audits.utility.side_by_side import side_by_side
from policy_engine.data.catalog import Dataset
from policy_engine.data.column_names import missing_columns
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines import tables
from policy_engine.engines.arrays import to_numpy
from policy_engine.engines.engine import Progress, StoredData, silent
from policy_engine.engines.masking.numbers import plain_array
from policy_engine.engines.reading_back import end_columns, groups
from policy_engine.errors import CertificateError, DataError
from policy_engine.kernels import utility
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.spread import Floats, Ints
from policy_engine.kernels.utility import EntropyLoss
from policy_engine.methods.columns import PERTURBATIVE
from policy_engine.methods.privacy_model import Measurement
from policy_engine.plan.anonymization import Anonymization
from policy_engine.plan.steps import Anonymize


@dataclass(frozen=True)
class Sampled:
    """So many `rows` of a table were drawn, and released but for those that were suppressed.

    The column of weights tells how many rows each stands for; without one, they are all alike.
    """

    rows: int
    weight_column: str = ""

    def weights(self, release: pa.Table, rows: int) -> Floats:
        """Return how many of the `rows` of the original each released row stands for, (rows,).

        Raises CertificateError (V001) where a weight is not a positive number.
        """
        if not self.weight_column:
            return np.full(release.num_rows, rows / self.rows)
        try:
            column = plain_array(release.column(self.weight_column)).cast(pa.float64())
        except pa.ArrowInvalid:
            column = pa.nulls(1, pa.float64())
        weights = to_numpy(column, missing=np.nan)
        if not (np.isfinite(weights) & (weights > 0)).all():
            message = f"The column {self.weight_column!r} has weights that are not above zero."
            raise CertificateError.of("V001", message, "Compare the release as it was made.")
        return weights


@dataclass(frozen=True)
class ComparisonSettings:
    """The number and selectivity of queries, the column to predict, and the seed."""

    queries: int = 1_000
    selectivity: float = 0.05
    task: Task = field(default_factory=Task)
    seed: int = 0


def compare(
    original: Path | pa.Table,
    release: Path | pa.Table,
    step: Anonymize,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    *,
    masked: Masked | None = None,
    sampled: Sampled | None = None,
    measured: tuple[Measurement, ...] = (),
    input_digest: str = "",
    settings: ComparisonSettings | None = None,
    shareable: bool = False,
    apart: tuple[str, ...] = (),
    progress: Progress = silent,
) -> Comparison:
    """Return what a release lost against its original, and what it is still good for.

    `masked` are the columns that were masked before, and `sampled` tells of the rows that were
    drawn, if there are any. Of a sample every row stands for as many as its weight says, or for as
    many as any other.
    `step` tells the roles of the columns: the step of the certificate's plan, or of one made
    from a policy. `measured` is what a certificate tells of the bounds, which are measured else,
    `input_digest` that of the input by the record of the release. Columns that are `apart` are in
    another table of the release, and not compared. One that is `shareable` tells
    of the release alone, see `shareable_comparison`; that this may be its original is still
    checked. Raises DataError where a table cannot be read or lacks a column (C005),
    CertificateError where the release was not made from this original (V002, V003).
    """
    settings, trees = settings or ComparisonSettings(), taxonomies or {}
    progress("reading", 0, 0)
    masked = masked or Masked()
    unit = step.columns.privacy_unit
    weight = sampled.weight_column if sampled else ""
    before, first = _read(original, "original", step, (*masked.names, *filter(None, [unit])))
    after, second = _read(release, "release", step, (*masked.names, *filter(None, [weight])))
    suppressed = (sampled.rows if sampled else first.rows) - second.rows
    if suppressed < 0:
        other = f"the sample {sampled.rows}" if sampled else f"the original {first.rows}"
        message = f"The release has {second.rows} rows, {other}."
        raise CertificateError.of("V003", message, source=second.name)
    progress("matching", 0, second.rows)
    groups_released = groups(
        after, step, trees
    )  # which refuses cells of other shapes than are asked for
    columns = list(match(before, after, step, trees, masked.names))
    if sampled:
        weights = sampled.weights(after, first.rows)
        columns = [replace(one, after=one.after.weighted(weights)) for one in columns]
    of_release = shareable_comparison(
        after,
        second,
        step,
        groups_released,
        measured or tuple(step.measure(groups_released, groups_released.ancestries)),
        masked,
    ).model_copy(update={"apart": apart, "risks": _risks(columns, step, shareable=shareable)})
    if shareable:
        return of_release
    losses = groups_released.class_totals()
    # Which rows of the original are in a sample is not known, so neither is what they have lost.
    entropies = {one.name: None if sampled else _entropy(one, suppressed) for one in columns}
    progress("comparing", 0, len(columns))
    total_entropy = sum((one for one in entropies.values() if one), EntropyLoss(0.0, 0.0))
    of_original = {
        "is_shareable": False,
        "original": first,
        "is_certified_input": input_digest == first.digest if input_digest else None,
        "suppressed": suppressed,
        "certainty_penalty": losses.certainty_penalty(suppressed),
        "sampled": sampled.rows if sampled else None,
        "entropy": total_entropy.share if any(entropies.values()) else None,
        "discernability": losses.discernability(suppressed) if step.models else None,
        "left_out": _left_out(before, step, (*masked.names, *apart)),
        "columns": tuple(
            _column(one, losses.column_losses(suppressed).get(one.name), entropies[one.name])
            for one in columns
        ),
        "pairs": tuple(_pairs(columns)),
        "queries": _queries(columns, settings, progress),
        "classification": _classified(before, step, trees, settings.task, progress),
        "masking": masking_loss(
            columns, masked, before, after, _representatives(step), is_sample=sampled is not None
        ),
        "row_pairs": tuple(side_by_side(columns, after)),
    }
    return of_release.model_copy(update=of_original)


def _risks(
    columns: Sequence[MatchedColumn], step: Anonymize, *, shareable: bool
) -> FileRisks | NotApplicable:
    """Return the risks of records by their classes, `NotApplicable` without quasi-identifiers."""
    from policy_engine.audits.disclosure.risks.compared import compared_risks  # noqa: PLC0415 (compiled)

    quasi = [one for one in columns if one.role == "quasi-identifier"]
    if not quasi:
        return NO_RISKS
    suppresses = step.recoding.has_overlapping_classes
    return compared_risks(quasi, suppresses=suppresses, shareable=shareable)


@dataclass(frozen=True)
class Losses:
    """What masked columns lost, and the median error of counts by all columns."""

    masking: MaskingLoss | NotApplicable
    query_error: float | NotApplicable


def measure_losses(
    before: pa.Table,
    after: pa.Table,
    step: Anonymize,
    taxonomies: Mapping[str, Taxonomy],
    masked: Masked,
    sampled: Sampled | None = None,
    rows: Ints | None = None,
) -> Losses:
    """Return what a release in memory lost against its original, by the figures of `compare`.

    `rows` tell which row of the original each released one was made from, (released rows,).
    """
    before, after = tables.plain_texts(before), tables.plain_texts(after)
    columns = list(match(before, after, step, taxonomies, masked.names))
    if sampled:
        weights = sampled.weights(after, before.num_rows)
        columns = [replace(one, after=one.after.weighted(weights)) for one in columns]
    loss = masking_loss(
        columns,
        masked,
        before,
        after,
        _representatives(step),
        is_sample=sampled is not None,
        rows=rows,
    )
    errors = _queries(columns, ComparisonSettings(), silent, is_changed=sampled is not None)
    return Losses(loss, errors if isinstance(errors, NotApplicable) else errors.median)


def _read(
    source: Path | pa.Table,
    title: str,
    anonymization: Anonymization,
    others: tuple[str, ...],
) -> tuple[pa.Table, TableSide]:
    """Return a table with the columns that are compared and others, and a description of it."""
    names = tuple(
        name for name in anonymization.columns.released if name not in anonymization.columns.redact
    )
    names += others
    if isinstance(source, Path):
        table, digest = tables.read_table(source), StoredData.from_file(source).digest
        label = source.name
    else:
        table, digest, label = tables.plain_texts(source), tables.table_digest(source), title
    _check(table, names, label)
    if not table.num_rows:
        raise DataError.of("R001", "The table has no rows.", source=label)
    return table, TableSide(name=label, digest=digest, rows=table.num_rows)


def _check(table: pa.Table, names: tuple[str, ...], label: str) -> None:
    """Raise DataError (C005) with every missing column; two end columns may replace a column."""
    present = set(table.column_names)
    columns = tuple(present | {name for name in names if end_columns(name)[0] in present})
    dataset = Dataset(iri=label, location=label, format="memory", columns=columns)
    problems = list(missing_columns(names, dataset))
    if problems:
        raise DataError(*problems)


def _representatives(anonymization: Anonymization) -> dict[str, str]:
    """Return what stands for the values of a class, by column, where it is one value."""
    quasi = anonymization.columns.quasi_identifier
    return {
        one.name: str(one.generalization) for one in quasi if one.generalization in PERTURBATIVE
    }


def _left_out(
    original: pa.Table, anonymization: Anonymization, masked: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the columns of the original that the release does not contain."""
    kept = {*anonymization.columns.released, *masked} - set(anonymization.columns.redact)
    return tuple(name for name in original.column_names if name not in kept)


def _entropy(column: MatchedColumn, suppressed: int) -> EntropyLoss | None:
    if column.kind != "generalised":
        return None
    return utility.non_uniform_entropy(column.before, column.after, suppressed)


def _column(column: MatchedColumn, loss: float | None, entropy: EntropyLoss | None) -> ColumnChange:
    before, after = (utility.shares(side.masses) for side in (column.before, column.after))
    compared = _compared_shares(column, before, after)
    is_told = column.tells_values
    bins, scale = chart_bins(column, before, after)
    return ColumnChange(
        name=column.name,
        role=column.role,
        kind=column.kind,
        is_ordered=column.is_ordered,
        loss=loss,
        entropy=entropy.share if entropy else None,
        hellinger=utility.hellinger(*compared) if is_told else None,
        total_variation=utility.total_variation(*compared) if is_told else None,
        values_before=len(np.unique(column.before.cell_of)),
        values_after=len(np.unique(column.after.cell_of)),
        suppressed=_suppressed(column),
        bins=bins,
        scale=scale,
    )


def _suppressed(column: MatchedColumn) -> float | None:
    """Return the share of the released rows whose cell stands for all values, or all but missing
    ones; None for a column that was not generalised."""
    if column.kind != "generalised":
        return None
    least = column.size - int(column.has_missing and column.size > 1)
    is_all = (column.after.widths >= least) & (column.after.widths > 1)
    return float(is_all[column.after.cell_of].mean())


def _compared_shares(column: MatchedColumn, before: Floats, after: Floats) -> tuple[Floats, Floats]:
    """Return the shares by which distributions are compared: those of values or, of masked numbers,
    of bins. Masked numbers are new ones, so by their values nothing would be as it was."""
    if column.kind not in ("masked", "representative") or not column.is_ordered:
        return before, after
    bins = coarse_bins(column)
    binned = [np.asarray(np.bincount(bins, one), dtype=np.float64) for one in (before, after)]
    return binned[0], binned[1]


def _pairs(columns: list[MatchedColumn]) -> Iterator[PairChange]:
    comparable = [one for one in columns if one.kind != "pseudonym"]
    coarse = {one.name: coarse_bins(one) for one in comparable}
    for first, second in combinations(comparable, 2):
        if first.is_changed or second.is_changed:
            yield _pair(first, second, coarse[first.name], coarse[second.name])


def _pair(first: MatchedColumn, second: MatchedColumn, a: Ints, b: Ints) -> PairChange:
    counts = int(a.max()) + 1, int(b.max()) + 1
    before = utility.joint(first.before, second.before, a, b, counts)
    after = utility.joint(first.after, second.after, a, b, counts)
    if first.is_ordered and second.is_ordered:
        x, y = first.numbers(), second.numbers()
        correlations = (
            utility.pearson(first.before, second.before, x, y),
            utility.pearson(first.after, second.after, x, y),
        )
    else:
        correlations = utility.cramers_v(before), utility.cramers_v(after)
    shares = utility.shares(before), utility.shares(after)
    return PairChange(
        first=first.name,
        second=second.name,
        hellinger=utility.hellinger(*shares),
        total_variation=utility.total_variation(*shares),
        measure="pearson" if first.is_ordered and second.is_ordered else "cramers-v",
        before=_nan_to_none(correlations[0]),
        after=_nan_to_none(correlations[1]),
    )


def _nan_to_none(figure: float) -> float | None:
    return None if np.isnan(figure) else figure


def _queries(
    columns: list[MatchedColumn],
    settings: ComparisonSettings,
    progress: Progress,
    *,
    is_changed: bool = False,
) -> QueryErrors | NotApplicable:
    comparable = [one for one in columns if one.kind != "pseudonym"]
    if not (is_changed or any(one.is_changed for one in comparable)):
        return NotApplicable(reason="no column that is compared is generalised or masked")
    if not settings.queries:
        return NotApplicable(reason="no queries were asked for")
    progress("asking questions", 0, settings.queries)
    queries = list(
        utility.range_queries(
            [one.domain() for one in comparable],
            settings.queries,
            settings.selectivity,
            settings.seed,
        )
    )
    errors = utility.query_errors(
        [one.before for one in comparable], [one.after for one in comparable], queries
    )
    return QueryErrors(
        queries=len(queries),
        selectivity=settings.selectivity,
        sanity=utility.SANITY,
        seed=settings.seed,
        median=float(np.median(errors)),
        mean=float(errors.mean()),
        percentiles=tuple(np.percentile(errors, np.arange(101)).tolist()),
    )


def _classified(
    original: pa.Table,
    anonymization: Anonymization,
    taxonomies: Mapping[str, Taxonomy],
    task: Task,
    progress: Progress,
) -> Classification | NotApplicable:
    progress("learning", 0, 0)
    return classification(original, anonymization, taxonomies, task)
