"""Anonymise a frame: count values, code rows, make the first cuts, form classes in tasks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from policy_engine.engines.care_levels import CareLevel
from policy_engine.engines.class_evidence import ClassEvidence
from policy_engine.engines.encoding import encode
from policy_engine.engines.generalizations import Generalizer
from policy_engine.engines.generalizations.representatives import Means
from policy_engine.engines.identifiers import REDACTED
from policy_engine.engines.microaggregating import (
    ClassBounds,
    NearFormation,
    doubts_of_means,
    spreads,
)
from policy_engine.engines.missing_cells import count_missing
from policy_engine.engines.number_lists import is_array_of_numbers
from policy_engine.engines.permuting import check_persons, doubt_of_extremes, is_rare_end
from policy_engine.engines.preparation import check_feasible
from policy_engine.engines.spark.classes import MARK, SEEN, ClassFormation, read_seen
from policy_engine.engines.spark.coded_frames import ClassWork, CodedFrame, make_coding
from policy_engine.engines.spark.coding import PERSON
from policy_engine.engines.spark.formed_nodes import careful_formation, keeps_bounds
from policy_engine.engines.spark.guided_frames import FormedFrame, GuidedFrame, with_input_types
from policy_engine.engines.spark.near_parts import first_parts
from policy_engine.engines.spark.nodes import RowNodes, make_ask
from policy_engine.engines.spark.suppressing import nulled_rows
from policy_engine.engines.spark.trimming import trim_frame
from policy_engine.engines.spark.values import arrow_schema, quote_name
from policy_engine.engines.suppression_gain import SuppressionGain
from policy_engine.errors import DataError
from policy_engine.plan.steps import Anonymize, Publish


@dataclass(frozen=True)
class AnonymizedFrame:
    """A release that is computed when it is used; a column `PERSON` identifies persons, if counted.

    Of its `rows`, `suppressed` were left out, for the `gain`. The first cuts of the `approximated`
    columns are at quantiles. `suppressed_cells` were nulled,
    by column, where single ones are; `missing_cells` of capped columns were missing before. The
    cells of `numeric` columns are numbers, as texts, those of `typed` columns values of the input;
    `formed` is what is known of classes by microaggregation, `doubts` are warnings.
    """

    frame: DataFrame
    rows: int
    tasks: int
    approximated: tuple[str, ...] = ()
    suppressed: int = 0
    gain: SuppressionGain | None = None
    suppressed_cells: Mapping[str, int] = field(default_factory=dict)
    missing_cells: Mapping[str, int] = field(default_factory=dict)
    numeric: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()
    formed: ClassEvidence | None = None
    doubts: tuple[str, ...] = ()


def anonymize(
    frame: DataFrame, step: Anonymize, output: Publish, work: ClassWork
) -> AnonymizedFrame:
    """Return the release of a frame. Raises the errors of the local engine's `anonymize`."""
    if not step.models:
        return _one_class(frame, step, output, work)
    if step.recoding.algorithm == "local-suppression":
        return _suppress_cells(frame, step, output, work)
    if step.recoding.algorithm == "microaggregation":
        return _microaggregate(frame, step, output, work)
    if step.recoding.guide is not None:
        return _guide(frame, step, output, work)
    if step.suppresses_outlying_rows:
        return _trim(frame, step, output, work)
    table = _coded(frame, step, output, work)
    work.progress("counting", table.rows, table.rows)
    formed = careful_formation(table, output)
    release = AnonymizedFrame(formed.frame(), table.rows, formed.tasks, formed.approximated)
    return _permuted(release, table, output) if step.is_permuted else release


def _trim(frame: DataFrame, step: Anonymize, output: Publish, work: ClassWork) -> AnonymizedFrame:
    """Return the release without its outlying rows."""
    trimmed = trim_frame(frame, step, output, work)
    release = anonymize(trimmed.frame, step.keeping_rows(), output, work)
    suppressed, rows = trimmed.suppressed, release.rows + trimmed.suppressed
    return replace(release, rows=rows, suppressed=suppressed, gain=trimmed.gain)


def _coded(frame: DataFrame, step: Anonymize, output: Publish, work: ClassWork) -> CodedFrame:
    """Return a frame with its rows coded, and what their classes are made of kept."""
    if step.is_permuted:
        table = CodedFrame.to_permute(frame, step, output, work)
        if step.columns.privacy_unit:
            check_persons(table.unlike_persons(), step.columns.privacy_unit)
        return table
    return CodedFrame.of(frame, step, work)


def _permuted(release: AnonymizedFrame, table: CodedFrame, output: Publish) -> AnonymizedFrame:
    """Return a release of permuted values in tasks and an order that tell nothing of classes."""
    order = [F.col(quote_name(name)) for name in output.columns]
    return replace(
        release,
        frame=_ordered_rows(release.frame, release.tasks, order),
        typed=table.step.columns.quasi_names,
        doubts=(*release.doubts, *_doubts_of_extremes(table)),
    )


def _doubts_of_extremes(table: CodedFrame) -> Iterator[str]:
    """Yield which columns have an extreme value in fewer than k rows, or persons."""
    k, unit = table.step.k, table.step.columns.privacy_unit
    for value, (name, quasi) in zip(table.values, table.quasi.items(), strict=True):
        column = quasi.column if isinstance(quasi, Generalizer) else None
        least = None if column is None else int(column.has_missing)
        if column is not None and not column.is_ordered:
            continue
        if column is None or unit:
            counts = _counts_of_ends(table, value, least)
        else:
            counts = column.counts()[least:].tolist()
        if is_rare_end(counts, k):
            yield doubt_of_extremes(name, k, is_of_persons=bool(unit))


def _counts_of_ends(table: CodedFrame, value: str, least: int | None) -> list[int]:
    """Return in how many rows, or persons, a column of coded rows has its least and its greatest
    value, but for codes below the `least`; nothing where it has no value."""
    is_personal = table.step.columns.privacy_unit
    # All rows of a person have the same values.
    frame = table.frame.select(PERSON, value).distinct() if is_personal else table.frame
    values = frame.select(F.col(value).alias("value")).dropna()
    values = values if least is None else values.where(F.col("value") >= least)
    [ends] = values.agg(F.min("value"), F.max("value")).collect()
    return [values.where(F.col("value") == F.lit(end)).count() for end in ends if end is not None]


def _one_class(
    frame: DataFrame, step: Anonymize, output: Publish, work: ClassWork
) -> AnonymizedFrame:
    """Return all rows as one class, in tasks and in an order that what is released decides.

    Raises DataError where there are no rows (R001), or the values of a column have no order (C009).
    """
    work.progress("counting", 0, 0)
    coding = make_coding(frame, step, work, {}, {})
    for kind in arrow_schema(frame.select([quote_name(name) for name in coding.kept])):
        is_array = is_array_of_numbers(kind.type) and kind.name not in coding.pseudonyms
        if not is_array:
            encode(kind.name, pa.chunked_array([], kind.type), numbers=False)
    coded_frame = work.hold(coding.code_rows(frame, 0))
    places = coded_frame.select(F.spark_partition_id().alias("place"))
    [(rows, partitions)] = places.agg(F.count("*"), F.count_distinct("place")).collect()
    if not rows:
        raise DataError.of("R001", "The table has no rows.")
    work.progress("counting", rows, rows)
    columns = [
        (
            F.lit(REDACTED)
            if name in step.columns.redact
            else F.col(f"kept{coding.kept.index(name)}")
        ).alias(name)
        for name in output.columns
    ]
    tasks = max(partitions, -(-rows // work.rows_per_task))
    return AnonymizedFrame(_ordered_rows(coded_frame.select(columns), tasks), rows, tasks)


def _ordered_rows(
    released: DataFrame, tasks: int, order: Sequence[Column] | None = None
) -> DataFrame:
    """Return rows in tasks and in an order that their content alone decides, or some columns."""
    order = order or [F.col(quote_name(name)) for name in released.columns]
    # Equal rows meet in one task, so neither a row's task nor its place tells where it came from.
    return released.repartition(tasks, *order).sortWithinPartitions(*order)


def _suppress_cells(
    frame: DataFrame, step: Anonymize, output: Publish, work: ClassWork
) -> AnonymizedFrame:
    """Return the release with few cells nulled. Raises the errors of `nulled_rows`."""
    table = CodedFrame.with_hashes(frame, step, output, work)
    work.progress("counting", table.rows, table.rows)
    check_feasible(table.overview(), step)
    work.progress("suppressing cells", 0, table.rows)
    # Every column has its codes: only ranges may have too many values for them.
    quasi = {name: one.column for name, one in table.quasi.items() if isinstance(one, Generalizer)}
    nulled = nulled_rows(table.frame, quasi, step, work.most_values)
    released = nulled.output_frame(table.frame, frame, table.coding.kept, output, step)
    return AnonymizedFrame(
        _ordered_rows(released, table.tasks),
        table.rows,
        table.tasks,
        suppressed_cells=nulled.suppressed_cells,
        missing_cells=count_missing(step.columns, quasi),
        typed=tuple(quasi),
    )


def _keeps_bounds(
    release: AnonymizedFrame, step: Anonymize, output: Publish, work: ClassWork
) -> bool:
    return keeps_bounds(release.frame, release.tasks, step, output, work)


def _microaggregate(
    frame: DataFrame, step: Anonymize, output: Publish, work: ClassWork
) -> AnonymizedFrame:
    """Return the release with classes of near rows."""
    table = CodedFrame.with_hashes(frame, step, output, work)
    work.progress("counting", table.rows, table.rows)
    overview = table.overview()
    check_feasible(overview, step)
    # Every column has its codes: only ranges may have too many values for them.
    quasi = {name: one for name, one in table.quasi.items() if isinstance(one, Generalizer)}
    overall = {name: one.overall for name, one in overview.histograms.items()}
    bounds = ClassBounds(step, overview.ancestries, overall)
    near = NearFormation.of(bounds, quasi, table.rows)
    ask = make_ask(table.frame, table.coding.codes, {})
    parts = first_parts(
        ask, near, table.limit, lambda settled: work.progress("cutting", settled, table.rows)
    )
    numeric = tuple(name for name, one in quasi.items() if isinstance(one, Means))
    formation = replace(table.formation(output, overview, CareLevel.AS_PLANNED), near=near)
    tasks = min(table.tasks, len(parts.rows))
    release = AnonymizedFrame(
        formation.output_frame(table.frame, parts, tasks), table.rows, tasks, numeric=numeric
    )
    if not (step.is_kept_by_union or _keeps_bounds(release, step, output, work)):
        # Only all classes together tell which of them have equal cells.
        whole = replace(formation, is_whole=True)
        one_part = RowNodes(rows={0: table.rows})
        release = replace(release, frame=whole.output_frame(table.frame, one_part, 1), tasks=1)
    return _with_evidence(release, formation, work)


def _guide(frame: DataFrame, step: Anonymize, output: Publish, work: ClassWork) -> AnonymizedFrame:
    """Return the release with classes cut by targets."""
    table = _coded(frame, step, output, work)
    work.progress("counting", table.rows, table.rows)
    overview = table.overview()
    check_feasible(overview, step)
    guided = GuidedFrame.of(table, output, overview)
    formed = guided.formed()
    if step.is_permuted:
        release = replace(_guided(formed, table), doubts=guided.doubts(formed))
        return _permuted(replace(release, frame=formed.frame.drop(MARK)), table, output)
    in_text = output.model_copy(update={"cells": "text"})
    if not (step.is_kept_by_union or _keeps_bounds(_guided(formed, table), step, in_text, work)):
        formed = guided.merged(formed)
    doubts, typed = guided.doubts(formed), guided.typed(formed)
    is_split = output.cells == "bounds" and not step.is_kept_by_union
    # Where ranges are written as two columns, a missing value and any value are the same.
    if is_split and not _keeps_bounds(_guided(formed, table), step, output, work):
        formed = guided.one_class()
    released = formed.frame.drop(MARK)
    released = with_input_types(released, typed, frame, 2 * work.most_values)
    return replace(
        _guided(formed, table), frame=released, numeric=guided.numeric, typed=typed, doubts=doubts
    )


def _guided(formed: FormedFrame, table: CodedFrame) -> AnonymizedFrame:
    return AnonymizedFrame(formed.frame, table.rows, formed.tasks, formed.approximated)


def _with_evidence(
    release: AnonymizedFrame, formation: ClassFormation, work: ClassWork
) -> AnonymizedFrame:
    """Return a release with what tasks have seen of its classes, and told in columns of it."""
    frame, quasi = work.hold(release.frame), formation.quasi
    seen_rows = frame.where(F.col(SEEN).isNotNull()).select(SEEN)
    mark, replaced = read_seen([row[0] for row in seen_rows.collect()], [*quasi])
    dominated, classes = _dominated(frame, formation)
    return replace(
        release,
        frame=frame.drop(*formation.peaks, SEEN),
        formed=ClassEvidence(mark, replaced, spreads(quasi), dominated),
        doubts=tuple(doubts_of_means(dominated, classes)),
    )


def _dominated(frame: DataFrame, formation: ClassFormation) -> tuple[dict[str, int], int]:
    """Return in how many classes one value is greater than all others together, by column of
    means, and how many classes there are."""
    peaks = list(formation.peaks)
    if not peaks:
        return {}, 0
    # Classes of several tasks whose cells are equal are one.
    cells = [quote_name(name) for name in formation.columns if name in formation.quasi]
    parts = [F.max(most).alias(most) for most in peaks[::2]]
    parts += [F.sum(total).alias(total) for total in peaks[1::2]]
    dominated_rows = frame.where(F.coalesce(*map(F.col, peaks)).isNotNull())
    classes = dominated_rows.groupBy(*cells).agg(*parts)
    counts = [
        F.when(F.count(most) > 0, F.count_if(2 * F.col(most) > F.col(total)))
        for most, total in zip(peaks[::2], peaks[1::2], strict=True)
    ]
    row = classes.agg(F.count("*"), *counts).collect()[0]
    names = dict.fromkeys(formation.peaks.values())
    counts_by_name = zip(names, row[1:], strict=True)
    return {name: count for name, count in counts_by_name if count is not None}, row[0]
